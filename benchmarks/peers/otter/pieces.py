"""The questions as an otter test file in its exception-based format."""

from otter.test_files import test_case
from questions import ask

OK_FORMAT = False
name = "pieces"
points = 5


@test_case(points=1)
def test_words(env):
    """`words` is what the reference gives."""
    ask("words", env)


@test_case(points=1)
def test_pieces(env):
    """`pieces` is what the reference gives."""
    ask("pieces", env)


@test_case(points=1)
def test_whole(env):
    """`whole` is what the reference gives."""
    ask("whole", env)


@test_case(points=1)
def test_n_words(env):
    """`n_words` is what the reference gives."""
    ask("n_words", env)


@test_case(points=1)
def test_n_pieces(env):
    """`n_pieces` is what the reference gives."""
    ask("n_pieces", env)
