"""Ends the script by sys.exit(). Status: error

Held by: values
"""

import sys

sys.exit()
