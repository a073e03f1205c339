"""Calls itself until Python has enough of it. Status: error

Held by: values
"""


def count(n):
    return count(n + 1)


count(0)
