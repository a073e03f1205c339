"""Makes a file in memory alone and tries to run it. Status: blocked

Held by: seccomp
"""

import os

handle = os.memfd_create("program")
os.write(handle, b"#!/bin/sh\nid\n")
os.execv(f"/proc/self/fd/{handle}", ["program"])
