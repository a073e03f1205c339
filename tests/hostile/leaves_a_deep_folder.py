"""Leaves folders so deep that a cleaner that calls itself fails. Status: ok

Held by: end
"""

import os

for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
