"""Finds whose submission is where: `find(assignment, paths, told, remarks) -> {student: sources}`.

Each layout is a function that reads names alone and gives what it finds as `Raw`; which layout it
is can be seen by its marks, from the most telling to the least, unless the instructor insists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from grader import attempts, repos, tidy
from grader.archives import NAMES
from grader.attempts import Raw, Told
from grader.collect import Source, check_there, of_path
from grader.places import Place, of_archive, of_folder
from grader.records import Assignment, GraderError
from grader.tree import Item, Tree

Layout = Literal[
    "single", "folders", "flat", "repos", "classroom", "moodle", "canvas", "gradescope"
]

_METADATA = "submission_metadata.yml"
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_(?P<file>.*)")
_CANVAS = re.compile(
    r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<submission>\d+)_(?P<file>.+)"
)
#: A folder in which students wrap their work, rather than one named after a student.
_WRAPPER = re.compile(
    r"(src|code|work|home ?work|hw|lab|assignment|submission|solution|exercise|ex|task)s?[ _-]*\d*",
    re.IGNORECASE,
)


def find(
    assignment: Assignment,
    paths: Sequence[Path],
    told: Told | None = None,
    remarks: list[str] | None = None,
    layout: str | None = None,
) -> dict[str, tuple[Source, ...]]:
    """The submissions by student, sorted; with several only where the best of them counts.

    Args:
        assignment: whose file is looked for.
        paths: a class's folder or archive; or submissions one by one.
        told: what the instructor says of students and times.
        remarks: told what staff should know: how the layout was read, who is missing.
        layout: how to read it, instead of as it seems to be.

    Raises:
        GraderError: nothing is there, or which of two submissions counts cannot be known.
    """
    if layout is not None and layout not in (known := get_args(Layout)):
        raise GraderError(f"--layout {layout}: there is no such layout; one of {', '.join(known)}")
    remarks = [] if remarks is None else remarks
    raws: list[Raw] = []
    for path in paths:
        check_there(path)
        raws += _raws(assignment, path, layout, remarks, alone=len(paths) == 1)
    return attempts.by_student(assignment, raws, told or Told(), remarks)


def _raws(
    assignment: Assignment, path: Path, layout: str | None, remarks: list[str], *, alone: bool
) -> list[Raw]:
    packed = path.is_file() and NAMES.search(path.name)
    if layout == "single" or (path.is_file() and not packed) or (not alone and layout is None):
        return [_single(assignment, path)]
    place = of_archive(path) if packed else of_folder(path)
    inner = _unwrapped(assignment, place)
    chosen = layout or recognise(assignment, inner)
    if chosen == "single":
        return [_single(assignment, path)]
    found = list(_READERS[chosen](assignment, inner))
    if not found and layout and len(place.folders) == 1:
        found = list(_READERS[chosen](assignment, next(iter(place.folders.values()))()))
    if not found:
        raise GraderError(f"{path}: no submission is there in the layout {chosen}")
    if chosen != "folders" or len(found) == 1:
        remarks.append(f"{path}: read as {chosen}, {len(found)} found; --layout insists on another")
    return found


def _single(assignment: Assignment, path: Path) -> Raw:
    source = of_path(assignment, path)
    return Raw(source.student, source.where, source.files, lone=source.lone)


def recognise(assignment: Assignment, place: Place) -> Layout:
    """Which layout a download has, by its marks."""
    work = [name for name in place.files if name.lower().endswith((".py", ".ipynb"))]
    packed = [name for name in place.files if NAMES.search(name)]
    folders = list(place.folders)
    if _METADATA in place.files:
        return "gradescope"
    if any(_MOODLE.fullmatch(name) for name in (*folders, *place.files)):
        return "moodle"
    if not folders and place.files and all(_CANVAS.fullmatch(name) for name in place.files):
        return "canvas"
    if tidy.candidates(assignment.file, list(place.files)):
        return "single"
    clones = [name for name in folders if _repository(place, name)]
    if len(clones) * 2 > len(folders):  # a student may hand in a clone where others do not
        return "classroom" if _prefix(assignment, place, clones) else "repos"
    if not folders:
        return "flat" if len(work) + len(packed) > 1 else "single"
    if len(folders) == 1 and not packed and not work:
        own = {assignment.name, Path(assignment.file).stem}
        wraps = _WRAPPER.fullmatch(folders[0]) or folders[0] in own
        return "single" if wraps else "folders"
    return "single" if work else "folders"


def _unwrapped(assignment: Assignment, place: Place) -> Place:
    """The one folder in a download, where that is a class's."""
    if place.files or len(place.folders) != 1:
        return place
    ((name, inside),) = place.folders.items()
    if place.path is not None and repos.git_folder(place.path / name):
        return place
    inner = inside()
    seems = recognise(assignment, inner)
    if seems == "folders":  # students' folders, or folders in which one student has put things
        tops = [list(folder().files) for folder in inner.folders.values()]
        work = [top for top in tops if tidy.candidates(assignment.file, top)]
        return inner if len(tops) > 1 and work else place
    return place if seems in ("single", "flat") else inner


