"""Aborts. Status: crashed"""

import os

os.abort()
