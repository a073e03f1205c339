"""Loading an assignment: each mistake in its files is one sentence with file, field and mend."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import ROOT
from grader.assignment import load, probe_sources
from grader.home import home, labs
from grader.records import AssignmentError, BundleError

LAB = "pieces"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the course with one lab, named by GRADER_COURSE."""
    root = tmp_path / "course copy"
    for folder in (f"assignments/{LAB}", "assignments/course", f"solutions/{LAB}"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("GRADER_COURSE", str(root))
    return root


def _toml(course: Path, name: str = "assignment.toml") -> Path:
    return course / ("solutions" if name == "cases.toml" else "assignments") / LAB / name


def _change(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence, which must be there."""
    text = path.read_text("utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new, 1), "utf-8")


def _sentence(path: Path | None, **options: str) -> str:
    """What loading complains of: one line, which names the file."""
    with pytest.raises(AssignmentError) as caught:
        load(LAB, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    assert path is None or message.startswith(f"{path}: ")
    return message


def test_what_is_loaded(course: Path) -> None:
    assignment = load(LAB)
    assert assignment.name == LAB
    assert assignment.file == "pieces.py"
    assert [part.name for part in assignment.parts] == ["words", "pieces", "counts", "lines"]
    assert [(case.name, case.hidden) for case in assignment.cases] == [
        ("public", False),
        ("hidden", True),
    ]
    assert assignment.possible == pytest.approx(sum(part.points for part in assignment.parts))
    assert assignment.folder == course.resolve() / "assignments" / LAB
    assert assignment.solutions == course.resolve() / "solutions" / LAB
    public, hidden = assignment.cases
    assert public.seconds == hidden.seconds == 20
    assert public.memory_mb == 512


def test_cases_are_chosen_by_bundle_or_name(course: Path) -> None:
    assert [case.name for case in load(LAB, bundle="banking77").cases] == ["full", "sample"]
    (full,) = load(LAB, case="full").cases
    assert (full.seconds, full.memory_mb, full.train) == (120, 1024, None)
    assert [case.seconds for case in load(LAB, seconds=3.5).cases] == [3.5, 3.5]


def test_students_copy_has_the_public_side_alone(course: Path) -> None:
    assert [case.name for case in load(LAB, public=True).cases] == ["public"]
    assert load(LAB, public=True).solutions is None
    shutil.rmtree(course / "solutions")
    assert [case.name for case in load(LAB, public=True).cases] == ["public"]
    assert "`grader check`" in _sentence(course.resolve() / "solutions" / LAB)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        # A field that is not known, in every table.
        ("version = 1", "version = 1\nauthor = 'a'", "author: there is no such field"),
        ("seconds = 20", "second = 20", "limits.seconds: this field is missing; add it"),
        ("seconds = 20", "seconds = 20\nmemory = 3", "limits.memory: there is no such field"),
        ("points = 2", "points = 2\npoint = 2", "parts.0.point: there is no such field"),
        ("share = 0.4", "share = 0.4\nshares = 1", "cases.0.shares: there is no such field"),
        # A field that is not there.
        ("version = 1", "", "version: this field is missing"),
        ("title =", "#", "title: this field is missing"),
        ("file =", "#", "file: this field is missing"),
        ("memory_mb = 512", "", "limits.memory_mb: this field is missing"),
        ("points = 2", "", "parts.0.points: this field is missing"),
        ("name = 'words'", "", "parts.0.name: this field is missing"),
        ("share = 0.4", "", "cases.0.share: this field is missing"),
        ("bundle = 'tiny'", "", "cases.0.bundle: this field is missing"),
        # A value of the wrong type.
        ("version = 1", "version = 'one'", "version = 'one': "),
        ("title = 'Word", "title = 3 #", "title = 3: "),
        ("file = 'pieces.py'", "file = ['pieces.py']", "file = ['pieces.py']: "),
        ("seconds = 20", "seconds = 'twenty'", "limits.seconds = 'twenty': "),
        ("seconds = 20", "seconds = '20'", "limits.seconds = '20': "),
        ("memory_mb = 512", "memory_mb = 512.5", "limits.memory_mb = 512.5: "),
        ("points = 2", "points = '2'", "parts.0.points = '2': "),
        ("points = 2", "points = true", "parts.0.points = True: "),
        ("points = 2", "points = [2]", "parts.0.points = [2]: "),
        ("train = 400", "train = 'all'", "cases.0.train = 'all': "),
        ("train = 400", "train = '400'", "cases.0.train = '400': "),
        ("train = 400", "train = 0.5", "cases.0.train = 0.5: "),
        ("seed = 1", "seed = true", "cases.0.seed = True: "),
        ("share = 0.4", "share = '0.4'", "cases.0.share = '0.4': "),
        ("file = 'pieces.py'", "file = 'pieces.py'\nsupport = 'x'", "support = 'x': "),
        ("file = 'pieces.py'", "file = 'pieces.py'\nsupport = [1]", "support.0 = 1: "),
        # A value out of its range.
        ("version = 1", "version = 2", "version = 2: "),
        ("title = 'Word", "title = '' #", "title = '': "),
        ("file = 'pieces.py'", "file = '../pieces.py'", "file = '../pieces.py': "),
        ("file = 'pieces.py'", "file = 'pieces.ipynb'", "file = 'pieces.ipynb': "),
        ("seconds = 20", "seconds = 0", "limits.seconds = 0: "),
        ("seconds = 20", "seconds = inf", "limits.seconds = inf: "),
        ("memory_mb = 512", "memory_mb = -1", "limits.memory_mb = -1: "),
        ("points = 2", "points = -1", "parts.0.points = -1: "),
        ("points = 2", "points = nan", "parts.0.points = nan: "),
        ("name = 'words'", "name = 'My words'", "parts.0.name = 'My words': "),
        ("train = 400", "train = 0", "cases.0.train = 0: "),
        ("seed = 1", "seed = -1", "cases.0.seed = -1: "),
        ("seed = 1", "seed = 4294967296", "cases.0.seed = 4294967296: "),
        ("share = 0.4", "share = 1.4", "cases.0.share = 1.4: input should be less than"),
        ("share = 0.4", "share = -0.1", "cases.0.share = -0.1: "),
        # A name that is there twice.
        ("name = 'pieces'", "name = 'words'", "parts: the name 'words' is there twice; rename one"),
        ("name = 'full'", "name = 'public'", "cases: the name 'public' is there twice"),
        ("name = 'full'", "name = 'hidden'", "cases: the name 'hidden' is there twice"),
        # No TOML.
        ("version = 1", "version : 1", "not valid TOML"),
        ("version = 1", "version = 1\nversion = 1", "not valid TOML"),
        ("title = 'Word", "title = Word #", "not valid TOML"),
        ("[limits]", "[limits", "not valid TOML"),
    ],
)  # fmt: skip
def test_mistake_in_assignment_toml(course: Path, old: str, new: str, told: str) -> None:
    path = _toml(course)
    path.write_text(path.read_text("utf-8").replace('"', "'"), "utf-8")
    _change(path, old, new)
    assert told in _sentence(path.resolve())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("share = 0.6", "share = 0.6\nhidden = true", "cases.0.hidden: there is no such field"),
        ("[[cases]]", "title = 'a'\n[[cases]]", "title: there is no such field"),
        ("share = 0.6", "", "cases.0.share: this field is missing"),
        ("share = 0.6", "share = 1.01", "cases.0.share = 1.01: "),
        ("share = 0.6", "share = '0.6'", "cases.0.share = '0.6': "),
        ("train = 350", "train = [350]", "cases.0.train = [350]: "),
        ("share = 0.6", "share = 0.5", "cases.share: the cases of bundle tiny add up to 0.9"),
        ("share = 0.6", "share = 0.7", "cases.share: the cases of bundle tiny add up to 1.1"),
        ("share = 0.5", "share = 0.25", "the cases of bundle banking77 add up to 0.75"),
        (
            "bundle = 'tiny'",
            "bundle = 'banking77-random'",
            "the cases of bundle banking77-random add",
        ),
        ("bundle = 'tiny'", "bundle = 'tiniest'", "cases.0.bundle = 'tiniest': input should be"),
        ("[[cases]]", "[[cases", "not valid TOML"),
    ],
)  # fmt: skip
def test_mistake_in_cases_toml(course: Path, old: str, new: str, told: str) -> None:
    path = _toml(course, "cases.toml")
    path.write_text(path.read_text("utf-8").replace('"', "'"), "utf-8")
    _change(path, old, new)
    assert told in _sentence(path.resolve())


def test_shares_that_add_up_but_for_rounding_are_right(course: Path) -> None:
    _change(_toml(course), "share = 0.4", "share = 0.1")
    _change(_toml(course, "cases.toml"), "share = 0.6", "share = 0.2")
    extra = '[[cases]]\nname = "more"\nbundle = "tiny"\nshare = 0.7\n'
    path = _toml(course, "cases.toml")
    path.write_text(path.read_text("utf-8") + extra, "utf-8")
    assert len(load(LAB).cases) == 3


@pytest.mark.parametrize("name", ["assignment.toml", "cases.toml"])
@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_wrong_encoding(course: Path, name: str, encoding: str) -> None:
    path = _toml(course, name)
    path.write_bytes(("# é\n" + path.read_text("utf-8")).encode(encoding))
    assert "utf-8" in _sentence(path.resolve()).lower()


@pytest.mark.parametrize("name", ["assignment.toml", "cases.toml"])
def test_byte_order_mark_is_no_mistake(course: Path, name: str) -> None:
    before = load(LAB)
    path = _toml(course, name)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load(LAB) == before


@pytest.mark.parametrize("name", ["assignment.toml", "cases.toml"])
def test_empty_file(course: Path, name: str) -> None:
    path = _toml(course, name)
    path.write_bytes(b"")
    assert "this field is missing; add it" in _sentence(path.resolve())


def test_no_cases_and_no_parts(course: Path) -> None:
    path = _toml(course, "cases.toml")
    path.write_text("cases = []\n", "utf-8")
    assert "cases = []: " in _sentence(path.resolve())


def test_missing_cases_toml(course: Path) -> None:
    path = _toml(course, "cases.toml")
    path.unlink()
    assert "No such file" in _sentence(path.resolve())


@pytest.mark.parametrize("name", ["piece", "", "course", "../pieces", "pieces/../pieces/x", "ä"])
def test_unknown_lab(course: Path, name: str) -> None:
    with pytest.raises(AssignmentError) as caught:
        load(name)
    assert str(caught.value) == f"there is no lab {name!r}: the labs are {LAB}"


def test_unknown_case_and_bundle(course: Path) -> None:
    known = "there are public (tiny), full (banking77), hidden (tiny), sample (banking77)"
    path = _toml(course).resolve()
    assert f"no case 'nosuch'; {known}" in _sentence(path, case="nosuch")
    with pytest.raises(BundleError, match="there is no bundle 'large'"):
        load(LAB, bundle="large")


def test_hidden_case_is_unknown_on_the_public_side(course: Path) -> None:
    with pytest.raises(AssignmentError, match=r"no case 'hidden'; there are public"):
        load(LAB, case="hidden", public=True)


@pytest.mark.parametrize("content", [None, b"def f(:\n", b"\xff\xfe", b"a = '\x00'\n"])
def test_probes_that_cannot_be_read(course: Path, content: bytes | None) -> None:
    path = load(LAB).folder / "probes.py"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(AssignmentError) as caught:
        load(LAB)
    assert str(caught.value).startswith(f"{path}: the probes cannot be read: ")
    assert "\n" not in str(caught.value)


def test_hidden_probes_are_for_hidden_cases(course: Path) -> None:
    assignment = load(LAB)
    (course / "solutions" / LAB / "probes.py").write_text("def more(m):\n    return 1\n", "utf-8")
    public, hidden = (probe_sources(assignment, case) for case in assignment.cases)
    assert len(public) == 1
    assert len(hidden) == 2
    assert "def more" in hidden[1][1]


# Where the course lies ----------------------------------------------------------------------------


def test_course_without_assignments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        (tmp_path / "file").write_text("", "utf-8")
        monkeypatch.setenv("GRADER_COURSE", str(place))
        for ask in (home, labs, lambda: load(LAB)):
            with pytest.raises(AssignmentError) as caught:
                ask()
            assert str(caught.value) == f"GRADER_COURSE={place}: no folder assignments/ there"


def test_course_is_found_from_a_folder_below(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADER_COURSE")
    below = course / "assignments" / LAB / "my work" / "deep"
    below.mkdir(parents=True)
    for place in (course, course / "assignments", course / "solutions" / LAB, below):
        monkeypatch.chdir(place)
        assert home() == course.resolve()
        assert labs() == [LAB]
        assert load(LAB).folder == course.resolve() / "assignments" / LAB


def test_named_course_goes_before_the_working_directory(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert home() == course.resolve()
    monkeypatch.chdir(course.parent)
    monkeypatch.setenv("GRADER_COURSE", course.name)
    assert home() == course.resolve()


def test_elsewhere_the_graders_own_labs_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADER_COURSE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert LAB in labs()


def test_labs_are_sorted(course: Path) -> None:
    for name in ("zebra", "alpha"):
        (course / "assignments" / name).mkdir()
        (course / "assignments" / name / "assignment.toml").write_text("", "utf-8")
    (course / "assignments" / "notes").mkdir()
    assert labs() == ["alpha", LAB, "zebra"]
