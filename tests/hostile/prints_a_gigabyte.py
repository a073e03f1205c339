"""Floods standard output. Status: output

Held by: caps
"""

line = "x" * 1023
for _ in range(1024 * 1024):
    print(line)
