"""Fills the disk. Status: error"""

with open("huge", "wb") as stream:
    while True:
        stream.write(b"z" * 1024 * 1024)
