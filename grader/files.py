"""Writes files so that they are whole: `write(path, content)`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

UNFINISHED = ".part"  #: how a file ends that is being written


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that it is whole or as it was before."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        beside.chmod(0o644)
        beside.replace(path)
    except BaseException:
        beside.unlink()
        raise
