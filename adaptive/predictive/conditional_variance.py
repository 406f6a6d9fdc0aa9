"""Variance that an outcome will leave of the projection that decides it.

    v'(y) = Var(s | y)  under  p(y | s) N(s | m, v),        expected variance = sum_y p(y) v'(y)

For Gaussian noise of variance n it is  v n / (v + n)  whatever the outcome; a few discrete outcomes are enumerated; of
many counts, and of other noise, 64 outcomes stand for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential
    from adaptive.predictive.base import Predictive
    from adaptive.types import Number

__all__ = ["is_gaussian", "noise_variance", "representatives", "standing_for", "variances_after"]

MANY = 64  # outcomes that stand for more


def is_gaussian(likelihood: Potential) -> bool:
    """Return whether the outcome is the projection plus Gaussian noise."""
    return likelihood.gaussian_moments() is not None


def noise_variance(likelihood: Potential) -> Number:
    """Return the noise variance of a Gaussian likelihood, a scalar or one per candidate."""
    moments = likelihood.gaussian_moments()
    assert moments is not None  # see `is_gaussian`
    return moments[1]


def variances_after(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (m, c) and variances (m, c) of the projections after each outcome, computed once.

    Parameters
    ----------
    predictive : Predictive
        With mean, variance and likelihood.
    """
    return predictive.kept("_variances_after", lambda: _variances_after(predictive))


def _variances_after(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    family, mean, variance = predictive.likelihood, predictive.mean, predictive.variance
    if is_gaussian(family):
        noise = noise_variance(family)
        return np.ones((len(mean), 1)), (variance * noise / (variance + noise))[:, None]
    outcomes, probabilities = representatives(family, mean, variance, predictive.seed)
    return probabilities, _tilted_variances(family, outcomes, probabilities, mean, variance)


def representatives(
    family: Potential, mean: np.ndarray, variance: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return at most 64 outcomes (m, c) per candidate that stand for all, and their probabilities (m, c).

    Each row depends on its own candidate and the seed only, so that chunks do not change it.
    """
    if family.outcomes is not None:
        outcomes, probabilities = family.outcome_probabilities(mean, variance)
        return np.broadcast_to(outcomes, probabilities.shape), probabilities
    if not family.discrete:
        return _sums(family, mean, variance, seed), np.full((len(mean), MANY), 1.0 / MANY)
    values, shares = np.zeros((len(mean), MANY)), np.zeros((len(mean), MANY))
    for i in range(len(mean)):
        law = family if family.size is None else family[i : i + 1]
        counts, probabilities = _counts(law, mean[i : i + 1], variance[i : i + 1], seed)
        values[i, : len(counts)], shares[i, : len(counts)] = counts, probabilities
    return values, shares


def standing_for(outcomes: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (m, c) outcomes of a list, at most 64 that stand for all, and their probabilities (m, c).

    Examples
    --------
    >>> standing_for(np.arange(2), np.array([[0.25, 0.75]]))[0].tolist()
    [[0, 1]]
    """
    if probabilities[:, MANY:].sum(axis=1).max(initial=0.0) < 1e-9:
        listed = probabilities[:, :MANY]
        return np.broadcast_to(outcomes[: listed.shape[1]], listed.shape), listed
    levels = (np.arange(MANY) + 0.5) / MANY
    cumulated = np.cumsum(probabilities, axis=1) / probabilities.sum(axis=1, keepdims=True)
    last = len(outcomes) - 1
    places = np.stack([np.minimum(np.searchsorted(row, levels), last) for row in cumulated])
    return outcomes[places], np.full(places.shape, 1.0 / MANY)


def _counts(family: Potential, mean: np.ndarray, variance: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all counts of one candidate if they are few, else 64 equally probable ones."""
    try:
        counts, probabilities = family.outcome_probabilities(mean, variance)
    except ValueError:  # too many to list: draws show where they are
        generator = np.random.default_rng(seed)
        projections = mean + np.sqrt(variance) * generator.standard_normal(4096)
        projections = np.minimum(projections, getattr(family, "highest_projection", np.inf))  # the largest count told
        drawn = np.sort(family.sample(projections, random_state=generator))
        return drawn[len(drawn) // (2 * MANY) :: len(drawn) // MANY], np.full(MANY, 1.0 / MANY)
    listed, shares = standing_for(counts, probabilities / probabilities.sum())
    return listed[0], shares[0]


def _sums(family: Potential, mean: np.ndarray, variance: np.ndarray, seed: int) -> np.ndarray:
    """Return (m, 64) outcomes of a location family: a place within the belief plus noise."""
    generator = np.random.default_rng(seed)
    places = ndtri(generator.permutation((np.arange(MANY) + 0.5) / MANY))
    if family.size is None:
        noise = family.sample(np.zeros(MANY), random_state=generator)
    else:  # one noise law per candidate, each from the same seed, so that no candidate depends on its neighbours
        laws = (family[i : i + 1] for i in range(len(mean)))
        noise = np.stack([law.sample(np.zeros(MANY), random_state=seed) for law in laws])
    return mean[:, None] + np.sqrt(variance)[:, None] * places + noise


def _tilted_variances(
    family: Potential, outcomes: np.ndarray, probabilities: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> np.ndarray:
    """Return the variances (m, c) after outcomes (m, c), those that may happen in one go; the others change nothing."""
    after = np.broadcast_to(variance[:, None], outcomes.shape).copy()
    i, k = np.nonzero((variance > 0)[:, None] & (probabilities > 0))
    if len(i):
        law = family if family.size is None else family[i]
        after[i, k] = law.observe(outcomes[i, k]).tilted_moments(mean[i], variance[i])[2]
    return after
