"""The Gaussian over the weights of all classes, with one Gaussian site per row on its c - 1 contrasts of scores.

    N(beta | 0, I) prod_i exp( nu_i' t_i - t_i' H_i t_i / 2 ),    t_i = (I x phi_i') beta,    scores s_i = E t_i,

E an orthonormal basis of the score vectors that add up to zero.  Its precision is  I + sum_i H_i x phi_i phi_i', one
matrix of (c - 1) r unknowns, so that what a row teaches about one class is told to the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from ..checks import generator, integer
from .posterior import LARGEST_COVARIANCE

__all__ = ["SoftmaxPosterior", "SoftmaxSites"]


class SoftmaxSites:
    """Sites of the rows: precisions (m, c - 1, c - 1) and precision-means (m, c - 1).

    Parameters
    ----------
    precision, precision_mean : arrays
    """

    def __init__(self, precision: np.ndarray, precision_mean: np.ndarray) -> None:
        self.precision, self.precision_mean = precision, precision_mean

    def __len__(self) -> int:
        return len(self.precision)

    @classmethod
    def none(cls, n_rows: int, k: int) -> SoftmaxSites:
        """Return sites that say nothing."""
        return cls(np.zeros((n_rows, k, k)), np.zeros((n_rows, k)))

    def grown(self, n_rows: int) -> SoftmaxSites:
        """Return these sites and, for rows appended since, sites that say nothing."""
        more = SoftmaxSites.none(n_rows - len(self), self.precision_mean.shape[1])
        return SoftmaxSites(
            np.concatenate([self.precision, more.precision]),
            np.concatenate([self.precision_mean, more.precision_mean]),
        )

    def towards(self, other: SoftmaxSites, share: float) -> SoftmaxSites:
        """Return the sites on the straight line to ``other``."""
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

    log_evidence: float = np.nan
    evidence_kind: str = "none"
    objective_trace: np.ndarray = np.empty(0)
    n_iter: int = 0
    converged: bool = True
    engine: str = ""

    def __init__(self, features: np.ndarray, sites: SoftmaxSites) -> None:
        r, k = features.shape[1], sites.precision_mean.shape[1]
        n = k * r
        check_size(n, k)
        self.sites = sites
        precision = np.empty((k, r, k, r))
        for a in range(k):
            weighted = sites.precision[:, a, : a + 1, None] * features[:, None, :]
            block = features.T @ weighted.reshape(len(features), -1)
            precision[a, :, : a + 1, :] = block.reshape(r, a + 1, r)  # only the lower triangle is read
        matrix = precision.reshape(n, n)
        matrix[np.diag_indices(n)] += 1.0
        factor, failed = dpotrf(matrix.T, lower=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the precision of the class weights is singular to working precision")
        self.half_log_determinant = float(np.log(factor.diagonal()).sum())
        pulled = np.ascontiguousarray((features.T @ sites.precision_mean).T).ravel()
        self.weights = dpotrs(factor, pulled, lower=0)[0].reshape(k, r)
        inverse = np.triu(dpotri(factor, lower=0, overwrite_c=1)[0])
        inverse += np.triu(inverse, 1).T
        self.blocks = inverse.reshape(k, r, k, r)

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

    def covariance(self) -> np.ndarray:
        """The covariance matrix (n, n)."""
        return self.blocks.reshape(self.n, self.n)

    def variances(self) -> np.ndarray:
        """Its diagonal (n,)."""
        return self.covariance().diagonal().copy()

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws of the weights, (n, unknowns)."""
        noise = generator(random_state).standard_normal((integer("n", n, minimum=0), self.n))
        return self.mean + noise @ np.linalg.cholesky(self.covariance()).T

    def moments(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means (m, c - 1) and covariances (m, c - 1, c - 1) of the contrasts of rows (m, r)."""
        k = len(self.weights)
        covariance = np.empty((len(features), k, k))
        for a in range(k):
            for b in range(a + 1):
                block = np.einsum("ij,ij->i", features @ self.blocks[a, :, b, :], features)
                covariance[:, a, b] = covariance[:, b, a] = block
        return features @ self.weights.T, covariance

    def divergence(self) -> float:
        """Return KL(q || prior)."""
        trace = float(np.trace(self.covariance()))
        return 0.5 * (float(self.mean @ self.mean) + trace - self.n) + self.half_log_determinant


def check_size(n: int, k: int) -> None:
    """Refuse a covariance that would not fit."""
    if n > LARGEST_COVARIANCE:
        raise ValueError(
            f"the joint posterior of {k + 1} classes has {n} unknowns ({k} x {n // k}), above {LARGEST_COVARIANCE}; "
            'use fewer features, or multi_class="one_vs_rest".'
        )
