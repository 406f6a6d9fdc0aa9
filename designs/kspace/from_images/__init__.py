"""Designs learnt from fully sampled images: a reference scan of the same head, or a population of other heads."""
