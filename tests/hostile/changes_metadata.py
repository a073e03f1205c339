"""Changes rights, owners and times of files outside. Status: ok

Held by: several
"""

import os
import sys

words = []
for path in (sys.executable, os.path.realpath(sys.executable), os.__file__, "/usr/bin"):
    for change in (lambda p: os.chmod(p, 0o777), lambda p: os.utime(p), lambda p: os.chown(p, 1, 1)):
        try:
            change(path)
            words.append(path)
        except OSError:
            continue
print("metadata", words)
