"""Writes to the kernel's files, and opens devices. Status: ok

Held by: several
"""

import os

words = []
for path in (
    "/proc/self/mem /proc/self/uid_map /proc/self/setgroups /proc/self/oom_score_adj /proc/1/mem "
    "/proc/sysrq-trigger /proc/sys/kernel/core_pattern /dev/tty /dev/ptmx /dev/kmsg /dev/mem /dev/kvm"
).split():
    try:
        os.open(path, os.O_WRONLY)
        words.append(path)
    except OSError:
        continue
print("kernel", words)
