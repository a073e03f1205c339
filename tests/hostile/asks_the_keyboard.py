"""Waits for a person at the keyboard. Status: error

Held by: values
"""

words = input("How many words? ")
