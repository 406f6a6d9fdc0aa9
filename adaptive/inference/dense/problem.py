"""What dense engines share: the model as matrices, Gaussian potentials moved into the data, where to start, the end.

A potential that is a Gaussian factor is a data row like those of X; the engines see only the others ("active" rows).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.gaussians.with_sites import gaussian_with_sites
from adaptive.inference.compatibility import as_gaussian, require_compatible
from adaptive.inference.model import GLM, matrix_of
from adaptive.inference.posterior import Posterior
from adaptive.linalg.matrices import stacked
from adaptive.potentials.grouped import grouped

__all__ = ["DenseProblem"]


class DenseProblem:
    """A model prepared for a dense engine.

    Parameters
    ----------
    model : GLM
    engine : str
        Name of the inference function, for the compatibility table and messages.
    warm_start : Posterior, optional
        Of the same latent; groups may have grown at their ends.
    form : {"precision", "covariance"}, optional
        Representation of the Gaussian; chosen by size if not given.
    force : bool, default False
        Accept potentials that the table refuses.

    Attributes
    ----------
    gaussian : PrecisionForm or CovarianceForm
        Base with the active rows, without sites yet.
    rows : array or sparse matrix
        The active rows of B.
    potential : Potential
        Of the active rows.
    warm_sites : pair of arrays or None
        Sites of the active rows, zero where the row is new.
    fresh : boolean array
        Which active rows have no site yet.
    """

    def __init__(self, model: GLM, engine: str, warm_start: Any = None, form: str | None = None, force: bool = False):
        if not isinstance(model, GLM):
            raise ValueError(f"model must be a GLM, got {type(model).__name__}.")
        if not force:
            require_compatible(model, engine)
        self.model, self.engine = model, engine
        moments = [as_gaussian(p) for _, p in model.groups]
        rows = [self._matrix(b, moment is None) for (b, _), moment in zip(model.groups, moments, strict=True)]
        lengths = model.group_lengths

        data_rows: list[Any] = []
        data: list[np.ndarray] = []
        variance: list[np.ndarray] = []
        if model.X is not None:
            matrix, y = model.measurement_rows()
            data_rows.append(matrix)
            data.append(y)
            variance.append(np.full(len(y), model.noise_variance))
        active = []
        for k, moment in enumerate(moments):
            if moment is None:
                active.append(k)
            else:
                data_rows.append(rows[k])
                data.append(np.broadcast_to(moment[1], (lengths[k],)).astype(float))
                variance.append(np.broadcast_to(moment[0], (lengths[k],)).astype(float))
        self._active, self._moments = active, moments
        self.size = sum(lengths[k] for k in active)
        self.potential: Any = (
            grouped([model.groups[k][1] for k in active], [lengths[k] for k in active]) if active else None
        )
        self.warm_sites, self.fresh = self._sites_of(warm_start)
        self.gaussian: Any
        self.rows, self.gaussian = self._gaussian(
            [rows[k] for k in active],
            {
                "data_rows": stacked(data_rows) if data_rows else None,
                "data": np.concatenate(data) if data else None,
                "data_variance": np.concatenate(variance) if data else None,
                "prior_mean": model.prior_mean,
                "prior_covariance": model.prior_covariance,
                "form": form,
            },
            warm_start,
        )

    # ------------------------------------------------------------------ what an engine with another Gaussian replaces
    def _matrix(self, operator: Any, active: bool) -> Any:
        """A group's projections."""
        return matrix_of(operator)

    def _gaussian(self, rows: list[Any], rest: dict[str, Any], warm_start: Any) -> tuple[Any, Any]:
        """The active rows, and the Gaussian with sites on them; ``rest`` are the arguments of `gaussian_with_sites`."""
        together = stacked(rows) if rows else np.empty((0, self.model.n))
        return together, gaussian_with_sites(together, **rest)

    # ------------------------------------------------------------------ start
    def _sites_of(self, warm_start: Any) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray]:
        fresh = np.ones(self.size, dtype=bool)
        if warm_start is None:
            return None, fresh
        if not isinstance(warm_start, Posterior):
            raise ValueError(f"warm_start must be a Posterior, got {type(warm_start).__name__}.")
        old, new = warm_start.group_lengths, self.model.group_lengths
        if warm_start.n != self.model.n or len(old) != len(new) or any(a > b for a, b in zip(old, new, strict=True)):
            raise ValueError(
                f"warm_start must be a posterior over the same {self.model.n} unknowns whose groups have at most "
                f"{new} rows, got {warm_start.n} unknowns and groups of {old} rows."
            )
        pi, nu = np.zeros(self.size), np.zeros(self.size)
        starts = np.cumsum([0, *old])
        at = 0
        for k in self._active:
            part = slice(at, at + old[k])
            pi[part] = warm_start.sites[0][starts[k] : starts[k + 1]]
            nu[part] = warm_start.sites[1][starts[k] : starts[k + 1]]
            fresh[part] = False
            at += new[k]
        return (pi, nu), fresh

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Starting sites, the Gaussian refitted to them: warm, else none, else what potentials make of a broad one."""
        if self.warm_sites is not None:
            try:
                self.gaussian.refit(*self.warm_sites)
                return self.warm_sites
            except np.linalg.LinAlgError:  # the model has changed too much; start afresh
                pass
        determined = self.gaussian.determined
        pi, nu = (np.zeros(self.size), np.zeros(self.size)) if determined else self.broad_sites()
        self.refit(pi, nu)
        return pi, nu

    def broad_sites(self, width: float = 1e4) -> tuple[np.ndarray, np.ndarray]:
        """The Gaussian that each potential alone makes of a broad one, of variance ``width`` spread^2."""
        location = np.broadcast_to(np.asarray(self.potential.location, dtype=float), (self.size,))
        broad = width * np.square(self.spread())
        weights = getattr(self.potential, "weights", None)  # of w copies of a row each is alone with the broad one
        share = 1.0 if weights is None else 1.0 / np.maximum(weights, 1.0)
        _, mean, variance = self.potential.tilted_moments(location, broad, share)
        pi = np.maximum(1.0 / variance - 1.0 / broad, 1e-6 / broad)
        return pi / share, (mean / variance - location / broad) / share

    def refit(self, pi: np.ndarray, nu: np.ndarray) -> None:
        """Refit the Gaussian; a clear sentence where the result is improper."""
        try:
            self.gaussian.refit(pi, nu)
        except np.linalg.LinAlgError:
            raise self.improper() from None

    def improper(self) -> ValueError:
        """The sentence for a result that is no Gaussian."""
        return ValueError(
            f"{self.engine}: the posterior is improper or its precision matrix is singular to working precision; "
            "add rows to the design or give prior_covariance."
        )

    def spread(self) -> np.ndarray:
        """The scale of each active potential (1 for likelihoods without one)."""
        return np.concatenate([np.broadcast_to(getattr(p, "spread", 1.0), (k,)) for p, k in self.active_groups()])

    def active_groups(self) -> list[tuple[Any, int]]:
        """The potentials that are not Gaussian, with their numbers of rows."""
        return [(self.model.groups[k][1], self.model.group_lengths[k]) for k in self._active]

    # ------------------------------------------------------------------ end
    def exact(self) -> Posterior:
        """The posterior of a model without active rows: no approximation, no iteration."""
        self.refit(np.empty(0), np.empty(0))
        value = self.gaussian.log_volume
        return self.finish(value, "exact", [-value], n_iter=0, converged=True)

    def finish(
        self, log_evidence: float, kind: str, trace: list[float], *, n_iter: int, converged: bool, problem: str = ""
    ) -> Posterior:
        """The posterior at the Gaussian's present sites; a warning where the engine has not converged."""
        if self._runs_away():
            raise ValueError(
                f"{self.engine}: the posterior is improper, since no potential falls along the ray through the mean "
                "(classes that a plane separates, without a prior); give prior_covariance."
            )
        if not converged:
            reason = problem or "raise max_iter or tol"
            warnings.warn(
                f"{self.engine} has not converged after {n_iter} iterations; {reason}.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return Posterior(
            self.gaussian,
            sites=self._all_sites(),
            group_lengths=self.model.group_lengths,
            log_evidence=log_evidence,
            evidence_kind=kind,
            objective_trace=trace,
            n_iter=n_iter,
            converged=converged,
            engine=self.engine,
            potential=self.potential,
        )

    def _runs_away(self) -> bool:
        """Whether log-concave potentials alone hold the posterior, and none of them falls along u = t mean, t > 0.

        Then the integral over the ray diverges.  Engines come near such a ray: they follow what the potentials allow.
        """
        if self.size == 0 or self.model.prior_covariance is not None or len(self._active) < len(self._moments):
            return False
        if self.model.X is not None or not np.all(self.potential.log_concave):
            return False
        projections = self.gaussian.projections
        largest = float(np.abs(projections).max())
        if not 0 < largest < np.inf:
            return False
        far = projections * (1e6 / largest)
        return bool(np.all(self.potential.derivatives(far)[0] * far >= 0))

    def _all_sites(self) -> tuple[np.ndarray, np.ndarray]:
        if len(self._active) == len(self._moments):
            return self.gaussian.pi.copy(), self.gaussian.nu.copy()
        parts, at = [], 0
        for moment, length in zip(self._moments, self.model.group_lengths, strict=True):
            if moment is None:
                parts.append((self.gaussian.pi[at : at + length], self.gaussian.nu[at : at + length]))
                at += length
            else:
                precision = np.broadcast_to(1.0 / np.asarray(moment[0], dtype=float), (length,))
                parts.append((precision, precision * moment[1]))
        return np.concatenate([p for p, _ in parts]), np.concatenate([n for _, n in parts])
