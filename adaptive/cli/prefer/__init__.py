"""``adaptive prefer``: what people like, from comparisons; or a person asked "A or B?" in the terminal."""

from adaptive.cli.prefer.command import prefer

__all__ = ["prefer"]
