"""Runs another program. Status: blocked

Held by: seccomp
"""

import subprocess

words = subprocess.run(["/bin/sh", "-c", "id"], capture_output=True, text=True).stdout.split()
