"""Other means to the same end: the head as two tensors, sums by `index_add_`, plain lists."""

import torch
from transformers import AutoModel

from encoder import batches, labels, load
from text import intents, train, val

pretrained = load()
with torch.random.fork_rng():
    torch.manual_seed(42)
    random = AutoModel.from_config(pretrained.config)
for module in random.modules():
    module.training = False


def features(model, df):
    """Real tokens gathered into one long list, then added up by the query that they belong to."""
    found = []
    with torch.inference_mode():
        for batch, y in batches(df, 40):
            hidden = model(**batch).last_hidden_state
            query, position = batch["attention_mask"].nonzero(as_tuple=True)
            total = torch.zeros(len(y), hidden.shape[-1])
            total.index_add_(0, query, hidden[query, position])
            found += list(total / query.bincount(minlength=len(y)).unsqueeze(1))
    return torch.stack(found).clone()


def fit(F, Y, G, Z):
    """The head as its two tensors, drawn as `nn.Linear` draws them."""
    torch.manual_seed(42)
    drawn = torch.nn.Linear(F.shape[1], len(intents))
    weight, bias = (p.detach().clone().requires_grad_() for p in drawn.parameters())
    optimizer = torch.optim.Adam([weight, bias], lr=0.001)
    shuffler = torch.Generator().manual_seed(42)
    for order in [torch.randperm(len(F), generator=shuffler) for _ in range(30)]:
        for rows in torch.split(order, 32):
            logits = F[rows] @ weight.T + bias
            loss = (logits.logsumexp(1) - logits.gather(1, Y[rows, None]).squeeze(1)).mean()
            weight.grad = bias.grad = None
            loss.backward()
            optimizer.step()
    accuracies = []
    for X, y in ((F, Y), (G, Z)):
        guesses = (X @ weight.T + bias).argmax(1)
        accuracies.append(sum(map(int.__eq__, guesses.tolist(), y.tolist())) / len(y))
    return tuple(accuracies)


def mean_cosine(X):
    unit = X / X.norm(dim=1, keepdim=True)
    return unit.mm(unit.t()).flatten().mean()


print(random._get_name())
print(random.num_parameters())
print(
    (pretrained.embeddings.word_embeddings.weight - random.embeddings.word_embeddings.weight)
    .eq(0)
    .all()
    .item()
)
Y, Z = labels(train), labels(val)
for model in (pretrained, random):
    F, G = (features(model, df) for df in (train, val))
    for accuracy in fit(F, Y, G, Z):
        print(round(accuracy, 4))
    print(f"{mean_cosine(F):.4f}")
