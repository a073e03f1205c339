"""Takes memory until there is none. Status: memory

Held by: limits
"""

hoard = []
while True:
    hoard.append(bytearray(16 * 1024 * 1024))
