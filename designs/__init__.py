"""What can be measured: pools, optimal designs, k-space trajectories, image filters."""

from designs import filters, kspace, optimal, pool

__all__ = ["filters", "kspace", "optimal", "pool"]
