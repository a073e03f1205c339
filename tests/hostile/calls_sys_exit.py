"""Ends the script by sys.exit(). Status: error"""

import sys

sys.exit()
