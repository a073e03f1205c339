"""Leaves before anything is asked, with the exit status of success. Status: crashed

Held by: values
"""

import os

os._exit(0)
