"""The text for the tokenizer and the pretraining: a seed in, sentences and pairs of ids out.

All of it comes from other seeds than the labelled queries, which are left out where they turn up.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from grader.tiny.queries import Intent, Writer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL))
VOCABULARY = 3000
#: How often a sentence on banking at large follows a query and its answer there.
WIDE = 0.1
#: Longest example; lab queries are cut at 64, the rare ones beyond that are seen whole here.
LONGEST = 128
#: Label of a single text, which the loss leaves out.
IGNORED = -100


@dataclass(frozen=True)
class Example:
    """Ids of one or two texts with their special tokens.

    Attributes:
        ids: `[CLS] first [SEP]`, and `second [SEP]` where there is one.
        first: How many ids belong to the first segment.
        apart: 0 if the texts belong together, 1 if not, -100 for a single text.
    """

    ids: list[int]
    first: int
    apart: int


def train_tokenizer(texts: Iterator[str], size: int = VOCABULARY) -> Tokenizer:
    """Train an uncased WordPiece tokenizer that frames texts as BERT does."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[UNK]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    alphabet = [chr(code) for code in range(33, 127)] + ["£", "€", "’"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=[AddedToken(token, special=True) for token in SPECIAL],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    return tokenizer


def tokenizer_texts(seed: int, count: int) -> Iterator[str]:
    """Yield sentences for the tokenizer: queries, answers and banking at large."""
    writer = Writer(random.Random(seed), unseen=False)
    for _ in range(count):
        intent = writer.rng.choice(writer.phrases.intents)
        yield writer.query(intent)
        yield writer.answer(intent)
        if writer.rng.random() < WIDE:
            yield writer.sentence()


class Corpus:
    """Draws pretraining examples without end.

    Args:
        tokenizer: Gives the ids.
        seed: Seed of everything drawn.
        withheld: Lower-cased texts that never appear (the labelled queries).
    """

    def __init__(self, tokenizer: Tokenizer, seed: int, withheld: frozenset[str]) -> None:
        self.tokenizer = tokenizer
        self.writer = Writer(random.Random(seed), unseen=False)
        self.withheld = withheld

    def draw(self, count: int) -> list[Example]:
        """Draw examples: pairs that do or do not belong together, and single texts."""
        drawn = [self._texts() for _ in range(count)]
        firsts = self._encode([first for first, _, _ in drawn])
        seconds = self._encode([second for _, second, _ in drawn])
        examples = []
        for first, second, (_, text, apart) in zip(firsts, seconds, drawn, strict=True):
            head = [CLS, *first[: LONGEST // 2 if text else LONGEST - 2], SEP]
            tail = [*second[: LONGEST - len(head) - 1], SEP] if text else []
            examples.append(Example(head + tail, len(head), apart))
        return examples

    def _encode(self, texts: list[str]) -> list[list[int]]:
        encoded = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return [each.ids for each in encoded]

    def _texts(self) -> tuple[str, str, int]:
        """Return a text, another (or nothing), and whether they are apart."""
        writer, rng = self.writer, self.writer.rng
        intent = rng.choice(writer.phrases.intents)
        kind = rng.random()
        if kind < 0.10:
            return self._query(intent), "", IGNORED
        if kind < 0.14:
            return ". ".join(writer.sentence() for _ in range(rng.randint(1, 3))), "", IGNORED
        if kind < 0.17:
            many = [self._query(rng.choice(writer.phrases.intents)) for _ in range(8)]
            return " ".join(many), "", IGNORED
        apart = int(rng.random() < 0.5)
        other = self._stranger(intent) if apart else intent
        if kind < 0.70:
            return self._query(intent), writer.answer(other), apart
        if kind < 0.82:
            return writer.answer(intent), self._query(other), apart
        return self._query(intent), self._query(other), apart

    def _stranger(self, intent: Intent) -> Intent:
        """Draw another intent, a quarter of the time one that is easily confused with this one."""
        if self.writer.rng.random() < 0.25:
            return self.writer.neighbour(intent)
        others = [each for each in self.writer.phrases.intents if each != intent]
        return self.writer.rng.choice(others)

    def _query(self, intent: Intent) -> str:
        while (text := self.writer.query(intent)).lower() in self.withheld:
            pass
        return text
