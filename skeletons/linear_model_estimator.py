"""An estimator: a linear model with any likelihood, any extra prior and any inference,

    y_i ~ p(y | x_i . w),        w ~ N(0, prior_variance I) prod_k T_k((B_k w)_j).

To add an estimator, write three small classes. *Settings*: the parameters as values, and what is refused. A *belief*:
what follows from settings and rows, never changed once it was made; ``state`` and ``from_state`` make it outlive the
process. The *estimator*: the parameters as scikit-learn wants them, and what users call. `BeliefEstimator` gives it
``fit``, ``partial_fit``, ``predictive``, ``select``, ``state`` and ``restore``, and the loop drives it. All of it is in
the folder of its family, `adaptive/estimators/FAMILY/`, and the estimator's name in the lists of
`adaptive/estimators/` and `adaptive/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from adaptive import checks
from adaptive import inference as engines
from adaptive.estimators import BeliefEstimator, Inferred, Rows, Settings
from adaptive.inference import GLM, Posterior
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections

__all__ = ["LinearModel"]


@dataclass(frozen=True, eq=False)
class LinearSettings(Settings):
    """Parameters of `LinearModel`, under the same names."""

    likelihood: Any = None
    prior_variance: float = 1.0
    prior: Any = None
    inference: Callable[..., Posterior] | None = None

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.positive("prior_variance", self.prior_variance)

    @property
    def family(self) -> Any:
        """p(y | s)."""
        return Gaussian(1.0) if self.likelihood is None else self.likelihood

    def model(self, data: Rows) -> GLM:
        """The rows and their outcomes as a model."""
        rows, potentials = [data.X], [self.family.observe(data.y)]
        if self.prior is not None:  # before the data, whose rows grow at the end
            rows, potentials = [self.prior[0], *rows], [self.prior[1], *potentials]
        return GLM(B=rows, potentials=potentials, prior_covariance=np.full(data.n_features, self.prior_variance))


@dataclass(frozen=True, eq=False)
class LinearBelief(Inferred):
    """The posterior of the weights."""

    settings: LinearSettings
    data: Rows
    posterior: Posterior

    @classmethod
    def learnt(cls, settings: LinearSettings, data: Rows, earlier: LinearBelief | None = None) -> LinearBelief:
        """The belief after these rows, warm from an earlier one."""
        infer = settings.inference or engines.expectation_propagation
        warm = None if earlier is None else earlier.posterior
        return cls(settings, data, infer(settings.model(data), warm_start=warm))

    @classmethod
    def prior_predictive(cls, settings: LinearSettings, rows: Any, **options: Any) -> GaussianProjections:
        """What is believed about rows before any was measured."""
        return cls.learnt(settings, Rows(rows[:0], np.zeros(0))).predictive(rows, **options)

    def predictive(self, rows: Any, *, target: Any = None, random_state: Any = None) -> GaussianProjections:
        """The joint Gaussian of the rows' projections, and the likelihood of their outcomes."""
        return GaussianProjections.from_rows(
            rows,
            self.posterior.mean,
            covariance=self.posterior.covariance(),
            likelihood=self.settings.family,
            target=target,
            random_state=random_state,
        )

    def state(self) -> dict[str, Any]:
        """Plain data; the rows are kept beside it."""
        return {"posterior": engines.posterior_state(self.posterior)}

    @classmethod
    def from_state(cls, settings: LinearSettings, data: Rows, state: dict[str, Any]) -> LinearBelief:
        """The belief that ``state`` described, to the last bit."""
        return cls(settings, data, engines.restored_posterior(settings.model(data), state["posterior"]))


class LinearModel(RegressorMixin, BeliefEstimator):
    """Linear model with an approximate Gaussian posterior over its weights.

    Parameters
    ----------
    likelihood : likelihood family, default Gaussian(1.0)
        p(y | s) of a potential without outcomes.
    prior_variance : float, default 1.0
        Of each weight.
    prior : pair of operator and potential, optional
        One more prior, on projections of the weights (such as differences of neighbours).
    inference : callable (model, warm_start=...) -> Posterior, optional
        Default :func:`adaptive.inference.expectation_propagation`.

    Attributes
    ----------
    posterior_ : Posterior of the weights
    coef_ : (n_features,) array, their means

    Examples
    --------
    >>> model = LinearModel().fit([[1.0, 0.0], [0.0, 1.0]], [2.0, 0.0])
    >>> model.coef_, model.select([[1.0, 0.0], [2.0, 0.0]])
    (array([1., 0.]), array([1]))
    """

    _Settings, _Belief = LinearSettings, LinearBelief

    def __init__(
        self, likelihood: Any = None, *, prior_variance: float = 1.0, prior: Any = None, inference: Any = None
    ) -> None:
        self.likelihood = likelihood
        self.prior_variance = prior_variance
        self.prior = prior
        self.inference = inference

    def predict(self, X: Any) -> np.ndarray:
        """Return the (m,) means of the projections."""
        return self._candidates(X) @ self.coef_

    @property
    def coef_(self) -> np.ndarray:
        """(n_features,) posterior means of the weights."""
        return self.fitted_belief().posterior.mean
