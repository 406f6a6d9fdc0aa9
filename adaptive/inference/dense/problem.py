"""Dense problems: the model as matrices, the start and the end that all dense engines share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.gaussians.with_sites import gaussian_with_sites
from adaptive.inference.compatibility import require_compatible
from adaptive.inference.dense.model_matrices import ModelMatrices
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior, kept_rows

if TYPE_CHECKING:
    from adaptive.gaussians.factorised_form import FactorisedForm
    from adaptive.gaussians.protocols import SiteGaussian
    from adaptive.potentials import Potential
    from adaptive.types import DType, Matrix

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
    dtype : {float32, float64}, default float64
        Of what is factorised.

    Attributes
    ----------
    matrices : ModelMatrices
    gaussian : FactorisedForm
        Base with the active rows, without sites yet.
    rows : array or sparse matrix
        The active rows of B.
    size : int
        How many.
    warm_sites : pair of arrays or None
        Sites of the active rows, zero where the row is new.
    fresh : boolean array
        Which active rows have no site yet.
    """

    rows: Matrix
    gaussian: FactorisedForm

    def __init__(
        self,
        model: GLM,
        engine: str,
        warm_start: Posterior | None = None,
        form: str | None = None,
        force: bool = False,
        dtype: DType = float,
    ):
        self.dtype = np.dtype(dtype)
        if not isinstance(model, GLM):
            raise ValueError(f"model must be a GLM, got {type(model).__name__}.")
        if not force:
            require_compatible(model, engine)
        self.model, self.engine, self.matrices = model, engine, ModelMatrices(model)
        self.size = len(self.matrices.positions)
        self.warm_sites, self.fresh = self._sites_of(warm_start)
        self._represent(warm_start, form)

    @property
    def potential(self) -> Potential:
        """Potential of the active rows, of which there must be some."""
        assert self.matrices.potential is not None
        return self.matrices.potential

    # ------------------------------------------------------------------ start
    def _represent(self, warm_start: Posterior | None, form: str | None) -> None:
        """Set the active rows and the Gaussian with sites on them."""
        self.rows = self.matrices.rows
        self.gaussian = gaussian_with_sites(**self.matrices.part(self.rows)._asdict(), form=form, dtype=self.dtype)

    def _sites_of(self, warm_start: Posterior | None) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray]:
        fresh = np.ones(self.size, dtype=bool)
        if warm_start is None:
            return None, fresh
        kept, active = kept_rows(warm_start, self.model), self.matrices.positions
        sites, known = np.zeros((2, self.model.projection_rows)), np.zeros(self.model.projection_rows, dtype=bool)
        sites[:, kept], known[kept] = warm_start.sites, True
        return (sites[0, active], sites[1, active]), ~known[active]

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
        weights = self.potential.weights  # of w copies of a row each is alone with the broad one
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
        groups = self.matrices.active_groups()
        return np.concatenate([np.broadcast_to(getattr(p, "spread", 1.0), (k,)) for p, k in groups])

    # ------------------------------------------------------------------ end
    def exact(self) -> Posterior:
        """The posterior of a model without active rows: no approximation, no iteration."""
        self.refit(np.empty(0), np.empty(0))
        value = self.gaussian.log_volume
        return self.finish(value, "exact", [-value], n_iter=0, converged=True)

    def finish(
        self,
        log_evidence: float,
        kind: str,
        trace: list[float],
        *,
        n_iter: int,
        converged: bool,
        problem: str = "",
        gaussian: SiteGaussian | None = None,
    ) -> Posterior:
        """The posterior at the present sites of the Gaussian, or of another one that the engine has made.

        A warning where the engine has not converged.
        """
        gaussian = self.gaussian if gaussian is None else gaussian
        if self._runs_away(gaussian.projections):
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
            gaussian,
            sites=self.matrices.all_sites(gaussian.pi, gaussian.nu),
            group_lengths=self.model.group_lengths,
            log_evidence=log_evidence,
            evidence_kind=kind,
            objective_trace=trace,
            n_iter=n_iter,
            converged=converged,
            engine=self.engine,
            potential=self.matrices.potential,
        )

    def _runs_away(self, projections: np.ndarray) -> bool:
        """Return whether log-concave potentials alone hold the posterior, and none falls along u = t mean, t > 0.

        Then the integral over the ray diverges.  Engines come near such a ray: they follow what the potentials allow.
        """
        if self.size == 0 or self.model.prior_covariance is not None or not self.matrices.all_active:
            return False
        if self.model.X is not None or not np.all(self.potential.log_concave):
            return False
        largest = float(np.abs(projections).max())
        if not 0 < largest < np.inf:
            return False
        far = projections * (1e6 / largest)
        return bool(np.all(self.potential.derivatives(far)[0] * far >= 0))
