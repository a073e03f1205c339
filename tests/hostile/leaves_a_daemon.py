"""Leaves a process behind that writes and lives on, then ends as if all were well. Status: ok

Held by: end
"""

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(0.05)
            print("still here", flush=True)
    os._exit(0)
