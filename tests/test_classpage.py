"""The class at a glance: what is counted, ranked and correlated, and codes for names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grader import classlist
from grader.assignment import load
from grader.classpage import classpage
from grader.words import words

LAYERS = load("layers")
PARTS = {part.name: part.points for part in LAYERS.parts}


def _row(student: str, shares: dict[str, float], **fields: Any) -> dict[str, Any]:
    """A student's row with a share of the points of each part, all of those that are not named."""
    by_part = {name: [shares.get(name, 1.0) * most, most] for name, most in PARTS.items()}
    run = {"case": "public", "status": "ok", "seconds": 1.0, "memory_mb": 100.0}
    row: dict[str, Any] = {
        "student": student, "points": sum(earned for earned, _ in by_part.values()),
        "possible": 20.0, "review": False, "late": None, "by_part": by_part,
        "runs": [run, {**run, "case": "hidden"}], "mistakes": {}, "wrong": [], "before": [],
        "link": f"{student}/feedback.html",
    }  # fmt: skip
    return {**row, **fields}


def _shown(*rows: dict[str, Any]) -> dict[str, Any]:
    return classpage(LAYERS, rows, words(LAYERS))


def _part(shown: dict[str, Any], name: str) -> dict[str, Any]:
    titles = {part.name: part.title for part in LAYERS.parts}
    (found,) = [part for part in shown["parts"] if part["title"] == titles[name]]
    return found


def test_an_empty_class_is_shown() -> None:
    shown = _shown()
    assert shown["submissions"] == "0 submissions"
    assert shown["histogram"] == shown["rows"] == shown["mistakes"] == []
    assert {part["mean"] for part in shown["parts"]} == {"–"}


def test_grades_are_counted_in_ten_ranges() -> None:
    rows = [_row(str(n), {}, points=points) for n, points in enumerate([0, 1.99, 2, 10, 20, 20])]
    found = _shown(*rows)["histogram"]
    assert [one["count"] for one in found] == [2, 1, 0, 0, 0, 1, 0, 0, 0, 2]
    assert (found[0]["range"], found[-1]["range"]) == ("0–2", "18–20")
    assert found[1]["percent"] == 50


def test_late_points_below_zero_are_in_the_first_range() -> None:
    found = _shown(_row("a", {}, points=-1.0), _row("b", {}, points=25.0))["histogram"]
    assert (found[0]["count"], found[-1]["count"]) == (1, 1)


def test_parts_by_difficulty_and_discrimination() -> None:
    shares = [0.0, 0.25, 0.75, 1.0]
    rows = [_row(str(n), dict.fromkeys(PARTS, share)) for n, share in enumerate(shares)]
    shown = _shown(*rows)
    part = _part(shown, "views")
    assert (part["mean"], part["zeros"], part["discrimination"]) == ("50%", "25%", "1.00")
    turned = [_row(str(n), {"fit": 1 - s, "views": s}) for n, s in enumerate(shares)]
    assert _part(_shown(*turned), "fit")["discrimination"] == "-1.00"
    assert _part(_shown(*turned), "score")["discrimination"] == "–"


def test_mistakes_are_ranked_with_those_who_made_them() -> None:
    shown = _shown(
        _row("a", {}, mistakes={"pads": None, "seed": "No seed."}),
        _row("b", {}, mistakes={"pads": "Over the padding."}),
        _row("c", {}),
    )
    assert [(m["name"], m["count"], m["told"]) for m in shown["mistakes"]] == [
        ("pads", 2, "Over the padding."), ("seed", 1, "No seed."),
    ]  # fmt: skip
    assert [one["link"] for one in shown["mistakes"][0]["students"]] == [
        "a/feedback.html", "b/feedback.html",
    ]  # fmt: skip


def test_runs_by_case_with_the_slowest() -> None:
    slow = _row("b", {})
    slow["runs"][0] |= {"status": "timeout", "seconds": 90.0, "memory_mb": 300.0}
    shown = _shown(_row("a", {}), slow, _row("c", {}))
    public, hidden = shown["cases"]
    assert public["statuses"] == "ok 2, timeout 1"
    assert public["slowest"]["student"] == "b"
    assert (public["seconds"], public["memory"]) == (["1.0", "90.0"], ["100", "300"])
    assert hidden["statuses"] == "ok 3"
    assert [row["runs"] for row in shown["rows"]] == ["ok", "public: timeout", "ok"]


def test_who_needs_a_persons_look() -> None:
    shown = _shown(_row("a", {}), _row("b", {}, review=True, wrong=["head", "views"]))
    assert [(one["student"], one["checks"]) for one in shown["look"]] == [("b", "head, views")]


def _saved(out: Path, students: list[str]) -> None:
    grade = json.loads((Path(__file__).parent / "golden/cleo/grade.json").read_text("utf-8"))
    for student in students:
        folder = out / "layers" / student
        (folder / "former").mkdir(parents=True)
        text = json.dumps({**grade, "student": student})
        (folder / "grade.json").write_text(text, "utf-8")
        for number, earned in ((2, 3.5), (10, 4.0), (1, 2.0)):
            kept = folder / "former" / f"{number}.json"
            kept.write_text(json.dumps({"points": earned}), "utf-8")


def test_earlier_attempts_are_told_oldest_first(tmp_path: Path) -> None:
    _saved(tmp_path, ["ada"])
    (row,) = classlist.rows(tmp_path, LAYERS)
    assert row["before"] == [2.0, 3.5, 4.0]
    assert "2, 3.5, 4" in classlist.save(tmp_path, LAYERS).read_text("utf-8")


def test_mistakes_of_a_row_come_from_its_checks(tmp_path: Path) -> None:
    _saved(tmp_path, ["ada"])
    (row,) = classlist.rows(tmp_path, LAYERS)
    assert list(row["mistakes"]) == ["mean_over_pads"]
    assert row["mistakes"]["mean_over_pads"].startswith("Your means are taken over the padding")
    assert "Evidence" not in row["mistakes"]["mean_over_pads"]
    assert row["wrong"] == ["line_test"]


def test_the_anonymous_page_has_codes_and_no_names(tmp_path: Path) -> None:
    _saved(tmp_path, ["ada", "ben", "Zoë <b>"])
    page = classlist.save_anonymous(tmp_path, LAYERS).read_text("utf-8")
    for name in ("ada", "ben", "Zoë", "feedback.html"):
        assert f">{name}<" not in page
        assert f"{name}/" not in page
    secret = (tmp_path / ".codes").read_bytes()
    code = classlist.code_of("ada", secret)
    assert page.count(code) >= 2
    assert classlist.code_of("ada", secret) == code != classlist.code_of("ada", b"another")
    assert (tmp_path / ".codes").stat().st_mode & 0o077 == 0
    again = classlist.save_anonymous(tmp_path, LAYERS).read_text("utf-8")
    assert again == page
