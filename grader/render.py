"""Renders grades: a table or a page, for the instructor or the student, from the same data.

What a student sees of a hidden check is its question, its status and its hint; never a message,
which may hold an expected value, and never what a run printed on hidden rows.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.home import templates
from grader.records import Assignment, Check, Grade, Run

#: Longest output that a page shows of one stream, in lines.
MAX_LINES = 200
_STYLES = {
    "passed": "green",
    "ok": "green",
    "partial": "yellow",
    "failed": "red",
    "error": "magenta",
    "not_run": "dim",
}
#: Control characters but tab and newline, and the marks that turn the reading direction.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: What a CI runner obeys in a line of its log.
_COMMANDS = re.compile(r"::(?=[A-Za-z])|##(?=\[)")


def clean(text: str) -> str:
    """Text of a submission with every control character made visible and harmless."""
    plain = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
    return _COMMANDS.sub(lambda found: "\N{ZERO WIDTH SPACE}".join(found[0]), plain)


def points(number: float) -> str:
    """Points to two decimals, without trailing zeros."""
    return f"{number:z.2f}".rstrip("0").rstrip(".")


def feedback(assignment: Assignment, grade: Grade) -> dict[str, Any]:
    """What a student's page shows, with nothing of the hidden cases that it must not."""
    titles = {part.name: part.title for part in assignment.parts}
    hidden = {case.name for case in assignment.cases if case.hidden}
    parts = []
    for name, title in titles.items():
        checks = [check for check in grade.checks if check.part == name]
        parts.append(
            {
                "title": title,
                "earned": sum(check.earned for check in checks),
                "points": sum(check.points for check in checks),
                "checks": [_shown_check(check) for check in checks],
            }
        )
    return {
        "assignment": assignment,
        "grade": grade,
        "parts": parts,
        "runs": [_shown_run(run, hidden=run.case in hidden) for run in grade.runs],
    }


def _shown_check(check: Check) -> dict[str, Any]:
    message = None if check.hidden or check.message is None else _clip(check.message)
    where = "on other data than yours" if check.hidden else "on your data"
    return {**vars(check), "message": message, "where": where}


def _shown_run(run: Run, *, hidden: bool) -> dict[str, Any]:
    shown = {name: _clip(getattr(run, name)) for name in ("output", "errors")}
    if hidden:
        shown = {"output": "", "errors": ""}
    message = None if hidden or run.message is None else _clip(run.message)
    return {**vars(run), **shown, "message": message, "hidden": hidden}


def _clip(text: str) -> str:
    """The head and tail of a long output, told so."""
    lines = [line[:500] for line in clean(text).splitlines()]
    if len(lines) <= MAX_LINES:
        return "\n".join(lines)
    half = MAX_LINES // 2
    cut = len(lines) - 2 * half
    return "\n".join([*lines[:half], f"… {cut} lines left out …", *lines[-half:]])


def page(template: str, context: dict[str, Any]) -> str:
    """A template filled in; everything is escaped unless a filter of ours made it safe."""
    return _environment(templates()).get_template(template).render(context)


@functools.cache
def _environment(folder: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        points=points, clean=clean, fence=_fence, inline=_inline, code=_code, own=_own
    )
    return environment


def _fence(text: str) -> Markup:
    """Text as a Markdown code block that nothing in the text can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Markup(f"{ticks}text\n{text}\n{ticks}")  # noqa: S704 - a code block shows it as it is


def _code(text: str) -> Markup:
    """A lab's own sentence as HTML, what stands between backticks as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(Markup.escape(text))))  # noqa: S704


def _own(text: str) -> Markup:
    """A lab's own sentence as Markdown; what stands between backticks is left as it is."""
    spans = re.split("(`[^`]+`)", " ".join(text.split()))
    spans[::2] = [html.escape(span, quote=False) for span in spans[::2]]
    return Markup("".join(spans))  # noqa: S704 - escaped but for the code


def _inline(text: str) -> Markup:
    """Text on a line of Markdown, with neither markup nor a workflow command in it."""
    flat = html.escape(" ".join(clean(text).split()), quote=False)
    return Markup(re.sub(r"([\\`*_{}\[\]()#+!|~>-]|::)", r"\\\1", flat))  # noqa: S704 - escaped


def table_of_class(assignment: Assignment, rows: Sequence[Mapping[str, Any]]) -> Table:
    """The instructor's view: a row a student, as `classlist.rows` gives them."""
    table = Table(title=f"{assignment.name}: {assignment.title}", title_justify="left")
    table.add_column("student")
    table.add_column("points", justify="right")
    for part in assignment.parts:
        table.add_column(part.name, justify="right")
    for case in assignment.cases:
        table.add_column(f"{case.name} run")
    table.add_column("")
    for row in rows:
        cells = [_share(*row["by_part"][part.name]) for part in assignment.parts]
        status = {run["case"]: run["status"] for run in row["runs"]}
        runs = [_status(status.get(case.name, "")) for case in assignment.cases]
        total = f"{points(row['points'])} / {points(row['possible'])}"
        review = Text("a person must look", style="magenta") if row["review"] else Text("")
        table.add_row(Text(clean(row["student"])), total, *cells, *runs, review)
    return table


def _status(status: str) -> Text:
    return Text(status, style=_STYLES.get(status, "red"))


def _share(earned: float, possible: float) -> Text:
    full = abs(earned - possible) < 1e-9
    style = "green" if full else "red" if earned == 0 else "yellow"
    return Text(points(earned), style=style)


def print_feedback(console: Console, assignment: Assignment, grade: Grade) -> None:
    """The student's view in a terminal."""
    shown = feedback(assignment, grade)
    total = f"{points(grade.points)} of {points(grade.possible)} points"
    console.print(Text.assemble((f"{assignment.title}: ", "bold"), (total, "bold")))
    for notice in grade.notices:
        console.print(Text(f"note: {clean(notice)}", style="yellow"))
    for run in shown["runs"]:
        if run["status"] != "ok":
            reason = run["message"] or "no reason is shown for other data than yours"
            console.print(Text(f"{run['case']} run: {run['status']}: {reason}", style="red"))
    for part in shown["parts"]:
        head = f"{part['title']}: {points(part['earned'])} of {points(part['points'])}"
        console.print(Text(head, style="bold"))
        for check in part["checks"]:
            console.print(Padding(_told(check), (0, 0, 0, 2)))


def _told(check: dict[str, Any]) -> RenderableType:
    """A check as lines: what was asked, what came, what to look at."""
    status = check["status"]
    lines = [Text.assemble((f"{status}: ", _STYLES[status]), check["asked"])]
    if status != "passed":
        told = (
            ("came: ", check["message"]),
            ("what was done: ", check["diagnosis"]),
            ("hint: ", check["hint"]),
        )
        lines += [Text(f"  {word}{text}") for word, text in told if text]
    return Group(*lines)
