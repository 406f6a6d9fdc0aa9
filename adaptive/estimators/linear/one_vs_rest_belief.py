"""What is believed about several classes, each against the rest:  p(y = k | x) = link(s_k) / sum_l link(s_l).

There are as many binary problems, each with its own prior scale; what is learnt about one class tells the others
nothing, which the softmax does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adaptive.estimators.linear.binary_belief import LINKS, BinaryBelief
from adaptive.estimators.linear.linear_predictive import with_intercept
from adaptive.estimators.linear.settings import Settings
from adaptive.estimators.linear.training import Training
from adaptive.predictive import Predictive, WeightedDraws

__all__ = ["OneVsRestBelief"]

N_DRAWS = 512


class OneVsRestBelief:
    """One binary belief per class.

    Parameters
    ----------
    settings : Settings
    beliefs : list of BinaryBelief
    measured : (n, n_features) rows learnt from
    """

    def __init__(self, settings: Settings, beliefs: list[BinaryBelief], measured: Any) -> None:
        self.settings, self.beliefs, self.measured = settings, beliefs, measured
        self.n_classes = len(beliefs)

    prior_scale = property(lambda self: np.array([belief.prior_scale for belief in self.beliefs]))
    posterior = property(lambda self: [belief.posterior for belief in self.beliefs])
    log_evidence = property(lambda self: float(sum(belief.log_evidence for belief in self.beliefs)))
    evidence_kind = property(lambda self: self.beliefs[0].evidence_kind)
    n_iter = property(lambda self: max(belief.n_iter for belief in self.beliefs))
    converged = property(lambda self: all(belief.converged for belief in self.beliefs))

    @property
    def objective_trace(self) -> np.ndarray:
        """The sum over classes; those that stopped earlier keep their last value."""
        traces = [np.asarray(belief.objective_trace, dtype=float) for belief in self.beliefs]
        length = max(len(trace) for trace in traces)
        return np.sum([np.pad(trace, (0, length - len(trace)), mode="edge") for trace in traces if len(trace)], axis=0)

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: Settings, training: Training, earlier: Any = None) -> OneVsRestBelief:
        """Fit every class against the rest; warm from an ``earlier`` belief about the same classes."""
        warm: list[Any] = [None] * training.n_classes
        if isinstance(earlier, OneVsRestBelief) and earlier.n_classes == training.n_classes:
            warm = list(earlier.beliefs)
        problems = _against_the_rest(training)
        beliefs = [BinaryBelief.learnt(settings, one, before) for one, before in zip(problems, warm, strict=True)]
        return cls(settings, beliefs, training.X)

    # -- belief --------------------------------------------------------------------------------------------------------

    @staticmethod
    def unfitted_predictive(
        settings: Settings, rows: Any, labels: Any, *, target: Any = None, random_state: Any = None
    ) -> Predictive:
        """The predictive of the prior, by joint draws."""
        deviations = np.sqrt(settings.prior_variances(rows.shape[1]))
        return _predictive(
            settings,
            lambda k, generator: deviations * generator.standard_normal((N_DRAWS, len(deviations))),
            rows,
            labels,
            target,
            random_state,
        )

    def predictive(self, rows: Any, labels: Any, *, target: Any = None, random_state: Any = None) -> Predictive:
        """Joint draws of all classes' latents, with the classes' ``labels`` as outcomes."""
        return _predictive(
            self.settings,
            lambda k, generator: self.beliefs[k].posterior.sample(N_DRAWS, generator),
            rows,
            labels,
            target,
            random_state,
            measured=self.measured,
        )

    def probabilities(self, rows: Any) -> np.ndarray:
        """(m, n_classes): the binary predictive probabilities, divided by their sum."""
        table = np.column_stack([belief.probabilities(rows)[:, 1] for belief in self.beliefs])
        return _normalised(table)

    def winners(self, rows: Any) -> np.ndarray:
        """(m,) codes of the most probable class."""
        return np.argmax(self.probabilities(rows), axis=1)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of the classes' weights (c, n_features) and intercepts (c,)."""
        weights, intercepts = zip(*(belief.coefficients() for belief in self.beliefs), strict=True)
        return np.concatenate(weights), np.concatenate(intercepts)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain data from which ``restored`` makes this belief again, to the last bit."""
        return {"beliefs": [belief.state() for belief in self.beliefs]}

    @classmethod
    def restored(cls, settings: Settings, training: Training, state: dict[str, Any]) -> OneVsRestBelief:
        """The belief that ``state`` described."""
        pairs = zip(_against_the_rest(training), state["beliefs"], strict=True)
        return cls(settings, [BinaryBelief.restored(settings, one, part) for one, part in pairs], training.X)


def _against_the_rest(training: Training) -> list[Training]:
    return [replace(training, codes=(training.codes == k).astype(int), n_classes=2) for k in range(training.n_classes)]


def _normalised(table: np.ndarray) -> np.ndarray:
    table = np.maximum(table, np.finfo(float).tiny)
    return table / table.sum(axis=-1, keepdims=True)


def _predictive(
    settings: Settings, sample: Any, rows: Any, labels: Any, target: Any, random_state: Any, **fields: Any
) -> WeightedDraws:
    """The same draws whatever is asked, in every chunk, in the target and from call to call: members of an ensemble."""
    seed = settings.random_state if isinstance(settings.random_state, int) else 0
    weights = [sample(k, np.random.default_rng([seed, k])) for k in range(len(labels))]
    link = LINKS[settings.link]()

    def table(part: Any) -> np.ndarray:
        features = with_intercept(part) if settings.fit_intercept else part
        latents = np.stack([np.asarray(features @ w.T).T for w in weights], axis=-1)
        return _normalised(np.exp(link.log_density(latents, 1.0)))

    equal = np.full(N_DRAWS, 1.0 / N_DRAWS)
    given_inputs = None if target is None else WeightedDraws(equal, table(target), labels, random_state=random_state)
    fields |= {"features": rows, "random_state": random_state}
    return WeightedDraws(equal, table(rows), labels, target=given_inputs, **fields)
