"""What can be measured: pools, optimal designs, k-space trajectories, image filters."""

from . import kspace

__all__ = ["kspace"]
