"""Independent beliefs that one measurement speaks of at once: a candidate's information is the sum over them.

    gain(candidate) = sum over parts of  1/2 log(1 + explained / noise)

Several images measured by the same lines; several topics of which one document tells. With a target, each part tells
of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from adaptive.parallel import in_parallel
from adaptive.potentials import Gaussian
from adaptive.predictive.base import Predictive, StatedPredictive
from adaptive.predictive.derivations import Way

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["SummedPredictive"]


class SummedPredictive(Predictive):
    """Predictive of candidates whose outcome is one Gaussian outcome, or block of outcomes, of each part.

    Parameters
    ----------
    parts : list of predictives of the same candidates
        Independent of each other, their likelihoods Gaussian; each about its own target, or none.
    n_jobs : int, optional
        Parts are computed by so many workers, through joblib; results do not depend on it.
    approximate : bool, default False
        Whether the parts' Gaussian outcomes stand for others.
    **fields
        Others that are stated, such as ``features``.

    Examples
    --------
    >>> from adaptive.predictive import GaussianProjections
    >>> from adaptive.potentials import Gaussian
    >>> rows = np.array([[1.0], [2.0]])
    >>> part = GaussianProjections.from_rows(rows, np.zeros(1), covariance=1.0, likelihood=Gaussian(1.0))
    >>> SummedPredictive([part, part]).log_determinant()[0].round(3)
    array([1.386, 3.219])
    """

    def __init__(
        self, parts: Sequence[Predictive], *, n_jobs: int | None = None, approximate: bool = False, **fields: Any
    ) -> None:
        self.parts, self.n_jobs, self.approximate = list(parts), n_jobs, approximate
        # Outcomes of another noise are thought of as scaled to that of the first part, or to 1 where candidates differ.
        first = parts[0].likelihood
        self.likelihood = first if first.size is None else Gaussian(1.0)
        super().__init__(len(parts[0]), **fields)
        self._scores: tuple[np.ndarray, np.ndarray] | None = None

    def _provides(self, name: str) -> bool:
        if name in ("refined", "given", "covariance"):
            return all(part.provides(name) for part in self.parts)
        return super()._provides(name)

    def log_determinant(self) -> tuple[np.ndarray, np.ndarray]:
        """log|I + Cov / noise| of every candidate, added over the parts, and standard errors."""
        if self._scores is None:
            self._scores = _sum(in_parallel(_log_determinant, [(part,) for part in self.parts], self.n_jobs))
        return self._scores

    def refined(self, positions: np.ndarray) -> StatedPredictive:
        """The candidates at ``positions``, their determinants exact."""
        found = _sum(in_parallel(_refined, [(part, positions) for part in self.parts], self.n_jobs))
        return StatedPredictive(len(found[0]), log_determinant=lambda: found)

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Covariance of what is measured of candidates ``i`` and ``j``: of every candidate that of part after part."""
        first, second = (np.atleast_1d(np.asarray(k)) for k in (i, j))

        def of_pair(a: int, b: int) -> np.ndarray:
            return scipy.linalg.block_diag(*[part.covariance(a, b) * self._scale(part, a, b) for part in self.parts])

        return np.block([[of_pair(a, b) for b in second] for a in first])

    def _scale(self, part: Predictive, a: int, b: int) -> float:
        noise, own = self.likelihood.parameters["variance"], part.likelihood.parameters["variance"]
        return noise / own if np.ndim(own) == 0 else noise / np.sqrt(own[a] * own[b])

    def given(self, i: int, outcome: Any = None) -> SummedPredictive:
        """The belief had candidate ``i`` been measured of every part, its outcome not known yet."""
        after = in_parallel(_given, [(part, i) for part in self.parts], self.n_jobs)
        return SummedPredictive(after, n_jobs=self.n_jobs, approximate=self.approximate, **self._fields)


def _have(name: str) -> Callable[[SummedPredictive], bool]:
    return lambda summed: all(part.provides(name) for part in summed.parts)


SummedPredictive.ways = Predictive.ways | {
    "target_entropy": (
        Way((), lambda p: float(sum(part.target_entropy for part in p.parts)), _have("target_entropy")),
    ),
    "expected_target_entropy": (
        Way(
            (),
            lambda p: np.sum([part.expected_target_entropy for part in p.parts], axis=0),
            _have("expected_target_entropy"),
        ),
    ),
}


def _sum(found: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Values added, independent errors too."""
    values, errors = zip(*found, strict=True)
    return np.sum(values, axis=0), np.sqrt(np.sum(np.square(errors), axis=0))


# What workers do.
def _log_determinant(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    return predictive.log_determinant()


def _refined(predictive: Predictive, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return predictive.refined(positions).log_determinant()


def _given(predictive: Predictive, position: int) -> Predictive:
    return predictive.given(position)
