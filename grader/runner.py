"""Runs submissions in the sandbox: `run_case(assignment, case, submission) -> run`.

The parent's side of a run. It owns the deadlines, reads with caps, believes only the jailer about
how a run ended, and turns whatever happens into one status.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from grader import codec
from grader.assignment import probe_sources
from grader.bundles import Bundle
from grader.heard import Heard
from grader.listen import listen
from grader.records import TIERS, Assignment, Case, Run, SandboxError, Submission, Tier
from grader.sandbox import Plan, tier
from grader.support import SUPPORT_SECONDS, as_file, support_probe, support_submission
from grader.warm import Zygote
from grader.workspace import Place


class Runner:
    """Warm processes, one for each bundle, that live as long as the `with` block.

    `run_case` may be called from several threads at once.
    """

    def __init__(
        self,
        bundles: Mapping[str, Bundle],
        min_tier: Tier = "container",
        without: tuple[str, ...] = (),
    ) -> None:
        self.min_tier = min_tier
        self.without = without  #: layers that the next run does without, in tests
        self.bundles = bundles
        self._zygotes: dict[str, Zygote] = {}
        self._support: dict[tuple[str, Case], bytes] = {}
        self._lock = threading.RLock()
        self._place = Place()

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for zygote in self._zygotes.values():
            zygote.close()
        self._place.close()

    def run_case(
        self, assignment: Assignment, case: Case, submission: Submission, threads: int = 1
    ) -> Run:
        """Run a submission in one case, with so many threads of torch's.

        Raises:
            BundleError: the case's bundle lacks what the assignment needs.
            SandboxError: the sandbox itself failed; never for anything a submission did.
        """
        if submission.entry is None:
            return Run(case=case.name, status="missing", message=submission.problem)
        given = self._support_files(assignment, case)
        complete = replace(submission, files={**submission.files, **given})
        sources = probe_sources(assignment, case)
        return self.launch(assignment.course, case, complete, sources, threads)

    def _support_files(self, assignment: Assignment, case: Case) -> dict[str, bytes]:
        """The files that the task promises beside the script, made once for each case."""
        return {
            f"{script}.pt": self._support_file(assignment, case, script)
            for script in assignment.support
        }

    def _support_file(self, assignment: Assignment, case: Case, script: str) -> bytes:
        with self._lock:
            key = (script, replace(case, name="", share=0.0))
            if key not in self._support:
                submission = support_submission(assignment, script)
                patient = replace(case, seconds=SUPPORT_SECONDS)
                run = self.launch(assignment.course, patient, submission, support_probe(script))
                self._support[key] = as_file(script, case, run)
            return self._support[key]

    def launch(
        self,
        course: Path,
        case: Case,
        submission: Submission,
        sources: list[tuple[str, str]],
        threads: int = 1,
    ) -> Run:
        """Run files that have an entry, with the given probe sources, in one case."""
        return self._run(self._zygote(case.bundle, course), case, submission, sources, threads)

    def _run(
        self,
        zygote: Zygote,
        case: Case,
        submission: Submission,
        sources: list[tuple[str, str]],
        threads: int = 1,
    ) -> Run:
        files = submission.files
        with self._place.workspace() as folder:
            header = {
                "workspace": str(folder),
                "entry": submission.entry,
                "files": [[name, len(data)] for name, data in files.items()],
                "rows": {"train": case.train, "val": case.val, "test": case.test},
                "seed": case.seed,
                "probes": sources,
                "seconds": case.seconds,
                "threads": threads,
            }
            plan = Plan(
                workspace=folder,
                readable=tuple(zygote.readable),
                memory_mb=case.memory_mb,
                cpu_seconds=int(case.seconds * 4) + 10,
                without=self.without,
            )
            try:
                job = codec.seal(header, b"".join(files.values()))
            except TypeError as problem:
                raise SandboxError(
                    f"case {case.name}: the files of the run are {problem}"
                ) from None
            ends = zygote.fork(plan)
            heard = listen(ends, job, case.seconds)
        return _judge(case, heard)

    def _zygote(self, bundle: str, course: Path) -> Zygote:
        """The warm process of a bundle, started when first asked for and again if it died."""
        with self._lock:
            known = self._zygotes.get(bundle)
            if known is None or not known.alive():
                known = Zygote(self.bundles[bundle], course)
                self._zygotes[bundle] = known
                self._check_tier(known)
            return known

    def _check_tier(self, zygote: Zygote) -> None:
        """Refuse to go on where submissions would be confined less than was asked for."""
        case = Case("tier", "", 1, 1, 1, 0, share=1, hidden=False, seconds=30, memory_mb=256)
        run = self._run(zygote, case, Submission("", {"empty.py": b""}, "empty.py"), [])
        found = run.tier or "nothing"
        if found not in TIERS[: TIERS.index(self.min_tier) + 1]:
            raise SandboxError(
                f"submissions would be confined by {found} here, less than {self.min_tier}: "
                "`grader doctor` says what is missing; --trust-submissions goes on all the same"
            )


def _judge(case: Case, heard: Heard) -> Run:
    """One run from what was heard: exactly one status, and the reason in a sentence."""
    if heard.fault or (not heard.started and heard.ended_by is None):
        detail = (heard.fault or heard.errors).strip()[-2000:]
        raise SandboxError(f"a run of case {case.name} did not start:\n{detail}")
    status, message = heard.verdict(case.seconds)
    return Run(
        case=case.name,
        status=status,
        message=message,
        values=heard.values,
        faults=heard.faults,
        output=heard.output,
        errors=heard.errors,
        seconds=heard.seconds,
        cpu_seconds=heard.cpu_seconds,
        memory_mb=heard.memory_mb,
        tier=tier(set(heard.layers)),
    )
