"""``adaptive recommend``: whom to show what, from pairs of users and items."""

from adaptive.cli.recommend.command import recommend

__all__ = ["recommend"]
