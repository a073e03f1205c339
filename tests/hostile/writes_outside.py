"""Writes where it has no business. Status: blocked

Held by: several
"""

with open("/usr/grader-was-here", "w") as stream:
    stream.write("x")
