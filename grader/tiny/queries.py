"""Seeded banking-like customer queries: a seed in, rows of (text, category) out.

The templates are in `phrases.toml`. Everything is drawn from one `random.Random`, and no set is
ever iterated, so that a seed gives the same queries on every machine.
"""

from __future__ import annotations

import csv
import random
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

SEED = 20
#: How many of a hundred queries go to validation and to test; the rest are for training.
VAL_PERCENT, TEST_PERCENT = 15, 15
#: Fewest and most queries of one intent: real intents are not of one size either.
SIZES = (84, 104)
SPLITS = ("train", "val", "test")

_CONTRAST, _ASIDE, _RAMBLE = 0.17, 0.10, 0.035
_BEFORE, _AFTER, _RARE = 0.25, 0.30, 0.15
_TYPO = 0.005

_CHOICE = re.compile(r"\(([^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")
_QUESTION = ("how", "what", "why", "when", "where", "which", "who", "is", "are", "can", "could")
_AUXILIARY = ("do", "does", "did", "will", "has", "was", "for what reason", "may")


@dataclass(frozen=True)
class Query:
    """One customer query and its intent."""

    text: str
    category: str


@dataclass(frozen=True)
class Intent:
    """The material of one intent; the intents of a group are easily confused."""

    name: str
    group: str
    topics: list[str]
    cores: list[str]
    answers: list[str]


@dataclass(frozen=True)
class Phrases:
    """The templates: slots by name, frames around queries, and the intents."""

    slots: dict[str, list[str]]
    frame: dict[str, list[str]]
    wide: dict[str, list[str]]
    intents: list[Intent]


def load_phrases() -> Phrases:
    """Read the templates that come with the package."""
    source = resources.files(__package__).joinpath("phrases.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(source)
    wide = {
        name: part.split() if isinstance(part, str) else part for name, part in raw["wide"].items()
    }
    intents = [Intent(**each) for each in raw["intents"]]
    return Phrases(raw["slots"], raw["frame"], wide, intents)


def build_splits(seed: int = SEED) -> dict[str, list[Query]]:
    """Draw the labelled queries: no text occurs twice, whatever its case.

    Args:
        seed: Seed of the only source of randomness.

    Returns:
        The queries of `train`, `val` and `test`; every intent is in each.
    """
    writer = Writer(random.Random(seed))
    splits: dict[str, list[Query]] = {name: [] for name in SPLITS}
    seen: set[str] = set()
    for intent in writer.phrases.intents:
        rows: list[Query] = []
        wanted = writer.rng.randint(*SIZES)
        while len(rows) < wanted:
            text = writer.query(intent)
            if text.lower() not in seen:
                seen.add(text.lower())
                rows.append(Query(text, intent.name))
        val, test = (round(wanted * part / 100) for part in (VAL_PERCENT, TEST_PERCENT))
        splits["val"] += rows[:val]
        splits["test"] += rows[val : val + test]
        splits["train"] += rows[val + test :]
    for name in SPLITS:
        writer.rng.shuffle(splits[name])
    return splits


def write_splits(folder: Path, seed: int = SEED) -> dict[str, list[Query]]:
    """Write `train.csv`, `val.csv` and `test.csv` into a folder and return their rows."""
    splits = build_splits(seed)
    for name, rows in splits.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["text", "category"])
            table.writerows([row.text, row.category] for row in rows)
    return splits


