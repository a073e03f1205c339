"""Hostile submissions: each ends in its status, earns nothing, finds nothing, leaves nothing.

Every file in `hostile/` says in its docstring how it must end, and what stops it: `Status: blocked`
and `Held by: seccomp`, or, where a tier differs, `Status: error, container: blocked`. The table of
all outcomes is printed at the end.
"""

from __future__ import annotations

import ast
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from conftest import ROOT, need_full
from grader import batch, bundles
from grader.assignment import load
from grader.collect import collect
from grader.known import known
from grader.records import Grade, Run, Submission
from grader.runner import Runner

FILES = sorted(path for path in (ROOT / "tests" / "hostile").iterdir() if path.suffix == ".py")
#: Which layers to leave out so that a tier results where everything is allowed.
WITHOUT = {"full": (), "container": ("namespaces",)}
#: Seconds that a run may take: a busy machine must not turn another end into a timeout.
PATIENCE, HASTE = 40, 2
MARKER = re.compile(r"PLANTED-[a-z]+-[0-9a-f]{8}")
#: What `Held by` may name: layers of the kernel's, which a run can do without, and bounds of ours.
LAYERS = {"namespaces", "root", "landlock", "seccomp", "limits", "capabilities"}
BOUNDS = {
    "values": "nothing in the process is worth patching or reading, and only values come out",
    "deadline": "the time for the script and for each question",
    "caps": "the most that a run may print and send",
    "watch": "the jailer's look at memory, processes and files",
    "end": "with a run all its processes end and its folder goes",
    "several": "more than one layer, not tried one by one: set free, it could harm the machine, or "
    "what it may do also hangs on the caller's rights",
}


#: Those that leave no trace in how a run ends.
UNSEEN = {"values", "end", "several"}


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def _stated(what: str, path: Path) -> dict[str, str]:
    """By tier, what a submission's docstring says of its `Status` or of what it is `Held by`."""
    pattern = rf"{what}: ([a-z ]+)(?:, container: ([a-z ]+))?$"
    (full, container) = re.findall(pattern, _docstring(path), re.MULTILINE)[0]
    return {"full": full, "container": container or full}


NEVER_END = {path.stem for path in FILES if set(_stated("Status", path).values()) == {"timeout"}}


@dataclass(frozen=True)
class Graded:
    """A batch of all hostile submissions at one tier, each followed by a good one."""

    tier: str
    grades: dict[str, Grade]
    markers: set[str]
    workspaces: Path
    runner: Runner

    def run(self, name: str) -> Run:
        return self.grades[name].runs[0]


def _plant(place: str) -> str:
    return f"PLANTED-{place}-{secrets.token_hex(4)}"


@pytest.fixture(scope="module", params=sorted(WITHOUT))
def graded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Graded]:
    """Grade everything at a tier, with secrets planted wherever the grader has some."""
    course = tmp_path_factory.mktemp("course")
    for side in ("assignments", "solutions"):
        shutil.copytree(ROOT / side, course / side)
    markers = {place: _plant(place) for place in ("solutions", "environment", "parent", "other")}
    solution = course / "solutions" / "pieces" / "pieces.py"
    solution.write_text(solution.read_text("utf-8") + f"\n# {markers['solutions']}\n", "utf-8")
    (solution.parent / "notes.txt").write_text(markers["solutions"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADER_COURSE", str(course))
        patch.setenv("SECRET_TOKEN", markers["environment"])
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("runs")))
        found = {"tiny": bundles.find("tiny")}
        with (
            Runner(found, without=WITHOUT[request.param]) as runner,
            subprocess.Popen(["cat"], stdin=subprocess.PIPE),  # has the token in its environment
        ):
            if request.param == "full":
                need_full(runner)
            submissions = list(_submissions(solution.read_bytes(), markers["other"]))
            grades = _grade(submissions, runner)
            folder = Path(tempfile.gettempdir())
            yield Graded(request.param, grades, set(markers.values()), folder, runner)
    _print_table(request, request.param, grades)


