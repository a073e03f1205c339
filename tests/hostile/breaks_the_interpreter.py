"""Ends in a segmentation fault. Status: crashed

Held by: values
"""

import ctypes

ctypes.string_at(0)
