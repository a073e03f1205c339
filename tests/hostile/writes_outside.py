"""Writes where it has no business. Status: blocked"""

with open("/usr/grader-was-here", "w") as stream:
    stream.write("x")
