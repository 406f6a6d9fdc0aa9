"""Search in the tree of wavelet coefficients: where a coefficient was large, its children are measured next.

Our reading of the idea of Dekel (2008), not a re-implementation: his thresholds are not published in the source.

    roots        the coarsest approximation and the details of the coarsest scale, measured first
    children     of the detail at (scale s, halves h, position p): those at (s - 1, h, 2 p + {0, 1}^d)
    next         the children of the measured detail with the largest |value| 2^(-penalty depth)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive.checks import integer, positive
from adaptive.operators import Wavelet
from designs.filters.measured import measured_coefficients
from designs.filters.transform_rows import TransformRows
from designs.filters.wavelets import coarse_to_fine, details_of

__all__ = ["TreeSearch"]


class TreeSearch:
    """Callable pool: the ``n`` wavelet coefficients that the values of their parents recommend.

    Parameters
    ----------
    shape : int or tuple of int
        Of the image.
    n : int, default 4
        How many at a time; 4 are the children of one coefficient of a picture, which are measured together.
    name, level : as in `wavelets`
    depth_penalty : float, default 0.0
        Every level further down counts as 2^-penalty of the parent's value.

    Notes
    -----
    Values are the outcomes of filters that measured one coefficient; the estimator needs ``measurements_`` only. The
    pool is in order of priority: choose all of it (``batch_size=n``). Equal priorities go coarse to fine.

    References
    ----------
    After an idea of Dekel (2008), adaptive compressed image sensing, whose thresholds are not published.

    Examples
    --------
    >>> class Belief:
    ...     measurements_ = np.empty((0, 16)), np.empty(0)
    >>> search = TreeSearch((4, 4), name="haar")
    >>> roots = search(Belief())
    >>> Belief.measurements_ = roots, np.array([7.0, 0.1, -3.0, 0.2])  # the vertical detail is large
    >>> search.order(Belief())[:4]
    array([2, 3, 6, 7])
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        n: int = 4,
        *,
        name: str = "db2",
        level: int | None = None,
        depth_penalty: float = 0.0,
    ):
        self.n = integer("n", n, minimum=1)
        self.depth_penalty = float(positive("depth_penalty", depth_penalty, or_zero=True))
        self.transform = Wavelet(shape, name, level)
        self._order = coarse_to_fine(self.transform)
        self._rank = np.argsort(self._order)
        self._parent, self._depth = _parents(self.transform)

    def __call__(self, estimator: Any) -> np.ndarray:
        return TransformRows(self.transform, self.order(estimator)[: self.n])[:]

    def order(self, estimator: Any) -> np.ndarray:
        """Measurements (flat indices of coefficients), best first: the roots, or the children of what is known."""
        known, values = measured_coefficients(estimator, self.transform)
        open_ = np.ones(len(self._order), dtype=bool)
        open_[known] = False
        roots = self._order[self._parent[self._order] < 0]
        if open_[roots].any():
            return roots[open_[roots]]
        size = np.full(len(self._order), -np.inf)
        size[known] = np.abs(values) * 2.0 ** (-self.depth_penalty * self._depth[known])
        children = self._order[(self._parent[self._order] >= 0) & open_[self._order]]
        parents = self._parent[children]
        children, parents = children[np.isfinite(size[parents])], parents[np.isfinite(size[parents])]
        if not len(children):  # all else was measured before its parents were
            return self._order[open_[self._order]]
        return children[np.lexsort((self._rank[children], self._rank[parents], -size[parents]))]


def _parents(transform: Wavelet) -> tuple[np.ndarray, np.ndarray]:
    """Flat index of every coefficient's parent (-1: a root), and how many ancestors it has."""
    sides = transform.output_shape
    parent, depth = np.full(sides, -1), np.zeros(sides, dtype=int)
    flat = np.arange(transform.shape[0]).reshape(sides)
    blocks = {(scale, halves): index for scale, halves, index in details_of(transform)}
    for (scale, halves), index in blocks.items():
        if scale < transform.level:
            above = flat[blocks[scale + 1, halves]]
            for axis in range(len(sides)):
                above = np.repeat(above, 2, axis=axis)
            parent[index] = above
            depth[index] = transform.level - scale
    return parent.ravel(), depth.ravel()
