"""Make the whole bundle again: `python -m grader.tiny.pretrain [--out DIR] [--steps N]`.

Queries and a tokenizer come first; then a BERT of BERT-Mini's shape learns masked words and next
sentences on further generated text, and all of it is written with digests. The number of steps is
fixed, not the time. A second run gives the same queries, but an encoder that is only as good: the
tokenizer's trainer breaks ties by chance, so a few entries of the vocabulary differ. Reference
values therefore come from the committed files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import platform
import shutil
from pathlib import Path

import safetensors
import tokenizers
import torch
import transformers
from tokenizers import Tokenizer
from transformers import BertForPreTraining, BertTokenizer

from grader.tiny.corpus import Corpus, tokenizer_texts, train_tokenizer
from grader.tiny.queries import write_splits
from grader.tiny.training import STEPS, Plan, pretrain

DATA = Path(__file__).with_name("data")

_ABOUT = (
    "Banking-like customer queries from a seeded generator, and a small BERT pretrained on such"
)


def make_bundle(out: Path, plan: Plan) -> None:
    """Write a bundle: queries, tokenizer, pretrained encoder, and `bundle.json`.

    Args:
        out: Folder of the bundle; one that exists stays until all is made.
        plan: What to train.
    """
    draft = out.with_name(out.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    (draft / "encoder").mkdir(parents=True)
    splits = write_splits(draft)
    withheld = frozenset(query.text.lower() for rows in splits.values() for query in rows)
    tokenizer = train_tokenizer(tokenizer_texts(plan.seed + 1, plan.tokenizer_texts))
    model = pretrain(Corpus(tokenizer, plan.seed + 2, withheld), plan)
    _save_tokenizer(tokenizer, draft / "encoder")
    _save_encoder(model, draft / "encoder")
    _save_description(draft, plan)
    former = out.with_name(out.name + ".former")
    if out.exists():
        out.rename(former)
    draft.rename(out)
    shutil.rmtree(former, ignore_errors=True)


def _save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    BertTokenizer(tokenizer_object=tokenizer, model_max_length=512).save_pretrained(folder)
    words = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    lines = "".join(f"{word}\n" for word, _ in words)
    (folder / "vocab.txt").write_text(lines, encoding="utf-8")


def _save_encoder(model: BertForPreTraining, folder: Path) -> None:
    """Save in half precision under a configuration that says single.

    With half in the configuration, loading by default, and random weights made from it, would
    both be in half precision.
    """
    model.half().save_pretrained(folder)
    # Written for its owner alone, which an installed package must not be.
    (folder / "model.safetensors").chmod(0o644)
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config | {"dtype": "float32"}, indent=2) + "\n", encoding="utf-8")


def _save_description(folder: Path, plan: Plan) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    description = {
        "name": "tiny",
        "version": 1,
        "about": _ABOUT,
        "licence": "MIT; all text is generated, from templates written for it",
        "seed": plan.seed,
        "steps": plan.steps,
        "made_with": {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
            "safetensors": safetensors.__version__,
        },
        "sha256": {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in files
        },
    }
    text = json.dumps(description, indent=2) + "\n"
    (folder / "bundle.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Read the command line and make the bundle."""
    parser = argparse.ArgumentParser(prog="python -m grader.tiny.pretrain", description=__doc__)
    parser.add_argument("--out", type=Path, default=DATA, help="folder of the bundle")
    parser.add_argument("--steps", type=int, default=STEPS, help="optimizer steps")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(1)  # of each of our own threads
    make_bundle(options.out, Plan(steps=options.steps))


if __name__ == "__main__":
    main()
