"""Scenarios once candidates are measured whose outcomes are not known yet: a list of (probability, predictive).

Each scenario branches into the outcomes of the next candidate, weighted by their predictive probabilities, so that

    sum_s P(s) score(candidate | s)

is the expected score.  At most 64 scenarios are kept: of more branches the probable ones stay as they are, and the
others are thinned to a sample with one common weight, which leaves every such mean unbiased (Fearnhead and Clifford,
2003, On-line inference for hidden Markov models via particle filters).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.predictive.base import Predictive

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["MAX_SCENARIOS", "Scenarios", "branch"]

Branch = tuple[float, Predictive, Any]  # its probability, the scenario before, the outcome or None

MAX_SCENARIOS = 64
# Fields whose mean over scenarios is the same field of what is believed now.
_AVERAGED = ("probabilities", "outcome_entropy", "expected_entropy", "target_entropy", "expected_target_entropy")


class Scenarios(Predictive):
    """The predictive of candidates while the outcomes of others are pending.

    Parameters
    ----------
    weighted : list of (probability, predictive)
        At least one; the probabilities add up to 1.
    random_state : int or None
        Seed of the choice of at most 64 scenarios.
    depth : int
        How many candidates are pending; it makes each choice a new one.

    Examples
    --------
    >>> half = Predictive(1, outcomes=[0, 1], probabilities=[[0.5, 0.5]])
    >>> sure = Predictive(1, outcomes=[0, 1], probabilities=[[1.0, 0.0]])
    >>> Scenarios([(0.5, half), (0.5, sure)]).probabilities
    array([[0.75, 0.25]])
    """

    remedy = "ask each of its scenarios"

    def __init__(
        self, weighted: list[tuple[float, Predictive]], *, random_state: RandomState = None, depth: int = 1
    ) -> None:
        super().__init__(len(weighted[0][1]), random_state=random_state)
        self._weighted = weighted
        self._depth = depth

    @property
    def scenarios(self) -> list[tuple[float, Predictive]]:
        """[(probability, predictive)], at most 64."""
        return self._weighted

    def _provides(self, name: str) -> bool:
        return name in ("given", "outcomes", *_AVERAGED) and all(one.provides(name) for _, one in self._weighted)

    def _value(self, name: str) -> Any:
        if name == "outcomes":
            return max((scenario.outcomes for _, scenario in self._weighted), key=len)
        if name not in _AVERAGED:
            raise self._missing(name)
        parts = [probability * np.asarray(getattr(scenario, name)) for probability, scenario in self._weighted]
        if name == "probabilities":  # counts may be cut off at different lengths
            width = max(part.shape[1] for part in parts)
            parts = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
        return np.sum(parts, axis=0)

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return the scenarios had candidate ``i`` been measured, too."""
        if outcome is None:
            return branch(self._weighted, i, self.seed, self._depth)
        weighted = []
        for probability, scenario in self._weighted:
            likelihood = scenario.outcome_probability(i, outcome)
            if likelihood > 0:
                weighted.append((probability * likelihood, scenario.given(i, outcome)))
        if not weighted:
            raise ValueError(f"outcome {outcome!r} of candidate {i} has probability 0.")
        total = sum(probability for probability, _ in weighted)
        return Scenarios([(p / total, s) for p, s in weighted], random_state=self.seed, depth=self._depth)


def branch(weighted: list[tuple[float, Predictive]], i: int, seed: int, depth: int = 0) -> Predictive:
    """Return what is believed once candidate ``i`` was measured in each of the ``weighted`` scenarios."""
    branches: list[Branch] = []
    for probability, scenario in weighted:
        outcomes = scenario.likely_outcomes(i)
        if outcomes is None:  # the outcome does not matter, or the predictive knows best which ones to look at
            branches += [(probability * p, after, None) for p, after in scenario.given(i).scenarios]
        else:
            branches += [(probability * p, scenario, outcome) for outcome, p in outcomes]
    if len(branches) > MAX_SCENARIOS:
        branches = _resampled(branches, seed, depth)
    after = [(p, scenario if outcome is None else scenario.given(i, outcome)) for p, scenario, outcome in branches]
    if len(after) == 1:
        return after[0][1]
    return Scenarios(after, random_state=seed, depth=depth + 1)


def _resampled(branches: list[Branch], seed: int, depth: int) -> list[Branch]:
    """Keep 64 branches: the probable ones as they are, of the others a systematic sample with one common weight.

    Branch b is kept with probability min(1, p_b / t), where t is such that 64 are kept, and then weighs max(p_b, t).
    """
    p = np.array([probability for probability, _, _ in branches])
    descending = np.sort(p)[::-1]
    left = np.cumsum(descending[::-1])[::-1]  # what the r-th and all less probable ones weigh together
    thresholds = left[:MAX_SCENARIOS] / (MAX_SCENARIOS - np.arange(MAX_SCENARIOS))  # if the first r are kept for sure
    threshold = thresholds[np.argmax(descending[:MAX_SCENARIOS] <= thresholds)]
    kept = p > threshold
    others = np.flatnonzero(~kept)
    steps = np.cumsum(p[others]) / threshold + np.random.default_rng([seed, depth]).random()
    sampled = others[np.diff(np.floor(steps), prepend=np.floor(steps[0] - p[others[0]] / threshold)) > 0]
    chosen = np.sort(np.concatenate([np.flatnonzero(kept), sampled]))
    weights = np.where(kept[chosen], p[chosen], threshold)
    weights /= weights.sum()  # rounding
    return [(float(weight), *branches[k][1:]) for weight, k in zip(weights, chosen, strict=True)]
