"""Shares a great hunger among processes that are each modest. Status: memory

Held by: watch
"""

import os
import time

for _ in range(12):
    if os.fork() == 0:
        hoard = bytearray(os.urandom(1024 * 1024) * 300)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
