"""Mutual information of the outcome and the outcomes at given inputs (EPIG), in nats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlog1py

from adaptive.predictive.conditional_variance import is_gaussian, noise_variance
from adaptive.scorers.joint_outcomes import excesses, expansions, has_moments, joint_tables, tables_of_draws
from adaptive.scorers.record import nonnegative, require, scorer
from adaptive.scorers.rows import blocks

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["predictive_information_gain"]

_NAME = "predictive_information_gain"


@scorer(about_inputs=True)
def predictive_information_gain(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return the mean over the target inputs of I(y; y*), what a measurement teaches about predictions.

        Gaussian outcomes    - 1/2 log(1 - r^2),   r the correlation of the two outcomes
        discrete outcomes    p(y, y*) = sum_k rho^k f_k(y) f*_k(y*),   rho the correlation of the two projections and
        f_k the Hermite coefficients of p(y | s)
        joint draws          p(y, y*) = sum_d w_d p_d(y) p_d(y*); of a sample less the bias that its noise adds
        a mixture            p(y, y*) = sum_k w_k p_k(y, y*); of Gaussian outcomes r is that of the mixture's moments

    The first that the predictive allows.  Information about what no prediction depends on counts nothing.

    Parameters
    ----------
    predictive : Predictive
        With ``target`` (the predictive at given inputs; `select` takes a sample of the candidates where none is given),
        and ``target_covariance`` or ``draws``.
    random_state : ignored

    Returns
    -------
    (m,) array, nats

    Raises
    ------
    ValueError
        If the target holds no input.
    MissingField
        If the predictive does not provide what is needed.

    References
    ----------
    F. Bickford Smith, A. Kirsch, S. Farquhar, Y. Gal, A. Foster, T. Rainforth (2023), Prediction-oriented Bayesian
    active learning.

    Examples
    --------
    >>> from adaptive.potentials import Gaussian
    >>> from adaptive.predictive import GaussianProjections
    >>> belief = GaussianProjections.from_rows(
    ...     np.eye(2), np.zeros(2), covariance=np.eye(2), likelihood=Gaussian(1.0), target=np.array([[1.0, 0.0]]))
    >>> predictive_information_gain(belief).round(3)
    array([0.144, 0.   ])
    """
    require(_NAME, predictive, "target")
    if len(predictive.target) == 0:
        raise ValueError("target must hold at least one input, got none.")
    predictive = predictive.components[0][1] if len(predictive.components) == 1 else predictive
    scores = _by_what_is_there(predictive)
    return nonnegative(_NAME, predictive, scores, joint_probabilities=scores)


def _by_what_is_there(predictive: Predictive) -> np.ndarray:
    if len(predictive.components) > 1 and predictive.provides("probabilities"):
        by_draws = any(p.sampled for _, p in predictive.components)
        return _by_draws(predictive) if by_draws else _by_tables(predictive, joint_tables(_NAME, predictive))
    if all(has_moments(p) and is_gaussian(p.likelihood) for _, p in predictive.components):
        return _by_correlations(predictive)
    if has_moments(predictive) and predictive.likelihood.discrete:
        return _by_quadrature(predictive)
    return _by_draws(predictive)


def _by_correlations(predictive: Predictive) -> np.ndarray:
    """Components may be several: their covariances are averaged, and how their means differ is added."""
    target, components = predictive.target, predictive.components
    noise = sum(w * noise_variance(p.likelihood) for w, p in components)
    noise_target = sum(w * noise_variance(p.target.likelihood) for w, p in components)
    scale, scale_target = 1.0 / (predictive.variance + noise), 1.0 / (target.variance + noise_target)
    scores = np.empty(len(predictive))
    for part in blocks(len(predictive), len(target)):
        covariance = sum(
            w
            * (p.target_block(part) + np.multiply.outer((p.mean - predictive.mean)[part], p.target.mean - target.mean))
            for w, p in components
        )
        squares = covariance**2 * scale_target * scale[part, None]
        # a correlation that no float tells from 1 is one of a finite information all the same
        scores[part] = (-0.5 * np.log1p(-np.minimum(squares, 1.0 - np.finfo(float).eps))).mean(axis=1)
    return scores


def _by_quadrature(predictive: Predictive) -> np.ndarray:
    scores = np.empty(len(predictive))
    for part, ours, theirs, correlation, reach in expansions(predictive):
        if ours.shape[2] == theirs.shape[2] == 2:
            scores[part] = _of_two_outcomes(ours, theirs, correlation, reach)
        else:
            scores[part] = _of_many_outcomes(ours, theirs, correlation)
    return scores


def _of_two_outcomes(ours: np.ndarray, theirs: np.ndarray, correlation: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return mean_j I(y_i; y*_j) from Hermite coefficients (k, m, 2), (k, t, 2) and correlations (m, t).

    One number per pair tells how far its joint table is from the product of its margins.
    """
    excess = excesses(ours[:, :, 0], theirs[:, :, 0], correlation, reach)
    total = np.zeros(correlation.shape)
    for a, b, sign in ((0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)):
        total += _cells(sign * excess, np.multiply.outer(ours[0, :, a], theirs[0, :, b]))
    return total.mean(axis=1)


def _of_many_outcomes(ours: np.ndarray, theirs: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Return the same for tables of any size, one candidate at a time: a product of matrices per pair."""
    means = np.zeros(len(correlation))
    t, d = theirs.shape[1:]
    theirs = np.ascontiguousarray(theirs.transpose(1, 0, 2))
    exponents = np.arange(1, len(ours))
    for i in range(len(means)):
        for part in blocks(t, ours.shape[2] * d):
            weighted = correlation[i, part, None] ** exponents  # rho^k for every target
            excess = (weighted[:, None, :] * ours[1:, i].T) @ theirs[part, 1:]
            means[i] += _cells(excess, ours[0, i, :, None] * theirs[part, :1]).sum() / t
    return means


def _cells(excess: np.ndarray, product: np.ndarray) -> np.ndarray:
    """Return the terms p log(p / (p_y p_y*)) of joint tables  p = product of the margins + excess >= 0."""
    product = np.maximum(product, 1e-300)
    ratio = np.maximum(excess / product, -1.0)  # rounding: a probability is not negative
    return product * xlog1py(1.0 + ratio, ratio)


def _by_tables(predictive: Predictive, tables: Iterator[tuple[slice, np.ndarray]]) -> np.ndarray:
    scores = np.empty(len(predictive))
    for part, joint in tables:
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        scores[part] = _cells(joint - product, product).sum(axis=(0, 1)).mean(axis=1)
    return scores


def _by_draws(predictive: Predictive) -> np.ndarray:
    """Return the same by joint draws.

    The noise of n draws of weights w makes any two inputs look dependent: to second order by
    sum w^2 / 2 * sum_y var p(y) / p(y) * sum_y* var p(y*) / p(y*), which is taken off.
    """
    scores = _by_tables(predictive, tables_of_draws(_NAME, predictive))
    if not any(part.sampled for _, part in predictive.components):
        return scores
    weights, table = predictive.draws()
    spread, theirs = _relative_variance(weights, table), _relative_variance(*predictive.target.draws())
    return np.maximum(scores - 0.5 * np.sum(weights**2) * spread * theirs.mean(), 0.0)


def _relative_variance(weights: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return sum_y var p(y) / p(y) of tables (k, m, c) of draws, (m,)."""
    mean = np.tensordot(weights, table, axes=1)
    squares = np.tensordot(weights, table**2, axes=1)
    return np.sum(np.maximum(squares - mean**2, 0.0) / np.maximum(mean, 1e-300), axis=1)
