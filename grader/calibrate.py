"""Sets a lab's bands from what right runs need: `calibrate(assignment, runner) -> Calibration`.

Right runs are the reference under other numbers of threads, sizes of batches and kernels, and the
files of `right/`; each in several draws of every case's rows. How much of a band a run needs is
found by judging its stored values with narrower and narrower bands, by the lab's own checks.

A tolerance is the least on a ladder of 1, 2 and 5 that a right run exceeds with a chance below
1 in 10,000, by a Gumbel distribution (that of the largest of many errors) fitted to the logarithms
of what the runs needed. A band of rows is the least for which a Poisson distribution says so, whose
rate is the upper 95% bound of what was seen.
"""

from __future__ import annotations

import datetime
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version

from grader import batch
from grader.assignment import read_toml
from grader.bands import Band, BandsFile, Unit, path_of
from grader.known import known as make_known
from grader.records import Assignment, AssignmentError, Case, Run, Submission
from grader.runner import Runner
from grader.verify import File, files

ACCEPTED = 1e-4  #: chance that a right run needs more than a band
LADDERS: dict[Unit, list[float]] = {
    "tolerance": [float(f"{digit}e{power}") for power in range(-9, 0) for digit in (1, 2, 5)],
    "rows": [float(rows) for rows in range(21)],
}
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

#: Of one file: the draws in which it loses points, given bands.
_Short = Callable[[Mapping[str, float]], set[str]]


@dataclass(frozen=True)
class Calibration:
    """The bands that were found, and what they do not hold apart."""

    bands: BandsFile
    problems: tuple[str, ...]


def calibrate(
    assignment: Assignment, runner: Runner, draws: int = 2, workers: int = 2
) -> Calibration:
    """Find the bands of a lab that has a `bands.toml` with their names and units.

    Args:
        assignment: the lab, with its solutions.
        runner: where the files run.
        draws: in how many draws of each case's rows they run, the case's own the first.
        workers: how many runs go on at once.

    Raises:
        AssignmentError: there is no `bands.toml`, or the reference does not run in some draw.
    """
    path = path_of(assignment.folder)
    if not path.exists():
        raise AssignmentError(f"{path}: there are no bands to calibrate; add them by name and unit")
    asked = read_toml(path, BandsFile).bands
    wide = replace(assignment, cases=tuple(_draws(assignment.cases, draws)))
    expected = make_known(wide, runner.bundles, runner.run_case)
    cases = [case.name for case in wide.cases]
    made = list(_files(assignment))
    short = dict(_judged(wide, expected, runner, made, workers))
    problems: list[str] = []
    needed: dict[str, list[float]] = {name: [] for name in asked}
    for file in made:
        if file.kind == "right":
            for name in asked:
                try:
                    needed[name] += needs(name, asked, short[file.name], cases)
                except ValueError as problem:
                    problems.append(f"{file.name}: {problem}")
    found = {name: fitted(asked[name].unit, runs) for name, runs in needed.items()}
    values = {name: band.value for name, band in found.items()}
    passes = {
        file.name: 1 - len(short[file.name](values)) / len(wide.cases)
        for file in made
        if file.kind == "wrong"
    }
    problems += [
        f"{name} passes in every draw: the bands cannot hold it apart; ask another question"
        for name, share in passes.items()
        if share == 1
    ]
    bands = BandsFile(
        date=datetime.datetime.now(datetime.UTC).date(),
        versions={name: version(name) for name in _PACKAGES},
        bands=found,
        lets_pass={name: round(share, 3) for name, share in passes.items() if share},
    )
    return Calibration(bands, tuple(problems))


def right_runs(
    assignment: Assignment, runner: Runner, draws: int, workers: int = 2
) -> dict[str, tuple[int, int]]:
    """How often what is right loses points under the bands as they are: by file, of how many runs.

    Args:
        assignment: the lab, with its solutions.
        runner: where the files run.
        draws: in how many draws of each case's rows they run, the case's own the first.
        workers: how many runs go on at once.
    """
    wide = replace(assignment, cases=tuple(_draws(assignment.cases, draws)))
    expected = make_known(wide, runner.bundles, runner.run_case)
    made = [file for file in _files(assignment) if file.kind == "right"]
    return {
        name: (len(short(assignment.bands)), len(wide.cases))
        for name, short in _judged(wide, expected, runner, made, workers)
    }


def _draws(cases: Sequence[Case], draws: int) -> Iterator[Case]:
    """Each case with its own rows and with others."""
    for case in cases:
        for i in range(draws):
            name, seed = f"{case.name}_{i}", case.seed + 1000 * i
            yield replace(case, name=name, seed=seed, share=case.share / draws)


def _files(assignment: Assignment) -> Iterator[File]:
    """Right and wrong files, and the reference in ways that should not matter."""
    for file in files(assignment):
        if file.kind in ("right", "wrong"):
            yield file
        elif file.kind == "reference":
            yield replace(file, kind="right")
            preludes = {f"batches of {size}": _RESIZED.format(size=size) for size in (1, 16, 256)}
            if file.threads == 1:
                for what, prelude in {**preludes, "eager attention": _EAGER}.items():
                    (content,) = file.submission.files.values()
                    changed = {assignment.file: prelude.encode() + content}
                    submission = Submission(what, changed, assignment.file)
                    yield File(f"reference, {what}", "right", submission)


