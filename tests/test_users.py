"""The hostile submissions again, with the grader run by a plain user.

As root, these tests become another user in a mount namespace of their own, where what lies below a
folder that only root may enter (an interpreter, a checkout) is made reachable.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import ROOT

NOBODY = 65534
AS_NOBODY = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
#: Root of a user namespace in which no further one may be made, and without its rights.
NO_NAMESPACES = (
    "unshare --user --map-root-user sh -c "
    "'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all \"$@\"' sh"
)


def _reachable(paths: list[Path]) -> str:
    """Shell lines that let everybody reach paths below folders that only root may enter."""
    lines = []
    for path in paths:
        closed = [p for p in reversed(path.parents) if not p.stat().st_mode & 0o001]
        if closed:
            quoted, folder = shlex.quote(str(path)), shlex.quote(str(closed[0]))
            lines += [
                f"mount --bind {quoted} /mnt",
                f"mount -t tmpfs -o mode=755 tmpfs {folder}",
                f"mkdir -p {quoted}",
                f"mount --move /mnt {quoted}",
            ]
    return "".join(f"{line} && " for line in lines)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a plain user")
@pytest.mark.parametrize(
    ("tier", "become"),
    [("full", AS_NOBODY), ("container", f"{AS_NOBODY} {NO_NAMESPACES}")],
    ids=["user_namespaces", "no_user_namespaces"],
)
def test_hostile_submissions_as_a_plain_user(tier: str, become: str) -> None:
    with tempfile.TemporaryDirectory() as home:  # pytest's own folders are for root alone
        os.chown(home, NOBODY, NOBODY)
        tests = f"-m pytest -q -p no:cacheprovider {ROOT / 'tests' / 'test_hostile.py'} -k {tier}"
        command = f"{sys.executable} {tests} --basetemp={home}/tests --rootdir={ROOT}"
        reach = _reachable([Path(sys.base_prefix), ROOT])
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", f"{reach} cd {ROOT} && exec {become} {command}"],
            env={**os.environ, "HOME": home, "TMPDIR": home},
            capture_output=True,
            text=True,
            check=False,
        )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert f"hostile submissions at tier {tier}" in done.stdout
