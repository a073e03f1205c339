"""A class for the pipeline, a generator for what is amiss, and prints under a main guard."""

from dataclasses import dataclass

import torch

import encoder
import image_loop
import text


@dataclass(frozen=True)
class Contract:
    """What one tokenizer gives."""

    first: int
    last: int
    size: int

    def faults(self, ids, mask):
        """A tensor `[rows]` for each rule, True where a row breaks it."""
        counts = mask.sum(dim=-1)
        yield counts < 1
        yield (mask[:, 1:] > mask[:, :-1]).any(dim=-1)  # real again after padding
        yield (ids.lt(0) | ids.ge(self.size)).any(dim=-1)
        if not ids.shape[1]:
            return
        yield (ids[:, 0] != self.first) | mask[:, 0].ne(1)
        ends = torch.take_along_dim(ids, counts.sub(1).clamp(min=0).unsqueeze(1), dim=1)
        yield ends.squeeze(1) != self.last

    def __call__(self, ids, mask):
        amiss = torch.stack(list(self.faults(ids, mask)))  # [rules, rows]
        return ~amiss.any()


class Pipeline:
    """The encoder and what a head makes of its features."""

    def __init__(self, batch_size=17):
        self.bert, self.size = encoder.load(), batch_size

    @torch.no_grad()
    def features(self, ids, mask):
        order = mask.sum(1).argsort()
        found = []
        for rows in order.split(self.size):
            width = int(mask[rows].sum(1).max())
            batch = {"input_ids": ids[rows, :width], "attention_mask": mask[rows, :width]}
            found.append(encoder.pooled(self.bert, batch))
        return torch.cat(found)[order.argsort()]

    def __call__(self, head, ids, mask, y):
        with torch.no_grad():
            logits = head(self.features(ids, mask))
        p = torch.exp(logits - logits.logsumexp(1, keepdim=True))
        top = p.topk(1)
        right = top.indices[:, 0] == y
        return torch.tensor([right.double().mean(), top.values.mean()])


class Head(torch.nn.Module):
    def __init__(self, F, Y):
        super().__init__()
        torch.manual_seed(42)
        self.layer = torch.nn.Linear(F.shape[-1], len(text.intents))
        self.learn(F, Y, torch.optim.Adam(self.parameters(), lr=1e-3))

    def forward(self, X):
        return self.layer(X)

    def learn(self, F, Y, adam):
        generator = torch.Generator().manual_seed(42)
        for _ in range(30):
            order = torch.randperm(F.shape[0], generator=generator)
            for rows in order.split(32):
                loss = image_loop.loss_fn(self(F[rows]), Y[rows])
                adam.zero_grad()
                loss.backward()
                adam.step()


tokenizer = encoder.tokenizer
from_tokenizer = Contract(tokenizer.cls_token_id, tokenizer.sep_token_id, len(tokenizer))
confidence = Pipeline()
kept = torch.load("bert_features.pt", weights_only=True)
head = Head(kept["F"], kept["Y"])


def inputs():
    options = {"padding": True, "truncation": True, "max_length": 64, "return_tensors": "pt"}
    batch = tokenizer(text.val["text"].to_list(), **options)
    yield "right", batch["input_ids"], batch["attention_mask"]
    words = text.val_set[:][0]
    yield "wrong", words.remainder(len(tokenizer)), words.clamp(max=1)


results = {
    name: confidence(head, ids, mask, encoder.labels(text.val)) for name, ids, mask in inputs()
}

if __name__ == "__main__":
    for name, ids, mask in inputs():
        accuracy, top = results[name].tolist()
        print(f"{name:>8} ids: accuracy {accuracy:.2%}, mean top probability {top:.1%}, ", end="")
        print(f"from_tokenizer says {bool(from_tokenizer(ids, mask))}")
