"""Counts: beliefs about rates, linear in features or functions of a place, and exposures, bins and intervals."""
