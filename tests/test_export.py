"""Exports: each as its consumer documents it, with the right points, and no secret in it."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import made
import outside
from conftest import ROOT
from grader.assignment import load
from grader.export import EACH, TABLES, Graded, read_results
from grader.export.classrooms import _whole, classroom50, encoded, github
from grader.export.graded import place, rounded
from grader.export.write import FORMATS, write
from grader.records import Assignment, GraderError, LateRule
from grader.store import grade_as_json

TWO_DAYS_LATE = datetime(2026, 10, 3, 0, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def lab() -> Assignment:
    return load("pieces")


@pytest.fixture(scope="module")
def out(lab: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a good, a middling and a hopeless student, and of one whose check went wrong."""
    folder = tmp_path_factory.mktemp("results")
    made.results(
        folder,
        made.graded(lab, "ada", made.checks(2.5, 2.5, 2.5, 2.5)),
        made.graded(lab, "李 小龙", made.checks(2.5, 1 / 3, 0.1, 0.2), ids={"email": "li@x.org"}),
        made.graded(lab, "=cmd", made.checks(0, 0, 0, 0)),
        made.graded(lab, "sick", (
            *made.checks(2.5, 2.5, 2.5),
            made.check("broken", 0, 2.5, status="error", message="NameError: nowhere"),
        )),
    )  # fmt: skip
    return folder


def _one(lab: Assignment, *earned: float, **fields: Any) -> Graded:
    submission, grade = made.graded(lab, "ada", made.checks(*earned), **fields)
    return Graded(json.loads(json.dumps(grade_as_json(grade))), submission.entry, "feedback")


