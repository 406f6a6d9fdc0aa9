"""Counts: beliefs about rates, linear in features or functions of a place, and what their users need to know of them."""
