"""Designs, what can be measured: pools, optimal designs, k-space trajectories, image filters, games."""

from designs import filters, games, kspace, optimal, pool

__all__ = ["filters", "games", "kspace", "optimal", "pool"]