SCHEMAS = {
    "gradescope": outside.GRADESCOPE,
    "github-classroom": outside.GITHUB_CLASSROOM,
    "classroom50": outside.CLASSROOM50,
    "prairielearn": outside.PRAIRIELEARN,
    "check50": outside.CHECK50,
    "sarif": outside.SARIF,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_file_is_what_its_consumer_documents(out: Path, name: str) -> None:
    for graded in read_results(out):
        content = json.loads(EACH[name][1](graded))
        jsonschema.validate(content, SCHEMAS[name])


@pytest.mark.parametrize("name", FORMATS[:9])
def test_no_hidden_value_and_no_control_character_gets_out(out: Path, name: str) -> None:
    grades = read_results(out)
    texts = [EACH[name][1](g) for g in grades] if name in EACH else [TABLES[name](grades)]
    for text in texts:
        assert made.HIDDEN not in text
        assert "31337" not in text
        plain = json.dumps(json.loads(text), ensure_ascii=False) if text.startswith("{") else text
        assert not {"\x1b", "\x00", "\u202e"} & set(plain)


def test_gradescope_points(out: Path) -> None:
    by_student = {g.student: json.loads(EACH["gradescope"][1](g)) for g in read_results(out)}
    assert by_student["ada"]["score"] == 10
    assert by_student["李 小龙"]["score"] == 3.13
    assert by_student["=cmd"]["score"] == 0
    assert [test["status"] for test in by_student["=cmd"]["tests"]] == ["failed"] * 4
    assert sum(test["max_score"] for test in by_student["=cmd"]["tests"]) == 10
    assert by_student["ada"]["execution_time"] == 4
    assert "A person will look at this." in by_student["sick"]["output"]


def test_late_penalty_is_in_every_sum(lab: Assignment) -> None:
    rule = LateRule(due=datetime(2026, 10, 1, 0, 0, tzinfo=UTC), penalty=7.5)
    late = replace(lab, late=rule)
    graded = _one(late, 2.5, 2.5, 2.5, 2.0, handed_in=TWO_DAYS_LATE)
    assert graded.grade["points"] == pytest.approx(8.0)
    assert graded.grade["penalty"] == pytest.approx(1.5)
    assert json.loads(EACH["gradescope"][1](graded))["score"] == 8
    assert _reporter(github(graded))["totalPoints"] == 8
    assert json.loads(classroom50(graded, {}))["score"] == 8
    assert json.loads(classroom50(graded, {}))["datetime"] == "2026-10-03T00:00:00Z"
    assert json.loads(EACH["prairielearn"][1](graded))["score"] == 0.8


# Classrooms ---------------------------------------------------------------------------------------


def _reporter(result: str) -> dict[str, Any]:
    """What GitHub Classroom's published reporter makes of a step's output.

    It decodes base64, throws where there are no tests, adds the scores in order as doubles, and
    writes numbers as JavaScript does.
    """
    results = json.loads(base64.b64decode(encoded(result)))
    total = 0.0
    for test in results["tests"]:
        total += test["score"]
    passes = sum(test["status"] == "pass" for test in results["tests"])
    text = f"Points {_javascript(total)}/{_javascript(results['max_score'])}"
    fails = results["status"] != "pass"
    table = passes / len(results["tests"]) * results["max_score"]
    most = results["max_score"]
    return {"totalPoints": total, "maxPoints": most, "text": text, "table": table, "fails": fails}


def _javascript(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(float(number))


def test_the_reporter_reads_the_points(out: Path) -> None:
    texts = {g.student: _reporter(github(g))["text"] for g in read_results(out)}
    assert texts == {
        "ada": "Points 10/10", "李 小龙": "Points 3.13/10", "=cmd": "Points 0/10",
        "sick": "Points 7.5/10",
    }  # fmt: skip
    failing = {g.student: _reporter(github(g))["fails"] for g in read_results(out)}
    assert failing == {"ada": False, "李 小龙": True, "=cmd": True, "sick": True}


@given(st.lists(st.floats(0, 2.5), min_size=1, max_size=40), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_the_reporters_sum_is_the_rounded_total(earned: list[float], kept: float) -> None:
    graded = _one(load("pieces", public=True), *earned)
    points = sum(check["earned"] for check in graded.grade["checks"])
    grade = {**graded.grade, "points": points * kept, "possible": 2.5 * len(earned)}
    grade["penalty"] = points - grade["points"]
    result = github(replace(graded, grade=grade))
    whole = 2.5 * len(earned) % 1 == 0
    unit = 1 if whole else 100 / (2.5 * len(earned))
    read = _reporter(result)
    assert read["totalPoints"] == rounded(grade["points"] * unit)
    assert len(read["text"]) < len("Points 1234.56/1234")
    jsonschema.validate(json.loads(result), outside.GITHUB_CLASSROOM)


def test_classroom50_takes_its_runners_word_for_what_is_handed_in(lab: Assignment) -> None:
    graded = _one(lab, 2.5, 1.3, 0.4, 0.4)
    environment = {
        "CLASSROOM": "nlp", "ASSIGNMENT": "pieces", "ASSIGNMENT_TYPE": "individual",
        "OWNER": "ada", "SUBMISSION_TAG": "submit/x", "COMMIT_URL": "https://x/c",
        "RELEASE_URL": "https://x/r",
    }  # fmt: skip
    content = json.loads(classroom50(graded, environment))
    jsonschema.validate(content, outside.CLASSROOM50)
    assert content["owner"] == "ada"
    assert content["review"] == "https://x/c"
    assert content["score"] == 5  # 4.6 rounded
    assert sum(test["score"] for test in content["tests"]) == 5
    assert sum(test["max-score"] for test in content["tests"]) == content["max-score"] == 10


@given(st.lists(st.floats(0, 50), min_size=1, max_size=30))
def test_whole_numbers_add_up(numbers: list[float]) -> None:
    total = int(math.fsum(numbers) + 0.5)
    found = _whole(numbers, total)
    assert sum(found) == total
    assert all(each >= 0 for each in found)
    assert all(abs(each - number) <= 1 + 1e-6 for each, number in zip(found, numbers, strict=True))


# Reports ------------------------------------------------------------------------------------------


def test_check50_skips_what_was_not_graded(out: Path) -> None:
    by_student = {g.student: json.loads(EACH["check50"][1](g)) for g in read_results(out)}
    passed = [result["passed"] for result in by_student["sick"]["results"]]
    assert passed == [True, True, True, None]
    assert [result["cause"] for result in by_student["ada"]["results"]] == [None] * 4


def test_junit_is_xml_and_counts(out: Path) -> None:
    text = TABLES["junit"](read_results(out))
    top = ElementTree.fromstring(text)  # noqa: S314 - our own
    assert top.tag == "testsuites"
    suites = {suite.get("name"): suite for suite in top}
    assert set(suites) == {"pieces.ada", "pieces.李 小龙", "pieces.=cmd", "pieces.sick"}
    counts = {
        name: tuple(int(suite.get(field, "-1")) for field in ("tests", "failures", "errors"))
        for name, suite in suites.items()
    }
    assert counts["pieces.ada"] == (4, 0, 0)
    assert counts["pieces.sick"] == (4, 0, 1)
    for suite in suites.values():
        cases = suite.findall("testcase")
        assert len(cases) == int(suite.get("tests") or 0)
        assert len(suite.findall("testcase/failure")) == int(suite.get("failures") or 0)
        assert len(suite.findall("testcase/error")) == int(suite.get("errors") or 0)
        assert len(suite.findall("testcase/skipped")) == int(suite.get("skipped") or 0)


def test_sarif_points_at_the_students_line(out: Path) -> None:
    (graded,) = read_results(out, students=["=cmd"])
    (run,) = json.loads(EACH["sarif"][1](graded))["runs"]
    ids = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    lines = {}
    for result in run["results"]:
        assert result["ruleId"] in ids
        (location,) = result["locations"]
        where = location["physicalLocation"]
        assert where["artifactLocation"]["uri"] == "pieces.py"
        lines.setdefault(result["ruleId"], set()).add(where.get("region", {}).get("startLine"))
    assert lines["check_0"] == {3}
    assert lines["check_1"] == {None}  # of a hidden check not even the line is told
    assert lines["run-error"] == {7, None}


def test_places_of_notebooks_are_the_notebook(lab: Assignment) -> None:
    graded = replace(_one(lab, 0), entry="hw/pieces.py")
    assert place(graded, "NameError: x\n  cell 7, line 3: x") == ("hw/pieces.ipynb", None)
    assert place(graded, "NameError: x\n  a.py, line 2: f()\n  b c.py, line 5, in f: x") == (
        "b c.py", 5,
    )  # fmt: skip
    assert place(graded, None) == ("hw/pieces.py", None)


def test_summary_is_the_feedback_page_up_to_a_size(lab: Assignment, out: Path) -> None:
    (graded,) = read_results(out, students=["ada"])
    page = (out / "pieces" / "ada" / "feedback.md").read_text("utf-8")
    assert EACH["summary"][1](graded) == page
    long = replace(graded, feedback="é" * 2**20)
    cut = EACH["summary"][1](long)
    assert 2**20 - 2 <= len(cut.encode()) <= 2**20
    assert "The rest is cut off" in cut


def test_csv_is_read_back(out: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(TABLES["csv"](read_results(out)))))
    assert [row["student"] for row in rows] == ["'=cmd", "ada", "sick", "李 小龙"]
    assert [row["points"] for row in rows] == ["0", "10", "7.5", "3.13"]
    assert [row["words"] for row in rows] == ["0", "10", "7.5", "3.13"]
    assert [row["review"] for row in rows] == ["", "", "yes", ""]


# Writing ------------------------------------------------------------------------------------------


def test_a_file_a_student(out: Path, tmp_path: Path) -> None:
    remarks: list[str] = []
    assert write(out, "gradescope", tmp_path / "to", remarks) is None
    assert {path.name for path in (tmp_path / "to").iterdir()} == {
        "ada.json", "李 小龙.json", "=cmd.json", "sick.json",
    }  # fmt: skip
    assert remarks == [f"written: 4 files in {tmp_path / 'to'}"]
    assert write(out, "gradescope", tmp_path / "ada.json", students=["ada"]) is None
    assert (tmp_path / "ada.json").read_bytes() == (tmp_path / "to" / "ada.json").read_bytes()
    assert write(out / "pieces", "csv") == write(out, "csv", lab="pieces")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "excel"}, "there is no such format; one of gradescope, github-classroom"),
        ({"format": "canvas"}, "needs --into"),
        ({"format": "csv", "into": Path("x.csv")}, "fills in no file"),
        ({"format": "sarif"}, "one file a student: give a folder by --to"),
        ({"format": "csv", "lab": "layers"}, "results of pieces are there; say which by --lab"),
        ({"format": "csv", "students": ["bob"]}, "no grade of bob is there"),
        ({"format": "moodle", "into": Path("nowhere.csv")}, "nowhere.csv: No such file"),
    ],
)
def test_faults_of_the_caller(out: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(GraderError, match=sentence):
        write(out, **options)


def test_results_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="no results are there"):
        write(tmp_path, "csv")


# Our own formats ----------------------------------------------------------------------------------


def _schema(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (ROOT / "docs" / "schemas" / f"{name}.schema.json").read_text("utf-8")
    )
    jsonschema.Draft202012Validator.check_schema(content)
    return content


def test_own_files_are_what_the_published_schemas_say(out: Path) -> None:
    for student in ("ada", "李 小龙", "=cmd", "sick"):
        folder = out / "pieces" / student
        for name, path in (
            ("grade", folder / "grade.json"),
            ("submission", folder / "submission.json"),
            ("run", folder / "runs" / "public.json"),
        ):
            jsonschema.validate(json.loads(path.read_text("utf-8")), _schema(name))
    for line in (out / "pieces" / "journal.jsonl").read_text("utf-8").splitlines():
        jsonschema.validate(json.loads(line), _schema("journal"))


def test_schemas_refuse_what_is_wrong(out: Path) -> None:
    grade = json.loads((out / "pieces" / "ada" / "grade.json").read_text("utf-8"))
    for change in ({"points": "10"}, {"version": 2}, {"extra": 1}, {"tier": "none"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**grade, **change}, _schema("grade"))
