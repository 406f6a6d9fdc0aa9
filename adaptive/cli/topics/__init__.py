"""``adaptive topics``: topics of a file of texts that use its other columns, and which text to read next."""

from adaptive.cli.topics.command import topics

__all__ = ["topics"]
