"""Bounds: what a set of candidates tells, beside what any set of the same budget could."""

from adaptive.selection.bounds.certificates import Certificate, certificate, most_to_learn
from adaptive.selection.bounds.exchanges import exchanged

__all__ = ["Certificate", "certificate", "exchanged", "most_to_learn"]
