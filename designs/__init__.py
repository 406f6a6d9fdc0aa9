"""What can be measured: pools, optimal designs, k-space trajectories, image filters."""

from . import filters, kspace, optimal, pool

__all__ = ["filters", "kspace", "optimal", "pool"]
