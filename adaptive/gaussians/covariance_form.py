"""The Gaussian with sites by the covariance K = F S F' of its rows; neither K nor S is ever inverted.

With W the site precisions, D their signs and R = |W|^1/2, the matrix factorised is M = D + R K R, which is
I + W^1/2 K W^1/2 with eigenvalues >= 1 where all W >= 0 (Cholesky). Then

    C = (K + W^-1)^-1 = R M^-1 R,   V = S - S F' C F S,   log|I + K W| = log|det M|,   mean = mu + S F' alpha.

Some W < 0 (a potential that is not log-concave): M is symmetric indefinite and factorised as such; the posterior is
proper exactly where M has as many negative eigenvalues as W has negative entries (Haynsworth's inertia additivity).

References
----------
Nickisch and Rasmussen (2008), Approximations for binary Gaussian process classification, section 3 and table 3;
Rasmussen and Williams (2006), Gaussian processes for machine learning, algorithms 3.1 and 3.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse
from scipy.linalg.blas import dsyr, dtrsm
from scipy.linalg.lapack import dlauum, dpotrf, dpotrs, dsytrf, dsytrs, spotrf

from adaptive.gaussians.factorised_form import FactorisedForm
from adaptive.gaussians.gaussian_part import LOG_2PI
from adaptive.linalg.matrices import (
    covariance_root,
    covariance_times,
    dense,
    densified,
    is_identity,
    is_sparse,
    quadratic_diagonal,
    row_blocks,
    stacked,
    triangular_root,
)
from adaptive.linalg.triangular_inverse import triangular_inverse

if TYPE_CHECKING:
    from adaptive.types import Covariance, Matrix

__all__ = ["CovarianceForm"]

_STRONG = 1e-2  # site precision times prior variance from which variances are found by the inverse of M
_ROUGH_ROWS = 256  # from which single precision saves time
_ROUGH_TRACE = 1e4  # of M - I up to which single precision leaves three figures at least
_MANY_ROWS = 2**12  # sparse rows at once from which the whitened cross covariance is worth its cost
_LARGEST_WHITENED = 2**25  # its entries, 268 MB


class CovarianceForm(FactorisedForm):
    """Gaussian with sites, represented by the prior covariance of its rows.

    Data rows are rows like any other, whose sites stay fixed at 1/variance. Attributes and methods are
    those of :class:`~adaptive.gaussians.factorised_form.FactorisedForm`; the prior covariance is required, and the
    coefficients are alpha (m + q,): u = prior mean + S F' alpha with F the data rows above the site rows.

    Parameters
    ----------
    rows, data_rows, data, data_variance, prior_mean, prior_covariance
        As of :class:`~adaptive.gaussians.gaussian_part.GaussianPart`; the prior covariance is required.

    Attributes
    ----------
    size : int
        m + q.

    Examples
    --------
    >>> form = CovarianceForm(np.eye(2), prior_covariance=np.eye(2)).refit(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    >>> form.mean, form.marginals()[1]
    (array([1., 0.]), array([0.5, 1. ]))
    """

    kind = "covariance"

    def __init__(
        self,
        rows: Matrix,
        data_rows: Matrix | None = None,
        data: np.ndarray | None = None,
        data_variance: np.ndarray | None = None,
        prior_mean: np.ndarray | None = None,
        prior_covariance: Covariance | None = None,
    ):
        assert prior_covariance is not None
        self.n, self.prior_covariance = rows.shape[1], prior_covariance
        self.shift = np.zeros(self.n) if prior_mean is None else np.asarray(prior_mean, dtype=float)
        self.data_count = 0 if data_rows is None else data_rows.shape[0]
        self._log_constant = 0.0
        self._data = np.empty(0)
        self._data_precision = np.empty(0)
        if self.data_count:
            rows = stacked([data_rows, rows])
            self._data = np.asarray(data, dtype=float)
            variance = np.broadcast_to(np.asarray(data_variance, dtype=float), self._data.shape)
            self._data_precision = 1.0 / variance
            self._log_constant = -0.5 * float(np.sum(LOG_2PI + np.log(variance)))
        self.rows = rows if is_identity(rows) else densified(rows)
        # S F' of a table is as large as the table: where S is diagonal, it is made when it is asked for
        self._lean = np.ndim(prior_covariance) < 2 and isinstance(self.rows, np.ndarray)
        cross = covariance_times(prior_covariance, self.rows.T)
        self._cross = None if self._lean else cross
        self.prior = np.asfortranarray(dense(self.rows @ cross))  # K
        self._prior_mean_rows = np.asarray(self.rows @ self.shift)
        self.size = len(self.prior)

    # ------------------------------------------------------------------ fit
    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """Set all sites and factorise; raises ``numpy.linalg.LinAlgError`` where the result is not a Gaussian."""
        return self._refit(pi, nu, roughly=False)

    def refit_roughly(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """As `refit`, factorised in single precision where that leaves figures and saves time."""
        return self._refit(pi, nu, roughly=True)

    def _refit(self, pi: np.ndarray, nu: np.ndarray, roughly: bool) -> Self:
        self.pi, self.nu = np.array(pi, dtype=float), np.array(nu, dtype=float)
        precision, linear = self.pi, self.nu
        if self.data_count:
            precision = np.concatenate([self._data_precision, precision])
            linear = np.concatenate([self._data * self._data_precision, linear])
        self._weights = precision
        self._scale = np.sqrt(np.abs(precision))
        self.rough = roughly and self._factorised_roughly(precision)
        if not self.rough:
            self._factorise(precision < 0)
        self._half_inverse: np.ndarray | None = None
        self._variances: np.ndarray | None = None
        self._whitened_cross: np.ndarray | None = None
        self._updated: np.ndarray | None = None
        self._set_mean(linear)
        return self

    def _set_mean(self, linear: np.ndarray) -> None:
        """alpha = gap - R M^-1 R K gap; where a site outweighs its prior, R M^-1 R^-1 gap and s = (nu - alpha) / w."""
        gap = linear - self._weights * self._prior_mean_rows
        strong = self._weights * self.prior.diagonal() > 1.0
        weak = np.where(strong, 0.0, gap)
        right = np.divide(gap, self._scale, out=np.zeros(self.size), where=strong)
        right -= self._scale * (self.prior @ weak)
        self.coefficients = weak + self._scale * self._solve(right)
        s = self._prior_mean_rows + self.prior @ self.coefficients
        s[strong] = (linear - self.coefficients)[strong] / self._weights[strong]
        self._projections = s
        self.projections = s[self.data_count :]

    def _factorised_roughly(self, precision: np.ndarray) -> bool:
        """Factorise in single precision; False where it is not worth it or leaves too few figures."""
        if self.size < _ROUGH_ROWS or (precision < 0).any():
            return False
        if not 0 < precision @ self.prior.diagonal() <= _ROUGH_TRACE:
            return False
        matrix = np.empty(self.prior.shape, dtype=np.float32, order="F")
        np.multiply(self.prior, self._scale[:, None], out=matrix, casting="same_kind")
        matrix *= self._scale.astype(np.float32)
        matrix[np.diag_indices(self.size)] += 1.0
        self._indefinite = False
        self._factor, failed = spotrf(matrix, lower=1, clean=1, overwrite_a=1)
        self._half_log_determinant = float(np.log(self._factor.diagonal(), dtype=float).sum())
        return not failed

    def _factorise(self, negative: np.ndarray) -> None:
        if not self._scale.any():  # no sites: M = I
            self._indefinite, self._half_log_determinant = False, 0.0
            self._factor = np.eye(self.size, order="F")
            return
        matrix = self.prior * self._scale[:, None]
        matrix *= self._scale
        matrix[np.diag_indices(self.size)] += np.where(negative, -1.0, 1.0)
        self._indefinite = bool(negative.any())
        if not self._indefinite:
            self._factor, info = dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
            if info:  # I is lost beside R K R: add the two without squaring
                root = covariance_root(self.prior)
                self._factor = triangular_root([root.T * self._scale, np.eye(self.size)])
            self._half_log_determinant = float(np.log(self._factor.diagonal()).sum())
            return
        self._factor, self._pivots, info = dsytrf(matrix, lower=1)
        count, log_determinant = _inertia(self._factor, self._pivots)
        if info or count != int(negative.sum()):
            raise np.linalg.LinAlgError("the precision matrix is not positive definite")
        self._half_log_determinant = 0.5 * log_determinant

    def _solve(self, right: np.ndarray) -> np.ndarray:
        """M^-1 right."""
        if not len(right):  # the prior alone; LAPACK wants a row
            return right.copy()
        if self._indefinite:
            return dsytrs(self._factor, self._pivots, right, lower=1)[0]
        return dpotrs(self._factor, right, lower=1)[0]

    @property
    def determined(self) -> bool:
        """Return whether data and prior determine u without sites."""
        return True

    def project(self, coefficients: np.ndarray) -> np.ndarray:
        """s = B u at the coefficients."""
        return (self._prior_mean_rows + self.prior @ coefficients)[self.data_count :]

    def energy(self, coefficients: np.ndarray) -> float:
        """-log base(u) up to a constant: |t - G u|^2 / (2 r) + (u - mu)' S^-1 (u - mu) / 2."""
        moved = self.prior @ coefficients
        total = float(coefficients @ moved)
        if self.data_count:
            residual = self._data - (self._prior_mean_rows + moved)[: self.data_count]
            total += float((residual * self._data_precision) @ residual)
        return 0.5 * total

    @property
    def log_determinant(self) -> float:
        """log|V|, the covariance of u; -inf where the prior covariance is singular."""
        s = self.prior_covariance
        prior = np.linalg.slogdet(s)[1] if np.ndim(s) == 2 else np.sum(np.log(np.broadcast_to(s, (self.n,))))
        return float(prior) - 2.0 * self._half_log_determinant

    def latent(self, coefficients: np.ndarray) -> np.ndarray:
        """u at the coefficients."""
        return self.shift + self._spread(coefficients)

    @property
    def cross(self) -> Matrix:
        """S F', dense or sparse."""
        return covariance_times(self.prior_covariance, self.rows.T) if self._cross is None else self._cross

    def _spread(self, matrix: np.ndarray) -> np.ndarray:
        """S F' M for M (m + q,) or (m + q, k)."""
        if self._cross is None:
            return covariance_times(self.prior_covariance, self.rows.T @ matrix)
        return self._cross @ matrix

    def _gathered(self, matrix: np.ndarray) -> np.ndarray:
        """F S M for M (n,) or (n, k)."""
        if self._cross is None:
            return self.rows @ covariance_times(self.prior_covariance, matrix)
        return self._cross.T @ matrix

    # ------------------------------------------------------------------ marginals of the sites
    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
        return self.projections, self._row_variances()[self.data_count :]

    def _row_variances(self) -> np.ndarray:
        """The variances of all rows, kept until the next factorisation."""
        if self._variances is None:
            self._variances = self._found_variances()
        return self._variances

    def _found_variances(self) -> np.ndarray:
        """diag(K - K C K); or 1/w - [M^-1]_jj / w, cheaper, and free of cancellation where a site outweighs its prior.

        The second loses a factor of 1 / (w K_jj) in accuracy against the first, which costs a product of matrices.
        """
        prior = self.prior.diagonal()
        if not self._scale.any():
            return prior.copy()
        if self._indefinite:
            scaled = self._scale[:, None] * self.prior
            return prior - np.einsum("ij,ij->j", scaled, self._solve(scaled))
        half = self._half()
        strong = self._weights * prior > _STRONG
        inverse = np.einsum("ij,ij->i", half.T, half.T, dtype=float)
        variance = np.divide(1.0 - inverse, self._weights, out=np.empty(self.size), where=strong)
        if not strong.all():
            scaled = half @ (self._scale[:, None] * self.prior[:, ~strong])
            variance[~strong] = prior[~strong] - np.einsum("ij,ij->j", scaled, scaled)
        return variance

    def _half(self) -> np.ndarray:
        """L^-1, kept until the next factorisation."""
        if self._half_inverse is None:
            self._half_inverse = triangular_inverse(self._factor)
        return self._half_inverse

    def start_updates(self) -> None:
        """Prepare ``marginal`` and ``rank_one``: the covariance of all rows is formed once, lower triangle."""
        scaled = self._scale[:, None] * self.prior
        covariance = self.prior - scaled.T @ self._solve(scaled)
        np.fill_diagonal(covariance, self._row_variances())
        self._updated = np.asfortranarray(covariance)

    def marginal(self, j: int) -> tuple[float, float]:
        """Mean and variance of projection j, valid after any ``rank_one``."""
        j += self.data_count
        updated = self._updated
        assert updated is not None
        self._column = np.concatenate([updated[j, :j], updated[j:, j]])
        return float(self._projections[j]), float(self._column[j])

    def rank_one(self, j: int, d_pi: float, d_nu: float) -> None:
        """Change site j; covariance and means follow in O(q^2). ``refit`` once in a while against drift."""
        mean, variance = self.marginal(j)
        scale = 1.0 + d_pi * variance
        if not scale > 1e-8:
            raise np.linalg.LinAlgError("the update would make the precision matrix singular")
        self._updated = dsyr(-d_pi / scale, self._column, lower=1, a=self._updated, overwrite_a=1)
        self._projections = self._projections + ((d_nu - d_pi * mean) / scale) * self._column
        self.pi[j] += d_pi
        self.nu[j] += d_nu

    # ------------------------------------------------------------------ the posterior of u
    def _crossed(self, rows: Matrix | None) -> tuple[Matrix, np.ndarray]:
        """Rows M (None: all unknowns) and their prior covariance with the representation's rows, M S F'."""
        if rows is None:
            rows = scipy.sparse.eye_array(self.n, format="csr")
            return rows, dense(self.cross)
        return rows, self._covariance_with(rows)

    def _covariance_with(self, rows: Matrix) -> np.ndarray:
        """M S F' (k, m + q)."""
        if self._cross is None and isinstance(rows, np.ndarray):
            return (rows * self.prior_covariance) @ self.rows.T
        return dense(rows @ self.cross)

    def root_times(self, rows: Matrix) -> None:
        """Not cheap in this form: None."""
        return

    def project_covariance(self, first: Matrix | None, second: Matrix | None) -> np.ndarray:
        """M1 V M2'."""
        first, left = self._crossed(first)
        second, right = self._crossed(second)
        prior = dense(first @ covariance_times(self.prior_covariance, second.T))
        return prior - (left * self._scale) @ self._solve(np.asfortranarray(self._scale[:, None] * right.T))

    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M')."""
        if rows is None:
            rows = scipy.sparse.eye_array(self.n, format="csr")
        of_block = self._block_variance
        many = is_sparse(rows) and rows.shape[0] >= _MANY_ROWS and self.n * self.size <= _LARGEST_WHITENED
        if many and not self._indefinite:
            of_block = self._sparse_block_variance
        blocks = row_blocks(rows, entries=2**22 * self.n // max(self.size, 1))
        return np.concatenate([of_block(rows[block]) for block in blocks])

    def _sparse_block_variance(self, rows: Matrix) -> np.ndarray:
        """The same from G = L^-1 R F S, kept until the next factorisation: a row then costs a product with G'."""
        if self._whitened_cross is None:
            scaled = np.asfortranarray(self._scale[:, None] * dense(self.cross.T))
            self._whitened_cross = np.ascontiguousarray(dtrsm(1.0, self._factor, scaled, lower=1).T)
        half = rows @ self._whitened_cross
        reduction = np.einsum("ij,ij->i", half, half)
        return np.maximum(quadratic_diagonal(rows, self.prior_covariance) - reduction, 0.0)

    def _block_variance(self, rows: Matrix) -> np.ndarray:
        prior = quadratic_diagonal(rows, self.prior_covariance)
        scaled = np.asfortranarray(self._scale[:, None] * self._covariance_with(rows).T)
        if self._indefinite:
            reduction = np.einsum("ij,ij->j", scaled, self._solve(scaled))
        else:
            half = dtrsm(1.0, self._factor, scaled, lower=1)
            reduction = np.einsum("ij,ij->j", half, half)
        return np.maximum(prior - reduction, 0.0)

    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        scale = self._scale if np.ndim(matrix) == 1 else self._scale[:, None]
        inner = self._solve(np.asfortranarray(scale * self._gathered(matrix)))
        return covariance_times(self.prior_covariance, matrix) - self._spread(scale * inner)

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n): draws of prior and pseudo-data, then conditioned (Matheron's rule)."""
        if self._indefinite:
            root = covariance_root(self.project_covariance(None, None))
            return self.mean + rng.standard_normal((size, root.shape[1])) @ root.T
        if np.ndim(self.prior_covariance) == 2:
            root = covariance_root(np.asarray(self.prior_covariance))
            draws = rng.standard_normal((size, root.shape[1])) @ root.T
        else:
            draws = rng.standard_normal((size, self.n)) * np.sqrt(self.prior_covariance)
        noise = rng.standard_normal((self.size, size))
        inner = self._solve(np.asfortranarray(self._scale[:, None] * dense(self.rows @ draws.T) + noise))
        return self.mean + draws - self._spread(self._scale[:, None] * inner).T

    # ------------------------------------------------------------------ what the sites say about anything else
    @property
    def slope(self) -> np.ndarray:
        """alpha (m + q,): a projection whose prior covariance with the rows is k has mean mu + k.alpha."""
        return self.coefficients

    def reduce(self, cross: np.ndarray) -> np.ndarray:
        """C cross, C = (K + W^-1)^-1: that projection's variance is what it was less k' C k."""
        scale = self._scale if cross.ndim == 1 else self._scale[:, None]
        return scale * self._solve(np.asfortranarray(scale * cross))

    def whitener(self) -> np.ndarray | None:
        """H (m + q, m + q) with H' H = C, lower triangular; None where some site precision is negative."""
        if self._indefinite:
            return None
        known = self._half_inverse  # where it is not, asking changes nothing
        return (triangular_inverse(self._factor) if known is None else known) * self._scale

    def reduction(self) -> np.ndarray:
        """C (m + q, m + q) itself; a third of what ``reduce`` takes, where L^-1 is known from the variances."""
        if self._indefinite or self._half_inverse is None:
            return self.reduce(np.eye(self.size))
        lower = np.tril(dlauum(self._half_inverse, lower=1)[0])  # of M^-1 = L^-T L^-1
        lower += np.tril(lower, -1).T
        lower *= self._scale
        lower *= self._scale[:, None]
        return lower

    # ------------------------------------------------------------------ sensitivity to the prior covariance
    def prior_sensitivity(self, change: Covariance | None = None) -> float:
        """Slope of the log normaliser when S moves by ``change`` at fixed sites, (alpha' dK alpha - tr(C dK)) / 2."""
        moved = 2.0 * self.prior if change is None else dense(self.rows @ covariance_times(change, self.rows.T))
        alpha = self.coefficients
        scaled = np.asfortranarray(self._scale[:, None] * moved * self._scale)
        return 0.5 * float(alpha @ moved @ alpha - np.trace(self._solve(scaled)))

    def prior_response(self, change: Covariance | None = None) -> np.ndarray:
        """V S^-1 dS a = (I - S F' C F) dS F' alpha: how the mode follows S at fixed curvature of the potentials."""
        force = self.rows.T @ self.coefficients
        force = 2.0 * self._spread(self.coefficients) if change is None else covariance_times(change, force)
        return force - self._spread(self._scale * self._solve(self._scale * (self.rows @ force)))


def _inertia(factor: np.ndarray, pivots: np.ndarray) -> tuple[int, float]:
    """Number of negative eigenvalues and log|det| from LAPACK's symmetric indefinite factors (lower)."""
    negative, log_determinant, j = 0, 0.0, 0
    diagonal, below = factor.diagonal(), factor.diagonal(-1)
    while j < len(diagonal):
        if pivots[j] > 0:
            negative += bool(diagonal[j] < 0)
            value, j = abs(diagonal[j]), j + 1
        else:  # a 2 x 2 block has one eigenvalue of each sign
            negative += 1
            value, j = abs(diagonal[j] * diagonal[j + 1] - below[j] ** 2), j + 2
        log_determinant += np.log(value) if value > 0 else -np.inf
    return int(negative), float(log_determinant)
