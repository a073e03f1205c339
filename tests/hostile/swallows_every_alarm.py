"""Never ends, and catches whatever would stop it. Status: timeout

Held by: deadline
"""

import signal

for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    try:
        while True:
            pass
    except:  # noqa: E722
        pass
