"""Parameters of `BradleyTerry` as values; the prior of the strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.ids import ids_of
from adaptive.estimators.preferences.catalogue import catalogue_of, refuse_half_a_kernel
from adaptive.estimators.preferences.strengths.outcomes import OUTCOMES, OUTCOMES_WITHOUT_TIES
from adaptive.estimators.preferences.strengths.propagation import Latents

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.types import ArrayLike, Id, Table

__all__ = ["SCALES", "StrengthSettings", "log_prior_of"]

SCALES = 0.25 * 2.0 ** (0.75 * np.arange(7))  # deviations of strengths, in logits
_SPREAD = 0.8  # of the prior of their logarithms


def log_prior_of(scales: np.ndarray) -> np.ndarray:
    """Return log prior weights (k,) of scales, which add up to 1: they are around 1 in all fields alike."""
    logs = -0.5 * (np.log(scales) / _SPREAD) ** 2
    return logs - np.logaddexp.reduce(logs)


@dataclass(frozen=True, eq=False)
class StrengthSettings(Settings):
    """Parameters of :class:`~adaptive.BradleyTerry`, under the same names."""

    items: Sequence[Id] | np.ndarray | None = None
    kernel: Kernel | Table | None = None
    item_features: Table | Mapping[Id, ArrayLike] | None = None
    alpha: float = 0.1
    ties: bool = True
    position_bias: bool = True
    judges: bool | Mapping[Id, float] = False
    scale: float | None = None
    max_iter: int = 200
    tol: float = 1e-4

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.positive("alpha", self.alpha, or_zero=True)
        checks.integer("max_iter", self.max_iter, minimum=1)
        checks.positive("tol", self.tol, or_zero=True)
        if self.scale is not None:
            checks.positive("scale", self.scale)
        for name in ("ties", "position_bias"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        refuse_half_a_kernel(self.kernel, self.item_features)
        if self.items is not None and self.kernel is not None:
            raise ValueError("items are named by item_features, or by the kernel's frame: leave items out.")
        if not isinstance(self.judges, (bool, np.bool_, Mapping)):
            raise ValueError(f"judges must be True, False or a mapping from judges to skills, got {self.judges!r:.60}.")
        for judge, skill in self.known_skills.items():
            if not 0.0 < float(skill) <= 1.0:
                raise ValueError(
                    f"judges must be right with probabilities above 0 up to 1, got {skill!r} for {judge!r}."
                )

    @property
    def judged(self) -> bool:
        """True where comparisons name a judge."""
        return isinstance(self.judges, Mapping) or bool(self.judges)

    @property
    def known_skills(self) -> Mapping[Id, float]:
        """Skills that are given, by judge."""
        return self.judges if isinstance(self.judges, Mapping) else {}

    @property
    def outcomes(self) -> np.ndarray:
        """Values that a comparison may come out as."""
        return OUTCOMES if self.ties else OUTCOMES_WITHOUT_TIES

    @property
    def scales(self) -> np.ndarray:
        """Scales at which there is a belief."""
        return SCALES if self.scale is None else np.array([float(self.scale)])

    @cached_property
    def catalogue(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Ids (n,) of the items known before any comparison, and K (n, n)."""
        if self.items is None:
            return catalogue_of(self.kernel, self.item_features, self.alpha)
        ids = ids_of("items", np.array(list(self.items)))
        if len(np.unique(ids)) < len(ids):
            twice = next(one for k, one in enumerate(ids.tolist()) if one in ids[:k])
            raise ValueError(f"items must differ: {twice!r} is listed twice.")
        return ids, None

    @cached_property
    def own_variance(self) -> float:
        """Variance of an item that nothing is known of, at scale 1."""
        matrix = self.catalogue[1]
        return 1.0 if matrix is None else float(np.mean(np.diag(matrix)))

    def latents(self, n_items: int, judges: np.ndarray) -> Latents:
        """Unknowns at scale 1."""
        matrix, precision = self.catalogue[1], np.eye(n_items) / self.own_variance
        if matrix is not None:
            n = len(matrix)
            precision[:n, :n] = linalg.cho_solve(linalg.cho_factor(matrix, lower=True), np.eye(n))
        skills = None
        if self.judged:
            skills = np.array([float(self.known_skills.get(one, np.nan)) for one in judges.tolist()])
        return Latents(precision, len(judges), bool(self.ties), bool(self.position_bias), skills)
