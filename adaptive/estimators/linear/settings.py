"""Parameters of a linear classifier, checked once, without the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks, inference
from adaptive.estimators.belief import Settings, returned
from adaptive.estimators.rows.labels import LINKS
from adaptive.estimators.rows.weight_priors import PRIORS, weight_potential, weight_variance

if TYPE_CHECKING:
    from adaptive.estimators.rows.training import LabelledRows
    from adaptive.inference import GLM, Posterior
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike, RandomState, Table

__all__ = ["INTERCEPT_SCALE", "LARGEST_TYPICAL_LATENT", "SETTLED", "LogisticSettings"]

ENGINES = ("expectation_propagation", "laplace_approximation", "variational_bounds")
UPDATES = ("auto", "refit", "inclusion")
HYPERPARAMETERS = ("integrated", "mode")
SETTLED = 1e-3  # nats, to which a scale is learnt: whatever the order of the rows
INTERCEPT_SCALE = 3.0  # prior standard deviation of the intercept, in units of the link: class probabilities .05 to .95
LARGEST_TYPICAL_LATENT = 3.0  # the prior of a fitted scale is centred where a typical row has a latent of this size


@dataclass(frozen=True, eq=False)
class LogisticSettings(Settings):
    """Parameters of :class:`~adaptive.BayesianLogisticRegression`, under the same names."""

    prior: str = "gaussian"
    prior_scale: float | None = None
    df: float = 2.0
    link: str = "logit"
    inference: str | Callable[..., Posterior] = "expectation_propagation"
    fit_intercept: bool = True
    classes: ArrayLike | None = None
    multi_class: str = "softmax"
    max_iter: int = 100
    tol: float = 1e-4
    random_state: RandomState = None
    update: str = "auto"
    block_size: int = 10
    hyperparameters: str = "integrated"
    calibration: str | None = "leave_one_out"
    prior_covariance: str | None = None
    pool: Table | None = None
    annotators: bool | Mapping[Any, float] = False

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.choice("multi_class", self.multi_class, ("softmax", "one_vs_rest"))
        if self.classes is not None and len(np.unique(self.classes)) < 2:
            raise ValueError(f"classes must name two labels or more, got {list(np.asarray(self.classes))}.")
        checks.choice("prior", self.prior, PRIORS)
        checks.choice("link", self.link, LINKS)
        if isinstance(self.inference, str):
            checks.choice("inference", self.inference, ENGINES)
        elif not callable(self.inference):
            raise ValueError(f"inference must be a name or a callable (model, **settings), got {self.inference!r}.")
        if self.prior == "student_t" and self.inference == "laplace_approximation":
            raise ValueError(
                'inference="laplace_approximation" has no log-concave posterior to expand with prior="student_t"; use '
                '"variational_bounds".'
            )
        checks.positive("df", self.df)
        if self.prior_scale is not None:
            checks.positive("prior_scale", self.prior_scale)
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("max_iter", self.max_iter, minimum=1)
        checks.choice("update", self.update, UPDATES)
        checks.integer("block_size", self.block_size, minimum=1)
        checks.choice("hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        if self.calibration is not None:
            checks.choice("calibration", self.calibration, ("leave_one_out",))
        if self.prior_covariance is not None:
            checks.choice("prior_covariance", self.prior_covariance, ("pool",))
            if self.pool is None:
                raise ValueError('prior_covariance="pool" needs pool, the rows whose directions it takes, got None.')
            if self.prior != "gaussian":
                raise ValueError(f'prior_covariance="pool" goes with prior="gaussian", got {self.prior!r}.')
        if self.annotators is not False:
            self._check_annotators()

    def _check_annotators(self) -> None:
        if isinstance(self.annotators, Mapping):
            for person, skill in self.annotators.items():
                if not 0.0 <= float(checks.finite(f"annotators[{person!r}]", skill)) <= 1.0:
                    raise ValueError(f"annotators[{person!r}] must be a probability in [0, 1], got {skill!r}.")
        elif self.annotators is not True:
            raise ValueError(
                "annotators must be True, False or known skills by person, as in {'Ann': 0.9}, got "
                f"{self.annotators!r}."
            )
        if self.inference != "expectation_propagation" or self.prior == "student_t":
            raise ValueError(
                'annotators goes with inference="expectation_propagation" and prior="gaussian" or "laplace", got '
                f"{self.inference!r} and {self.prior!r}."
            )
        if self.multi_class != "softmax":
            raise ValueError(f'annotators goes with multi_class="softmax", got {self.multi_class!r}.')

    def infer(
        self, model: GLM, warm_start: Posterior | None = None, tol: float | None = None, **options: Any
    ) -> Posterior:
        """Run the engine on a model."""
        engine = getattr(inference, self.engine) if isinstance(self.engine, str) else self.engine
        options = {"max_iter": self.max_iter, "tol": self.tol if tol is None else tol} | options
        if not all(np.all(potential.log_concave) for _, potential in model.groups) and self.annotators:
            options["force"] = True  # labels in doubt: negative sites, damped
        with warnings.catch_warnings():  # a heavy-tailed prior may have several optima: that is in the documentation
            warnings.filterwarnings("ignore", message=".*(several optima|no guarantee)")
            return returned(engine(model, random_state=self.random_state, warm_start=warm_start, **options))

    def includes(self, data: LabelledRows, n_new: int = 0) -> bool:
        """True where further answers are included one by one: if that was asked for, else if it is good and quick.

        That is of two classes over nodes of the scale: dense rows, expectation propagation, a Gaussian prior, a block
        of rows at most.
        """
        if self.update != "auto":
            return self.update == "inclusion"
        plain = self.integrates and self.prior == "gaussian" and self.inference == "expectation_propagation"
        return plain and data.n_classes <= 2 and isinstance(data.X, np.ndarray) and n_new <= self.block_size

    @property
    def known_skills(self) -> Mapping[Any, float]:
        """People whose probability of a right answer is known."""
        return self.annotators if isinstance(self.annotators, Mapping) else {}

    @property
    def integrates(self) -> bool:
        """True where the prior scale is averaged over, not given nor maximised."""
        return self.prior_scale is None and self.hyperparameters != "mode"

    @property
    def engine(self) -> str | Callable[..., Posterior]:
        """The inference that runs: with a Student t bounds stand in for expectation propagation."""
        if self.prior == "student_t" and self.inference == "expectation_propagation":
            return "variational_bounds"
        return self.inference

    def weight_potential(self, scale: float) -> Potential:
        """The prior density of a weight."""
        return weight_potential(self.prior, scale, self.df)

    def one_step(self, model: GLM, warm_start: Posterior) -> Posterior:
        """One step of the engine; that it has not converged goes without saying."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.infer(model, warm_start, max_iter=1)

    def prior_variances(self, n_features: int, scale: float | None = None) -> np.ndarray:
        """Prior variances of weights and, last, the intercept; a scale that is to be fitted counts as 1."""
        if scale is None:
            scale = 1.0 if self.prior_scale is None else float(self.prior_scale)
        variance = weight_variance(self.prior, scale, self.df)
        return np.concatenate([np.full(n_features, variance), [INTERCEPT_SCALE**2] * bool(self.fit_intercept)])
