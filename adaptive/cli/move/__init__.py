"""``adaptive move``: which move is best in a position, how sure is that, and a game against it."""

from adaptive.cli.move.command import move

__all__ = ["move"]
