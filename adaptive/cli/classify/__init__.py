"""``adaptive classify``: labels asked one by one beside labels at random, on a table."""

from adaptive.cli.classify.command import classify

__all__ = ["classify"]
