"""Processes that counts leave possible, which bands mix:

    f(x) | counts ~ sum_g u_g N(m(x), gamma_g v(x)),    m, v those of  sum_k w_k GP_k

    w_k ~ evidence x prior x volume, at places about the highest of kernel parameters (`adaptive.estimators.places`)
    u_g ~ p(gamma_g) prod_j p(y_j | N(c_j, gamma_g v_j)),    gamma_g >= 1

c and v are the cavities of the process that was found. Few counts, and those that a design chose, tell neither height
and length of a kernel nor how far off a rate may be between them: the process of the highest evidence alone was so sure
that ten chosen bins of three series lost 1.6 nats a count. A kernel that was told is believed, and is all there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from scipy.special import logsumexp

from adaptive.estimators.gaussian_process.hyperparameters import (  # house: a Cox process is one
    highest_places,
    units_of,
)
from adaptive.estimators.gaussian_process.process_belief import bounds_of  # house: a Cox process is one
from adaptive.estimators.places import log_prior
from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.estimators.variance_factor import VarianceFactor, possible_factors, variance_factor
from adaptive.means import Zero

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.estimators.gaussian_process.evidence import Evidence  # house: a Cox process is one
    from adaptive.means import Mean
    from adaptive.potentials import Potential
    from adaptive.types import Inputs

__all__ = ["FEWEST", "Possible", "factor_of", "possible"]

FEWEST = 5  # counts of which something is learnt
FACTORS = 4  # how many of them
_NEGLIGIBLE = 0.005  # weight
_LEAST = 1e-300
B = TypeVar("B")


@dataclass(frozen=True)
class Possible(Generic[B]):
    """Beliefs, and factors of their variances.

    Attributes
    ----------
    weights : (k,) array
    beliefs : list of k
    shares, factors : (g,) arrays
        How much each factor weighs.
    """

    weights: np.ndarray
    beliefs: list[B]
    shares: np.ndarray
    factors: np.ndarray

    @classmethod
    def only(cls, belief: B) -> Possible[B]:
        """Return what is known for certain."""
        return cls(np.ones(1), [belief], np.ones(1), np.ones(1))

    def moments(
        self, of: Callable[[B], tuple[np.ndarray, np.ndarray]], noise: Callable[[B], float] = lambda one: 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (g, m) of all beliefs together, by each factor; it does not enlarge ``noise``."""
        means, variances = (np.stack(part) for part in zip(*map(of, self.beliefs), strict=True))
        mean = self.weights @ means
        variance = np.multiply.outer(self.factors, self.weights @ (variances + np.square(means - mean)))
        return np.tile(mean, (len(self.factors), 1)), variance + self.weights @ [noise(one) for one in self.beliefs]

    def drawn(
        self, of: Callable[[B], tuple[np.ndarray, np.ndarray]], n: int, rng: np.random.Generator
    ) -> np.ndarray:  # fmt: skip
        """Joint draws (n, m) of the function; ``of`` gives mean (m,) and covariance (m, m) by a belief.

        At each place alone they are spread as `moments` says.
        """
        means, covariances = (np.stack(part) for part in zip(*map(of, self.beliefs), strict=True))
        mean = self.weights @ means
        away = np.sqrt(self.weights)[:, None] * (means - mean)
        covariance = np.tensordot(self.weights, covariances, 1) + away.T @ away
        values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
        scatter = rng.standard_normal((n, len(mean))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        factors = rng.choice(self.factors, n, p=self.shares / self.shares.sum())
        return np.asarray(mean + np.sqrt(factors)[:, None] * scatter)


def factor_of(evidence: Evidence) -> tuple[VarianceFactor, Callable[[float], np.ndarray]] | None:
    """Return the factor that counts without themselves ask for, and their log scores by it; None of few, or where
    there are no cavities.
    """
    posterior = evidence.warm[0]
    known = posterior.engine == "expectation_propagation" and len(posterior.mean) == len(evidence.X) >= FEWEST
    if not known:
        return None
    mean, variance = without_sites(posterior.mean, posterior.variances(), *posterior.sites)
    counts = evidence.outputs[0](evidence.scale)

    def log_scores(gamma: float) -> np.ndarray:
        return counts.tilted_moments(mean, np.maximum(gamma * variance, _LEAST))[0]

    return variance_factor(log_scores), log_scores


def possible(found: Evidence, begun: Evidence, believed: Callable[[Evidence], B], own: B) -> Possible[B]:
    """Return what the counts leave possible.

    Parameters
    ----------
    found : Evidence
        Where it is highest, with its posterior.
    begun : Evidence
        Where the search began: the prior is about its parameters.
    believed : callable Evidence -> belief
        With its inference; the mean of all is that which was found, so that what a belief adds to it is all there is.
    own : belief
        About ``found``.
    """
    weights, beliefs = _nodes(found, begun, believed) or (np.ones(1), [own])
    shares, factors = np.ones(1), np.ones(1)
    if (known := factor_of(found)) is not None:
        log_shares, log_factors = possible_factors(known[1], known[0], places=FACTORS)
        shares, factors = np.exp(log_shares - logsumexp(log_shares)), np.exp(log_factors)
    return Possible(weights, beliefs, shares, factors)


def _nodes(found: Evidence, begun: Evidence, believed: Callable[[Evidence], B]) -> tuple[np.ndarray, list[B]] | None:
    """Weights of beliefs about the highest evidence; None where nothing is open, or nothing has an evidence.

    The scale of the counts, if there is one, stays what was found, as does the mean.
    """
    told: dict[str, Any] = {"mean": _Known(found.mean), "log_scale": None, "outputs": [found.outputs[0]]}
    if found.log_scale is not None:
        told["outputs"] = [partial(_at_scale, found.outputs[0], found.scale)]
    begun, at = replace(begun, pivots=found.pivots, **told), replace(found, **told)
    if not len(begun.theta) or not math.isfinite(found.warm[0].log_evidence):
        return None
    places = highest_places([begun], bounds_of(begun), at.theta)
    units = units_of(begun.kernel, len(begun.theta) - len(begun.kernel.theta))
    log_weights, beliefs = [], []
    for point, log_volume in zip(places.points, places.log_volumes, strict=True):
        here = replace(begun.at(point), warm=found.warm)
        try:
            beliefs.append(believed(here))
        except (ValueError, np.linalg.LinAlgError):  # no posterior there
            continue
        log_weights.append(here.warm[0].log_evidence + log_volume + float(log_prior(point, begun.theta, units)))
    usable = [k for k, value in enumerate(log_weights) if math.isfinite(value)]
    weights = np.exp(np.array(log_weights)[usable] - max((log_weights[k] for k in usable), default=0.0))
    kept = np.flatnonzero(weights > _NEGLIGIBLE * weights.sum())
    return (weights[kept] / weights[kept].sum(), [beliefs[usable[k]] for k in kept]) if usable else None


def _at_scale(output: Callable[[float], Potential], scale: float, _: float) -> Potential:
    return output(scale)


class _Known(Zero):
    """A mean function with nothing to learn."""

    def __init__(self, of: Mean) -> None:
        self.of = of

    def __call__(self, X: Inputs) -> np.ndarray:
        values: Any = self.of(X)
        return np.asarray(values, dtype=float)
