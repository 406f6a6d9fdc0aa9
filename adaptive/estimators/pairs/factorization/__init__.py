"""Counts of pairs: ids and counts as they were given, beliefs about two factors, and what these say of other pairs."""
