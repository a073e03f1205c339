"""Opens files until it may no more. Status: error"""

hoard = []
while True:
    hoard.append(open("/dev/null"))
