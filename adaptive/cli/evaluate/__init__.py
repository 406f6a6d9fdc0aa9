"""``adaptive evaluate``: the score of a new system on all items, from the few that tell most about it."""

from adaptive.cli.evaluate.command import evaluate

__all__ = ["evaluate"]
