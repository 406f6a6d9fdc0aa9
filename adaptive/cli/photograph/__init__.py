"""``adaptive photograph``: your own picture, measured with the most informative filters one after another."""

from adaptive.cli.photograph.command import photograph

__all__ = ["photograph"]