# Layouts ------------------------------------------------------------------------------------------


def _folders(_: Assignment, place: Place) -> Iterator[Raw]:
    """A folder a student."""
    for name, inside in place.folders.items():
        yield Raw(name, f"{place.where}/{name}", partial(_below, inside))
    for name, item in place.files.items():
        if NAMES.search(name):
            yield _loose(place, name, item)


def _below(inside: Callable[[], Place], notices: list[str]) -> Tree:
    return inside().tree(notices)


def _flat(assignment: Assignment, place: Place) -> Iterator[Raw]:
    """A file a student: a script, a notebook or an archive, named after its student."""
    for name, item in place.files.items():
        if NAMES.search(name) or name.lower().endswith((".py", ".ipynb")):
            raw = _loose(place, name, item)
            stem = re.escape(Path(assignment.file).stem)
            plain = re.sub(rf"[ _.-]+{stem}$|^{stem}[ _.-]+", "", raw.name, flags=re.IGNORECASE)
            yield Raw(plain, raw.where, raw.files, lone=True, attempt=raw.attempt)


def _loose(place: Place, name: str, item: Item) -> Raw:
    """A lone file; a number that a browser added says which attempt it is."""
    stem = NAMES.sub("", name) if NAMES.search(name) else name.rpartition(".")[0]
    numbered = re.fullmatch(r"(.+?) ?\((\d+)\)", stem)
    student, attempt = (numbered[1], int(numbered[2])) if numbered else (stem, 0)
    where = f"{place.where}/{name}"
    return Raw(student, where, lambda _: {name: item}, lone=True, attempt=attempt)


def _repository(place: Place, name: str) -> Path | None:
    return repos.git_folder(place.path / name) if place.path else None


def _repos(_: Assignment, place: Place, prefix: str = "") -> Iterator[Raw]:
    """A clone or a bare repository a student; a folder that is neither is read as it is."""
    for name, inside in place.folders.items():
        student = name.removesuffix(".git").removeprefix(prefix)
        where, folder = f"{place.where}/{name}", _repository(place, name)
        yield Raw(student, where, partial(_below, inside), repository=folder)


def _classroom(assignment: Assignment, place: Place) -> Iterator[Raw]:
    """Clones of `<assignment>-<user>`, as GitHub Classroom and Classroom 50 name them."""
    clones = [name for name in place.folders if _repository(place, name)]
    for raw in _repos(assignment, place, _prefix(assignment, place, clones)):
        yield replace(raw, ids={"github": raw.name})


def _prefix(assignment: Assignment, place: Place, clones: Sequence[str]) -> str:
    """What the clones' names begin with: the assignment's name, by the folder's or by their own."""
    slug = place.where.name.removesuffix("-submissions")
    for prefix in (f"{slug}-", f"{assignment.name}-"):
        if all(name.startswith(prefix) for name in clones):
            return prefix
    first, most = min(clones, default=""), max(clones, default="")
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, most, strict=False))
    )
    return first[: first.rfind("-", 0, same) + 1] if len(clones) > 1 else ""


