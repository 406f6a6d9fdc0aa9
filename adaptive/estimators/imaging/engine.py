"""How the posterior of an image is inferred: the double loop with sampled variances, or expectation propagation.

The double loop multiplies with operators only, so that it serves any size; its posterior answers by samples.
Expectation propagation keeps the covariance of all pixels as a matrix: images of up to 64 by 64 pixels, every variance
exact.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from adaptive import checks, inference
from adaptive.inference import GLM, LargePosterior, Posterior
from adaptive.inference.matrix_free.reweighted_least_squares import prior_precision
from adaptive.inference.posterior import DIAGNOSTICS
from adaptive.linalg import Perturbations, PrecisionOperator

__all__ = ["DENSE", "ENGINES", "Engine", "precision_of"]

DENSE = ("expectation_propagation",)  # engines whose posterior keeps the covariance as a matrix
ENGINES = ("variational_bounds", *DENSE)
FRACTION = 0.9  # of the potentials in an update: a little below one is more robust (Nickisch, section 5.2)
CHANGE = 1e-2  # nats by which a site must be able to change the posterior to be updated


@dataclass(frozen=True)
class Engine:
    """How posteriors are inferred.

    Attributes
    ----------
    inference : str or callable
        A name - "variational_bounds", the double loop with sampled variances, or "expectation_propagation" - or an
        engine of one's own.
    n_samples : int
    random_state : None, int or Generator
    """

    inference: Any
    n_samples: int
    random_state: Any

    @property
    def dense(self) -> bool:
        """Whether posteriors keep the covariance as a matrix."""
        return isinstance(self.inference, str) and self.inference in DENSE

    def sampled(self) -> Engine:
        """Itself, or where it is dense the double loop, by which scales are learnt."""
        return replace(self, inference=ENGINES[0]) if self.dense else self

    def __call__(self, model: GLM, dtype: Any, max_iter: int, warm_start: Any, tol: float = 1e-2) -> Posterior:
        """The posterior; of the double loop after so many outer steps, which is no failure to converge."""
        if self.dense:
            return inference.expectation_propagation(
                model, update="selective", fraction=FRACTION, tol=CHANGE, warm_start=warm_start
            )
        settings = {"max_iter": max_iter, "tol": tol, "random_state": self.random_state, "warm_start": warm_start}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if callable(self.inference):
                posterior = self.inference(model, **settings)
            else:
                engine = getattr(inference, self.inference)
                posterior = engine(model, variances="sampled", n_samples=self.n_samples, dtype=dtype, **settings)
        if not isinstance(posterior, LargePosterior):
            posterior = self._with_samples(model, posterior, dtype)
        posterior.samples  # noqa: B018  drawn now, so that asking what is believed changes nothing
        return posterior

    def _with_samples(self, model: GLM, posterior: Any, dtype: Any) -> LargePosterior:
        """A dense posterior as one that has samples."""
        return LargePosterior(
            precision_of(model).with_sites(posterior.sites[0]),
            mean=posterior.mean,
            perturbations=Perturbations(self.n_samples, checks.generator(self.random_state), dtype),
            sites=posterior.sites,
            group_lengths=posterior.group_lengths,
            **{name: getattr(posterior, name) for name in DIAGNOSTICS},
        )


def precision_of(model: GLM) -> PrecisionOperator:
    """The precision of a model's posterior, without sites."""
    return PrecisionOperator(
        model.X, model.noise_variance, B=[b for b, _ in model.groups], prior_precision=prior_precision(model)
    )
