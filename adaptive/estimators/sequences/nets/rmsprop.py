"""RMSprop:  m <- .9 m + .1 g^2,  theta <- theta - rate g / (sqrt m + 1e-8);  rows without a gradient are left alone."""

from __future__ import annotations

import numpy as np

__all__ = ["clip", "descend"]

KEPT, TINY = 0.9, 1e-8


def clip(limit: float, *gradients: np.ndarray) -> None:
    """Shorten gradients, in place, whose norm over all arrays exceeds ``limit``; one norm per entry of the first axis.

    Examples
    --------
    >>> g = np.array([[3.0, 4.0], [0.3, 0.4]])
    >>> clip(1.0, g)
    >>> g.round(3).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    squares = [np.einsum("ij,ij->i", one, one) for one in (g.reshape(len(g), -1) for g in gradients)]
    norm = np.sqrt(np.sum(squares, axis=0))
    factor = limit / np.maximum(norm, limit)
    if (factor < 1.0).any():
        for g in gradients:
            g *= factor.astype(g.dtype).reshape(-1, *[1] * (g.ndim - 1))


def descend(
    theta: np.ndarray, square: np.ndarray, gradient: np.ndarray, rate: float, rows: np.ndarray | slice = slice(None)
) -> None:
    """Take one step, in place, at ``rows`` of the second axis of theta and of its mean squares."""
    if isinstance(rows, slice):
        m, moved = square[:, rows], theta[:, rows]
        m *= KEPT
        m += (1.0 - KEPT) * gradient * gradient
        moved -= rate * gradient / (np.sqrt(m) + TINY)
        return
    m = KEPT * square[:, rows] + (1.0 - KEPT) * gradient * gradient
    square[:, rows] = m
    theta[:, rows] -= rate * gradient / (np.sqrt(m) + TINY)