def _grade(submissions: list[Submission], runner: Runner) -> dict[str, Grade]:
    """Grade as `batch.grade_all` does, but let what never ends run for a short time alone."""
    patient = load("pieces", case="public", seconds=PATIENCE)
    hasty = load("pieces", case="public", seconds=HASTE)
    expected = known(patient, runner.bundles, runner.run_case)

    def run(submission: Submission) -> Run:
        assignment = hasty if submission.student in NEVER_END else patient
        return runner.run_case(assignment, assignment.cases[0], submission)

    with ThreadPoolExecutor(batch.processors() + 1) as pool:  # one waits for most of the time
        runs = zip(submissions, pool.map(run, submissions), strict=True)
        return {s.student: batch.judge(patient, expected, s, (run,))[0] for s, run in runs}


def _submissions(solution: bytes, marker: str) -> Iterator[Submission]:
    other = b"# " + marker.encode() + b"\n" + solution
    for path in FILES:
        yield Submission(path.stem, {"pieces.py": path.read_bytes()}, "pieces.py")
        yield Submission(f"after_{path.stem}", {"pieces.py": other}, "pieces.py")


def _print_table(request: pytest.FixtureRequest, tier: str, grades: dict[str, Grade]) -> None:
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\nhostile submissions at tier {tier}: status, points earned")
        for path in FILES:
            grade = grades[path.stem]
            print(f"  {path.stem:32s} {grade.runs[0].status:8s} {grade.points:g}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_ends_in_its_status_and_earns_nothing(path: Path, graded: Graded) -> None:
    grade = graded.grades[path.stem]
    run = grade.runs[0]
    assert (run.status, grade.points) == (_stated("Status", path)[graded.tier], 0), run
    assert run.tier == graded.tier
    assert grade.possible == graded.grades[f"after_{path.stem}"].possible
    assert not grade.review, grade.checks


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_neighbour_is_unaffected(path: Path, graded: Graded) -> None:
    grade = graded.grades[f"after_{path.stem}"]
    assert grade.points == pytest.approx(grade.possible)
    assert grade.runs[0].status == "ok"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_finds_and_reaches_nothing(path: Path, graded: Graded) -> None:
    """No planted secret comes out, and what an attack counts as a success it hands in as words."""
    run = graded.run(path.stem)
    seen = f"{run.values} {run.output} {run.errors} {run.faults}"
    assert not graded.markers & set(MARKER.findall(seen))
    if path.stem.startswith(("reads", "makes_namespaces", "mounts", "links", "changes")):
        assert run.values["words"] == [], run


def test_process_one_is_closed_without_landlock(
    graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It shares the jailer's memory, and the jailer sees the caller's files."""
    if graded.tier != "full":
        return  # there it is the machine's own
    monkeypatch.setattr(graded.runner, "without", (*WITHOUT[graded.tier], "landlock"))
    path = ROOT / "tests" / "hostile" / "reads_by_process_one.py"
    submission = Submission("mallory", {"pieces.py": path.read_bytes()}, "pieces.py")
    case = load("pieces", case="public", seconds=PATIENCE).cases[0]
    run = graded.runner.run_case(load("pieces"), case, submission)
    assert (run.status, run.values["words"]) == ("ok", []), run


def test_nothing_is_left_behind(graded: Graded) -> None:
    left = [Path(place, "grader-was-here") for place in ("/tmp", "/dev/shm", "/usr")]  # noqa: S108
    assert not [path for path in left if path.exists()]
    (place,) = graded.workspaces.iterdir()
    assert [path.name for path in place.iterdir()] == ["lock"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_is_held_by_what_the_page_names(
    path: Path, graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the layers named it ends otherwise; a bound of ours shows in how the run ended."""
    held = graded.run(path.stem)
    names = set(re.split(" or | and ", _stated("Held by", path)[graded.tier]))
    assert names <= LAYERS | BOUNDS.keys()
    if not names & LAYERS:
        assert names == {_bound(held)} or (_bound(held) is None and names <= UNSEEN)
        return
    without = (*WITHOUT[graded.tier], *sorted(names & LAYERS))
    monkeypatch.setattr(graded.runner, "without", without)
    case = load("pieces", case="public", seconds=PATIENCE).cases[0]
    if held.status == "memory":  # a moment's work if limited; else the deadline alone ends it
        case = replace(case, seconds=1, memory_mb=64)
    elif path.stem == "reads_files":  # it has the whole machine to walk through now
        case = replace(case, seconds=HASTE)
    submission = Submission("mallory", {"pieces.py": path.read_bytes()}, "pieces.py")
    free = graded.runner.run_case(load("pieces"), case, submission)
    assert (free.status, free.values.get("words")) != (held.status, held.values.get("words")), free


def _bound(run: Run) -> str | None:
    """The bound of ours that stopped a run, by its status and its message."""
    message = run.message or ""
    if run.status == "timeout":
        return "deadline"
    if run.status == "output" or message.startswith("the process sent what is no value"):
        return "caps"
    return "watch" if re.match("stopped: it (needed|started|wrote) more", message) else None


@pytest.mark.parametrize("name", ["text.py", "encoder.py", "course_bundle.py", "conftest.py"])
@pytest.mark.parametrize("place", ["", "helpers/"])
def test_shadowing_files_are_set_aside(name: str, place: str, tmp_path: Path) -> None:
    folder = tmp_path / "mallory"
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / "pieces.py").write_text("words = 1\n")
    (folder / place / name).write_text("raise SystemExit\n")
    submission = collect(load("pieces"), folder)
    assert set(submission.files) == {"pieces.py"}
    assert any(place + name in notice for notice in submission.notices)


def test_shadowing_the_standard_library_and_ours_changes_nothing(runner: Runner) -> None:
    """Modules named as the libraries' own lie beside the script, as a script's neighbours would."""
    assignment = load("pieces", case="public")
    names = ("json", "safetensors", "torch", "grader", "transformers", "numpy", "struct", "os")
    bad = {f"{name}.py": b"raise RuntimeError('shadow')\n" for name in names}
    solution = (ROOT / "solutions" / "pieces" / "pieces.py").read_bytes()
    submission = Submission("mallory", {"pieces.py": solution, **bad}, "pieces.py")
    ((grade, _),) = batch.grade_all(assignment, [submission], runner)
    assert grade.points == pytest.approx(grade.possible), grade.checks


def table() -> str:
    """The page of attacks: what each does, its status at each tier, and what stops it there."""
    lines = [
        "# Attacks that the tests run",
        "",
        "Made from `tests/hostile` by `python tests/test_hostile.py`. The tests see to it that",
        "each ends as stated here, earns nothing, finds no planted secret and leaves nothing",
        "behind, and that the good submission beside it is unaffected.",
        "",
        "What stops it is tried as well: where layers of the sandbox are named, the attack runs",
        "without them and must end otherwise or bring something out. `or`: each of them stops it",
        "alone; `and`: each stops a part. `capabilities` matter where the grader runs as root.",
        "`seccomp` and `landlock` stand on `no_new_privs`, which is not named beside them. The",
        "other words are bounds of the grader's own:",
        "",
        *(f"- `{name}`: {about}" for name, about in BOUNDS.items()),
        "",
        "| submission | what it does | `full` | stopped by (`full`) "
        "| `container` | stopped by (`container`) |",
        "|---|---|---|---|---|---|",
    ]
    for path in FILES:
        about = _docstring(path).split(" Status:")[0].rstrip(".")
        ends, by = _stated("Status", path), _stated("Held by", path)
        tiers = " | ".join(f"{ends[tier]} | {by[tier]}" for tier in ("full", "container"))
        lines.append(f"| `{path.stem}` | {about} | {tiers} |")
    return "\n".join(lines) + "\n"


def test_the_page_of_attacks_is_up_to_date() -> None:
    assert (ROOT / "docs" / "hostile.md").read_text("utf-8") == table()


if __name__ == "__main__":
    print(table(), end="")
