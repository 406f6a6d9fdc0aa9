"""Candidates whose outcome is one of c classes by a softmax of class scores with a joint Gaussian belief,

p(y | s) = exp(s_y) / sum_k exp(s_k),    s ~ N(mean, Cov),    jointly over candidates and classes.

Measuring candidate i replaces the Gaussian of its c - 1 contrasts of scores by the one with the moments of
p(y_i | s) N(s | m, V); the scores of all others follow by regression.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from scipy.special import entr, log_softmax

from adaptive.predictive.base import Field, Predictive
from adaptive.predictive.derivations import Way, likely
from adaptive.predictive.joint_gaussian import CANDIDATES, TARGET, root_of
from adaptive.predictive.joint_predictive import JointPredictive
from adaptive.predictive.joint_scores import ConditionedScores, Gain, LinearScores, Scores
from adaptive.predictive.softmax_integrals import information_error, quasi_nodes, softmax_moments
from adaptive.predictive.target_information import check_size

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Outcomes, RandomState

__all__ = ["SoftmaxLikelihood", "SoftmaxProjections", "tilted"]

_NODES_OF_A_WHAT_IF = 4096
_NODES_OF_A_TARGET = 128
_SUPPORT = 1e-11  # eigenvalues below this share of the largest are zero but for rounding


class SoftmaxLikelihood:
    """The family p(y | scores) of one outcome among several.

    Parameters
    ----------
    outcomes : (c,) array
        Names of the classes.

    Examples
    --------
    >>> SoftmaxLikelihood(["a", "b"]).probabilities(np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """

    discrete = True
    size = None

    def __init__(self, outcomes: Outcomes) -> None:
        self.outcomes = np.asarray(outcomes)

    def probabilities(self, scores: ArrayLike) -> np.ndarray:
        """Return p(y | scores) for all outcomes, over the last axis (..., c), to the precision of the scores."""
        scores = np.asarray(scores)
        scores = scores if scores.dtype == np.float32 else scores.astype(float, copy=False)
        columns = [scores[..., k] for k in range(scores.shape[-1])]  # few classes: NumPy is slow along a short axis
        peak = columns[0]
        for column in columns[1:]:
            peak = np.maximum(peak, column)
        table = np.empty((len(columns), *peak.shape))
        for column, place in zip(columns, table, strict=True):
            place[:] = np.exp(column - peak)
        table /= table.sum(axis=0)
        return np.moveaxis(table, 0, -1)

    def log_density(self, scores: ArrayLike, y: object) -> np.ndarray:
        """Return ln p(y | scores) (...,) of one outcome."""
        return log_softmax(scores, axis=-1)[..., self.code(y)]

    def code(self, y: object) -> int:
        """Return the position of the outcome ``y``."""
        places = np.flatnonzero(self.outcomes == y)
        if not len(places):
            raise ValueError(f"outcome must be one of {self.outcomes.tolist()}, got {y!r}.")
        return int(places[0])


class SoftmaxProjections(JointPredictive):
    """Predictive of m candidates by the joint Gaussian of their class scores.

    Probabilities and expected entropies (nats) are integrals over c - 1 dimensions, by a grid of error below 1e-6 for
    up to four classes and by 256 quasi-Monte Carlo nodes for more (:mod:`adaptive.predictive.softmax_integrals`).

    Parameters
    ----------
    source : LinearScores or the like
        Moments and covariances of the c - 1 contrasts of scores, of the candidates and, with two parts, of the target.
    contrasts : (c, c - 1) array
        Orthonormal basis of the score vectors that add up to zero: scores are ``contrasts @ t``.
    outcomes : (c,) array
    random_state : None, int, Generator or RandomState
        Seed of draws.
    **fields
        Others that are stated, such as ``features`` and ``measured``.

    Raises
    ------
    ValueError
        If the contrasts have not one row for each outcome.

    References
    ----------
    N. Houlsby, F. Huszar, Z. Ghahramani, M. Lengyel (2011) for the information; T. Minka (2001) for moment matching.

    Examples
    --------
    >>> basis = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    >>> belief = SoftmaxProjections.from_rows(
    ...     np.eye(2), np.zeros((1, 2)), np.eye(2)[None, :, None], contrasts=basis, outcomes=["no", "yes"])
    >>> belief.probabilities.round(6)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> belief.given(0, "no").probabilities.round(3)
    array([[0.638, 0.362],
           [0.5  , 0.5  ]])
    """

    sampled = True

    likelihood: Field[SoftmaxLikelihood]  # type: ignore[assignment]  # of class scores, not of one projection
    #: Its weight in a mixture, whose other components leave it room for larger errors of its integrals.
    share: float = 1.0
    _kept = ("_basis", "share")

    def __init__(
        self,
        source: Scores,
        *,
        contrasts: np.ndarray,
        outcomes: Outcomes,
        random_state: RandomState = None,
        **fields: Any,
    ) -> None:
        self._basis = np.asarray(contrasts, dtype=float)
        likelihood = SoftmaxLikelihood(outcomes)
        super().__init__(source, source.size(CANDIDATES), likelihood, random_state=random_state, **fields)
        if len(self.likelihood.outcomes) != len(self._basis):
            raise ValueError(
                f"contrasts must have one row for each of the {len(self.likelihood.outcomes)} outcomes, "
                f"got {len(self._basis)}."
            )

    @classmethod
    def from_rows(
        cls,
        rows: np.ndarray,
        mean: np.ndarray,
        blocks: np.ndarray,
        *,
        contrasts: np.ndarray,
        outcomes: Outcomes,
        target: np.ndarray | None = None,
        random_state: RandomState = None,
        **fields: Any,
    ) -> SoftmaxProjections:
        """Return the predictive of a linear model: contrasts ``rows @ u[a]``, a = 1 .. c - 1.

        Parameters
        ----------
        rows : (m, r) array
        mean : (c - 1, r) array
        blocks : (c - 1, r, c - 1, r) array
            Joint covariance of u.
        contrasts, outcomes, random_state, **fields
            As in the class.
        target : (t, r) array, optional
            Given inputs; default all of u.
        """
        parts = [np.asarray(part, dtype=float) for part in (rows, target) if part is not None]
        return cls(
            LinearScores(parts, mean, blocks),
            contrasts=contrasts,
            outcomes=outcomes,
            random_state=random_state,
            **fields,
        )

    @property
    def score_mean(self) -> np.ndarray:
        """(m, c) means of the class scores, which add up to zero."""
        return self._source.mean(self._part) @ self._basis.T

    @property
    def score_covariance(self) -> np.ndarray:
        """(m, c, c) their covariances, candidate by candidate."""
        return self._basis @ self._source.variance(self._part) @ self._basis.T

    @property
    def information_error(self) -> np.ndarray:
        """(m,) standard errors, nats, of outcome_entropy - expected_entropy about the weights; zero for a grid."""
        return information_error(self.score_mean, self.score_covariance)

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariances (len i, len j, c, c) of the class scores of candidates ``i`` and ``j``."""
        cross = self._source.cross(self._part, np.atleast_1d(i), self._part, np.atleast_1d(j))
        return self._basis @ cross @ self._basis.T

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return equal weights (n,) and p(outcome | scores) (n, m, c) at ``n`` joint draws.

        By default there are 1024 draws of up to four classes, and 512 of more.
        """
        if n is None:
            n = 1024 if len(self.outcomes) <= 4 else 512
        drawn = self._source.draw(n, np.random.default_rng(self.seed))[self._part]
        return np.full(n, 1.0 / n), self.likelihood.probabilities(drawn @ self._basis.T)

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]]:
        """Return [(outcome, probability)] of candidate ``i``, which needs no other's integrals."""
        if "_moments" in self.__dict__:
            return likely(self.outcomes, self.probabilities[i])
        part, basis = self._part, self._basis
        mean, variance = self._source.mean(part)[i] @ basis.T, basis @ self._source.variance(part)[i] @ basis.T
        return likely(self.outcomes, softmax_moments(mean[None], variance[None], share=self.share)[0][0])

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return the belief had candidate ``i`` been measured, with this ``outcome``."""
        i = range(len(self))[i]
        if outcome is None:
            raise self._unknown(i)
        gain = self._regressions.get(i)
        if gain is None:
            gain = self._regressions[i] = Gain(self._source, i)
        if not gain.variance.any():
            return self  # there is nothing to learn about it
        mean, variance = self._tilted(gain.mean, gain.variance, self.likelihood.code(outcome))
        return self._on(ConditionedScores(self._source, gain, mean, variance))

    def _tilted(self, mean: np.ndarray, variance: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the moments of softmax_code(E t) N(t | mean, variance)."""
        _, means, variances = tilted(self._basis, mean[None], variance[None], np.array([code]), _NODES_OF_A_WHAT_IF)
        return means[0], variances[0]


def tilted(
    basis: np.ndarray, mean: np.ndarray, variance: np.ndarray, codes: np.ndarray, n_nodes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return  log int softmax_code(E t) N(t | mean, variance) dt  and the moments of the integrand, of p what-ifs.

    Parameters
    ----------
    basis : (c, k) array
        E, the contrasts.
    mean, variance : (p, k) and (p, k, k) arrays
    codes : (p,) array of int
    n_nodes : int
        Quasi-Monte Carlo nodes of the integrals.

    Examples
    --------
    >>> basis = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    >>> log, mean, variance = tilted(basis, np.zeros((1, 1)), np.eye(1)[None], np.array([0]), 512)
    >>> float(np.exp(log[0]).round(3)), bool(mean[0, 0] > 0), bool(variance[0, 0, 0] < 1)
    (0.5, True, True)
    """
    z = _deep_nodes(mean.shape[1], n_nodes)
    t = z @ root_of(variance).transpose(0, 2, 1)
    scores = basis @ (mean[:, None, :] + t).transpose(0, 2, 1)  # (p, c, nodes)
    highest = scores.max(axis=1)
    logs = scores[np.arange(len(codes)), codes] - highest
    scores -= highest[:, None, :]
    logs -= np.log(np.exp(scores, out=scores).sum(axis=1))
    peak = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - peak)
    total = weights.sum(axis=1, keepdims=True)
    weights /= total
    shift = (weights[:, None, :] @ t)[:, 0]
    centred = t - shift[:, None, :]
    spread = (centred * weights[:, :, None]).transpose(0, 2, 1) @ centred
    return (peak + np.log(total / len(z)))[:, 0], mean + shift, spread


@cache
def _deep_nodes(dimension: int, n_nodes: int) -> np.ndarray:
    """Return the nodes of a what-if: their mean is zero, and their covariance the identity to rounding."""
    nodes = quasi_nodes(dimension, n_nodes)
    root = linalg.cholesky(nodes.T @ nodes / len(nodes), lower=True)
    return linalg.solve_triangular(root, nodes.T, lower=True).T


def _moments(predictive: SoftmaxProjections) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and E H(y | scores), computed together and kept together."""
    return predictive.kept(
        "_moments",
        lambda: softmax_moments(predictive.score_mean, predictive.score_covariance, share=predictive.share),
    )


def _expected_entropy(predictive: SoftmaxProjections) -> np.ndarray:
    """Return E H(y | target): without given inputs the target is the weights, which decide the scores.

    Inputs leave t ~ N(a, V - Q), where a ~ N(m, Q) is what varies with them, Q = C T^+ C', C = Cov(t, inputs).  The
    information  H(E_a p) - E_a H(p),  p = E softmax(t | a),  takes both terms from the same nodes a.
    """
    probabilities, expected = _moments(predictive)
    if not predictive._has_target():
        return expected
    source, basis, every = predictive._source, predictive._basis, slice(None)
    t, k = source.size(TARGET), source.k
    check_size(t * k)
    inputs = source.cross(TARGET, every, TARGET, every).transpose(0, 2, 1, 3).reshape(t * k, t * k)
    values, vectors = linalg.eigh(inputs)
    kept = values > _SUPPORT * max(values[-1], 0.0)
    cross = source.cross(CANDIDATES, every, TARGET, every).transpose(0, 2, 1, 3).reshape(-1, k, t * k)
    loadings = cross @ (vectors[:, kept] / np.sqrt(values[kept]))
    explained = loadings @ loadings.transpose(0, 2, 1)
    variance = source.variance(CANDIDATES)
    left = variance - explained
    if np.abs(left).max() <= 1e-9 * np.abs(variance).max():
        return expected  # the inputs determine the scores
    root = root_of(explained)
    sizes, axes = np.linalg.eigh(left)
    residual = basis @ ((axes * np.maximum(sizes, 0.0)[:, None, :]) @ axes.transpose(0, 2, 1)) @ basis.T
    mean = source.mean(CANDIDATES)
    nodes = quasi_nodes(k, _NODES_OF_A_TARGET)
    mixture, entropy = np.zeros_like(probabilities), np.zeros(len(mean))
    for z in nodes:
        p, _ = softmax_moments((mean + root @ z) @ basis.T, residual)
        mixture += p / len(nodes)
        entropy += entr(p).sum(axis=1) / len(nodes)
    information = np.maximum(entr(mixture).sum(axis=1) - entropy, 0.0)
    return np.maximum(predictive.outcome_entropy - information, 0.0)


SoftmaxProjections.ways = Predictive.ways | {
    "outcomes": (Way((), lambda p: p.likelihood.outcomes),),
    "probabilities": (Way((), lambda p: _moments(p)[0]),),
    "outcome_entropy": (Way((), lambda p: entr(p.probabilities).sum(axis=1)),),
    "expected_entropy": (Way((), _expected_entropy),),
    "target": (Way((), lambda p: p._other_part(TARGET, p._source.size(TARGET)), JointPredictive._has_target),),
}
