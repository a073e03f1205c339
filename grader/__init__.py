"""grader: grades assignments on transformers, running each submission apart from itself.

    import grader

    lab = grader.load("pieces")
    (grade,) = grader.grade(lab, "submissions/ada")
    print(grade.points, "of", grade.possible)

All that the commands do is here; the names are loaded when they are first used, since torch takes
seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.api import check as check
    from grader.api import export_results as export_results
    from grader.api import find_submissions as find_submissions
    from grader.api import grade as grade
    from grader.api import grade_class as grade_class
    from grader.api import labs as labs
    from grader.api import load as load
    from grader.api import read_submission as read_submission
    from grader.api import regrade_class as regrade_class
    from grader.api import verify_lab as verify_lab
    from grader.api import write_github_workflow as write_github_workflow
    from grader.api import write_gradescope_zip as write_gradescope_zip
    from grader.attempts import Told as Told
    from grader.collect import Source as Source
    from grader.records import Assignment as Assignment
    from grader.records import AssignmentError as AssignmentError
    from grader.records import BundleError as BundleError
    from grader.records import Case as Case
    from grader.records import Check as Check
    from grader.records import Grade as Grade
    from grader.records import GraderError as GraderError
    from grader.records import LateRule as LateRule
    from grader.records import Part as Part
    from grader.records import Run as Run
    from grader.records import SandboxError as SandboxError
    from grader.records import Submission as Submission

__version__ = "0.1.0"

#: Where each public name is defined.
_HOME = {
    **dict.fromkeys(
        ("check", "export_results", "find_submissions", "grade", "grade_class", "labs", "load",
         "read_submission", "regrade_class", "verify_lab", "write_github_workflow",
         "write_gradescope_zip"), "grader.api"),
    **dict.fromkeys(
        ("Assignment", "AssignmentError", "BundleError", "Case", "Check", "Grade", "GraderError",
         "LateRule", "Part", "Run", "SandboxError", "Submission"), "grader.records"),
    "Source": "grader.collect",
    "Told": "grader.attempts",
}  # fmt: skip
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