def _moodle(_: Assignment, place: Place) -> Iterator[Raw]:
    """Folders or files `Full name_ID_assignsubmission_file_`; else online texts."""
    found: dict[str, dict[str, dict[str, Callable[[list[str]], Tree]]]] = {}
    for name in (*place.folders, *place.files):
        if match := _MOODLE.fullmatch(name):
            kinds = found.setdefault(f"{match['name']}_{match['id']}", {})
            files = kinds.setdefault(match["kind"], {})
            if name in place.folders:
                files[name] = partial(_below, place.folders[name])
            else:
                files[name] = partial(_one, match["file"], place.files[name])
    for student, kinds in found.items():
        parts = kinds.get("file") or next(iter(kinds.values()))
        full, identifier = student.rsplit("_", 1)
        ids = {"moodle": identifier, "name": full}
        yield Raw(student, f"{place.where}/{student}", partial(_merged, tuple(parts.values())), ids)


def _one(name: str, item: Item, _: list[str]) -> Tree:
    return {name: item}


def _merged(parts: Sequence[Callable[[list[str]], Tree]], notices: list[str]) -> Tree:
    merged: Tree = {}
    for part in parts:
        merged |= part(notices)
    return merged


def _canvas(assignment: Assignment, place: Place) -> Iterator[Raw]:
    """Files `name_[LATE_]user_submission_file[-N].ext`; of a file handed in again the last one."""
    own = {assignment.file, Path(assignment.file).with_suffix(".ipynb").name}
    found: dict[tuple[str, str], dict[str, tuple[int, Item]]] = {}
    late: set[str] = set()
    for name, item in place.files.items():
        if match := _CANVAS.fullmatch(name):
            late |= {match["user"]} if match["late"] else set()
            files = found.setdefault((match["name"], match["user"]), {})
            again = re.fullmatch(r"(.+?)-(\d+)(\.[^.]+)", match["file"])
            plain, number = match["file"], 0
            if again and (again[1] + again[3] in own or NAMES.search(again[3])):
                plain, number = again[1] + again[3], int(again[2])
            if number >= files.get(plain, (0, item))[0]:
                files[plain] = number, item
    for (name, user), files in found.items():
        told = ["Canvas marked it as late"] if user in late else []
        listed = {plain: item for plain, (_, item) in files.items()}
        where = f"{place.where}/{name}_{user}"
        yield Raw(f"{name}_{user}", where, partial(_noted, listed, told), {"canvas": user})


def _noted(files: Tree, told: Sequence[str], notices: list[str]) -> Tree:
    notices += told
    return dict(files)


def _gradescope(_: Assignment, place: Place) -> Iterator[Raw]:
    """Folders `submission_N`, with who handed them in and when in `submission_metadata.yml`."""
    for name, about in _metadata(place).items():
        if name not in place.folders or not isinstance(about, dict):
            continue
        time = about.get(":created_at")
        when = time if isinstance(time, datetime) else None
        if when is not None and when.tzinfo is None:
            when = when.replace(tzinfo=UTC)  # as its export writes them
        for person in _people(about.get(":submitters")):
            ids = {"gradescope": person.get("sid", ""), "email": person.get("email", ""),
                   "name": person.get("name", "")}  # fmt: skip
            known = {system: value for system, value in ids.items() if value}
            student = known.get("email") or known.get("gradescope") or known.get("name") or name
            files = partial(_below, place.folders[name])
            yield Raw(student, f"{place.where}/{name}", files, known, handed_in=when)


def _metadata(place: Place) -> dict[str, Any]:
    import yaml

    if _METADATA not in place.files:
        raise GraderError(f"{place.where}: {_METADATA} is not there: is it Gradescope's export?")
    try:
        text = place.files[_METADATA].read(32 * 1024**2).decode("utf-8-sig")
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        detail = " ".join(str(problem).split())[:200]
        raise GraderError(f"{place.where}/{_METADATA}: cannot be read: {detail}") from None
    return content if isinstance(content, dict) else {}


def _people(value: object) -> list[dict[str, str]]:
    """Who handed it in; the fields' names with the colons that the export has before them."""
    people = value if isinstance(value, list) else [{}]
    return [
        {str(key).strip(":"): str(cell) for key, cell in person.items() if cell is not None}
        for person in people
        if isinstance(person, dict)
    ] or [{}]


_Reader: TypeAlias = Callable[[Assignment, Place], Iterator[Raw]]
_READERS: dict[str, _Reader] = {
    "folders": _folders,
    "flat": _flat,
    "repos": _repos,
    "classroom": _classroom,
    "moodle": _moodle,
    "canvas": _canvas,
    "gradescope": _gradescope,
}
