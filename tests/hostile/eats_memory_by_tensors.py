"""Takes memory until there is none, as tensors. Status: memory

Held by: limits
"""

import torch

hoard = []
while True:
    hoard.append(torch.ones(4 * 1024 * 1024))
