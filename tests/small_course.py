"""A copy of the course with one small lab, for tests that spoil it."""

from __future__ import annotations

import shutil
from pathlib import Path

from conftest import ROOT

#: Enough of the lab `pieces` that every check has a wrong file that fails it.
KEPT = {
    "reserved_kept", "special_tokens_in_pieces", "validation_counted", "five_lines", "ids_and_back",
}  # fmt: skip

MEANS = {
    "assignments/means/assignment.toml": """\
version = 1
title = "Means over the real tokens"
file = "means.py"
limits = {seconds = 20, memory_mb = 256}
parts = [{name = "means", title = "Means", points = 2}]
cases = [{name = "public", bundle = "tiny", train = 10, val = 5, test = 5, seed = 1, share = 1}]
""",
    "assignments/means/means.py": "mean = ...\n",
    "assignments/means/probes.py": """\
import torch

def means(m):
    hidden = torch.arange(24.0).reshape(2, 4, 3) / 100
    return m.mean(hidden, torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]))
""",
    "assignments/means/test_public.py": """\
import pytest
from grader.compare import close

@pytest.mark.part("means")
def test_means(student, reference):
    close(student["means"], reference["means"], "means", atol=1e-5)
""",
    "solutions/means/cases.toml": """\
cases = [{name = "other", bundle = "banking77", train = 10, val = 5, test = 5, share = 1}]
""",
    "solutions/means/means.py": """\
# BEGIN SOLUTION
def mean(hidden, mask):
    mask = mask.unsqueeze(-1)
    return (hidden * mask).sum(1) / mask.sum(1)
# END SOLUTION
""",
    "solutions/means/wrong/pads.py": '''\
"""The mean over the padding too.

Loses: means
"""

def mean(hidden, mask):
    return hidden.mean(1)
''',
    "solutions/means/right/loop.py": """\
import torch

def mean(hidden, mask):
    return torch.stack([h[m.bool()].mean(0) for h, m in zip(hidden, mask)])
""",
}


def copy_course(folder: Path) -> Path:
    """Lay out the course with the labs `pieces`, some files of it, and `means`."""
    for side in ("assignments/course", "assignments/pieces", "solutions/pieces", "templates"):
        shutil.copytree(ROOT / side, folder / side, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.glob("solutions/pieces/*/*.py"):
        if path.stem not in KEPT:
            path.unlink()
    for name, text in MEANS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def change(path: Path, old: str, new: str) -> None:
    """Replace what stands once in a file."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1, (path, old, text.count(old))
    path.write_text(text.replace(old, new), "utf-8")
