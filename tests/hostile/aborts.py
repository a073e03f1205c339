"""Aborts. Status: crashed

Held by: values
"""

import os

os.abort()
