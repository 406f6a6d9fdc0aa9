"""Beliefs on game trees: scores fall from the root as random walks, optimal values rise from the ends by max and min."""
