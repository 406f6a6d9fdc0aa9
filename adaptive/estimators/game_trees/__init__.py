"""Beliefs on game trees: scores walk at random from the root down, optimal values rise from the ends by max and min."""
