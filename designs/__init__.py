"""Candidates for measurement: pools, optimal designs, k-space trajectories, image filters, games."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from designs import filters, games, kspace, optimal, pool

__all__ = ["filters", "games", "kspace", "optimal", "pool"]

__getattr__, __dir__ = _lazily(__name__)
