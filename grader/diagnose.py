"""Says which mistake was made: `diagnose(checks, expected, runs, mistakes) -> checks`.

A submission that lost points is compared with every known mistake, answer by answer. A mistake
*explains* an answer where, in every case in which it differs from the reference there, the
submission has the mistake's values and not the reference's. What no known mistake explains is
compared with general ones on the value itself (see `general`).

Nothing is said that is not certain. Each number or word in which the mistake differs and the
submission agrees with it counts as a power of ten against chance (see `leaves.odds`: a whole number
up to 2, another number or a word 1), added up over probes and cases:

- from CERTAIN on (a chance of one in ten thousand) a mistake is told;
- from ALONE on (one in a hundred) it is told where it leaves nothing that was lost unexplained, by
  itself or together with others that are told;
- it is never told where the submission gives the reference's values in answer to a probe on which
  the mistake differs by RULED_OUT or more;
- of mistakes that explain the same equally well none is told alone, but "a or b".

What is said holds how many values agree and how closely, never a value: a case may be hidden.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from grader import general
from grader.asked import OUTPUT
from grader.leaves import CLOSE, Difference, Leaf, answers, differ
from grader.mistakes import Differences, Mistakes, Question
from grader.printed import Printed, PrintedDifference, printed
from grader.records import Check, Run

CERTAIN, ALONE, RULED_OUT = 4.0, 2.0, 3.0

#: A leaf of an answer, by case, probe and path.
Place: TypeAlias = tuple[str, str, str]
Answers: TypeAlias = Mapping[Question, "Mapping[str, Leaf] | Printed"]


@dataclass(frozen=True)
class Found:
    """A mistake that a submission has, or several of which it has one."""

    name: str
    told: str  #: what was done, and the evidence, to the student
    places: frozenset[Place]  #: the leaves that it explains
    odds: float  #: how unlikely they are by chance, as a power of ten
    missed: int  #: answers in which it differs and that it does not explain


def diagnose(
    checks: tuple[Check, ...],
    expected: Mapping[str, Run],
    runs: tuple[Run, ...],
    mistakes: Mistakes,
) -> tuple[Check, ...]:
    """The checks, with the mistake in those that were lost to one.

    Args:
        checks: what was found, with the probes that each asked.
        expected: the reference's run by case.
        runs: the submission's.
        mistakes: the known ones.

    Returns:
        The checks in their order. Each that a mistake explains has its name; the first has the
        sentence to the student as well.
    """
    lost = [check for check in checks if check.status in ("failed", "partial")]
    if not lost:
        return checks
    mine = _answers(checks, {run.case: run for run in runs})
    ours = _answers(checks, expected, mistakes.ours)
    missing = _places(lost, mine, ours, mistakes.near())
    found = _known(mine, missing, mistakes)
    told: set[str] = set()
    return tuple(
        _diagnosed(check, mine, ours, missing, found, mistakes, told) if check in lost else check
        for check in checks
    )


def _answers(
    checks: Iterable[Check],
    runs: Mapping[str, Run],
    taken_apart: Callable[[Run], Mapping[str, Mapping[str, Leaf]]] = answers,
) -> Answers:
    """What was answered to the probes that were asked."""
    found: dict[Question, Mapping[str, Leaf] | Printed] = {}
    for case, run in runs.items():
        asked = {probe for check in checks if check.case == case for probe in check.probes}
        found |= {
            (case, probe): value for probe, value in taken_apart(run).items() if probe in asked
        }
        if OUTPUT in asked:
            found[case, OUTPUT] = printed(run.output)
    return found


def _places(
    lost: Iterable[Check], mine: Answers, ours: Answers, near: Mapping[str, float]
) -> frozenset[Place]:
    """The leaves that are not the reference's, among those that lost checks asked for."""
    found: set[Place] = set()
    for case, probe in {(check.case, probe) for check in lost for probe in check.probes}:
        here, there = mine.get((case, probe)), ours.get((case, probe))
        if isinstance(here, dict) and isinstance(there, dict):
            close = near.get(probe, CLOSE)
            found |= {
                (case, probe, path)
                for path in {**there, **here}
                if differ(here.get(path), there.get(path), close)
            }
        else:  # what is printed is judged as a whole, and there may be no answer
            found.add((case, probe, ""))
    return frozenset(found)


