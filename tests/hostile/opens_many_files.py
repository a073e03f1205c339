"""Opens files until it may no more. Status: error

Held by: several
"""

hoard = []
while True:
    hoard.append(open("/dev/null"))
