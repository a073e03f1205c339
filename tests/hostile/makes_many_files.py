"""Makes files without end, small and deep. Status: error, container: blocked

Held by: several, container: watch
"""

import os

for number in range(10**7):
    os.makedirs(f"{number % 50}/" + "deep/" * 20, exist_ok=True)
    with open(f"{number % 50}/{number}", "w") as stream:
        stream.write("x" * 262144)
