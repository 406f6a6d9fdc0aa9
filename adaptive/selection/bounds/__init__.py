"""Bounds: what a set of candidates tells, beside what any set of the same budget could."""

from adaptive.selection.bounds.certificates import Certificate, certificate, certificate_of_rows, most_to_learn
from adaptive.selection.bounds.exchanges import exchanged

__all__ = ["Certificate", "certificate", "certificate_of_rows", "exchanged", "most_to_learn"]
