"""Files that a task puts beside the script, made by the course's own scripts in the sandbox.

`assignments/course/bert_features.py` writes `bert_features.pt`; a student runs it at home, and the
harness runs the same script once for each case and keeps the file's bytes.
"""

from __future__ import annotations

import io

import torch

from grader.records import Assignment, AssignmentError, BundleError, Case, Run, Submission

#: Wall clock of a course script: it is ours, and reads every row of a bundle.
SUPPORT_SECONDS = 900.0


def support_probe(script: str) -> list[tuple[str, str]]:
    """The probe source that reads what a course script wrote."""
    source = f'import torch\n\ndef tensors(m):\n    return torch.load("{script}.pt")\n'
    return [("support.py", source)]


def support_submission(assignment: Assignment, script: str) -> Submission:
    """A course script as if it had been handed in."""
    path = assignment.course / f"{script}.py"
    if not path.is_file():
        raise AssignmentError(
            f"{assignment.folder / 'assignment.toml'}: support: no course script {path}"
        )
    return Submission(student="course", files={path.name: path.read_bytes()}, entry=path.name)


def as_file(script: str, case: Case, run: Run) -> bytes:
    """The bytes of `<script>.pt`: what the script itself writes, from the values of its run.

    Raises:
        BundleError: the script did not run on the case's bundle, for instance for want of weights.
    """
    tensors = run.values.get("tensors")
    if run.status != "ok" or not isinstance(tensors, dict):
        why = (run.message or run.faults.get("tensors") or "no tensors").splitlines()[0]
        raise BundleError(f"bundle {case.bundle}: {script}.py cannot run on it: {why}")
    stream = io.BytesIO()
    torch.save(tensors, stream)
    return stream.getvalue()
