"""The commands `grader bundles ...`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from grader.records import BundleError

if TYPE_CHECKING:
    from grader.bundles import Bundle

app = typer.Typer(no_args_is_help=True, help="The encoders and queries that labs are graded on.")
_out = Console()
_err = Console(stderr=True)

_Name = Annotated[str, typer.Argument(help="The bundle; or a folder with a bundle.toml.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")]


@app.command("list")
def list_(as_json: _Json = False) -> None:
    """List the bundles, and whether they are here."""
    from grader import bundles
    from grader.bundles import published

    rows = []
    for name in bundles.names():
        told = published.BUNDLES.get(name)
        encoder = told.encoder if told else "BERT-Mini's shape, pretrained on generated queries"
        rows.append({"name": name, "encoder": encoder, "state": _state(name)})
    if as_json:
        sys.stdout.write(json.dumps({"bundles": rows}, indent=2) + "\n")
        return
    table = Table("bundle", "encoder", "state")
    for row in rows:
        table.add_row(*row.values())
    _out.print(table)


@app.command()
def fetch(
    name: _Name,
    mirror: Annotated[
        str | None,
        typer.Option(
            envvar="GRADER_MIRROR",
            help="In place of https://raw.githubusercontent.com; HF_ENDPOINT is the encoder's.",
        ),
    ] = None,
) -> None:
    """Bring a bundle's files into the cache folder, checked; afterwards all is offline."""
    from grader import bundles
    from grader.bundles import fetch as fetcher

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=_err, disable=not _err.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def told(path: str, have: int, total: int | None) -> None:
            if path not in tasks:
                tasks[path] = progress.add_task(path)
            progress.update(tasks[path], completed=have, total=total)

        folder = fetcher.fetch(name, mirror, told)
    found = bundles.find(name, folder)
    _out.print(Text(f"{name}: {_told(found)} {found.folder}"), soft_wrap=True)


@app.command()
def check(name: _Name, as_json: _Json = False) -> None:
    """Look every file of a bundle over. Exit status 2 where one is missing or altered."""
    from grader import bundles

    found = bundles.find(name)
    facts = _facts(found)
    if as_json:
        sys.stdout.write(json.dumps(facts, indent=2) + "\n")
        return
    for field, value in facts.items():
        _out.print(Text(f"{field}: {value}"), soft_wrap=True)


@app.command()
def where(name: _Name) -> None:
    """Print the folder of a bundle."""
    from grader import bundles

    sys.stdout.write(f"{bundles.find(name).folder}\n")


def _state(name: str) -> str:
    from grader import bundles
    from grader.bundles import published

    if name != "tiny" and published.source() is None:
        return f"not here: grader bundles fetch {name}"
    try:
        return _told(bundles.find(name))
    except BundleError as problem:
        return str(problem)


def _told(found: Bundle) -> str:
    return "ready" if found.weights else "ready, but for the encoder's weights"


def _facts(found: Bundle) -> dict[str, object]:
    """What a bundle holds."""
    config = json.loads((found.folder / "encoder" / "config.json").read_text("utf-8"))
    return {
        "name": found.name,
        "state": _told(found),
        "folder": str(found.folder),
        "digest": found.digest,
        "layers": config["num_hidden_layers"],
        "hidden": config["hidden_size"],
        "heads": config["num_attention_heads"],
        "vocabulary": config["vocab_size"],
    }
