"""Never ends. Status: timeout

Held by: deadline
"""

while True:
    pass