def _judged(
    wide: Assignment,
    expected: Mapping[str, Run],
    runner: Runner,
    made: Sequence[File],
    workers: int,
) -> Iterator[tuple[str, _Short]]:
    """Each file with a function that judges its runs anew."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [
            [
                pool.submit(runner.run_case, wide, case, file.submission, file.threads)
                for case in wide.cases
            ]
            for file in made
        ]
        for file, of_cases in zip(made, futures, strict=True):
            runs = tuple(future.result() for future in of_cases)
            yield file.name, _judge(wide, expected, file.submission, runs)


def _judge(
    wide: Assignment, expected: Mapping[str, Run], submission: Submission, runs: tuple[Run, ...]
) -> _Short:
    def short(values: Mapping[str, float]) -> set[str]:
        grade, _ = batch.judge(replace(wide, bands=values), expected, submission, runs)
        return {check.case for check in grade.checks if check.status != "passed"}

    return short


def needs(name: str, asked: Mapping[str, Band], short: _Short, draws: Sequence[str]) -> list[float]:
    """What a right file needs of a band in each draw, all other bands being wide.

    Each draw has a bracket on the ladder, halved again and again; one judgement serves all draws.

    Raises:
        ValueError: it loses points however wide they are.
    """
    ladder = LADDERS[asked[name].unit]
    wide = {other: LADDERS[band.unit][-1] for other, band in asked.items()}
    if lost := short(wide):
        raise ValueError(f"it is right, but loses points with any band ({', '.join(sorted(lost))})")
    low, high = dict.fromkeys(draws, -1), dict.fromkeys(draws, len(ladder) - 1)
    while open_ := [draw for draw in draws if high[draw] - low[draw] > 1]:
        middle = (low[open_[0]] + high[open_[0]]) // 2
        fail = short({**wide, name: ladder[middle]})
        for draw in draws:
            if draw in fail:
                low[draw] = max(low[draw], middle)
            else:
                high[draw] = min(high[draw], middle)
    return [ladder[high[draw]] for draw in draws]


def fitted(unit: Unit, needed: Sequence[float]) -> Band:
    """The least band on the ladder that right runs keep to, with the chance that one does not."""
    chance = _gumbel(needed) if unit == "tolerance" else _poisson(needed)
    ladder = LADDERS[unit]
    largest = max(needed, default=ladder[0])
    kept = [value for value in ladder if value >= largest and chance(value) < ACCEPTED]
    value = kept[0] if kept else ladder[-1]
    return Band(
        unit=unit,
        value=value,
        right_runs=len(needed),
        largest=largest,
        false_fail=float(f"{chance(value):.1e}"),
    )


def _gumbel(needed: Sequence[float]) -> Callable[[float], float]:
    """The chance of needing more than a tolerance; the spread is never less than the ladder's."""
    logs = [math.log10(value) for value in needed] or [-9.0]
    spread = max(statistics.pstdev(logs), 1 / 3 / math.sqrt(12))
    scale = spread * math.sqrt(6) / math.pi
    place = statistics.fmean(logs) - 0.5772 * scale
    return lambda value: -math.expm1(-math.exp(-(math.log10(value) - place) / scale))


def _poisson(needed: Sequence[float]) -> Callable[[float], float]:
    """The chance of needing more than so many rows, at the largest rate that is likely (95%)."""
    seen, runs = round(sum(needed)), max(1, len(needed))
    low, high = 0.0, 10.0 + 3 * seen
    while high - low > 1e-9:
        rate = (low + high) / 2
        low, high = (rate, high) if _at_most(seen, rate) > 0.05 else (low, rate)
    return lambda rows: max(0.0, 1 - _at_most(int(rows), high / runs))


def _at_most(count: int, rate: float) -> float:
    """The chance of at most so many events."""
    return math.fsum(math.exp(-rate) * rate**k / math.factorial(k) for k in range(count + 1))


def as_toml(found: BandsFile, lab: str) -> str:
    """The text of `bands.toml`."""
    lines = [
        f"# Written by `grader verify {lab} --calibrate`; bands are not widened by hand.",
        f"date = {found.date}",
        "",
        "[versions]",
        *(f'{name} = "{text}"' for name, text in found.versions.items()),
    ]
    for name, band in found.bands.items():
        facts = band.model_dump(exclude_none=True)
        unit = facts.pop("unit")
        lines += ["", f"[bands.{name}]", f'unit = "{unit}"']
        lines += [f"{field} = {value!r}" for field, value in facts.items()]
    if found.lets_pass:
        lines += ["", "[lets_pass]"]
        lines += [f'"{name}" = {share!r}' for name, share in found.lets_pass.items()]
    return "\n".join(lines) + "\n"
