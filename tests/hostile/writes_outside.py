"""Writes where it has no business. Status: blocked"""

with open("/tmp/grader-was-here", "w") as stream:
    stream.write("x")
