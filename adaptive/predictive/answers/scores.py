"""Class scores after several candidates were answered (:mod:`adaptive.predictive.answers`): k contrasts a candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import gen_batches

from adaptive.predictive.answers.learning import Learnt, moves
from adaptive.predictive.joint_gaussian import CANDIDATES

if TYPE_CHECKING:
    from adaptive.predictive.joint_scores import Scores
    from adaptive.types import Index

__all__ = ["AnsweredBlock", "AnsweredScores"]

_AT_ONCE = 2**23  # covariances with the answered candidates


class AnsweredBlock:
    """Moments of the first n candidates' contrasts, and their covariance with a part of everything.

    Attributes
    ----------
    mean : (n, k) array
    covariance : (n k, n k) array
    """

    def __init__(self, source: Scores, n: int) -> None:
        self.source, self.at = source, np.arange(n)
        self.mean = source.mean(CANDIDATES)[:n]
        self.covariance = self.columns(CANDIDATES, self.at).reshape(self.mean.size, -1)

    def columns(self, part: int, i: Index) -> np.ndarray:
        """X (len i, k, n k)."""
        cross = self.source.cross(part, i, CANDIDATES, self.at).transpose(0, 2, 1, 3)
        return cross.reshape(*cross.shape[:2], -1)

    def move(self, scores: np.ndarray, which: np.ndarray, a: np.ndarray, part: int) -> None:
        """Add X a to the scores (members, m, k) of some members, in place; some candidates at a time, for memory."""
        a = a.astype(scores.dtype)
        for some in gen_batches(scores.shape[1], max(1, _AT_ONCE // (a.shape[1] * scores.shape[2]))):
            X = self.columns(part, some).astype(scores.dtype)
            scores[which, some] += (a @ X.reshape(-1, X.shape[2]).T).reshape(len(a), *X.shape[:2])


class AnsweredScores:
    """Contrasts after the first n candidates were answered: a source of its own, on which what-ifs may follow.

    Parameters
    ----------
    parent : a source
    block : AnsweredBlock
        Of ``parent``; shared by all answers.
    learnt : Learnt
    which : int
        The what-if of this component and these answers.
    """

    def __init__(self, parent: Scores, block: AnsweredBlock, learnt: Learnt, which: int) -> None:
        self.n_parts, self.k, self.size = parent.n_parts, parent.k, parent.size
        self._parent, self._block, self._learnt, self._which = parent, block, learnt, which
        self._parts: dict[int, np.ndarray] = {}

    def _columns(self, part: int) -> np.ndarray:
        if part not in self._parts:
            self._parts[part] = self._block.columns(part, slice(None))
        return self._parts[part]

    def mean(self, part: int) -> np.ndarray:
        return self._parent.mean(part) + self._columns(part) @ self._learnt.u[self._which]

    def variance(self, part: int) -> np.ndarray:
        X = self._columns(part)
        return self._parent.variance(part) - (X @ self._learnt.B[self._which]) @ X.transpose(0, 2, 1)

    def cross(self, a: int, i: Index, b: int, j: Index) -> np.ndarray:
        left, right = self._columns(a)[i] @ self._learnt.B[self._which], self._columns(b)[j]
        return self._parent.cross(a, i, b, j) - np.einsum("ikd,jld->ijkl", left, right, optimize=True)

    def column(self, part: int, i: int) -> np.ndarray:
        return self.cross(part, slice(None), CANDIDATES, np.array([i]))[:, 0]

    def draw(self, n: int, generator: np.random.Generator) -> list[np.ndarray]:
        """Return the parent's draws, moved so that each answered candidate has its new moments (Matheron's rule)."""
        drawn, block = self._parent.draw(n, generator), self._block
        a = moves(self._learnt, self._which, drawn[CANDIDATES][:, block.at], block.mean, block.covariance)
        return [draws + np.einsum("nd,mkd->nmk", a, self._columns(p), optimize=True) for p, draws in enumerate(drawn)]