def _known(mine: Answers, missing: frozenset[Place], mistakes: Mistakes) -> list[Found]:
    """The known mistakes that are told, those that explain most first."""
    candidates = [
        one
        for name, differences in mistakes.differences().items()
        if (one := _evidence(name, mistakes.told[name], differences, mine)) and one.odds >= ALONE
    ]
    chosen: list[Found] = []
    left = missing
    while candidates:
        best = max(candidates, key=lambda one: (len(one.places & left), -one.missed))
        if not best.places & left:
            break
        equals = [
            one
            for one in candidates
            if one.places & left == best.places & left and one.missed == best.missed
        ]
        chosen.append(best if len(equals) == 1 else _either(equals))
        left -= best.places
        candidates = [one for one in candidates if one not in equals]
    return [one for one in chosen if one.odds >= CERTAIN or not left]


def _evidence(name: str, told: str, differences: Differences, mine: Answers) -> Found | None:
    """What of a submission a mistake explains; None where it is ruled out or explains nothing."""
    by_probe: dict[str, list[Question]] = defaultdict(list)
    for question in differences:
        if question in mine:
            by_probe[question[1]].append(question)
    gaps: dict[Question, float] = {}
    missed = 0
    for probe, questions in by_probe.items():
        pairs = [(differences[question], mine[question]) for question in questions]
        made = [_made(*pair) for pair in pairs]
        if None not in made:
            gaps |= {q: gap for q, gap in zip(questions, made, strict=True) if gap is not None}
            continue
        missed += 1
        against = sum(difference.odds for difference, _ in pairs)
        if probe != OUTPUT and against >= RULED_OUT and all(_right(*pair) for pair in pairs):
            return None
    if not gaps:
        return None
    places = {(*question, path) for question in gaps for path in _paths(differences[question])}
    return Found(
        name=name,
        told=f"{told} Evidence: {_agreement(gaps, differences)}.",
        places=frozenset(places),
        odds=sum(differences[question].odds for question in gaps),
        missed=missed,
    )


def _made(difference: Difference | PrintedDifference, mine: object) -> float | None:
    return difference.made(mine)  # type: ignore[arg-type]


def _right(difference: Difference | PrintedDifference, mine: object) -> bool:
    return difference.right(mine)  # type: ignore[arg-type]


def _paths(difference: Difference | PrintedDifference) -> Iterable[str]:
    return difference.marks if isinstance(difference, Difference) else ("",)


def _agreement(gaps: Mapping[Question, float], differences: Differences) -> str:
    """How many values agree with a mistake's, and how closely."""
    values = [question for question in gaps if question[1] != OUTPUT]
    count = sum(differences[question].count for question in values or gaps)
    what = "values that your code gave" if values else "numbers and words that you printed"
    largest = max(gaps[question] for question in values or gaps)
    close = (
        f"equal to what this gives within {largest:.0e}" if largest else "exactly what this gives"
    )
    return f"{count:,} {what} are {close}, and not what was asked for"


def _either(equals: list[Found]) -> Found:
    """Several mistakes that cannot be told apart, as one."""
    names = " or ".join(one.name for one in equals)
    sentences = " Or: ".join(one.told for one in equals)
    return replace(equals[0], name=names, told=f"Either: {sentences}")


def _diagnosed(
    check: Check,
    mine: Answers,
    ours: Answers,
    missing: frozenset[Place],
    found: list[Found],
    mistakes: Mistakes,
    told: set[str],
) -> Check:
    """A lost check with the mistakes that explain it; `told` grows by those that it tells."""
    asked = {(check.case, probe) for probe in check.probes}
    places = {place for place in missing if place[:2] in asked}
    here = [one for one in found if one.places & places and _loses(one, check, mistakes)]
    pairs = {one.name: one.told for one in here}
    if not here:
        pairs = _general(check, mine, ours)
    if not pairs:
        return check
    new = [sentence for name, sentence in pairs.items() if name not in told]
    told |= set(pairs)
    return replace(check, mistake=" and ".join(pairs), diagnosis=" ".join(new) or None)


def _loses(one: Found, check: Check, mistakes: Mistakes) -> bool:
    """Whether a mistake by itself loses this check."""
    lost = mistakes.lost()
    return any((check.name, check.case) in lost.get(name, ()) for name in one.name.split(" or "))


def _general(check: Check, mine: Answers, ours: Answers) -> dict[str, str]:
    """The general mistake in an answer that a lost check asked for, with its sentence."""
    for probe in check.probes:
        here, there = mine.get((check.case, probe)), ours.get((check.case, probe))
        if isinstance(here, dict) and isinstance(there, dict):
            pair = general.mistake(here, there)
            if pair is not None:
                name, sentence, detail = pair
                shown = sentence if check.hidden else f"{sentence} ({detail})"
                return {name: f"Compared with what was asked for, {shown}."}
    return {}
