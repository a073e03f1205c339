"""Hands in collections whose lengths and items contradict each other. Status: ok

Held by: values
"""


class Liar(list):
    def __len__(self):
        return 10**9

    def __iter__(self):
        return iter(())


class Endless(dict):
    def items(self):
        return iter([("a", Liar()), ("a", Liar())])


words, pieces = Liar(), Endless()
whole = n_words = n_pieces = True
