"""Predictions of each training row without it, from the cavities of expectation propagation.

    p(y_j | all others) = int p(y_j | s) cavity_j(s) ds,    cavity_j = marginal_j / site_j

Over nodes of weight w_k the weights without row j are w_k / p_k(y_j | others), up to a factor, so that the mixture says
1 / sum_k (w_k / p_k). A factor gamma on the variance of every latent is fitted to these predictions,

    ln gamma = argmax  sum_j ln sum_k w_k p(y_j | N(c_jk, gamma v_jk)) - (ln gamma)^2 / 2,

with c and v the cavities' moments (of a softmax those of all scores): below 1 where the prior left variance that the
rows do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.potentials import Potential
    from adaptive.potentials.likelihood import Likelihood
    from adaptive.types import Matrix

__all__ = [
    "LeaveOneOut",
    "cavities",
    "latent_factor",
    "left_out",
    "log_scores",
    "mixed",
    "of_two_classes",
    "without_sites",
]

LOG_FACTORS = np.linspace(-5.0, 1.0, 25)
_FLAT = 1e-10  # cavity precision, in units of the marginal's, that stands for zero


class LeaveOneOut(NamedTuple):
    """Predictions of training rows without themselves.

    Attributes
    ----------
    probabilities : (m, 2) array, or None where outcomes are no labels
    log_score : (m,) array
        ln probability (density) of the outcome that was given, nats.
    """

    probabilities: np.ndarray | None
    log_score: np.ndarray


def cavities(posterior: Posterior, features: Matrix, counts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances (m,) of the latents of the training rows without their own sites.

    Of a row that counts for several answers (``counts``) one is left out.
    """
    m = features.shape[0]
    pi, nu = posterior.sites[0][:m], posterior.sites[1][:m]
    if counts is not None:
        pi, nu = pi / np.maximum(counts, 1.0), nu / np.maximum(counts, 1.0)
    return without_sites(*posterior.projection_moments(features), pi, nu)


def without_sites(
    mean: np.ndarray, variance: np.ndarray, pi: np.ndarray, nu: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances (m,) of marginals without Gaussian sites of their own."""
    shrink = np.maximum(1.0 - pi * variance, _FLAT)
    return (mean - nu * variance) / shrink, variance / shrink


def log_scores(
    posterior: Posterior, potential: Potential, marginals: tuple[np.ndarray, np.ndarray]
) -> np.ndarray | None:
    """Return ln p(y_j | all others), (m,), of any likelihood; None where the posterior has no sites to leave out.

    Parameters
    ----------
    posterior : Posterior
        By expectation propagation, or exact, whose first m sites are those of the outcomes.
    potential : Potential
        Of the m outcomes.
    marginals : two (m,) arrays
        Means and variances of their latents.
    """
    mean, variance = marginals
    gaussian = potential.gaussian_moments()
    if gaussian is not None:
        centre, spread = (np.broadcast_to(np.asarray(part, dtype=float), mean.shape) for part in gaussian)
        pi, nu = 1.0 / spread, centre / spread
    elif posterior.engine == "expectation_propagation":
        pi, nu = posterior.sites[0][: len(mean)], posterior.sites[1][: len(mean)]
    else:
        return None
    cavity_mean, cavity_variance = without_sites(mean, variance, pi, nu)
    return potential.tilted_moments(cavity_mean, np.maximum(cavity_variance, 1e-300))[0]


def left_out(
    weights: np.ndarray, moments: Sequence[tuple[np.ndarray, np.ndarray]], family: Likelihood, codes: np.ndarray
) -> LeaveOneOut:
    """Return the predictions of rows whose classes are ``codes`` (0 or 1), from the cavities of every node."""
    rows = np.arange(len(codes))
    tables = np.stack([family.outcome_probabilities(*moment)[1] for moment in moments])
    shares = weights[:, None] / np.maximum(tables[:, rows, codes], np.finfo(float).tiny)
    shares /= shares.sum(axis=0)
    probabilities = np.einsum("km,kmc->mc", shares, tables)
    with np.errstate(divide="ignore"):
        return LeaveOneOut(probabilities, np.log(probabilities[rows, codes]))


def mixed(weights: np.ndarray, parts: Sequence[LeaveOneOut], codes: np.ndarray | None = None) -> LeaveOneOut:
    """Return the predictions of a mixture from those of its components, 1 / sum_k (w_k / p_k).

    ``codes`` are those of the classes, where there are probabilities.
    """
    logs = np.log(weights)[:, None] - np.stack([part.log_score for part in parts])
    shares = np.exp(logs - np.logaddexp.reduce(logs, axis=0))
    log_score = -np.logaddexp.reduce(logs, axis=0)
    if codes is None:
        return LeaveOneOut(None, log_score)
    tables: list[Any] = [part.probabilities for part in parts]
    return LeaveOneOut(np.einsum("km,kmc->mc", shares, np.stack(tables)), log_score)


def latent_factor(said: Callable[[float], np.ndarray], counts: np.ndarray) -> float:
    """Return gamma, the factor of all latents' variances that suits the predictions left out; from exp(-5) to e.

    Parameters
    ----------
    said : callable gamma -> (m,) probabilities
        Of the labels that were given, each row left out, with latents' variances times gamma.
    counts : (m,) array
        How many answers each row counts for.
    """
    logs = [np.log(np.maximum(said(float(np.exp(one))), np.finfo(float).tiny)) for one in LOG_FACTORS]
    scores = np.stack(logs) @ counts - 0.5 * np.square(LOG_FACTORS)
    return float(np.exp(LOG_FACTORS[np.argmax(scores)]))


def of_two_classes(
    weights: np.ndarray, moments: Sequence[tuple[np.ndarray, np.ndarray]], family: Likelihood, evidence: np.ndarray
) -> Callable[[float], np.ndarray]:
    """Return what ``latent_factor`` takes, from the cavities of nodes and the rows' ``evidence`` (m, 2), the likelihood
    of both classes: one of them is 0 where a label is not in doubt.
    """

    def said(gamma: float) -> np.ndarray:
        tables = [family.outcome_probabilities(mean, gamma * variance)[1] for mean, variance in moments]
        return weights @ np.stack([np.einsum("mc,mc->m", table, evidence) for table in tables])

    return said
