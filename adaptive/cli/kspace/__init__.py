"""``adaptive kspace``: lines chosen one by one on a real slice, beside designs that look at no data."""

from adaptive.cli.kspace.command import kspace

__all__ = ["kspace"]
