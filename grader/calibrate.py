"""Sets a lab's bands from what right runs need: `calibrate(assignment, runner) -> Calibration`.

Right runs are the reference under other numbers of threads, sizes of batches and kernels, and the
files of `right/`; each in several draws of every case's rows. How much of a band a run needs is
found by judging its stored values with narrower and narrower bands, by the lab's own checks.

ACCEPTED is the chance that a right submission loses a point to a band; each band has its share of
it in each case. How a band's chance is estimated stands in `spread`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version

from grader import batch
from grader.assignment import bands_file
from grader.bands import Band, BandsFile
from grader.known import kept_run
from grader.known import known as make_known
from grader.records import Assignment, AssignmentError, Case, Run, Submission
from grader.runner import Runner
from grader.spread import LADDERS, fitted
from grader.tomls import read_toml
from grader.verify import File, files

ACCEPTED = 1e-4  #: chance that a right submission loses points to any band in any case
_WRONG_DRAWS = 3  #: in so many a wrong file is run: its values are far off or they are not
_FRESH = 100  #: the first draw that bands are not made from
_PATIENCE = 5  #: a run may take so many times what a submission may
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy")
#: Put before the reference: what it makes of its batches must not matter.
_RESIZED = """\
import encoder as _encoder
_batches = _encoder.batches
_encoder.batches = lambda df, size, generator=None: _batches(df, {size}, generator)
"""
_EAGER = """\
import encoder as _encoder
_load = _encoder.load
def _eager():
    model = _load()
    model.set_attn_implementation("eager")
    return model
_encoder.load = _eager
"""

#: Of one file: the parts that it loses in each draw of each case, given bands.
_Lost = Callable[[Mapping[str, float]], Mapping[str, set[str]]]


@dataclass(frozen=True)
class Calibration:
    """The bands that were found, and what they do not hold apart."""

    bands: BandsFile
    problems: tuple[str, ...]


def calibrate(
    assignment: Assignment, runner: Runner, draws: int = 2, workers: int = 2
) -> Calibration:
    """Find the bands of a lab that has a file of bands with their names and units.

    Args:
        assignment: the lab, with its solutions.
        runner: where the files run.
        draws: in how many draws of each case's rows they run, the case's own the first.
        workers: how many runs go on at once.

    Raises:
        AssignmentError: there are no bands, the reference does not run in some draw, or what
            is right loses points however wide the bands are: then a check is to be mended.
    """
    path = bands_file(assignment.folder, assignment.cases[0].bundle)
    if path is None:
        raise AssignmentError(
            f"{assignment.folder / 'bands'}: there are no bands to calibrate; add them to "
            "tiny.toml by name and unit"
        )
    asked = read_toml(path, BandsFile).bands
    wide = _wide(assignment, draws)
    expected = make_known(wide, runner.bundles, runner.run_case)
    made = list(_files(assignment))
    right = [file for file in made if file.kind == "right"]
    lost = dict(_judged(wide, expected, runner, right, workers))
    needed: dict[str, dict[str, list[float]]] = {name: {} for name in asked}
    faults = []
    for file in right:
        try:
            for name in asked:
                needed[name][file.name] = needs(name, asked, lost[file.name])
        except ValueError as fault:
            faults.append(f"{file.name} {fault}")
    if faults:
        raise AssignmentError(f"{path}: not written, since a check fails what is right: {faults}")
    share = ACCEPTED / (len(asked) * len(assignment.cases))
    found = {name: fitted(asked[name].unit, runs, share) for name, runs in needed.items()}
    few = min(draws, _WRONG_DRAWS)
    wrong = {file.name: file for file in made if file.kind == "wrong"}
    judged = _judged(_wide(assignment, few), expected, runner, list(wrong.values()), workers)
    passes = {name: kept(wrong[name].loses, asked, found, lost, few) for name, lost in judged}
    bands = BandsFile(
        date=datetime.datetime.now(datetime.UTC).date(),
        versions={name: version(name) for name in _PACKAGES},
        draws=draws,
        false_fail=float(f"{_false_fail(found) * len(assignment.cases):.1e}"),
        bands=found,
        lets_pass={name: round(share, 3) for name, share in passes.items()},
    )
    problems = [
        f"{name} keeps a part that it should lose in {share:.0%} of the draws, since it is within "
        "the bands: ask another question"
        for name, share in passes.items()
        if share
    ]
    return Calibration(bands, tuple(problems))


def right_runs(
    assignment: Assignment, runner: Runner, draws: int, workers: int = 2
) -> dict[str, tuple[int, int]]:
    """How often what is right loses points under the bands as they are: by file, of how many runs.

    Each right file, and the reference, runs as it is, with two threads, in other batches and with
    eager attention.

    Args:
        assignment: the lab, with its solutions.
        runner: where the files run.
        draws: in how many draws of each case's rows they run, other ones than bands are made from.
        workers: how many runs go on at once.
    """
    wide = _wide(assignment, draws, _FRESH)
    expected = make_known(wide, runner.bundles, runner.run_case)
    made = [
        varied
        for file in files(assignment)
        if file.kind == "right" or (file.kind == "reference" and file.threads == 1)
        for varied in _varied(assignment, file)
    ]
    return {
        name: (sum(map(bool, lost(assignment.bands).values())), len(wide.cases))
        for name, lost in _judged(wide, expected, runner, made, workers)
    }


def _wide(assignment: Assignment, draws: int, first: int = 0) -> Assignment:
    """An assignment with its cases in several draws, and time enough on a busy machine."""
    cases = tuple(_draws(assignment.cases, range(first, first + draws)))
    return replace(assignment, cases=cases)


def _draws(cases: Sequence[Case], draws: Sequence[int]) -> Iterator[Case]:
    """Each case with its own rows, in draw 0, and with others."""
    for case in cases:
        for i in draws:
            yield replace(
                case,
                name=f"{case.name}_{i}",
                seed=case.seed + 1000 * i,
                share=case.share / len(draws),
                seconds=_PATIENCE * case.seconds,
            )


def _draw(case: str) -> int:
    """Which draw of its case it is."""
    return int(case.rpartition("_")[2])


def _files(assignment: Assignment) -> Iterator[File]:
    """Right and wrong files, and the reference in ways that should not matter."""
    for file in files(assignment):
        if file.kind in ("right", "wrong"):
            yield file
        elif file.kind == "reference" and file.threads == 1:
            yield from _varied(assignment, replace(file, kind="right"))


def _varied(assignment: Assignment, file: File) -> Iterator[File]:
    """A file as it is, and in ways that should not matter."""
    yield file
    yield replace(file, name=f"{file.name}, 2 threads", threads=2)
    preludes = {f"batches of {size}": _RESIZED.format(size=size) for size in (1, 16, 256)}
    for what, prelude in {**preludes, "eager attention": _EAGER}.items():
        (content,) = file.submission.files.values()
        changed = {assignment.file: prelude.encode() + content}
        name = f"{file.name}, {what}"
        yield replace(file, name=name, submission=Submission(name, changed, assignment.file))


def _judged(
    wide: Assignment,
    expected: Mapping[str, Run],
    runner: Runner,
    made: Sequence[File],
    workers: int,
) -> Iterator[tuple[str, _Lost]]:
    """Each file with a function that judges its runs anew."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [
            [pool.submit(_run, wide, case, runner, file) for case in wide.cases] for file in made
        ]
        for file, of_cases in zip(made, futures, strict=True):
            runs = tuple(future.result() for future in of_cases)
            yield file.name, _judge(wide, expected, file.submission, runs)


