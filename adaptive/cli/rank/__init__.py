"""``adaptive rank``: the order of systems, prompts, pictures, players, from comparisons of two at a time."""

from adaptive.cli.rank.command import rank

__all__ = ["rank"]
