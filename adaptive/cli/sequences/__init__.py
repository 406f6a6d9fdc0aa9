"""``adaptive sequences``: what each user does next, how well that is known, and whose next event is worth observing."""

from adaptive.cli.sequences.command import sequences

__all__ = ["sequences"]
