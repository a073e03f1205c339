"""Fills the disk. Status: error

Held by: root or limits or watch, container: limits or watch
"""

with open("huge", "wb") as stream:
    while True:
        stream.write(b"z" * 1024 * 1024)
