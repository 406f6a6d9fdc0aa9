"""The Gaussian with sites by its covariance, all marginals of the rows valid after every change of a single site.

When the site on row b_i becomes more precise by D, with g = V b_i, v = b_i.g, s = b_i.mean and e the change of its
precision-mean,

    V -= D / (1 + D v) g g',   mean += (e - D s) / (1 + D v) g,   and so the variances and means of all rows, by B g.

Data rows that are measured later enter the same way, several at a time. Either n x n numbers are kept or, where B is
orthonormal and there are few data, m x m.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse

from adaptive.gaussians.gaussian_part import LOG_2PI
from adaptive.gaussians.measurement_covariance import MeasurementCovariance
from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.gaussians.updated_covariance import UpdatedCovariance
from adaptive.linalg.matrices import covariance_root, dense, is_sparse, row_blocks
from adaptive.linalg.subspace_iteration import LeadingSubspace
from adaptive.operators import Operator

if TYPE_CHECKING:
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.types import Covariance, DType, Matrix

__all__ = ["SequentialForm", "Work"]

_FEW_DATA = 0.25  # data rows per unknown below which the m x m numbers are kept
_WEAK = 1e-6  # a site's share of its marginal's precision below which the m x m numbers lose the other digits
_PROBES = 8
_ARRAYS = ("pi", "nu", "mean", "projections", "row_variances")  # that are copied from form to form


@dataclass
class Work:
    """Counts of the operations that were done.

    Attributes
    ----------
    updates : int
        Changes of single sites.
    absorbed : int
        Data rows taken in by rank-one changes.
    factorisations : int
    products : int
        Products of the covariance with a vector for leading directions.
    drift : float
        Largest relative change of a marginal variance that a factorisation, or a check of some rows between two, found.
    """

    updates: int = 0
    absorbed: int = 0
    factorisations: int = 0
    products: int = 0
    drift: float = 0.0
    checks: int = field(default=0, repr=False)


class SequentialForm:
    """Gaussian with sites, represented by its covariance.

    Parameters
    ----------
    rows : ProjectionRows
        B, the projections that carry sites.
    data_rows, data, data_variance, prior_mean, prior_covariance
        As of :class:`~adaptive.gaussians.gaussian_part.GaussianPart`; a prior covariance of low rank is refused.
    form : {"unknowns", "measurements"}, optional
        Keep n x n or m x m numbers; default the second where B is orthonormal and m < n / 4.
    dtype : {float32, float64}, default float64
        Of the n x n numbers.

    Attributes
    ----------
    pi, nu : (q,)
        Precisions and precision-means of the sites.
    mean : (n,)
    projections, row_variances : (q,)
        Means and variances of B u.
    log_determinant : float
        log|V|.
    since_factorised, unchecked : int
        Changes since the last factorisation, and since the last `check`.
    subspace : LeadingSubspace or None
        Where the last search for leading directions ended, moved along with all changes since.
    work : Work

    Raises
    ------
    ValueError
        If B is not orthonormal and square, or the prior is more than a scale.

    Examples
    --------
    >>> from adaptive.operators import Identity
    >>> form = SequentialForm(ProjectionRows([Identity(2)]), prior_covariance=np.ones(2))
    >>> form.refit(np.array([1.0, 0.0]), np.array([2.0, 0.0])).mean
    array([1., 0.])
    """

    kind = "sequential"
    mean: np.ndarray
    projections: np.ndarray
    row_variances: np.ndarray

    def __init__(
        self,
        rows: ProjectionRows,
        data_rows: Matrix | None = None,
        data: np.ndarray | None = None,
        data_variance: np.ndarray | None = None,
        prior_mean: np.ndarray | None = None,
        prior_covariance: Covariance | None = None,
        form: str | None = None,
        dtype: DType = float,
    ):
        self.rows, self.n, self.dtype = rows, rows.shape[1], np.dtype(dtype)
        self.prior_mean = np.zeros(self.n) if prior_mean is None else np.asarray(prior_mean, dtype=float)
        self.prior_covariance = prior_covariance
        self.prior_precision, self._prior_log_determinant = _inverse(prior_covariance, self.n)
        if data_rows is None or data is None or data_variance is None:
            data_rows, data, data_variance = np.zeros((0, self.n)), np.zeros(0), np.zeros(0)
        self._set_data(data_rows, data, data_variance)
        diagonal = self.prior_precision is None or (
            self.prior_precision.ndim == 1 and np.ptp(self.prior_precision) == 0.0
        )
        possible = rows.orthonormal and diagonal
        if form == "measurements" and not possible:
            raise ValueError('form="measurements" needs B orthonormal and square, and no prior but one of scale.')
        few = possible and len(self.data) < _FEW_DATA * self.n
        self.form = form or ("measurements" if few else "unknowns")
        self._held: UpdatedCovariance | MeasurementCovariance | None = None
        self.work = Work()
        self.subspace: LeadingSubspace | None = None
        self.pi, self.nu = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])

    def _set_data(self, rows: Matrix, data: np.ndarray, variance: np.ndarray) -> None:
        self.data_rows = rows if is_sparse(rows) else np.asarray(rows, dtype=float)
        self._seen = self.data_rows @ _probe(self.n)
        self.data = np.asarray(data, dtype=float)
        self.data_variance = np.broadcast_to(np.asarray(variance, dtype=float), self.data.shape)

    # ------------------------------------------------------------------ the numbers behind, which another may take over
    @property
    def covariance(self) -> UpdatedCovariance | MeasurementCovariance:
        """The representation; factorised again from the sites where a later posterior has taken it over."""
        return self._factorise(self.pi, self.nu) if self._held is None else self._held

    @property
    def single(self) -> bool:
        """Return whether the numbers are kept in single precision."""
        return isinstance(self._held, UpdatedCovariance) and self._held.dtype.char == "f"

    def _representation(self) -> UpdatedCovariance | MeasurementCovariance:
        if self.form == "measurements":
            return MeasurementCovariance(self.rows, self.prior_precision)
        return UpdatedCovariance(self.rows, self.prior_precision, dtype=self.dtype)

    def transfer(
        self, data_rows: Matrix | None, data: np.ndarray | None, data_variance: np.ndarray | None
    ) -> SequentialForm | None:
        """The form of a model with the same rows, prior and first data, and perhaps more: this one's numbers, moved.

        This one keeps sites, mean and marginals, and factorises again should it be asked for anything else. None where
        the data do not begin with these, or where they are so many more that a factorisation is cheaper.
        """
        if self._held is None or data_rows is None or data is None or data_variance is None:
            return None
        old, new = len(self.data), len(data)
        if new < old or new - old > max(self.n // 16, 1):
            return None
        if self.form == "measurements" and new >= _FEW_DATA * self.n:
            return None
        if is_sparse(data_rows) != is_sparse(self.data_rows):
            return None
        same = np.array_equal(data[:old], self.data) and np.array_equal(data_variance[:old], self.data_variance)
        if not same or not self._has_data_rows(data_rows[:old]):
            return None
        form = object.__new__(SequentialForm)
        form.__dict__.update(self.__dict__)
        for name in _ARRAYS:
            setattr(form, name, getattr(self, name).copy())
        form.work = Work(**vars(self.work))
        self._held, self.subspace = None, None
        if new > old:
            form._absorb(data_rows[old:], data[old:], np.asarray(data_variance)[old:])
            form._set_data(data_rows, data, data_variance)
        return form

    def _has_data_rows(self, rows: Matrix) -> bool:
        """Return whether these are the data rows; the same memory has to give the same products still."""
        if is_sparse(rows):
            return rows.shape == self.data_rows.shape and (rows != self.data_rows).nnz == 0
        places = [(a.__array_interface__["data"], a.strides) for a in (rows, self.data_rows)]
        if places[0] != places[1]:
            return np.array_equal(rows, self.data_rows)
        return np.allclose(rows @ _probe(self.n), self._seen, rtol=1e-9, atol=1e-12)

    # ------------------------------------------------------------------ fit
    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """Set all sites and factorise; raises ``numpy.linalg.LinAlgError`` where the result is not a Gaussian."""
        self._factorise(np.asarray(pi, dtype=float), np.asarray(nu, dtype=float))
        return self

    def refresh(self) -> float:
        """Factorise at the present sites; returns, and counts, how far marginal variances had drifted."""
        before = self.row_variances
        self._factorise(self.pi, self.nu)
        scale = np.where(self.row_variances > 0, self.row_variances, 1.0)
        drift = float(np.max(np.abs(before - self.row_variances) / scale, initial=0.0))
        self.work.drift = max(self.work.drift, drift)
        return drift

    def _factorise(self, pi: np.ndarray, nu: np.ndarray) -> UpdatedCovariance | MeasurementCovariance:
        held = self._representation() if self._held is None else self._held
        self._held = None
        linear = self.data_rows.T @ (self.data / self.data_variance) + self.rows.adjoint(nu)
        if self.prior_precision is not None:
            linear = linear + _times(self.prior_precision, self.prior_mean)
        mean, self.log_determinant = held.factorise(pi, self.data_rows, 1.0 / self.data_variance, linear)
        self.work.factorisations += 1
        self.since_factorised = self.unchecked = 0
        self._held, self.pi, self.nu, self.mean = held, pi.copy(), nu.copy(), mean
        self.projections, self.row_variances = self.rows.forward(mean), held.row_variances()
        if isinstance(held, MeasurementCovariance) and np.any((pi + held.prior) * self.row_variances < _WEAK):
            self.form, self._held = "unknowns", None
            return self._factorise(pi, nu)
        if self.subspace is not None:
            self.subspace.refresh(held.times)
        return held

    # ------------------------------------------------------------------ single changes
    def update_site(self, i: int, d_pi: float, d_nu: float) -> None:
        """Change site i; everything follows."""
        held = self.covariance
        direction = held.times_row(i)
        along = self.rows.forward(direction)
        variance, mean = float(along[i]), float(self.projections[i])
        scale = 1.0 + d_pi * variance
        if not scale > 1e-8:
            raise np.linalg.LinAlgError("the update would make the precision matrix singular")
        if isinstance(held, MeasurementCovariance) and variance * (self.pi[i] + d_pi + held.prior) < _WEAK * scale:
            self._widen(i, d_pi, d_nu)
            return
        held.change_site(i, d_pi, direction, variance)
        self.pi[i] += d_pi
        self.nu[i] += d_nu
        self._moved(direction, along, d_pi / scale, (d_nu - d_pi * mean) / scale)
        self.log_determinant -= float(np.log(scale))
        self.work.updates += 1

    def _widen(self, i: int, d_pi: float, d_nu: float) -> None:
        """Change site i, and go on over the unknowns: what the data alone determine has no digits left over them."""
        pi, nu = self.pi.copy(), self.nu.copy()
        pi[i] += d_pi
        nu[i] += d_nu
        self.form, self._held = "unknowns", None
        self._factorise(pi, nu)
        self.work.updates += 1

    def _moved(self, direction: np.ndarray, along: np.ndarray, c: float, step: float) -> None:
        self.since_factorised += 1
        self.unchecked += 1
        self.mean += step * direction
        self.projections += step * along
        self.row_variances -= c * np.square(along)
        if self.subspace is not None:
            self.subspace.change(direction, c)

    def _absorb(self, rows: Matrix, data: np.ndarray, variance: np.ndarray) -> None:
        rows = dense(rows)
        held = self.covariance
        cross = None if self.subspace is None else self.subspace.known_products(rows)
        if cross is None:
            cross = held.times(np.asfortranarray(rows.T))
        lower = np.linalg.cholesky(rows @ cross + np.diag(variance))
        root = np.linalg.solve(lower, cross.T).T
        steps = np.linalg.solve(lower, data - rows @ self.mean)
        held.absorb(rows, variance, root)
        for direction, along, step in zip(root.T, self.rows.forward(root).T, steps, strict=True):
            self._moved(direction, along, 1.0, step)
        self.log_determinant += float(np.log(variance).sum()) - 2.0 * float(np.log(lower.diagonal()).sum())
        self.work.absorbed += len(rows)

    def check(self) -> float:
        """Relative drift of the variances of a few rows, against v'(2 b - A v), v = V b; corrects the mean by a step.

        A few products in the place of a factorisation: with A the precision and V = A^-1 + E, b'A^-1 b is that value
        up to terms in E^2.
        """
        held, picks = self.covariance, self.rows.short if len(self.rows.short) else self.rows.long
        self.work.checks, self.unchecked = self.work.checks + 1, 0
        picks = np.random.default_rng(self.work.checks).choice(picks, min(_PROBES, len(picks)), replace=False)
        solutions = np.stack([held.times_row(int(i)) for i in picks], axis=1)
        images, data = self.rows.forward(solutions), self.data_rows @ solutions
        quadratic = self.pi @ np.square(images) + (1.0 / self.data_variance) @ np.square(data)
        gap = self.data_rows.T @ ((self.data - self.data_rows @ self.mean) / self.data_variance)
        gap += self.rows.adjoint(self.nu - self.pi * self.projections)
        if self.prior_precision is not None:
            quadratic += np.einsum("ij,ij->j", solutions, _times(self.prior_precision, solutions))
            gap += _times(self.prior_precision, self.prior_mean - self.mean)
        true = 2.0 * images[picks, np.arange(len(picks))] - quadratic
        drift = float(np.max(np.abs(self.row_variances[picks] - true) / np.where(true > 0, true, 1.0)))
        step = held.times(gap)
        self.mean += step
        self.projections = self.rows.forward(self.mean)
        self.work.drift = max(self.work.drift, drift)
        return drift

    # ------------------------------------------------------------------ evidence
    @property
    def log_volume(self) -> float:
        """log base(mean) + 1/2 log|2 pi V|."""
        residual = self.data - self.data_rows @ self.mean
        value = 0.5 * (self.n * LOG_2PI + self.log_determinant)
        value -= 0.5 * float(np.sum(np.square(residual) / self.data_variance + LOG_2PI + np.log(self.data_variance)))
        if self.prior_precision is not None:
            gap = self.mean - self.prior_mean
            value -= 0.5 * (float(gap @ _times(self.prior_precision, gap)) + self.n * LOG_2PI)
            value -= 0.5 * self._prior_log_determinant
        return value

    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
        return self.projections, self.row_variances

    # ------------------------------------------------------------------ the posterior of u
    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        return self.covariance.times(np.asarray(matrix, dtype=float))

    def operator_variance(self, operator: Operator) -> np.ndarray:
        """Variances of the rows of an operator, known already where it is one of B's groups."""
        group = self.rows.group_of(operator)
        return self.project_variance(ProjectionRows([operator])._matrix) if group is None else self.row_variances[group]

    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M'), M None for the unknowns."""
        if rows is None:
            rows = scipy.sparse.eye_array(self.n, format="csr")
        if is_sparse(rows):
            return self.covariance.sparse_variances(rows)
        parts = [rows[block] for block in row_blocks(rows)]
        return np.concatenate([np.einsum("ij,ji->i", p, self.covariance_times(np.asarray(p).T)) for p in parts])

    def project_covariance(self, first: Matrix | None, second: Matrix | None) -> np.ndarray:
        """M1 V M2'."""
        if first is None and second is None:
            return self.covariance.full()
        right = self.covariance.full() if second is None else self.covariance_times(dense(second).T)
        return right if first is None else np.asarray(first @ right)

    def root_times(self, rows: Matrix) -> None:
        """Not cheap in this form: None."""
        return

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n)."""
        root = covariance_root(self.covariance.full())
        return self.mean + rng.standard_normal((size, root.shape[1])) @ root.T

    def leading(self, k: int, start: np.ndarray | None, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """The k largest eigenvalues and their eigenvectors (k, n), from where the last search ended."""
        held = self.covariance
        if self.subspace is None or start is not None:
            self.subspace = LeadingSubspace(self.n, start)
        before = self.subspace.n_products
        pairs = self.subspace.leading(held.times, k, tol)
        self.work.products += self.subspace.n_products - before
        return pairs

    # ------------------------------------------------------------------ as plain data
    def state(self) -> dict[str, Any]:
        """The numbers themselves, about 4 n^2 bytes.

        A factorisation at the sites would round otherwise, and a run that was resumed would part from one that went on.
        """
        state: dict[str, Any] = {
            "kind": self.kind,
            **{name: getattr(self, name) for name in _ARRAYS},
            "form": self.form,
            "dtype": self.dtype.name,
            "log_determinant": float(self.log_determinant),
            "since_factorised": self.since_factorised,
            "unchecked": self.unchecked,
            "work": dict(vars(self.work)),
            **self.covariance.state(),
        }
        if self.subspace is not None:
            state["subspace"] = [self.subspace.basis, self.subspace.products, self.subspace.n_products]
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any], part: GaussianPart) -> SequentialForm:
        """The form that ``state`` described; the rows of ``part`` are `ProjectionRows`."""
        form = SequentialForm(*part, form=str(state["form"]), dtype=str(state["dtype"]))  # type: ignore[arg-type]
        for name in _ARRAYS:
            setattr(form, name, np.array(state[name], dtype=float))
        held = MeasurementCovariance if form.form == "measurements" else UpdatedCovariance
        form._held = held.from_state(state, form.rows, form.prior_precision)
        form.log_determinant, form.since_factorised = float(state["log_determinant"]), int(state["since_factorised"])
        form.unchecked, form.work = int(state["unchecked"]), Work(**state["work"])
        if "subspace" in state:
            basis, products, count = state["subspace"]
            form.subspace = LeadingSubspace(form.n)
            form.subspace.basis, form.subspace.products = np.array(basis), np.array(products)
            form.subspace.n_products = int(count)
        return form


def _inverse(covariance: Covariance | None, n: int) -> tuple[np.ndarray | None, float]:
    """Inverse (n,) or (n, n) and log-determinant of a prior covariance; None where there is none."""
    if covariance is None:
        return None, 0.0
    if np.ndim(covariance) < 2:
        variance = np.broadcast_to(np.asarray(covariance, dtype=float), (n,)).copy()
        return 1.0 / variance, float(np.log(variance).sum())
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    return root.T @ root, -2.0 * float(np.log(root.diagonal()).sum())


def _times(precision: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """A precision (n,) or (n, n) times vectors (n,) or (n, k)."""
    if precision.ndim == 2:
        return precision @ vectors
    return precision * vectors if vectors.ndim == 1 else precision[:, None] * vectors


def _probe(n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(n)
