"""Belief about several classes, each against the rest:  p(y = k | x) = link(s_k) / sum_l link(s_l).

There are as many binary problems, each with its own prior scale, integrated or fitted; what is learnt about one class
tells the others nothing, which the softmax does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.belief import Inferred
from adaptive.estimators.linear.binary_belief import BinaryBelief
from adaptive.estimators.linear.integrated_belief import IntegratedBelief
from adaptive.estimators.linear.settings import LogisticSettings
from adaptive.estimators.rows.labels import LINKS, one_against_rest
from adaptive.estimators.rows.linear_predictive import with_intercept
from adaptive.estimators.rows.training import LabelledRows, labels_of
from adaptive.predictive import Predictive, WeightedDraws

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.inference.mixture_posterior import MixturePosterior
    from adaptive.types import Matrix, RandomState, State

__all__ = ["OneVsRestBelief"]

N_DRAWS = 512


@dataclass(frozen=True, eq=False)
class OneVsRestBelief(Inferred):
    """One binary belief per class.

    Attributes
    ----------
    settings : LogisticSettings
    data : LabelledRows
    beliefs : list of IntegratedBelief or BinaryBelief
    """

    settings: LogisticSettings
    data: LabelledRows
    beliefs: Sequence[IntegratedBelief | BinaryBelief]

    @property
    def prior_scale(self) -> np.ndarray:
        """(c,) one for each class."""
        return np.array([belief.prior_scale for belief in self.beliefs])

    @property
    def posteriors(self) -> Sequence[Posterior | MixturePosterior]:
        """One for each class."""
        return [belief.posterior for belief in self.beliefs]

    @property
    def posterior(self) -> Sequence[Posterior | MixturePosterior]:
        """One for each class."""
        return self.posteriors

    @property
    def objective_trace(self) -> np.ndarray:
        """The sum over classes; those that stopped earlier keep their last value."""
        traces = [np.asarray(belief.objective_trace, dtype=float) for belief in self.beliefs]
        length = max(len(trace) for trace in traces)
        return np.sum([np.pad(trace, (0, length - len(trace)), mode="edge") for trace in traces if len(trace)], axis=0)

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: LogisticSettings, data: LabelledRows, earlier: object = None) -> OneVsRestBelief:
        """Fit every class against the rest; warm from an ``earlier`` belief about the same classes."""
        warm: Sequence[object] = [None] * data.n_classes
        if isinstance(earlier, OneVsRestBelief) and earlier.data.n_classes == data.n_classes:
            warm = earlier.beliefs
        kind = IntegratedBelief if settings.integrates else BinaryBelief
        beliefs = [kind.learnt(settings, data.against_the_rest(k), before) for k, before in enumerate(warm)]
        return cls(settings, data, beliefs)

    # -- belief --------------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls, settings: LogisticSettings, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive of the prior, by joint draws."""
        deviations = np.sqrt(settings.prior_variances(rows.shape[1]))
        return _predictive(
            settings,
            lambda k, generator: deviations * generator.standard_normal((N_DRAWS, len(deviations))),
            rows,
            labels_of(settings.classes),
            target,
            random_state,
        )

    def predictive(self, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None) -> Predictive:
        """Joint draws of all classes' latents, with the classes as outcomes."""
        return _predictive(
            self.settings,
            lambda k, generator: self.beliefs[k].posterior.sample(N_DRAWS, generator),
            rows,
            self.data.labels,
            target,
            random_state,
            measured=self.data.X,
        )

    def probabilities(self, rows: Matrix) -> np.ndarray:
        """(m, n_classes): the binary predictive probabilities, divided by their sum."""
        table = np.column_stack([belief.probabilities(rows)[:, 1] for belief in self.beliefs])
        return one_against_rest(table)

    def winners(self, rows: Matrix) -> np.ndarray:
        """(m,) codes of the most probable class."""
        return np.argmax(self.probabilities(rows), axis=1)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of the classes' weights (c, n_features) and intercepts (c,)."""
        weights, intercepts = zip(*(belief.coefficients() for belief in self.beliefs), strict=True)
        return np.concatenate(weights), np.concatenate(intercepts)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {"beliefs": [belief.state() for belief in self.beliefs]}

    @classmethod
    def from_state(cls, settings: LogisticSettings, data: LabelledRows, state: State) -> OneVsRestBelief:
        """The belief that ``state`` described."""
        kind = IntegratedBelief if settings.integrates else BinaryBelief
        parts = enumerate(state["beliefs"])
        return cls(settings, data, [kind.from_state(settings, data.against_the_rest(k), part) for k, part in parts])


def _predictive(
    settings: LogisticSettings,
    sample: Callable[[int, np.random.Generator], np.ndarray],
    rows: Matrix,
    labels: np.ndarray | None,
    target: Matrix | None,
    random_state: RandomState,
    **fields: Any,
) -> WeightedDraws:
    """The same draws whatever is asked, in every chunk, in the target and from call to call: members of an ensemble."""
    seed = settings.random_state if isinstance(settings.random_state, int) else 0
    assert labels is not None
    weights = [sample(k, np.random.default_rng([seed, k])) for k in range(len(labels))]
    link = LINKS[settings.link]()

    def table(part: Matrix) -> np.ndarray:
        features = with_intercept(part) if settings.fit_intercept else part
        latents = np.stack([np.asarray(features @ w.T).T for w in weights], axis=-1)
        return one_against_rest(np.exp(link.log_density(latents, 1.0)))

    equal = np.full(N_DRAWS, 1.0 / N_DRAWS)
    given_inputs = None if target is None else WeightedDraws(equal, table(target), labels, random_state=random_state)
    fields |= {"features": rows, "random_state": random_state}
    return WeightedDraws(equal, table(rows), labels, target=given_inputs, ensemble=True, **fields)
