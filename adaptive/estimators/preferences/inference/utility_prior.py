"""A person's utilities of items before any answer:  f ~ N(mean, V V' + scale K).

V are loadings that people share, K says how alike items are by what is known of them (the identity: not at all).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, State

__all__ = ["UtilityPrior"]


@dataclass(frozen=True, eq=False)
class UtilityPrior:
    """Gaussian of a person of whom nothing is known.

    Parameters
    ----------
    mean : (n,) array
    loadings : (n, d) array
        V; d may be 0.
    scale : float
    kernel : (n, n) array or None
        K, positive definite; None: the identity.

    Examples
    --------
    >>> UtilityPrior(np.zeros(2), np.ones((2, 1)), 0.5).block([0, 1], [0, 1])
    array([[1.5, 1. ],
           [1. , 1.5]])
    """

    mean: np.ndarray
    loadings: np.ndarray
    scale: float
    kernel: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.mean)

    @cached_property
    def root(self) -> np.ndarray | None:
        """L with K = L L', lower triangular; None: the identity."""
        return None if self.kernel is None else linalg.cholesky(self.kernel, lower=True)

    def block(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (..., a, b) of items i (..., a) and j (..., b), index arrays."""
        i, j = np.asarray(i), np.asarray(j)
        shared = self.loadings[i] @ np.swapaxes(self.loadings[j], -1, -2)
        return shared + self.scale * self._alike(i, j)

    def differences(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the covariances (n, p, p) of the differences f_first - f_second of n people, p each."""
        apart = self.loadings[first] - self.loadings[second]
        alike = self._alike(first, first) + self._alike(second, second)
        alike = alike - self._alike(first, second) - self._alike(second, first)
        return apart @ np.swapaxes(apart, -1, -2) + self.scale * alike

    def _alike(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        if self.kernel is None:
            return (i[..., :, None] == j[..., None, :]).astype(float)
        return self.kernel[i[..., :, None], j[..., None, :]]

    def times(self, vector: np.ndarray) -> np.ndarray:
        """Return (V V' + scale K) @ vector."""
        own = vector if self.kernel is None else self.kernel @ vector
        return self.loadings @ (self.loadings.T @ vector) + self.scale * own

    def dense(self) -> np.ndarray:
        """Return the (n, n) covariance."""
        every = np.arange(len(self))
        return self.block(every, every)

    def extended(self, n: int) -> UtilityPrior:
        """The prior of n items, of which those beyond are like none, with the mean and the variance of the others."""
        new = n - len(self)
        if new <= 0:
            return self
        if not len(self):
            return UtilityPrior(np.zeros(n), np.zeros((n, self.loadings.shape[1])), self.scale)
        apart = float(np.mean(np.sum(self.loadings**2, axis=1)))
        own = 1.0 if self.kernel is None else float(np.mean(np.diag(self.kernel)))
        variance = own + apart / self.scale
        kernel = linalg.block_diag(np.eye(len(self)) if self.kernel is None else self.kernel, variance * np.eye(new))
        return replace(
            self,
            mean=np.concatenate([self.mean, np.full(new, self.mean.mean())]),
            loadings=np.vstack([self.loadings, np.zeros((new, self.loadings.shape[1]))]),
            kernel=kernel,
        )

    def coordinates(self, like: UtilityPrior, *, kernel: bool = False) -> np.ndarray:
        """Return numbers in which steps between priors of one shape are straight; `at` leads back.

        They are the mean and the loadings in units of the root of the scale, so that all utilities together grow by the
        logarithm of the scale alone, and loadings, which are known up to a rotation, are turned towards those ``like``
        it; of a ``kernel`` that is learnt its Cholesky factor, the diagonal by its logarithm.
        """
        left, _, right = np.linalg.svd(self.loadings.T @ like.loadings)
        unit = np.sqrt(self.scale)
        parts = [self.mean / unit, (self.loadings @ (left @ right)).ravel() / unit, [np.log(self.scale)]]
        if kernel:
            root = np.eye(len(self)) if self.root is None else self.root
            parts += [np.log(np.diag(root)), root[np.tril_indices(len(self), -1)]]
        return np.concatenate(parts)

    def at(self, coordinates: np.ndarray) -> UtilityPrior:
        """Return the prior of this one's shape that has these coordinates."""
        n, size = len(self), self.loadings.size
        mean, loadings, (scale,), rest = np.split(coordinates, [n, n + size, n + size + 1])
        with np.errstate(over="ignore"):  # of steps that are too long, and end nowhere
            scale = float(np.exp(scale))
            found = replace(
                self, mean=mean * np.sqrt(scale), loadings=loadings.reshape(self.loadings.shape) * np.sqrt(scale),
                scale=scale,
            )  # fmt: skip
            if len(rest) == 0:
                return found
            root = np.diag(np.exp(rest[:n]))
        root[np.tril_indices(n, -1)] = rest[n:]
        return replace(found, kernel=root @ root.T)

    def divergence_from(self, other: UtilityPrior) -> float:
        """Return KL(other || this), nats, where the other's covariance is scale K.

        Examples
        --------
        >>> narrow, wide = UtilityPrior(np.zeros(2), np.zeros((2, 0)), 1.0), UtilityPrior(np.ones(2), np.eye(2), 1.0)
        >>> round(wide.divergence_from(narrow), 4), narrow.divergence_from(narrow)
        (0.6931, 0.0)
        """
        n, alike = len(self), self.kernel is other.kernel
        given = np.sqrt(other.scale) * np.eye(n) if alike or other.root is None else np.sqrt(other.scale) * other.root
        mean, white = self.mean - other.mean, self.loadings
        if self.root is not None:
            mean, white = (linalg.solve_triangular(self.root, part, lower=True) for part in (mean, white))
            given = given if alike else linalg.solve_triangular(self.root, given, lower=True)
        apart = np.column_stack([mean, given])
        core = self.scale * np.eye(white.shape[1]) + white.T @ white  # Sbar^-1 = (I - white core^-1 white') / scale
        across = white.T @ apart
        squares = float(np.sum(apart**2) - np.sum(across * np.linalg.solve(core, across))) / self.scale
        own = (n - len(core)) * np.log(self.scale) + np.linalg.slogdet(core)[1] - n * np.log(other.scale)
        if not alike:
            own += sum(2.0 * sign * float(np.sum(np.log(np.diag(one.root))))
                       for one, sign in ((self, 1.0), (other, -1.0)) if one.root is not None)  # fmt: skip
        return 0.5 * float(own + squares - n)

    def state(self) -> State:
        """Plain data."""
        return {"mean": self.mean, "loadings": self.loadings, "scale": self.scale, "kernel": self.kernel}

    @classmethod
    def from_state(cls, state: State) -> UtilityPrior:
        """The prior that ``state`` described."""
        kernel = state["kernel"]
        return cls(
            np.asarray(state["mean"]), np.asarray(state["loadings"]), float(state["scale"]),
            None if kernel is None else np.asarray(kernel),
        )  # fmt: skip
