"""Is well-behaved as a script and hangs as soon as a question is asked. Status: timeout

Held by: deadline
"""


class Slow:
    def __iter__(self):
        while True:
            pass


words = Slow()
pieces, whole, n_words, n_pieces = {}, 0, 0, 0
