"""The Gaussian over the weights of all classes, with one Gaussian site per row on its c - 1 contrasts of scores.

    N(beta | 0, I) prod_i exp( nu_i' t_i - t_i' H_i t_i / 2 ),    t_i = (I x phi_i') beta,    scores s_i = E t_i,

E an orthonormal basis of the score vectors that add up to zero.  Its precision is  I + sum_i H_i x phi_i phi_i', one
matrix of (c - 1) r unknowns, so that what a row teaches about one class is told to the others
(:mod:`adaptive.inference.softmax.class_blocks` has the algebra).
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import generator, integer
from adaptive.inference.posterior import LARGEST_COVARIANCE
from adaptive.inference.softmax.class_blocks import ClassBlocks, WholeMatrix
from adaptive.showing import posterior_html

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["SoftmaxPosterior", "SoftmaxSites"]

DIAGNOSTICS = ("log_evidence", "evidence_kind", "objective_trace", "n_iter", "converged", "engine")

_WORTH = 2  # unknowns per row from which on the algebra by class is the cheaper one


class SoftmaxSites:
    """Sites of the rows: precisions (m, c - 1, c - 1) and precision-means (m, c - 1).

    Parameters
    ----------
    precision, precision_mean : arrays
    masses : (m, c) array, optional
        Weights of rows times probabilities, w a, where every precision is w (diag(a) - a a').
    """

    def __init__(self, precision: np.ndarray, precision_mean: np.ndarray, masses: np.ndarray | None = None) -> None:
        self.precision, self.precision_mean, self.masses = precision, precision_mean, masses

    def __len__(self) -> int:
        return len(self.precision)

    @classmethod
    def none(cls, n_rows: int, k: int) -> SoftmaxSites:
        """Return sites that say nothing."""
        return cls(np.zeros((n_rows, k, k)), np.zeros((n_rows, k)), np.zeros((n_rows, k + 1)))

    def grown(self, n_rows: int) -> SoftmaxSites:
        """Return these sites and, for rows appended since, sites that say nothing."""
        more = SoftmaxSites.none(n_rows - len(self), self.precision_mean.shape[1])
        return SoftmaxSites(
            np.concatenate([self.precision, more.precision]),
            np.concatenate([self.precision_mean, more.precision_mean]),
            None if self.masses is None else np.concatenate([self.masses, more.masses]),
        )

    def packed(self) -> np.ndarray:
        """Return precisions and precision-means in one vector."""
        return np.concatenate([self.precision.ravel(), self.precision_mean.ravel()])

    def unpacked(self, vector: np.ndarray) -> SoftmaxSites:
        """Return sites of these shapes from a vector as `packed` makes it."""
        n = self.precision.size
        return SoftmaxSites(vector[:n].reshape(self.precision.shape), vector[n:].reshape(self.precision_mean.shape))

    def towards(self, other: SoftmaxSites, share: float) -> SoftmaxSites:
        """Return the sites on the straight line to ``other``."""
        if share == 1.0:
            return other
        return SoftmaxSites(
            (1.0 - share) * self.precision + share * other.precision,
            (1.0 - share) * self.precision_mean + share * other.precision_mean,
        )


class SoftmaxPosterior:
    """The Gaussian at given sites, its marginals, and the diagnostics of the engine that made it.

    Parameters
    ----------
    features : (m, r) array
        Rows in coordinates whose prior is a standard normal, for every contrast.
    sites : SoftmaxSites

    Attributes
    ----------
    weights : (c - 1, r) array
        Mean, one row per contrast.
    blocks : (c - 1, r, c - 1, r) array
        Covariance.
    half_log_determinant : float
        1/2 ln|precision|.
    log_evidence, evidence_kind, objective_trace, n_iter, converged, engine
        As in :class:`~adaptive.inference.Posterior`; set by the engine.

    Raises
    ------
    ValueError
        If there are more than 8,000 unknowns.
    """

    kind = "softmax"  # in its state
    log_evidence: float = np.nan
    evidence_kind: str = "none"
    objective_trace: np.ndarray = np.empty(0)
    n_iter: int = 0
    converged: bool = True
    engine: str = ""

    def __init__(self, features: np.ndarray, sites: SoftmaxSites) -> None:
        r, k = features.shape[1], sites.precision_mean.shape[1]
        check_size(k * r, k)
        self.features, self.sites = features, sites
        self._gaussian = _gaussian(features, sites)
        self.half_log_determinant = self._gaussian.half_log_determinant
        self.weights = self._gaussian.weights

    @property
    def blocks(self) -> np.ndarray:
        """(c - 1, r, c - 1, r) covariance."""
        return self._gaussian.blocks

    @property
    def n(self) -> int:
        return self.weights.size

    @property
    def mean(self) -> np.ndarray:
        """(n,) means of the weights, contrast by contrast."""
        return self.weights.ravel()

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return (
            f"SoftmaxPosterior({self.engine}, n={self.n}, log evidence {self.log_evidence:.6g} ({self.evidence_kind}), "
            f"{state} after {self.n_iter} iterations)"
        )

    def _repr_html_(self) -> str:
        return posterior_html(self)

    def covariance(self) -> np.ndarray:
        """The covariance matrix (n, n)."""
        return self.blocks.reshape(self.n, self.n)

    def covariance_times(self, weights: np.ndarray) -> np.ndarray:
        """The covariance times a vector of weights (c - 1, r), in its shape."""
        return self._gaussian.covariance_times(weights)

    def variances(self) -> np.ndarray:
        """Its diagonal (n,)."""
        return self.covariance().diagonal().copy()

    def sample(self, n: int = 1, random_state: RandomState = None) -> np.ndarray:
        """Draws of the weights, (n, unknowns)."""
        noise = generator(random_state).standard_normal((integer("n", n, minimum=0), self.n))
        return self.mean + noise @ np.linalg.cholesky(self.covariance()).T

    def moments(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means (m, c - 1) and covariances (m, c - 1, c - 1) of the contrasts of rows (m, r)."""
        return features @ self.weights.T, self._gaussian.variance(features)

    @cached_property
    def of_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """``moments`` of the training rows."""
        return self.moments(self.features)

    @property
    def determined(self) -> float:
        """Number of unknowns that the rows determine, n - tr(covariance)."""
        return float(np.einsum("ikl,ikl->", self.sites.precision, self.of_rows[1]))

    def divergence(self) -> float:
        """Return KL(q || prior)."""
        return 0.5 * (float(self.mean @ self.mean) - self.determined) + self.half_log_determinant

    # ------------------------------------------------------------------ as plain data
    def state(self) -> dict[str, Any]:
        """Plain data, its ``kind`` among them, from which `from_state` makes this posterior again, to the last bit."""
        return {
            "kind": self.kind,
            "precision": self.sites.precision,
            "precision_mean": self.sites.precision_mean,
            "masses": self.sites.masses,
            **{name: getattr(self, name) for name in DIAGNOSTICS},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], features: np.ndarray) -> SoftmaxPosterior:
        """The posterior that ``state`` described, of rows (m, r) with these features."""
        sites = SoftmaxSites(state["precision"], state["precision_mean"], state["masses"])
        posterior = SoftmaxPosterior(features, sites)
        for name in DIAGNOSTICS:
            setattr(posterior, name, state[name])
        return posterior


def _gaussian(features: np.ndarray, sites: SoftmaxSites) -> ClassBlocks | WholeMatrix:
    """By class where that is cheaper and possible."""
    n_rows, unknowns = len(features), sites.precision_mean.shape[1] * features.shape[1]
    if sites.masses is not None and _WORTH * n_rows <= unknowns:
        with suppress(np.linalg.LinAlgError):
            return ClassBlocks(features, sites.masses, sites.precision_mean)
    return WholeMatrix(features, sites.precision, sites.precision_mean)


def check_size(n: int, k: int) -> None:
    """Refuse a covariance that would not fit."""
    if n > LARGEST_COVARIANCE:
        raise ValueError(
            f"the joint posterior of {k + 1} classes has {n} unknowns ({k} x {n // k}), above {LARGEST_COVARIANCE}; "
            'use fewer features, or multi_class="one_vs_rest".'
        )
