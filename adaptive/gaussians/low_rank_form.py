"""The Gaussian with sites for a prior covariance S = V V' + diag(d), in O(n r^2) per refit.

The latent is u = mu + V z + e with z ~ N(0, I) of r entries and e ~ N(0, diag(d)). Site precisions W on rows F, with
L = F V, D = F diag(d) F' (diagonal), T = I + W D and G = W / T, leave one r x r matrix to factorise:

    A = I + L' G L,    cov(z) = A^-1,    C = (K + W^-1)^-1 = G - G L A^-1 L' G,    log|I + K W| = log|A| + sum log T.

Given z the entries of e are independent, so every variance is a sum of two positive terms,

    var(s_j) = D_j / T_j + l_j' A^-1 l_j / T_j^2,

which never cancel; the posterior is proper exactly where all T > 0 and A has a Cholesky factor, also with some W < 0.

References
----------
Woodbury (1950); Rasmussen and Williams (2006), Gaussian processes for machine learning, section 3.4.3 and appendix A.3;
Nickisch (2010), Bayesian inference and experimental design for large generalised linear models, section 4.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse
from scipy.linalg.lapack import dpotrf, dtrtri

from adaptive.gaussians.factorised_form import FactorisedForm
from adaptive.gaussians.gaussian_part import LOG_2PI
from adaptive.linalg.low_rank_covariance import LowRankCovariance
from adaptive.linalg.matrices import covariance_times, dense, densified, is_identity, is_sparse, row_blocks, stacked

if TYPE_CHECKING:
    from adaptive.types import Covariance, Matrix

__all__ = ["LowRankForm"]


class LowRankForm(FactorisedForm):
    """Gaussian with sites whose prior covariance is of low rank plus a diagonal.

    Attributes and methods are those of :class:`~adaptive.gaussians.covariance_form.CovarianceForm`. With a
    diagonal, every row (of data and of sites) must be one unknown of its own, as in a Gaussian process; without one,
    rows are free. The coefficients are the means of z (r,) above alpha (m + q,).

    Parameters
    ----------
    rows, data_rows, data, data_variance, prior_mean, prior_covariance
        As of :class:`~adaptive.gaussians.gaussian_part.GaussianPart`; the prior covariance is a `LowRankCovariance`.

    Raises
    ------
    ValueError
        If the prior covariance has a diagonal part and the rows are more than one unknown each, or name one twice.

    Examples
    --------
    >>> prior = LowRankCovariance(np.array([[1.0], [1.0], [1.0]]), 0.5)
    >>> form = LowRankForm(np.eye(3), prior_covariance=prior)
    >>> form.refit(np.array([2.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0])).mean.round(3)
    array([0.75, 0.5 , 0.5 ])
    """

    kind = "low_rank"

    def __init__(
        self,
        rows: Matrix,
        data_rows: Matrix | None = None,
        data: np.ndarray | None = None,
        data_variance: np.ndarray | None = None,
        prior_mean: np.ndarray | None = None,
        prior_covariance: Covariance | LowRankCovariance | None = None,
    ):
        assert isinstance(prior_covariance, LowRankCovariance)
        self.n, self.prior_covariance = rows.shape[1], prior_covariance
        self.shift = np.zeros(self.n) if prior_mean is None else np.asarray(prior_mean, dtype=float)
        self.data_count = 0 if data_rows is None else data_rows.shape[0]
        self._log_constant, self._data, self._data_precision = 0.0, np.empty(0), np.empty(0)
        if self.data_count:
            rows = stacked([data_rows, rows]) if rows.shape[0] else data_rows
            self._data = np.asarray(data, dtype=float)
            variance = np.broadcast_to(np.asarray(data_variance, dtype=float), self._data.shape)
            self._data_precision = 1.0 / variance
            self._log_constant = -0.5 * float(np.sum(LOG_2PI + np.log(variance)))
        self.rows = rows if is_sparse(rows) else densified(rows)
        self.rank = prior_covariance.root.shape[1]
        if is_sparse(self.rows):
            squares = self.rows.multiply(self.rows).tocsr()  # type: ignore[union-attr]
        else:
            squares = self.rows * self.rows
        variances = prior_covariance.variances
        if variances.any() and not _one_unknown_each(squares):
            raise ValueError(
                "a low-rank prior covariance with a diagonal needs rows that are one unknown each, no unknown twice; "
                "give diagonal=0 or a dense prior covariance."
            )
        self._squares = squares
        root = prior_covariance.root if is_identity(rows) else dense(self.rows @ prior_covariance.root)
        self.prior = LowRankCovariance(root, np.asarray(squares @ variances))  # K = L L' + D
        self._prior_mean_rows = np.asarray(self.rows @ self.shift)
        self.size = len(root)

    # ------------------------------------------------------------------ fit
    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """Set all sites and factorise; raises ``numpy.linalg.LinAlgError`` where the result is not a Gaussian."""
        pi, nu = np.array(pi, dtype=float), np.array(nu, dtype=float)
        weights = np.concatenate([self._data_precision, pi])
        linear = np.concatenate([self._data * self._data_precision, nu])
        spread = 1.0 + weights * self.prior.variances
        if not np.all(spread > 0):
            raise np.linalg.LinAlgError("the precision matrix is not positive definite")
        gain, root = weights / spread, self.prior.root
        matrix = np.eye(self.rank)
        for block in row_blocks(root):
            matrix += root[block].T @ (gain[block, None] * root[block])
        factor, info = dpotrf(matrix, lower=1, clean=1) if self.rank else (matrix, 0)
        if info or not np.isfinite(factor).all():
            raise np.linalg.LinAlgError("the precision matrix is not positive definite")
        self.pi, self.nu = pi, nu
        self._weights, self._linear, self._spread, self._gain = weights, linear, spread, gain
        self.half_inverse = dtrtri(factor, lower=1)[0] if self.rank else matrix  # of A, lower
        self._half_log_determinant = float(np.log(factor.diagonal()).sum() + 0.5 * np.log(spread).sum())
        gap = (linear - weights * self._prior_mean_rows) / spread
        self._set_mean(self._inverse(root.T @ gap))
        return self

    def _inverse(self, right: np.ndarray) -> np.ndarray:
        """A^-1 right."""
        return self.half_inverse.T @ (self.half_inverse @ right)

    def _set_mean(self, z: np.ndarray) -> None:
        """alpha = (nu - w (mu + L z)) / T; the projections follow as mu + L z + D alpha."""
        at_z = self._prior_mean_rows + self.prior.root @ z
        slope = (self._linear - self._weights * at_z) / self._spread
        self.coefficients = np.concatenate([z, slope])
        self.projections = (at_z + self.prior.variances * slope)[self.data_count :]

    @property
    def basis_mean(self) -> np.ndarray:
        """Means of z, (r,)."""
        return self.coefficients[: self.rank]

    @property
    def determined(self) -> bool:
        """Return whether data and prior determine u without sites."""
        return True

    def _moved(self, coefficients: np.ndarray) -> np.ndarray:
        return self.prior.root @ coefficients[: self.rank] + self.prior.variances * coefficients[self.rank :]

    def project(self, coefficients: np.ndarray) -> np.ndarray:
        """s = B u at the coefficients."""
        return (self._prior_mean_rows + self._moved(coefficients))[self.data_count :]

    def energy(self, coefficients: np.ndarray) -> float:
        """-log base(u) up to a constant: |t - G u|^2 / (2 r) + (z'z + alpha' D alpha) / 2."""
        z, slope = coefficients[: self.rank], coefficients[self.rank :]
        total = float(z @ z + (self.prior.variances * slope) @ slope)
        if self.data_count:
            residual = self._data - (self._prior_mean_rows + self._moved(coefficients))[: self.data_count]
            total += float((residual * self._data_precision) @ residual)
        return 0.5 * total

    @property
    def log_determinant(self) -> float:
        """log|V|, the covariance of u; -inf where the prior covariance is singular."""
        root, d = self.prior_covariance.root, self.prior_covariance.variances
        if not np.all(d > 0):
            prior = np.linalg.slogdet(self.prior_covariance.dense())[1] if self.rank >= self.n else -np.inf
        else:
            prior = np.log(d).sum() + np.linalg.slogdet(np.eye(self.rank) + root.T @ (root / d[:, None]))[1]
        return float(prior) - 2.0 * self._half_log_determinant

    def latent(self, coefficients: np.ndarray) -> np.ndarray:
        """u at the coefficients."""
        own = self.prior_covariance.variances * np.asarray(self.rows.T @ coefficients[self.rank :])
        return self.shift + self.prior_covariance.root @ coefficients[: self.rank] + own

    # ------------------------------------------------------------------ marginals of the sites
    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
        variance = self.prior.variances / self._spread + self._leverage() / self._spread**2
        return self.projections, variance[self.data_count :]

    def _leverage(self) -> np.ndarray:
        """l' A^-1 l of every row."""
        return _squared_norms(self.prior.root, self.half_inverse)

    def start_updates(self) -> None:
        """Prepare ``marginal`` and ``rank_one``: A^-1 is written out."""
        self._covariance = self.half_inverse.T @ self.half_inverse
        self._pulled = self.prior.root.T @ ((self._linear - self._weights * self._prior_mean_rows) / self._spread)

    def marginal(self, j: int) -> tuple[float, float]:
        """Mean and variance of projection j, valid after any ``rank_one``."""
        j += self.data_count
        row, d, spread = self.prior.root[j], self.prior.variances[j], self._spread[j]
        self._column = self._covariance @ row
        at_z = self._prior_mean_rows[j] + float(self._column @ self._pulled)
        slope = (self._linear[j] - self._weights[j] * at_z) / spread
        return float(at_z + d * slope), float(d / spread + row @ self._column / spread**2)

    def rank_one(self, j: int, d_pi: float, d_nu: float) -> None:
        """Change site j in O(r^2). ``refit`` once in a while against drift."""
        _, variance = self.marginal(j)
        if not 1.0 + d_pi * variance > 1e-8:
            raise np.linalg.LinAlgError("the update would make the precision matrix singular")
        k = j + self.data_count
        before = self._gain[k], self._pull_of(k)
        self.pi[j] += d_pi
        self.nu[j] += d_nu
        self._weights[k] += d_pi
        self._linear[k] += d_nu
        self._spread[k] = 1.0 + self._weights[k] * self.prior.variances[k]
        self._gain[k] = self._weights[k] / self._spread[k]
        change = self._gain[k] - before[0]
        scale = change / (1.0 + change * float(self.prior.root[k] @ self._column))
        self._covariance -= scale * np.outer(self._column, self._column)
        self._pulled += (self._pull_of(k) - before[1]) * self.prior.root[k]

    def _pull_of(self, k: int) -> float:
        return float((self._linear[k] - self._weights[k] * self._prior_mean_rows[k]) / self._spread[k])

    # ------------------------------------------------------------------ the posterior of u
    @property
    def _unknown_spread(self) -> np.ndarray:
        """T by unknown: a row divides e of its unknown, and that unknown's row of V, by it."""
        return 1.0 + np.asarray(self._squares.T @ self._weights) * self.prior_covariance.variances

    def _parts(self, rows: Matrix | None) -> tuple[Matrix, np.ndarray, np.ndarray]:
        """Rows M (None: all unknowns), M H with cov(u) = diag(d / T) + H A^-1 H', and d / T."""
        spread = self._unknown_spread
        root = self.prior_covariance.root / spread[:, None]
        if rows is None:
            return scipy.sparse.eye_array(self.n, format="csr"), root, self.prior_covariance.variances / spread
        return rows, dense(rows @ root), self.prior_covariance.variances / spread

    def root_times(self, rows: Matrix) -> None:
        """Not cheap in this form: None."""
        return

    def project_covariance(self, first: Matrix | None, second: Matrix | None) -> np.ndarray:
        """M1 V M2'."""
        first, left, own = self._parts(first)
        second, right, _ = self._parts(second)
        return dense(first @ covariance_times(own, second.T)) + left @ self._inverse(right.T)

    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M')."""
        rows, root, own = self._parts(rows)
        squares = rows.multiply(rows) if is_sparse(rows) else np.square(rows)  # type: ignore[union-attr]
        return np.asarray(squares @ own) + _squared_norms(root, self.half_inverse)

    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        _, root, own = self._parts(None)
        return covariance_times(own, matrix) + root @ self._inverse(root.T @ matrix)

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n)."""
        _, root, own = self._parts(None)
        z = rng.standard_normal((size, self.rank)) @ self.half_inverse
        return self.mean + z @ root.T + rng.standard_normal((size, self.n)) * np.sqrt(own)

    # ------------------------------------------------------------------ what the sites say about anything else
    @property
    def slope(self) -> np.ndarray:
        """alpha (m + q,): a projection whose prior covariance with the rows is k has mean mu + k.alpha."""
        return self.coefficients[self.rank :]

    def reduce(self, cross: np.ndarray) -> np.ndarray:
        """C cross, C = (K + W^-1)^-1: that projection's variance is what it was less k' C k."""
        gain = self._gain if cross.ndim == 1 else self._gain[:, None]
        weighted = gain * cross
        return weighted - gain * (self.prior.root @ self._inverse(self.prior.root.T @ weighted))

    def reduction_diagonal(self) -> np.ndarray:
        """diag(C), (m + q,)."""
        return self._gain - self._gain**2 * self._leverage()

    # ------------------------------------------------------------------ sensitivity to the prior covariance
    def prior_sensitivity(self, change: Covariance | None = None) -> float:
        """Slope of the log normaliser when S moves by ``change`` at fixed sites, (alpha' dK alpha - tr(C dK)) / 2."""
        alpha = self.slope
        if change is None:  # dK = 2 K, and tr(C K) = sum of w var
            variance = self.prior.variances / self._spread + self._leverage() / self._spread**2
            return float(alpha @ (self.prior @ alpha) - self._weights @ variance)
        moved = dense(self.rows @ covariance_times(change, self.rows.T))
        return 0.5 * float(alpha @ moved @ alpha - np.trace(self.reduce(moved)))

    def prior_response(self, change: Covariance | None = None) -> np.ndarray:
        """V S^-1 dS a = (I - S F' C F) dS F' alpha: how the mode follows S at fixed curvature of the potentials."""
        force = np.asarray(self.rows.T @ self.slope)
        force = 2.0 * (self.prior_covariance @ force) if change is None else covariance_times(change, force)
        back = np.asarray(self.rows.T @ self.reduce(np.asarray(self.rows @ force)))
        return force - self.prior_covariance @ back


def _squared_norms(rows: np.ndarray, half: np.ndarray) -> np.ndarray:
    """|half m|^2 of every row m, in blocks."""
    blocks = [rows[block] @ half.T for block in row_blocks(rows)]
    return np.concatenate([np.einsum("ij,ij->i", block, block) for block in blocks])


def _one_unknown_each(squares: Matrix) -> bool:
    if is_sparse(squares):
        squares = squares.copy()
        squares.eliminate_zeros()  # type: ignore[union-attr]
        filled = squares.astype(bool).astype(int)
    else:
        filled = (squares > 0).astype(int)
    return all(np.max(np.asarray(filled.sum(axis=axis)), initial=0) <= 1 for axis in (0, 1))
