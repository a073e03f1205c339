"""Waits for a person at the keyboard. Status: error"""

words = input("How many words? ")
