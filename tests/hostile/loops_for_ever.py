"""Never ends. Status: timeout"""

while True:
    pass
