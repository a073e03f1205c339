"""Texts of like length share a batch and are put back; states are kept by a hook; state_dict."""

import torch
from transformers import BertConfig, BertModel

import text
from encoder import load, tokenizer

bert = load()
kept = {}
bert.encoder.layer[-1].register_forward_hook(
    lambda _, __, out: kept.update(last=out[0] if isinstance(out, tuple) else out)
)
TABLE = """
tiny   2  128
mini   4  256
small  4  512
medium 8  512
base   12 768
large  24 1024
"""


def count_parameters(size):
    for name, layers, width in map(str.split, TABLE.strip().splitlines()):
        if name == size:
            wide = int(width)
            with torch.device("meta"):
                encoder = BertModel(
                    BertConfig(
                        vocab_size=30_522,
                        max_position_embeddings=512,
                        type_vocab_size=2,
                        hidden_size=wide,
                        num_hidden_layers=int(layers),
                        num_attention_heads=wide // 64,
                        intermediate_size=wide << 2,
                    )
                )
            return sum(map(torch.numel, encoder.state_dict().values()))
    raise ValueError(f"no such size: {size}")


def run(texts):
    """Fill `kept` and give back the batch."""
    batch = tokenizer(texts, return_tensors="pt", padding="longest", truncation=True, max_length=64)
    with torch.inference_mode():
        bert(**batch)
    return batch


def cls_vector(texts):
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    rows = [None] * len(texts)
    for start in range(0, len(order), 24):
        some = order[start : start + 24]
        run([texts[i] for i in some])
        for i, states in zip(some, kept["last"], strict=True):
            rows[i] = states[0].clone()
    return torch.stack(rows)


def input_embedding(ids, segments):
    caught = []
    handle = bert.embeddings.LayerNorm.register_forward_hook(lambda *seen: caught.append(seen[2]))
    with torch.no_grad():
        bert.embeddings(input_ids=ids, token_type_ids=segments)
    handle.remove()
    return caught[0]


def word_vector(sentence, word):
    ids = run([sentence])["input_ids"][0]
    pieces = [tokenizer.decode([i]).strip() for i in ids]
    spelled = tokenizer.convert_ids_to_tokens(ids)
    ends = [not after.startswith("##") for after in spelled[1:]] + [True]
    for state, piece, end in zip(kept["last"][0], pieces, ends, strict=True):
        if piece == word.lower() and end:
            return state.clone()
    raise ValueError(f"'{word}' is not among {pieces}")


def main():
    print("base:", f"{count_parameters('base'):_}")
    print("large:", f"{count_parameters('large'):_}")
    table = bert.get_input_embeddings().weight
    both = []
    queries = iter(text.train.text)
    while len(both) < 2:
        try:
            both.append(word_vector(next(queries), "the"))
        except ValueError:
            continue
    the = torch.stack([table[tokenizer.convert_tokens_to_ids("the")]] * 2)
    for pair in (torch.stack(both), the):
        unit = torch.nn.functional.normalize(pair)
        print((unit @ unit.T)[0, 1].item())


if __name__ == "__main__":
    main()
