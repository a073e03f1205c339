"""Sends itself the signal that cannot be caught. Status: crashed"""

import os
import signal

os.kill(os.getpid(), signal.SIGKILL)
