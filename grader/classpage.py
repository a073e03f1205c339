"""The class at a glance, as plain data: `classpage(assignment, rows, words) -> dict`.

How the grades are spread, which parts are hard and which tell who can do the rest, which mistakes
were made by how many, how runs ended and what they cost, and who needs a person's look.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import StatisticsError, correlation, fmean, median
from typing import Any

from grader.plain import cleaned, points
from grader.records import Assignment

_BINS = 10
Row = Mapping[str, Any]


def classpage(
    assignment: Assignment, rows: Sequence[Row], words: Mapping[str, str]
) -> dict[str, Any]:
    """All that the page of a class shows.

    Args:
        assignment: whose.
        rows: a student each, as `classlist.rows` gives them; one without a link has no page.
        words: in the assignment's language.
    """
    shown = {
        "title": words["class_of"].format(title=assignment.title),
        "submissions": words["submissions"].format(count=len(rows)),
        "mean": _mean(rows, words),
        "anonymous": bool(rows) and rows[0]["link"] is None,
        "histogram": _histogram(rows),
        "parts": [_part(part.name, part.title, rows) for part in assignment.parts],
        "mistakes": _mistakes(rows),
        "cases": [_case(case.name, rows, words) for case in assignment.cases],
        "look": [{**_who(row), "checks": ", ".join(row["wrong"])} for row in rows if row["review"]],
        "columns": [part.name for part in assignment.parts],
        "rows": [_line(row, words) for row in rows],
        "some_before": any(row["before"] for row in rows),
        "words": dict(words),
    }
    plain: dict[str, Any] = cleaned(shown)
    return plain


def _mean(rows: Sequence[Row], words: Mapping[str, str]) -> str | None:
    if not rows:
        return None
    found = [row["points"] for row in rows]
    return words["mean_of"].format(
        mean=points(fmean(found)),
        median=points(median(found)),
        possible=points(rows[0]["possible"]),
    )


def _histogram(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Equal ranges of points, each with how many have that many; the last holds its upper end."""
    possible = max((row["possible"] for row in rows), default=0.0)
    if not possible:
        return []
    width = possible / _BINS
    counts = Counter(
        min(_BINS - 1, max(0, math.floor(row["points"] / width + 1e-9))) for row in rows
    )
    most = max(counts.values())
    return [
        {
            "range": f"{points(i * width)}–{points((i + 1) * width)}",
            "count": counts[i],
            "percent": round(100 * counts[i] / most, 1),
        }
        for i in range(_BINS)
    ]


def _part(name: str, title: str, rows: Sequence[Row]) -> dict[str, Any]:
    """How hard a part was, and how it goes with the rest of the points."""
    earned = [row["by_part"][name][0] for row in rows]
    possible = max((row["by_part"][name][1] for row in rows), default=0.0)
    rest = [row["points"] - mine for row, mine in zip(rows, earned, strict=True)]
    mean = fmean(earned) / possible if rows and possible else None
    return {
        "title": title,
        "points": points(possible),
        "mean": _percent(mean),
        "share": mean or 0.0,
        "zeros": _percent(earned.count(0) / len(rows) if rows else None),
        "discrimination": _correlation(earned, rest),
    }


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _correlation(ours: Sequence[float], others: Sequence[float]) -> str:
    """Pearson's correlation, "–" where one of them is the same for all."""
    try:
        return f"{correlation(ours, others):.2f}"
    except StatisticsError:
        return "–"


def _mistakes(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The mistakes that were found, those of most students first."""
    made: dict[str, list[Row]] = defaultdict(list)
    told: dict[str, str] = {}
    for row in rows:
        for name, sentence in row["mistakes"].items():
            made[name].append(row)
            if sentence:
                told.setdefault(name, sentence)
    ranked = sorted(made, key=lambda name: (-len(made[name]), name))
    return [
        {
            "name": name,
            "told": told.get(name),
            "count": len(made[name]),
            "students": [_who(row) for row in made[name]],
        }
        for name in ranked
    ]


def _case(name: str, rows: Sequence[Row], words: Mapping[str, str]) -> dict[str, Any]:
    """How the runs of one case ended, and what they cost."""
    pairs = [(run, row) for row in rows for run in row["runs"] if run["case"] == name]
    counts = Counter(run["status"] for run, _ in pairs)
    seconds = [run["seconds"] for run, _ in pairs] or [0.0]
    memory = [run["memory_mb"] for run, _ in pairs] or [0.0]
    slowest = max(pairs, key=lambda pair: pair[0]["seconds"], default=None)
    return {
        "name": name,
        "statuses": ", ".join(
            f"{words[f'run_{status}']} {count}" for status, count in counts.most_common()
        ),
        "seconds": [f"{median(seconds):.1f}", f"{max(seconds):.1f}"],
        "memory": [f"{median(memory):.0f}", f"{max(memory):.0f}"],
        "slowest": _who(slowest[1]) if slowest else None,
    }


def _who(row: Row) -> dict[str, Any]:
    return {"student": row["student"], "link": row["link"]}


def _line(row: Row, words: Mapping[str, str]) -> dict[str, Any]:
    """A student's line in the table."""
    bad = [run for run in row["runs"] if run["status"] != "ok"]
    statuses = ", ".join(f"{run['case']}: {words['run_' + run['status']]}" for run in bad)
    return {
        **_who(row),
        "points": points(row["points"]),
        "parts": [_cell(*pair) for pair in row["by_part"].values()],
        "runs": statuses or words["run_ok"],
        "ok": not bad,
        "seconds": f"{sum(run['seconds'] for run in row['runs']):.1f}",
        "memory": f"{max((run['memory_mb'] for run in row['runs']), default=0.0):.0f}",
        "mistakes": ", ".join(row["mistakes"]),
        "before": ", ".join(map(points, row["before"])),
        "review": row["review"],
    }


def _cell(earned: float, possible: float) -> tuple[str, str]:
    """Points of a part, and whether they are all, some or none."""
    state = "f" if not earned else "p" if earned >= possible - 1e-9 else "s"
    return points(earned), state
