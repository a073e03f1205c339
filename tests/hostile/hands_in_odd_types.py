"""Hands in functions, classes, files, numbers out of bounds. Status: ok

Held by: values
"""

import sys

words = sys.stdout
pieces = print
whole = 10**5000
n_words = float("nan")
n_pieces = 1j
