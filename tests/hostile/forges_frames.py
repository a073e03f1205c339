"""Writes answers of its own making to every descriptor, then leaves. Status: crashed

Held by: values
"""

import json
import os
import struct


def frame(header):
    text = json.dumps(header).encode()
    return struct.pack("<4sIQ", b"GRD1", len(text), 0) + text


forged = b"".join(
    frame({"kind": "value", "probe": probe, "value": 1})
    for probe in ("words", "pieces", "whole", "n_words", "n_pieces", "passed", "points", "earned")
)
for descriptor in range(3, 256):
    try:
        os.write(descriptor, forged)
    except OSError:
        pass
os._exit(0)
