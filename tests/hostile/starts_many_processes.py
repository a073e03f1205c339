"""Forks until it may no more. Status: error"""

import os
import time

while True:
    if os.fork() == 0:
        time.sleep(60)
