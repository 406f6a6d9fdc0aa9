"""``adaptive counts``: a rate over time or space and where to count next, or counts of pairs and which to ask for."""

from adaptive.cli.counts.command import counts

__all__ = ["counts"]
