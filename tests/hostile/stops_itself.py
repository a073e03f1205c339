"""Stops, so that a polite request to end is never read. Status: timeout

Held by: deadline
"""

import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(3600)