def _run(wide: Assignment, case: Case, runner: Runner, file: File) -> Run:
    """A run, kept for the next calibration; one of what was kept already is made anew."""
    if file.threads > 1 or file.name == "reference":
        return runner.run_case(wide, case, file.submission, file.threads)
    return kept_run(wide, case, runner.bundles, runner.run_case, file.submission)


def _judge(
    wide: Assignment, expected: Mapping[str, Run], submission: Submission, runs: tuple[Run, ...]
) -> _Lost:
    def lost(values: Mapping[str, float]) -> Mapping[str, set[str]]:
        grade, _ = batch.judge(replace(wide, bands=values), expected, submission, runs)
        found: dict[str, set[str]] = {case.name: set() for case in wide.cases}
        for check in grade.checks:
            if check.status != "passed":
                found[check.case].add(check.part)
        return found

    return lost


def needs(name: str, asked: Mapping[str, Band], lost: _Lost) -> list[float]:
    """What a right file needs of a band in each draw of each case, all other bands being wide.

    Each draw has a bracket on the ladder, halved again and again; one judgement serves all draws.

    Raises:
        ValueError: it loses points however wide they are.
    """
    ladder = LADDERS[asked[name].unit]
    wide = {other: LADDERS[band.unit][-1] for other, band in asked.items()}
    ever = lost(wide)
    if never := {case: sorted(parts) for case, parts in ever.items() if parts}:
        raise ValueError(f"loses points with any band: {never}")
    low, high = dict.fromkeys(ever, -1), dict.fromkeys(ever, len(ladder) - 1)
    while open_ := [case for case in ever if high[case] - low[case] > 1]:
        middle = (low[open_[0]] + high[open_[0]]) // 2
        for case, parts in lost({**wide, name: ladder[middle]}).items():
            if parts:
                low[case] = max(low[case], middle)
            else:
                high[case] = min(high[case], middle)
    return [ladder[high[case]] for case in ever]


def kept(
    parts: frozenset[str],
    asked: Mapping[str, Band],
    found: Mapping[str, Band],
    lost: _Lost,
    draws: int,
) -> float:
    """In what fraction of the draws the bands let a wrong file keep a part that it should lose.

    A draw is that of all cases. A part that the narrowest bands do not cost it there either is no
    matter of theirs.
    """
    narrow = lost({name: LADDERS[band.unit][0] for name, band in asked.items()})
    now = lost({name: band.value for name, band in found.items()})

    def of(draw: int, by_case: Mapping[str, set[str]]) -> set[str]:
        return set().union(*(those for case, those in by_case.items() if _draw(case) == draw))

    return sum(bool((of(i, narrow) & parts) - of(i, now)) for i in range(draws)) / draws


def _false_fail(found: Mapping[str, Band]) -> float:
    """The chance that a right run needs more than any of the bands."""
    return sum(band.false_fail or 0.0 for band in found.values())
