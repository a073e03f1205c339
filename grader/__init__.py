"""grader: grades assignments on transformers, running each submission apart from itself."""

__version__ = "0.1.0"
