"""Fills /dev/shm, which would outlive it. Status: error, container: blocked

Held by: several
"""

with open("/dev/shm/grader-was-here", "wb") as stream:
    while True:
        stream.write(b"z" * 1024 * 1024)
        stream.flush()
