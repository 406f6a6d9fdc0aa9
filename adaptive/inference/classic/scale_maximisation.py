"""The evidence of y = A w + noise under w_i ~ N(0, 1 / alpha_i), climbed one alpha at a time; most end at infinity.

Of the active set (alpha < infinity) the posterior is Sigma = (diag alpha + A_a'A_a / s2)^-1, mu = Sigma A_a'y / s2.
With C the covariance of y, S_i = a_i' C^-1 a_i and Q_i = a_i' C^-1 y say for every column at once which alpha is best
given the others, and by how much the evidence rises: columns are added, re-estimated or deleted, and all quantities
follow by rank-one updates.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from adaptive.gaussians.gaussian_part import LOG_2PI

__all__ = ["ScaleMaximisation"]

_REFRESH = 100  # changes after which everything is computed afresh
_UNSEEN = 1e-24  # squared length of a column, in units of the longest, that is rounding of zero


class ScaleMaximisation:
    """Scales, posterior and evidence.

    Parameters
    ----------
    A : (m, n)
    y : (m,)
    noise_variance : float
        s2.
    active, precisions : (k,) int, (k,), optional
        Where to start; default with nothing.
    products : (n, k), optional
        A' A_a, if known.

    Attributes
    ----------
    active, precisions : (k,)
    mean, covariance : (k,), (k, k)
        mu and Sigma.
    S, Q : (n,)
    log_evidence : float
    """

    def __init__(
        self,
        A: np.ndarray,
        y: np.ndarray,
        noise_variance: float,
        active: np.ndarray | None = None,
        precisions: np.ndarray | None = None,
        products: np.ndarray | None = None,
    ):
        self.A, self.y, self.noise_variance = A, y, noise_variance
        self.n = A.shape[1]
        self.active = np.zeros(0, dtype=int) if active is None else np.array(active, dtype=int)
        self.precisions = np.zeros(0) if precisions is None else np.array(precisions, dtype=float)
        k = len(self.active)
        self._store = np.empty((k + 16, self.n))  # rows: products of active columns with all columns
        self._store[:k] = (A[:, self.active].T @ A) if products is None else products.T
        self._squares = np.einsum("ij,ij->j", A, A)
        self._onto = y @ A
        self._changes = 0
        self.refresh()

    @property
    def products(self) -> np.ndarray:
        """A' A_a, (n, k)."""
        return self._rows.T

    @property
    def _rows(self) -> np.ndarray:
        return self._store[: len(self.active)]

    def refresh(self) -> None:
        """Everything afresh at these scales."""
        s2, rows, k = self.noise_variance, self._rows, len(self.active)
        precision = rows[:, self.active] / s2
        precision[np.diag_indices(k)] += self.precisions
        factor = scipy.linalg.cholesky(precision, lower=True, check_finite=False)
        half = scipy.linalg.solve_triangular(factor, np.eye(k), lower=True, check_finite=False)
        self.covariance = np.asfortranarray(half.T @ half)
        self.mean = self.covariance @ self._onto[self.active] / s2
        whitened = half @ rows / s2
        self.S = self._squares / s2 - np.einsum("ij,ij->j", whitened, whitened)
        self.Q = (self._onto - self.mean @ rows) / s2
        residual = self.y - self.A[:, self.active] @ self.mean
        fit = float(residual @ residual) / s2 + float(self.precisions @ self.mean**2)
        determinant = 2.0 * float(np.log(factor.diagonal()).sum()) - float(np.log(self.precisions).sum())
        self.log_evidence = -0.5 * (len(self.y) * (LOG_2PI + np.log(s2)) + determinant + fit)
        self._changes = 0

    # ------------------------------------------------------------------ one change
    def best_change(self) -> tuple[int, float, float]:
        """The column whose best alpha raises the evidence most, that alpha (perhaps infinite), and the rise."""
        S, Q, old, on = self.S, self.Q, self.precisions, self.active
        s, q = S.copy(), Q.copy()
        own, free = self.covariance.diagonal(), self._free()
        s[on], q[on] = free / own, self.mean / own  # alpha S / (alpha - S) and alpha Q / (alpha - S)
        surplus = q**2 - s
        seen = self._squares > _UNSEEN * self._squares.max(initial=0.0)
        useful = (surplus > 0) & (s > 1e-12 * self._squares / self.noise_variance) & seen
        alpha = np.full(self.n, np.inf)
        alpha[useful] = s[useful] ** 2 / surplus[useful]
        rise = np.zeros(self.n)
        new = useful.copy()
        new[on] = False
        rise[new] = 0.5 * ((Q[new] ** 2 - S[new]) / S[new] + np.log(S[new] / Q[new] ** 2))
        ratio = old / alpha[on]
        shrunk = ratio * free + old * own  # 1 + S D, D = 1 / alpha' - 1 / alpha
        rise[on] = 0.5 * (old * self.mean**2 * (ratio - 1.0) / shrunk - np.log(shrunk))
        i = int(np.argmax(rise))
        return i, float(alpha[i]), float(rise[i])

    def _free(self) -> np.ndarray:
        """1 - alpha Sigma_ii, the share of each active coefficient that the data determine, without cancellation."""
        bound = self.precisions * self.covariance.diagonal()
        return np.where(bound < 0.5, 1.0 - bound, self.S[self.active] / self.precisions)

    def change(self, i: int, alpha: float, rise: float) -> None:
        """Set alpha of column i; everything follows."""
        where = np.flatnonzero(self.active == i)
        if not len(where):
            self._add(i, alpha)
        else:
            self._move(int(where[0]), alpha)
        self.log_evidence += rise
        self._changes += 1
        if self._changes >= _REFRESH:
            self.refresh()

    def _add(self, i: int, alpha: float) -> None:
        s2, k = self.noise_variance, len(self.active)
        column = self.A[:, i] @ self.A
        variance = 1.0 / (alpha + self.S[i])
        mean = variance * self.Q[i]
        shared = self.covariance @ self._rows[:, i] / s2
        explained = (column - shared @ self._rows) / s2  # A' e / s2, e what the active columns do not explain of a_i
        self.S -= variance * explained**2
        self.Q -= mean * explained
        covariance = np.empty((k + 1, k + 1), order="F")
        covariance[:k, :k] = self.covariance + variance * np.outer(shared, shared)
        covariance[k, :k] = covariance[:k, k] = -variance * shared
        covariance[k, k] = variance
        self.covariance = covariance
        self.mean = np.append(self.mean - mean * shared, mean)
        if k == len(self._store):
            self._store = np.concatenate([self._store, np.empty((k + 16, self.n))])
        self._store[k] = column
        self.active, self.precisions = np.append(self.active, i), np.append(self.precisions, alpha)

    def _move(self, j: int, alpha: float) -> None:
        """Another alpha for active column j; an infinite one deletes it."""
        gone = not np.isfinite(alpha)
        own = self.covariance[j, j]
        share = 1.0 / own if gone else (alpha - self.precisions[j]) / (self._free()[j] + alpha * own)
        z = self.covariance[:, j].copy()
        moved = z @ self._rows / self.noise_variance
        self.S += share * moved**2
        self.Q += share * self.mean[j] * moved
        self.mean = self.mean - share * self.mean[j] * z
        self.covariance -= share * np.outer(z, z)
        self.precisions[j] = alpha
        if gone:
            last = len(self.active) - 1
            order = np.arange(last)
            order[j : j + 1] = last  # the last one takes the place of the one that goes
            self._store[j] = self._store[last]
            self.covariance = np.asfortranarray(self.covariance[np.ix_(order, order)])
            self.active, self.precisions, self.mean = self.active[order], self.precisions[order], self.mean[order]

    # ------------------------------------------------------------------ the noise
    def better_noise(self, floor: float) -> bool:
        """Move the noise variance uphill; False, and nothing changed, where it stands still."""
        residual = self.y - self.A[:, self.active] @ self.mean
        square = float(residual @ residual)
        determined = float(np.sum(1.0 - self.precisions * self.covariance.diagonal()))
        old, evidence, m = self.noise_variance, self.log_evidence, len(self.y)
        quick = square / (m - determined) if m > determined else old  # MacKay's fixed point, then a step of EM
        for candidate in (quick, (square + old * determined) / m):
            self.noise_variance = max(candidate, floor)
            self.refresh()
            if self.log_evidence > evidence:
                return True
        self.noise_variance = old
        self.refresh()
        return False
