"""Plants links and pipes in its folder for whoever cleans up or reads. Status: ok

Held by: seccomp, container: landlock and seccomp
"""

import os

os.symlink("/etc", "etc")
os.symlink("/", "root")
words = []
for make in (lambda: os.mkfifo("pieces.json"), lambda: os.link("/etc/passwd", "passwd")):
    try:
        make()
        words.append("made")
    except OSError:
        continue
