"""What is asked of a submission to `pieces`: each public function is a question to its names."""


def words(m):
    """The words, in alphabetical order whatever the collection."""
    if isinstance(m.words, str) or not hasattr(m.words, "__iter__"):
        raise TypeError(f"`words` should be a collection of words, it is {m.words!r:.60}")
    return sorted(str(word) for word in m.words)


def pieces(m):
    """Word -> list of pieces."""
    if not hasattr(m.pieces, "items"):
        raise TypeError(f"`pieces` should be a dict, it is a {type(m.pieces).__name__}")
    return {
        str(word): cut.split() if isinstance(cut, str) else [str(piece) for piece in cut]
        for word, cut in m.pieces.items()
    }


def whole(m):
    """How many words stay one piece."""
    return m.whole


def n_words(m):
    """How many words the training queries have."""
    return m.n_words


def n_pieces(m):
    """How many pieces the training queries have."""
    return m.n_pieces
