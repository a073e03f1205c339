"""Raises an exception whose message cannot be read. Status: error

Held by: values
"""


class Evil(Exception):
    def __str__(self):
        raise SystemExit(0)


raise Evil
