"""Grading where students hand in: GitHub Actions and Gradescope."""

from __future__ import annotations

from typing import Literal

#: Whose notices and results a report gives.
Classroom = Literal["none", "github", "classroom50"]
