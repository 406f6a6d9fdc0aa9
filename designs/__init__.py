"""What can be measured: pools, optimal designs, k-space trajectories, image filters."""

from . import kspace, optimal, pool

__all__ = ["kspace", "optimal", "pool"]
