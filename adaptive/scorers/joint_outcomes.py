"""Joint probabilities of every candidate's outcome y and the outcome y* of every target input, block by block.

p(y, y*) = sum_k rho^k f_k(y) f*_k(y*)       projections of correlation rho, f_k the Hermite coefficients of p(y | s)
                                             (Mehler's formula: a two-dimensional quadrature for all pairs at once)
p(y, y*) = sum_d w_d p_d(y) p_d(y*)          joint draws
p(y, y*) = sum_k w_k p_k(y, y*)              a mixture
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.scorers.hermite import coefficients, outcome_nodes, reach_of_terms
from adaptive.scorers.record import require
from adaptive.scorers.rows import blocks

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive

__all__ = ["Expansion", "excesses", "expansions", "has_moments", "joint_tables", "tables_of_draws"]

_IN_CACHE = 2**18  # the series is summed pass by pass, four times faster where a block stays in cache


class Expansion(NamedTuple):
    """The series of a block of candidates with all target inputs.

    Attributes
    ----------
    part : slice
        The candidates.
    ours, theirs : (k, b, c), (k, t, d) arrays
        Hermite coefficients; those of order 0 are the probabilities of the outcomes.
    correlation : (b, t) array
        Of the projections.
    reach : (k,) array
        The largest correlation at which that many terms are enough.
    """

    part: slice
    ours: np.ndarray
    theirs: np.ndarray
    correlation: np.ndarray
    reach: np.ndarray


def has_moments(predictive: Predictive) -> bool:
    """Return whether candidates and target are jointly Gaussian projections with outcomes."""
    fields = ("mean", "variance", "likelihood", "target_covariance")
    return all(predictive.provides(field) for field in fields) and predictive.target.provides("likelihood")


def expansions(predictive: Predictive) -> Iterator[Expansion]:
    """Yield the series for all candidates, in blocks that stay in cache."""
    target, mean, variance = predictive.target, predictive.mean, predictive.variance
    deviation = np.sqrt(np.maximum(target.variance, 0.0))
    their_nodes = outcome_nodes(target.likelihood, target.mean, target.variance)
    theirs, tails = coefficients(target.likelihood, *their_nodes, target.mean, target.variance)
    for part in blocks(len(predictive), len(target), _IN_CACHE):
        scale = np.multiply.outer(np.sqrt(np.maximum(variance[part], 0.0)), deviation)
        with np.errstate(divide="ignore", invalid="ignore"):
            correlation = np.where(scale > 0, predictive.target_block(part) / scale, 0.0)
        correlation = np.clip(correlation, -1.0, 1.0)
        family = predictive.likelihood if predictive.likelihood.size is None else predictive.likelihood[part]
        nodes = outcome_nodes(family, mean[part], variance[part])
        ours, own_tails = coefficients(family, *nodes, mean[part], variance[part])
        reach = reach_of_terms(own_tails, tails)
        n_terms = max(2, int(np.searchsorted(reach, np.abs(correlation).max(initial=0.0))))
        yield Expansion(part, ours[:n_terms], theirs[:n_terms], correlation, reach[:n_terms])


def excesses(ours: np.ndarray, theirs: np.ndarray, correlation: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return sum_{k>0} rho^k f_k f*_k of one outcome each, (k, b), (k, t), (b, t) -> (b, t), by Horner's rule.

    It says how far the joint probability is from the product of the margins.  Most pairs need few terms: those are
    summed for all, and the others for the pairs of high correlation only.
    """
    strength = np.abs(correlation)
    n = _terms_for_all(strength, reach)
    total = _horner(ours[:n], theirs[:n], correlation)
    if n == len(ours):
        return total
    pairs = np.flatnonzero(strength > reach[n])
    if len(pairs):
        pairs = pairs[np.argsort(-strength.ravel()[pairs])]
        i, j = np.divmod(pairs, correlation.shape[1])
        rho = correlation.ravel()[pairs]
        more = np.zeros(len(pairs))
        involved = np.searchsorted(-np.abs(rho), -reach, side="left")  # how many pairs need more than k terms
        for k in range(len(ours) - 1, n - 1, -1):
            some = slice(0, involved[k])
            more[some] += ours[k, i[some]] * theirs[k, j[some]]
            more[some] *= rho[some]
        total.ravel()[pairs] += more * rho ** (n - 1)
    return total


