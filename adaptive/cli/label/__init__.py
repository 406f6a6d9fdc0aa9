"""``adaptive label``: the rows of a table, labelled one by one or in batches, the most telling ones first."""

from adaptive.cli.label.command import label

__all__ = ["label"]
