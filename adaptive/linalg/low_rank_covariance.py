"""A covariance of low rank plus a diagonal, V V' + diag(d): n (r + 1) numbers, and products in O(n r)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["LowRankCovariance"]


class LowRankCovariance:
    """V V' + diag(d), as a model's ``prior_covariance``; never written out.

    Parameters
    ----------
    root : (n, r) array
        V.
    diagonal : float or (n,) array, default 0.0
        d >= 0.

    Raises
    ------
    ValueError
        If ``root`` has no two axes, or ``diagonal`` is neither a number nor one for each row.

    References
    ----------
    Golub and Van Loan (2013), Matrix computations, section 2.1, for inverses after changes of low rank.

    Examples
    --------
    >>> S = LowRankCovariance([[1.0], [2.0]], 0.5)
    >>> S @ np.array([1.0, 0.0]), S.shape
    (array([1.5, 2. ]), (2, 2))
    """

    ndim = 2
    __array_ufunc__ = None  # arrays leave products to this class

    def __init__(self, root: ArrayLike, diagonal: ArrayLike = 0.0):
        self.root = finite("root", root)
        if self.root.ndim != 2:
            raise ValueError(f"root must have shape (n, r), got {self.root.shape}.")
        given = positive("diagonal", diagonal, or_zero=True)
        if given.shape not in ((), (len(self.root),)):
            raise ValueError(f"diagonal must be a number or have shape ({len(self.root)},), got {given.shape}.")
        self.variances = np.broadcast_to(given, (len(self.root),)).astype(float)

    def __repr__(self) -> str:
        return f"LowRankCovariance(n={len(self.root)}, rank={self.root.shape[1]})"

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise ValueError(
            f"a low-rank prior covariance of {len(self.root)} unknowns is not written out for what needs the whole "
            "matrix (matrix-free engines, point estimates); pass its .dense() there."
        )

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.root), len(self.root)

    def __matmul__(self, matrix: np.ndarray) -> np.ndarray:
        variances = self.variances if np.ndim(matrix) == 1 else self.variances[:, None]
        return self.root @ (self.root.T @ matrix) + variances * matrix

    def diagonal(self) -> np.ndarray:
        """The variances, (n,)."""
        return np.einsum("ij,ij->i", self.root, self.root) + self.variances

    def dense(self) -> np.ndarray:
        """The whole matrix (n, n)."""
        return self.root @ self.root.T + np.diag(self.variances)