class Writer:
    """Writes queries, and the answers to them, from the templates.

    Args:
        rng: Where every draw comes from.
        unseen: Whether queries may hold the words kept away from the tokenizer's text.
    """

    def __init__(self, rng: random.Random, *, unseen: bool = True) -> None:
        self.rng = rng
        self.unseen = unseen
        self.phrases = load_phrases()
        self._groups: dict[str, list[Intent]] = {}
        for intent in self.phrases.intents:
            self._groups.setdefault(intent.group, []).append(intent)

    def query(self, intent: Intent) -> str:
        """Write one query of an intent, with all that makes real ones hard to read."""
        rng, frame = self.rng, self.phrases.frame
        if rng.random() < _CONTRAST:
            text = self._between(rng.choice(frame["contrast"]), intent)
        else:
            text = self._expand(rng.choice(intent.cores))
            if rng.random() < _ASIDE:
                text = self._between(rng.choice(frame["aside"]), intent, core=text)
        rambles = rng.random() < _RAMBLE
        text = self._ramble(text, intent) if rambles else self._dress(text)
        return self._case(self._misspell(text))

    def answer(self, intent: Intent) -> str:
        """Write an answer of the bank to a query of the intent."""
        return self._expand(self.rng.choice(intent.answers))

    def sentence(self) -> str:
        """Write a sentence on banking at large, in words that queries may not have."""
        return self._expand(self.rng.choice(self.phrases.wide["sentences"]))

    def neighbour(self, intent: Intent) -> Intent:
        """Draw another intent of the same group."""
        return self.rng.choice([each for each in self._groups[intent.group] if each != intent])

    def _between(self, template: str, intent: Intent, core: str = "") -> str:
        """Fill a frame that names the wanted topic A and an unwanted neighbour B."""
        other = self.rng.choice(self.neighbour(intent).topics)
        filled = template.replace("{A}", self.rng.choice(intent.topics)).replace("{B}", other)
        return self._expand(filled.replace("{core}", core))

    def _ramble(self, core: str, intent: Intent) -> str:
        """Put the question somewhere among sentences that hardly matter."""
        sentences = self.rng.sample(self.phrases.frame["filler"], self.rng.randint(3, 6))
        parts = [self._between(sentence, intent) for sentence in sentences]
        parts.insert(self.rng.choice([0, 0, len(parts) // 2, len(parts)]), core)
        return ". ".join(part[0].upper() + part[1:] for part in parts) + "."

    def _dress(self, text: str) -> str:
        """Add greetings, endings and a question mark."""
        rng, frame = self.rng, self.phrases.frame
        asks = text.lower().startswith(_QUESTION + _AUXILIARY)
        if rng.random() < _RARE:
            text += ", " + self._expand(rng.choice(self.phrases.slots["rareuse"]))
        if rng.random() < _BEFORE:
            text = rng.choice(frame["before"]) + text
        end = rng.choice(["?", "?", "?", "?", "", "??"] if asks else ["", "", ".", ".", "!"])
        if rng.random() < _AFTER:
            return text + end + " " + self._expand(rng.choice(frame["after"]))
        return text + end

    def _expand(self, template: str) -> str:
        """Resolve choices and slots, innermost first, until none is left."""
        text = template
        while True:
            if match := _CHOICE.search(text):
                part = self.rng.choice(match[1].split("|"))
            elif match := _SLOT.search(text):
                part = self._slot(match[1])
            else:
                return re.sub(r"\s+", " ", text).replace(" ,", ",").replace(" .", ".").strip()
            text = text[: match.start()] + part + text[match.end() :]

    def _slot(self, name: str) -> str:
        if name == "number":
            return str(self.rng.randint(2, 30))
        if name == "amount":
            return self._amount()
        if name == "rare" and self.unseen and self.rng.random() < 0.45:
            name = "unseen"
        phrases = self.phrases
        return self.rng.choice(phrases.wide.get(name) or phrases.slots[name])

    def _amount(self) -> str:
        rng = self.rng
        whole = rng.choice(
            [5, 10, 15, 20, 25, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 500]
        )
        if rng.random() < 0.06:
            whole = rng.randint(3, 1900)
        written = f"{whole:,}" if rng.random() < 0.5 else str(whole)
        if rng.random() < 0.2:
            written += rng.choice([".50", ".99", ".95", ".20", ".75", ".49"])
        if rng.random() < 0.25:
            return f"{written} {rng.choice(['pounds', 'euros', 'dollars', 'quid', 'EUR', 'GBP'])}"
        return rng.choice("££££€€$") + written

    def _misspell(self, text: str) -> str:
        """Swap, drop or double a letter in a few of the longer words."""
        rng, words = self.rng, text.split(" ")
        for index, word in enumerate(words):
            if len(word) < 4 or not word.isalpha() or rng.random() >= _TYPO:
                continue
            at = rng.randrange(1, len(word) - 1)
            swap = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            drop = word[:at] + word[at + 1 :]
            double = word[:at] + word[at] * 2 + word[at + 1 :]
            words[index] = rng.choice([swap, drop, double])
        return " ".join(words)

    def _case(self, text: str) -> str:
        draw = self.rng.random()
        if draw < 0.20:
            return text.lower()
        if draw < 0.22:
            return text.upper()
        return text[0].upper() + text[1:]
