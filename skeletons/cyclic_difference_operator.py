"""An operator: differences of neighbours on a ring,

    (A u)_k = u_{k+1} - u_k,        (A' v)_k = v_{k-1} - v_k.

To add an operator, say what it maps from and to, and write ``_forward`` and ``_adjoint`` for arrays with one leading
batch axis. Shape checks, further batch axes, the SciPy view and the dense matrix are in the base class.
"""

from __future__ import annotations

import numpy as np

from adaptive import checks
from adaptive.operators import Operator

__all__ = ["CyclicDifference"]


class CyclicDifference(Operator):
    """Differences of neighbours, the first after the last.

    Parameters
    ----------
    n : int
        Length of the ring, at least 2.

    Examples
    --------
    >>> CyclicDifference(4).forward([1.0, 2.0, 4.0, 8.0])
    array([ 1.,  2.,  4., -7.])
    """

    def __init__(self, n: int):
        n = checks.integer("n", n, minimum=2)
        super().__init__((n,), (n,))

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return np.roll(u, -1, axis=1) - u

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return np.roll(v, 1, axis=1) - v
