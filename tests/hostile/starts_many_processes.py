"""Forks until it may no more. Status: error, container: blocked

Held by: limits or watch, container: watch
"""

import os
import time

while True:
    if os.fork() == 0:
        time.sleep(60)