def _terms_for_all(strength: np.ndarray, reach: np.ndarray) -> int:
    """Return the number of terms n after which pairs are looked at one by one, which costs some six times as much."""
    sample = strength.ravel()[:: max(1, strength.size // 2000)]
    needed = np.searchsorted(reach, sample)
    n = np.arange(2, len(reach) + 1)
    beyond = np.maximum(needed - n[:, None], 0).mean(axis=1)
    return int(n[np.argmin(n + 6.0 * beyond)]) if len(n) else len(reach)


def _horner(ours: np.ndarray, theirs: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    total, product = np.zeros(correlation.shape), np.empty(correlation.shape)
    for own, their in zip(ours[:0:-1], theirs[:0:-1], strict=True):
        np.multiply(own[:, None], their, out=product)
        total += product
        total *= correlation
    return total


def _matching_draws(scorer: str, predictive: Predictive) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights (k,) and p(outcome | draw) of candidates (k, m, c) and target inputs (k, t, d), the same draws."""
    require(scorer, predictive, "draws")
    require(scorer, predictive.target, "draws")
    weights, table = predictive.draws()
    other_weights, other = predictive.target.draws()
    if len(other_weights) != len(weights) or not np.allclose(weights, other_weights):
        raise ValueError("the draws of the candidates and of the target must be the same, with the same weights.")
    return weights, table, other


def joint_tables(scorer: str, predictive: Predictive) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (candidates, p(y, y*) of shape (c, d, b, t)); d runs over the target's ``outcomes``.

    Raises
    ------
    MissingField
        If there is no target, an outcome is not discrete, or neither moments nor draws are provided.
    """
    require(scorer, predictive, "target", "probabilities")
    require(scorer, predictive.target, "probabilities")
    if len(predictive.target) == 0:
        raise ValueError("target must hold at least one input, got none.")
    weights, parts = zip(*predictive.components, strict=True)
    predictive = parts[0] if len(parts) == 1 else predictive
    if len(parts) > 1 and all(has_moments(part) for part in parts):
        for tables in zip(*(joint_tables(scorer, part) for part in parts), strict=True):
            yield tables[0][0], sum(weight * table for weight, (_, table) in zip(weights, tables, strict=True))
        return
    if has_moments(predictive) and predictive.likelihood.outcomes is not None:
        for part, *series in expansions(predictive):
            yield part, _by_quadrature(*series)
        return
    yield from tables_of_draws(scorer, predictive)


def tables_of_draws(scorer: str, predictive: Predictive) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the same by the joint draws of candidates and target."""
    weights, table, other = _matching_draws(scorer, predictive)
    k, t, d = other.shape
    c = table.shape[2]
    theirs = np.ascontiguousarray(other[:, :, : d - 1].transpose(0, 2, 1)).reshape(k, -1)
    their_margin = np.tensordot(weights, other, axes=1).T[:, None, :]
    for part in blocks(len(predictive), t * d * c):
        joint = np.empty((c, d, part.stop - part.start, t))
        for a in range(c - 1):  # what the last outcome has is what the others leave
            own = table[:, part, a] * weights[:, None]
            joint[a, :-1] = (own.T @ theirs).reshape(-1, d - 1, t).transpose(1, 0, 2)
            joint[a, -1] = own.sum(axis=0)[:, None] - joint[a, :-1].sum(axis=0)
        joint[-1] = their_margin - joint[:-1].sum(axis=0)
        yield part, np.maximum(joint, 0.0, out=joint)


def _by_quadrature(ours: np.ndarray, theirs: np.ndarray, correlation: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return p(y, y*) (c, d, b, t). The excesses of all outcomes add up to 0, so that the last ones follow."""
    c, d = ours.shape[2], theirs.shape[2]
    joint = np.empty((c, d, *correlation.shape))
    for a in range(c - 1):
        for b in range(d - 1):
            joint[a, b] = excesses(ours[:, :, a], theirs[:, :, b], correlation, reach)
    joint[:-1, -1] = -joint[:-1, :-1].sum(axis=1)
    joint[-1] = -joint[:-1].sum(axis=0)
    for a in range(c):
        for b in range(d):
            joint[a, b] += np.multiply.outer(ours[0, :, a], theirs[0, :, b])
    return np.maximum(joint, 0.0, out=joint)
