"""The posterior: a Gaussian over the latent, with the evidence and the diagnostics of the engine that made it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from adaptive.checks import finite, generator, integer, positive
from adaptive.gaussians import SequentialForm, SiteGaussian, gaussian_from_state
from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.inference.dense.jensen import jensen_bound
from adaptive.inference.dense.model_matrices import ModelMatrices
from adaptive.inference.model import GLM, matrix_of
from adaptive.linalg.matrices import dense, is_sparse, stacked
from adaptive.linalg.subspace_iteration import LeadingSubspace
from adaptive.operators import Operator
from adaptive.showing import posterior_html

if TYPE_CHECKING:
    from adaptive.gaussians import Gaussian
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike, Matrix, RandomState, Rows

__all__ = ["Posterior", "kept_rows"]

DIAGNOSTICS = (  # of the engine that made a posterior: all that it says beside the Gaussian
    "log_evidence",
    "log_evidence_std",
    "evidence_kind",
    "objective_trace",
    "n_iter",
    "n_products",
    "converged",
    "engine",
)
LARGEST_COVARIANCE = 8000  # unknowns up to which the covariance is handed out as a matrix


class Posterior:
    """Posterior of the latent u, as an inference engine believes it.

    Parameters
    ----------
    gaussian : Gaussian or None
        The form that represents N(mean, V). None for a point estimate, which then needs ``mean``.
    mean : array (n,), optional
        Default that of ``gaussian``.
    sites : pair of arrays (q,)
        Precision and precision-mean of the Gaussian that stands for each potential.
    group_lengths : list of int
        Rows of each group of potentials, by which a warm start finds the rows that are new.
    log_evidence, log_evidence_std : float
        In nats, with all normalisers; nan where there is none.
    evidence_kind : {"exact", "lower_bound", "approximation", "none"}
    objective_trace : sequence of float
        What the engine lowers, one value per iteration.
    n_iter, n_products : int
        Iterations, and products with the system matrix (all operators forward and adjoint once).
    converged : bool
    engine : str
        Name of the function that made it.
    potential : Potential, optional
        Of the rows that the Gaussian's sites stand for, from which ``jensen_evidence`` is computed.
    active : integer array (r,), optional
        The rows that the Gaussian speaks of, where it is a few of the model's; None: all.

    Examples
    --------
    >>> from adaptive.inference import GLM, laplace_approximation
    >>> posterior = laplace_approximation(GLM([[1.0, 1.0]], [2.0], potentials=[], B=[], prior_covariance=1.0))
    >>> posterior.mean.round(3), posterior.variances().round(3), posterior.evidence_kind
    (array([0.667, 0.667]), array([0.667, 0.667]), 'exact')
    >>> round(posterior.information_gain([[1.0, -1.0]], noise_variance=1.0), 3)
    0.549
    """

    kind = "posterior"  # in its state

    def __init__(
        self,
        gaussian: Gaussian | None,
        *,
        mean: np.ndarray | None = None,
        sites: tuple[np.ndarray, np.ndarray],
        group_lengths: Sequence[int],
        log_evidence: float = np.nan,
        log_evidence_std: float = 0.0,
        evidence_kind: str = "none",
        objective_trace: Sequence[float] = (),
        n_iter: int = 0,
        n_products: int = 0,
        converged: bool = True,
        engine: str = "",
        potential: Potential | None = None,
        active: np.ndarray | None = None,
    ):
        if mean is None:
            assert gaussian is not None
            mean = gaussian.mean
        self.gaussian = gaussian
        self.mean = np.array(mean, dtype=float)
        self.sites = sites
        self.group_lengths = list(group_lengths)
        self.log_evidence, self.log_evidence_std = float(log_evidence), float(log_evidence_std)
        self.evidence_kind = evidence_kind
        self.objective_trace = np.asarray(objective_trace, dtype=float)
        self.n_iter, self.n_products, self.converged = int(n_iter), int(n_products), bool(converged)
        self.engine = engine
        self._potential, self.active = potential, active

    def __repr__(self) -> str:
        evidence = "none" if self.evidence_kind == "none" else f"{self.log_evidence:.6g} ({self.evidence_kind})"
        state = "converged" if self.converged else "NOT converged"
        return f"Posterior({self.engine}, n={self.n}, log evidence {evidence}, {state} after {self.n_iter} iterations)"

    def _repr_html_(self) -> str:
        return posterior_html(self)

    @property
    def n(self) -> int:
        return len(self.mean)

    @cached_property
    def jensen_evidence(self) -> float:
        """Jensen's lower bound on the log evidence, E_Q[ln P(y, u)] + H(Q), at this Gaussian Q.

        It is at least the evidence of ``variational_bounds``, and -inf where a potential is zero on a half-line.

        References
        ----------
        Nickisch (2010), sections 2.5.2 and 4.7.
        """
        gaussian = self._dense
        if not isinstance(gaussian, SiteGaussian):
            raise ValueError(f"{self.engine or 'this posterior'} has no sites, from which Jensen's bound is computed.")
        if self._potential is None:
            return float(gaussian.log_volume)
        mean, variance = gaussian.marginals()
        return jensen_bound(gaussian, variance, self._potential.expectation(mean, variance))

    def variances(self, B: Rows | ArrayLike | None = None, return_error: bool = False) -> Any:
        """Marginal variances of the projections ``B u`` (default: of the unknowns).

        Parameters
        ----------
        B : array, sparse matrix or Operator (m, n), optional
            Default the identity.
        return_error : bool, default False
            Also return the standard errors (zero: these variances are exact).

        Returns
        -------
        array (m,), or a pair of them
        """
        gaussian = self._dense
        if isinstance(B, Operator) and B.dtype.kind != "c" and gaussian.operator_variance is not None:
            variance = gaussian.operator_variance(B)
        else:
            variance = gaussian.project_variance(None if B is None else self._rows(B))
        return (variance, np.zeros_like(variance)) if return_error else variance

    def covariance(self) -> np.ndarray:
        """The covariance matrix (n, n); refused above 8,000 unknowns."""
        if self.n > LARGEST_COVARIANCE:
            raise ValueError(
                f"covariance() of {self.n} unknowns would be a matrix of {8e-9 * self.n**2:.1f} GB; above "
                f"{LARGEST_COVARIANCE} use covariance_operator(), variances() or projection_covariance()."
            )
        return self._dense.project_covariance(None, None)

    def covariance_operator(self) -> LinearOperator:
        """The covariance as a SciPy linear operator, without forming it."""
        times = self._dense.covariance_times
        return LinearOperator((self.n, self.n), matvec=times, rmatvec=times, matmat=times, rmatmat=times, dtype=float)

    def sample(self, n: int = 1, random_state: RandomState = None) -> np.ndarray:
        """Draws of the latent, (n, unknowns)."""
        return self._dense.sample(integer("n", n, minimum=0), generator(random_state))

    def information_gain(self, X_new: Rows | ArrayLike, noise_variance: float = 1.0) -> float:
        """1/2 log|I + X V X' / noise_variance|: what measuring the rows ``X_new`` together would teach, in nats.

        Exact for Gaussian measurements of a Gaussian posterior, an upper bound on the true gain otherwise.

        Parameters
        ----------
        X_new : array, sparse matrix or Operator (d, n), or one row (n,)
            Complex rows count their real and imaginary parts.
        noise_variance : float, default 1.0
            Per real component.

        References
        ----------
        Nickisch (2010), section 2.6.
        """
        noise = float(positive("noise_variance", noise_variance))
        rows = self._rows(X_new, one_row=True)
        if rows.shape[0] == 1:
            return 0.5 * float(np.log1p(self._dense.project_variance(rows)[0] / noise))
        if rows.shape[0] > rows.shape[1]:  # the same determinant, over the unknowns
            block = self._dense.project_covariance(None, None) @ dense(rows.T @ rows)
        else:
            block = self._dense.project_covariance(rows, rows)
        return 0.5 * float(np.linalg.slogdet(np.eye(len(block)) + block / noise)[1])

    def leading_directions(
        self, k: int, start: ArrayLike | None = None, *, tol: float = 1e-3
    ) -> tuple[np.ndarray, np.ndarray]:
        """Directions of largest posterior variance: measuring them with unit rows teaches most.

        Parameters
        ----------
        k : int
            How many, at most the number of unknowns.
        start : array (any, n), optional
            Directions near them, as of an earlier posterior. (What "selective" updates keep goes on by itself from
            where the last search ended.)
        tol : float, default 1e-3
            Norm of V x - value x of every direction, as a share of the largest value.

        Returns
        -------
        values : array (k,)
            The variances along them, falling.
        directions : array (k, n)
            Orthonormal; the largest entry in modulus of each is positive.

        References
        ----------
        Nickisch (2010), algorithm 5.1.

        Examples
        --------
        >>> from adaptive.inference import GLM, laplace_approximation
        >>> posterior = laplace_approximation(GLM(B=[], potentials=[], prior_covariance=[1.0, 4.0]))
        >>> posterior.leading_directions(1)
        (array([4.]), array([[0., 1.]]))
        """
        k = integer("k", k, minimum=1)
        if k > self.n:
            raise ValueError(f"k must be at most the number of unknowns, {self.n}, got {k}.")
        columns = None
        if start is not None:
            rows = finite("start", start)
            if rows.ndim != 2 or rows.shape[1] != self.n or not len(rows):
                raise ValueError(f"start must have shape (any, {self.n}), got {rows.shape}.")
            columns = rows.T
        tol = float(positive("tol", tol))
        if self.gaussian is not None and self.gaussian.leading is not None:
            return self.gaussian.leading(k, columns, tol)
        return LeadingSubspace(self.n, columns).leading(self.covariance_operator().matmat, k, tol)

    # ------------------------------------------------------------------ joint moments of projections
    def projection_moments(self, B_new: Rows | ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the projections ``B_new u``, (m,) each."""
        rows = self._rows(B_new)
        return np.asarray(rows @ self.mean), self._dense.project_variance(rows)

    def projection_covariance(self, B1: Rows | ArrayLike, B2: Rows | ArrayLike | None = None) -> np.ndarray:
        """Covariance (m1, m2) of the projections ``B1 u`` and ``B2 u`` (default: ``B1 u`` itself)."""
        first = self._rows(B1)
        return self._dense.project_covariance(first, first if B2 is None or B2 is B1 else self._rows(B2))

    def projection_root(self, B_new: Rows | ArrayLike) -> np.ndarray | None:
        """R (m, r) with R R' the covariance of ``B_new u``, where that is cheap; else None."""
        return self._dense.root_times(self._rows(B_new))

    @property
    def _dense(self) -> Gaussian:
        if self.gaussian is None:
            raise ValueError(
                f"{self.engine or 'this posterior'} gives a point estimate, without variances; use another engine."
            )
        return self.gaussian

    def _rows(self, B: Rows | ArrayLike, one_row: bool = False) -> Matrix:
        """Rows as a real matrix (m, n); complex ones as Re above Im."""
        if isinstance(B, Operator):
            rows = matrix_of(B)
        elif is_sparse(B):
            rows = B
        else:
            rows = finite("rows", B, dtype=None)
            rows = rows.astype(complex if rows.dtype.kind == "c" else float, copy=False)
            rows = rows[None] if one_row and rows.ndim == 1 else rows
        if rows.ndim != 2 or rows.shape[1] != self.n:
            raise ValueError(f"rows must have shape (any, {self.n}), got {rows.shape}.")
        if rows.dtype.kind != "c":
            return rows
        return stacked([rows.real, rows.imag])

    # ------------------------------------------------------------------ as plain data
    def state(self) -> dict[str, Any]:
        """Plain data, its ``kind`` among them, from which `from_state` makes this posterior again, to the last bit.

        What results of `adaptive.inference.classic` keep for a warm start is left out: they come back as plain ones.
        """
        gaussian = self.gaussian
        return {
            "kind": self.kind,
            "pi": self.sites[0],
            "nu": self.sites[1],
            "group_lengths": self.group_lengths,
            **{name: getattr(self, name) for name in DIAGNOSTICS},
            "active": self.active,
            **({"gaussian": None, "mean": self.mean} if gaussian is None else {"gaussian": gaussian.state()}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], model: GLM) -> Posterior:
        """The posterior over ``model`` that ``state`` described."""
        sites, lengths = (state["pi"], state["nu"]), [int(k) for k in state["group_lengths"]]
        rest = {name: state[name] for name in DIAGNOSTICS}
        if state["gaussian"] is None:
            return Posterior(None, mean=state["mean"], sites=sites, group_lengths=lengths, **rest)
        gaussian, matrices, active = state["gaussian"], ModelMatrices(model), state["active"]
        if gaussian.get("pi", sites) is None:  # written before kinds had names: sites stand beside the Gaussian only
            pi, nu = (of_rows[matrices.positions] for of_rows in sites)
            gaussian = {**gaussian, "pi": pi, "nu": nu}
        if gaussian["kind"] == SequentialForm.kind:  # the form that keeps operators as they are
            part = matrices.part(ProjectionRows(matrices.operators))
        else:
            part = matrices.part(matrices.rows if active is None else matrices.rows[active])
        potential = matrices.potential
        return Posterior(
            gaussian_from_state(gaussian, part),
            sites=sites,
            group_lengths=lengths,
            potential=potential if active is None or potential is None else potential[active],
            active=active,
            **rest,
        )


def kept_rows(warm_start: Posterior, model: GLM) -> np.ndarray:
    """Positions of a warm start's rows among those of a model whose groups may have grown at their ends."""
    if not isinstance(warm_start, Posterior):
        raise ValueError(f"warm_start must be a Posterior, got {type(warm_start).__name__}.")
    old, new = warm_start.group_lengths, model.group_lengths
    if warm_start.n != model.n or len(old) != len(new) or any(a > b for a, b in zip(old, new, strict=True)):
        raise ValueError(
            f"warm_start must be a posterior over the same {model.n} unknowns whose groups have at most "
            f"{new} rows, got {warm_start.n} unknowns and groups of {old} rows."
        )
    starts = np.cumsum([0, *new])[:-1]
    parts = [start + np.arange(length) for start, length in zip(starts, old, strict=True)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=int)
