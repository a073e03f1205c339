"""Tries to lift the limits that hold it. Status: memory

Held by: limits
"""

import resource

for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_NPROC):
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass
hoard = []
while True:
    hoard.append(bytearray(16 * 1024 * 1024))
