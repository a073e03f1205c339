"""Renders what `feedback` and `classpage` say: as HTML, Markdown, or in a terminal.

Everything that a student controls is escaped: templates escape by themselves, and what goes through
a filter of ours is escaped there. Pages ask for nothing from elsewhere and forbid it.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader import plots
from grader.home import templates
from grader.plain import clean, points
from grader.records import Assignment

_STYLES = {
    "passed": "green",
    "ok": "green",
    "partial": "yellow",
    "failed": "red",
    "error": "magenta",
    "not_run": "dim",
}
#: What GitHub makes a link of: the start of an address, a mention, the number of an issue.
_LINKED = re.compile(r":(?=//)|\bwww(?=\.)|@|#(?=\d)", re.IGNORECASE)


def page(template: str, context: Mapping[str, Any], first: Path | None = None) -> str:
    """A template filled in; everything is escaped unless a filter of ours made it safe.

    Args:
        template: its name.
        context: what it is filled in with.
        first: a folder of templates that goes before the others.
    """
    return _environment(templates(first)).get_template(template).render(context)


@functools.cache
def _environment(folders: tuple[Path, ...]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        points=points, clean=clean, fence=_fence, inline=_inline, code=_code, own=_own, svg=_svg
    )
    environment.globals["script"] = functools.partial(_script, environment)
    environment.globals["digest"] = functools.partial(_digest, environment)
    return environment


def _script(environment: jinja2.Environment, name: str) -> Markup:
    """A script of the templates, as it stands in its file."""
    return Markup(environment.get_template(name).render())  # noqa: S704 - our own


def _digest(environment: jinja2.Environment, name: str) -> str:
    """What a content security policy says of a script so that it and no other may run."""
    digest = hashlib.sha256(_script(environment, name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _svg(plot: plots.Plot) -> Markup:
    """A plot drawn; no text of a submission is in it."""
    return Markup(plots.svg(plot))  # noqa: S704


def _fence(text: str, language: str = "text") -> Markup:
    """Text as a Markdown code block that nothing in the text can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Markup(f"{ticks}{language}\n{text}\n{ticks}")  # noqa: S704 - shown as it is


def _code(text: str) -> Markup:
    """A lab's own sentence as HTML, what stands between backticks as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(Markup.escape(text))))  # noqa: S704


def _own(text: str) -> Markup:
    """A lab's own sentence as Markdown; what stands between backticks is left as it is."""
    spans = re.split("(`[^`]+`)", " ".join(text.split()))
    spans[::2] = [html.escape(span, quote=False) for span in spans[::2]]
    return Markup("".join(spans))  # noqa: S704 - escaped but for the code


def _inline(text: str) -> Markup:
    """Text on a line of Markdown, with no markup, link, mention or workflow command in it."""
    flat = html.escape(" ".join(clean(text).split()), quote=False)
    flat = _LINKED.sub("\\g<0>\N{ZERO WIDTH SPACE}", flat)
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


def print_feedback(console: Console, shown: Mapping[str, Any]) -> None:
    """A student's page in a terminal: what the others say, the points last, next to the prompt.

    Args:
        console: where to.
        shown: what `feedback` gave.
    """
    words = shown["words"]
    console.print(Text(shown["title"], style="bold"))
    console.print(Text(shown["student"]))
    console.print(_runs(shown))
    for output in shown["outputs"]:
        console.print(_block(output["title"], output["text"], "dim"))
    for curve in shown["curves"]:
        console.print(_plot(curve))
    for notice in shown["notices"]:
        console.print(Text(notice, style="yellow"))
    for stopped in shown["stopped"]:
        console.print(Text(stopped["sentence"], style="red"))
        if stopped["message"]:
            console.print(_indented(Text(stopped["message"])))
        console.print(_indented(Group(*_excerpts(stopped, words))))
    for part in shown["parts"]:
        style = f"bold {_STYLES[part['state']]}"
        console.print(Text(f"\n{part['title']}: {part['share']}", style=style))
        for check in part["checks"]:
            console.print(_indented(Group(*_check(check, words))))
    console.print(Text(f"\n{shown['total']}", style=f"bold {_STYLES[shown['state']]}"))


def _check(check: Mapping[str, Any], words: Mapping[str, str]) -> Iterable[RenderableType]:
    """A check as lines: what was asked, what came, what to look at."""
    status = (check["status_word"], _STYLES[check["status"]])
    yield Text.assemble(status, f" ({check['share']}, {check['where']}): ", check["asked"])
    for name, key in (("came", "message"), ("diagnosis", "diagnosis"), ("hint", "hint")):
        text = check[key]
        if text and "\n" in text:
            yield _indented(_block(f"{words[name]}:", text, ""))
        elif text:
            yield _indented(Text(f"{words[name]}: {text}"))
    for lines in _excerpts(check, words):
        yield _indented(lines)
    if check["compared"]:
        yield _indented(_compared(check, words))
    for plot in check["plots"]:
        yield _indented(_plot(plot))


def _compared(check: Mapping[str, Any], words: Mapping[str, str]) -> RenderableType:
    names = ("value", "expected", "received", "largest_error")
    title = Text(words["compared"])
    table = Table(title=title, title_justify="left", title_style="", box=None, pad_edge=False)
    for name in names:
        table.add_column(Text(words[name]))
    for row in check["compared"]:
        table.add_row(*(Text(row[name]) for name in ("what", "expected", "received", "error")))
    return Group(table, Text(check["more"])) if check["more"] else table


def _excerpts(where: Mapping[str, Any], words: Mapping[str, str]) -> Iterable[RenderableType]:
    for one in where["excerpts"]:
        yield _block(f"{words['where']}: {one['title']}", one["text"], "")


def _plot(plot: Mapping[str, Any]) -> RenderableType:
    lines = [f"{label}: {blocks}" if label else blocks for label, blocks in plot["spark"]]
    return _block(plot["title"], "\n".join(lines), "cyan")


def _block(title: str, text: str, style: str) -> RenderableType:
    return Group(Text(title), _indented(Text(text, style=style)))


def _runs(shown: Mapping[str, Any]) -> RenderableType:
    words = shown["words"]
    table = Table(title=Text(words["runs"]), title_justify="left", title_style="", box=None)
    for name in ("run", "status", "seconds", "memory"):
        table.add_column(
            Text(words[name]), justify="right" if name in ("seconds", "memory") else "left"
        )
    for run in shown["runs"]:
        status = Text(run["status_word"], style=_STYLES.get(run["status"], "red"))
        table.add_row(Text(run["case"]), status, run["seconds"], run["memory"])
    return table


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2), expand=False)
