"""Ends in a segmentation fault. Status: crashed"""

import ctypes

ctypes.string_at(0)
