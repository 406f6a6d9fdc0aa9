"""One of several posteriors is right: weighted Gaussians over the same unknowns, one for each value of what is unknown
beside them.

    mean = sum_k w_k m_k,    covariance = sum_k w_k (V_k + (m_k - mean)(m_k - mean)')
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator, integer
from adaptive.predictive import Mixture, StatedPredictive  # house: quantiles of mixtures are those of predictives
from adaptive.showing import posterior_html

if TYPE_CHECKING:
    from adaptive.inference.posterior import Posterior
    from adaptive.types import ArrayLike, Matrix, RandomState

__all__ = ["MixturePosterior"]


class MixturePosterior:
    """Weighted posteriors; it answers about the unknowns what each of them does.

    Parameters
    ----------
    weights : (k,) array, adding up to 1
    posteriors : sequence of k Posteriors
        Over the same n unknowns.
    log_evidence : float
        Of all together.

    Attributes
    ----------
    mean : (n,) array
    n : int
    components : list of (weight, Posterior)

    Examples
    --------
    >>> from adaptive.inference import GLM, laplace_approximation
    >>> one, other = (laplace_approximation(GLM(B=[], potentials=[], prior_mean=[m], prior_covariance=1.0))
    ...               for m in (-1.0, 1.0))
    >>> both = MixturePosterior(np.array([0.5, 0.5]), [one, other], 0.0)
    >>> both.mean, both.variances()
    (array([0.]), array([2.]))
    """

    def __init__(self, weights: np.ndarray, posteriors: Sequence[Posterior], log_evidence: float) -> None:
        self.weights, self.posteriors, self.log_evidence = np.asarray(weights), tuple(posteriors), float(log_evidence)

    def __repr__(self) -> str:
        best = self.posteriors[int(np.argmax(self.weights))]
        return (
            f"MixturePosterior({len(self.weights)} nodes, n={self.n}, log evidence {self.log_evidence:.6g}, "
            f"the heaviest {self.weights.max():.0%}: {best!r})"
        )

    def _repr_html_(self) -> str:
        heaviest = [("nodes", len(self.weights)), ("weight of the heaviest", f"{self.weights.max():.0%}")]
        return posterior_html(self.posteriors[int(np.argmax(self.weights))], "MixturePosterior", heaviest)

    @property
    def components(self) -> list[tuple[float, Posterior]]:
        """[(weight, Posterior)]."""
        return [(float(w), posterior) for w, posterior in zip(self.weights, self.posteriors, strict=True)]

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.posteriors[0].n

    @property
    def evidence_kind(self) -> str:
        """Kind of the log evidence."""
        return self.posteriors[0].evidence_kind

    @property
    def objective_trace(self) -> np.ndarray:
        """One value per iteration, of the first posterior."""
        return self.posteriors[0].objective_trace

    @property
    def n_iter(self) -> int:
        """Iterations of the longest inference."""
        return max(posterior.n_iter for posterior in self.posteriors)

    @property
    def converged(self) -> bool:
        """Return whether all parts have converged."""
        return all(posterior.converged for posterior in self.posteriors)

    @cached_property
    def mean(self) -> np.ndarray:
        """(n,) means."""
        return self.weights @ np.stack([posterior.mean for posterior in self.posteriors])

    def projection_moments(self, B_new: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the projections ``B_new u``, (m,) each."""
        means, variances = self._moments(B_new)
        mean = self.weights @ means
        return mean, self.weights @ (variances + np.square(means - mean))

    def variances(self, B: Matrix | None = None) -> np.ndarray:
        """Variances of the projections ``B u`` (default: of the unknowns)."""
        if B is not None:
            return self.projection_moments(B)[1]
        spread = [np.square(p.mean - self.mean) + p.variances() for p in self.posteriors]
        return self.weights @ np.stack(spread)

    def covariance(self) -> np.ndarray:
        """(n, n)."""
        return sum(  # type: ignore[return-value]
            w * (p.covariance() + np.multiply.outer(p.mean - self.mean, p.mean - self.mean)) for w, p in self.components
        )

    def quantiles(self, B_new: Matrix, probabilities: ArrayLike) -> np.ndarray:
        """Quantiles (len probabilities, m) of the projections ``B_new u``."""
        parts = [StatedPredictive(mean=m, variance=v) for m, v in zip(*self._moments(B_new), strict=True)]
        return Mixture(self.weights, parts).quantiles(probabilities)

    def sample(self, n: int = 1, random_state: RandomState = None) -> np.ndarray:
        """Draws (n, unknowns), each from one of the posteriors."""
        rng = generator(random_state)
        counts = rng.multinomial(integer("n", n, minimum=0), self.weights)
        drawn = [posterior.sample(int(count), rng) for posterior, count in zip(self.posteriors, counts, strict=True)]
        return rng.permutation(np.concatenate(drawn))

    def _moments(self, rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
        moments = [posterior.projection_moments(rows) for posterior in self.posteriors]
        return np.stack([mean for mean, _ in moments]), np.stack([variance for _, variance in moments])
