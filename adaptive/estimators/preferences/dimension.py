"""The number of components that predicts held-out comparisons best, and what a person's own utilities are worth there.

Of 0, 1, 2 and 4 components each is taken that predicts certainly better than the last one taken: by more than a
standard error of the paired difference; 4 are tried where 1 or 2 were taken. Few comparisons are held out in three
parts, many in one; fits on the rest are rough. One ranking of everybody (Bradley and Terry's, by logistic regression)
is their rival.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from adaptive.estimators.preferences.comparison_predictive import Differences
from adaptive.estimators.preferences.inference.learning import learn_prior
from adaptive.estimators.preferences.inference.people import Comparisons
from adaptive.estimators.preferences.utilities import Utilities

if TYPE_CHECKING:
    from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
    from adaptive.estimators.preferences.settings import PreferenceSettings
    from adaptive.types import State

__all__ = ["Dimension", "chosen"]

COMPONENTS = (0, 1, 2, 4)
FEW, FOLDS = 500, 3  # comparisons up to which all are held out in turn
SHARE, MOST = 0.1, 2000  # of more comparisons, and the largest number that is held out
LEAST = 40  # comparisons below which nothing is told apart
ROUGH_ITER, ROUGH_TOL = 30, 1e-3


@dataclass(frozen=True)
class Dimension:
    """A choice, and what it was made by.

    Attributes
    ----------
    n_components : int
    log_scores : dict of int to float
        Held-out log predictive probability per comparison of each number that was tried, nats.
    alike : float
        The same of one ranking of everybody.
    gain, gain_std : float
        By how much the choice is better than everybody alike, nats per comparison, and its standard error.
    """

    n_components: int
    log_scores: dict[int, float]
    alike: float
    gain: float
    gain_std: float

    def state(self) -> State:
        """Plain data."""
        return {
            "n_components": self.n_components, "tried": list(self.log_scores),
            "log_scores": list(self.log_scores.values()), "alike": self.alike, "gain": self.gain,
            "gain_std": self.gain_std,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: State) -> Dimension:
        """The choice that ``state`` described."""
        scores = {int(d): float(one) for d, one in zip(state["tried"], state["log_scores"], strict=True)}
        return cls(
            int(state["n_components"]), scores, *(float(state[name]) for name in ("alike", "gain", "gain_std"))
        )  # fmt: skip

    @property
    def in_vain(self) -> bool:
        """True where a person's own utilities tell no more than one ranking of all."""
        return bool(self.log_scores) and not self.gain > 0.0


def chosen(settings: PreferenceSettings, known: Comparisons, n_people: int, n_items: int, seed: int) -> Dimension:
    """Choose by held-out comparisons.

    Parameters
    ----------
    settings : PreferenceSettings
        Their ``n_components`` is not looked at.
    known : Comparisons
    n_people, n_items : int
    seed : int
        Of what is held out, and of the starts.

    Returns
    -------
    Dimension
        0 components of fewer than forty comparisons, or of an unconstrained covariance: nothing is tried.
    """
    n = len(known)
    if n < LEAST or settings.covariance == "full":
        return Dimension(0, {}, np.nan, np.nan, np.nan)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    parts = np.array_split(order, FOLDS) if n <= FEW else [order[: min(int(SHARE * n), MOST)]]
    held = np.concatenate(parts)
    scores: dict[int, np.ndarray] = {}
    taken = 0
    for d in COMPONENTS:
        if d > max(n_items - 1, 0) or (d == COMPONENTS[-1] and not taken):
            break
        own = replace(settings, n_components=d, init=None)
        scores[d] = np.concatenate([_held_out(own, known, n_people, n_items, part, seed) for part in parts])
        if d and _certain(scores[d] - scores[taken]):
            taken = d
    alike = np.concatenate([_alike(known, n_items, part) for part in parts])
    ahead = scores[taken] - alike
    return Dimension(
        taken, {d: float(one.mean()) for d, one in scores.items()}, float(alike.mean()), float(ahead.mean()),
        float(ahead.std(ddof=1) / np.sqrt(len(held))),
    )  # fmt: skip


def _certain(gain: np.ndarray) -> bool:
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))


def _held_out(
    settings: PreferenceSettings, known: Comparisons, n_people: int, n_items: int, part: np.ndarray, seed: int
) -> np.ndarray:
    """Log predictive probabilities of one part, learnt from all others."""
    rest = known.take(np.setdiff1d(np.arange(len(known)), part))
    rng = np.random.default_rng(seed)
    found = learn_prior(
        settings.start(n_items, rng), rest, n_people, settings.rule, covariance=settings.covariance,
        max_pairs=settings.max_pairs, n_jobs=settings.n_jobs, rng=rng, believed=settings.prior(n_items),
        weight=float(settings.prior_people), max_iter=ROUGH_ITER, tol=ROUGH_TOL,
    )  # fmt: skip
    return _log_predictive(settings, found.prior, rest, (found.pi, found.nu), known.take(part))


def _alike(known: Comparisons, n_items: int, part: np.ndarray) -> np.ndarray:
    """Log predictive probabilities of one part by one ranking of everybody."""
    n = len(known)
    ends = np.concatenate([known.first, known.second]), np.repeat([1.0, -1.0], n)
    X = sp.csr_array((ends[1], (np.tile(np.arange(n), 2), ends[0])), shape=(n, n_items))
    rest = np.setdiff1d(np.arange(n), part)
    if len(np.unique(known.y[rest])) < 2:
        return np.full(len(part), np.log(0.5))
    table = LogisticRegression(fit_intercept=False).fit(X[rest], known.y[rest]).predict_log_proba(X[part])
    return np.where(known.y[part] > 0, table[:, 1], table[:, 0])


def _log_predictive(
    settings: PreferenceSettings, prior: UtilityPrior, rest: Comparisons, sites: tuple[np.ndarray, np.ndarray],
    asked: Comparisons,
) -> np.ndarray:  # fmt: skip
    """Log predictive probabilities of comparisons, whose people's other comparisons are known."""
    mean, variance = np.empty(len(asked)), np.empty(len(asked))
    for person in np.unique(asked.person):
        rows, own = asked.person == person, np.flatnonzero(rest.person == person)
        who = Utilities.of(prior, int(person), rest.take(own), sites[0][own], sites[1][own])
        about = Differences([who], np.zeros(int(rows.sum()), int), asked.first[rows], asked.second[rows])
        mean[rows], variance[rows] = about.moments
    table = settings.likelihood.outcome_probabilities(mean, variance)[1]
    return np.log(np.maximum(np.where(asked.y > 0, table[:, 1], table[:, 0]), 1e-12))
