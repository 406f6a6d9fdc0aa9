"""Several groups of potentials seen as one: functions split their rows by group and join what the groups answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["GroupedPotential", "grouped"]


class GroupedPotential:
    """Potentials of different families, one after the other along the last axis.

    Parameters
    ----------
    potentials : list of Potential
        One per group; scalar ones serve every row of their group.
    lengths : list of int
        Rows of each group.

    Examples
    --------
    >>> from adaptive.potentials import Gaussian, Laplace
    >>> both = GroupedPotential([Laplace(1.0), Gaussian(1.0)], [1, 2])
    >>> both.log_density([0.0, 0.0, 0.0]).round(3)
    array([-0.693, -0.919, -0.919])
    """

    def __init__(self, potentials: Sequence[Any], lengths: Sequence[int]):
        self.potentials, self.lengths = list(potentials), [int(k) for k in lengths]
        ends = np.cumsum([0, *self.lengths])
        self._slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.size = int(ends[-1])

    def __getitem__(self, rows: Any) -> Any:
        """The potentials of the given rows, in the order given."""
        positions = np.arange(self.size)[rows]
        if np.ndim(positions) == 0:
            positions = positions[None]
        group = np.searchsorted([s.stop for s in self._slices], positions, side="right")
        cuts = np.flatnonzero(np.diff(group)) + 1
        parts, lengths = [], []
        for run in np.split(positions, cuts) if len(positions) else []:
            g = int(np.searchsorted([s.stop for s in self._slices], run[0], side="right"))
            parts.append(self.potentials[g][run - self._slices[g].start])
            lengths.append(len(run))
        return grouped(parts, lengths)

    def parts(self) -> list[tuple[Any, slice]]:
        """The groups' potentials with their rows."""
        return list(zip(self.potentials, self._slices, strict=True))

    def _all(self, flag: str) -> bool:
        return all(bool(np.all(getattr(p, flag))) for p in self.potentials)

    @property
    def log_concave(self) -> bool:
        return self._all("log_concave")

    @property
    def super_gaussian(self) -> bool:
        return self._all("super_gaussian")

    @property
    def smooth(self) -> bool:
        return self._all("smooth")

    @property
    def tilt(self) -> np.ndarray:
        return self._column("tilt")

    @property
    def location(self) -> np.ndarray:
        return self._column("location")

    @property
    def weights(self) -> np.ndarray | None:
        """How often each row counts; None where none has a weight of its own."""
        if not any(hasattr(p, "weights") for p in self.potentials):
            return None
        pairs = zip(self.potentials, self.lengths, strict=True)
        return np.concatenate([getattr(p, "weights", np.ones(k)) for p, k in pairs])

    def _column(self, name: str) -> np.ndarray:
        pairs = zip(self.potentials, self.lengths, strict=True)
        return np.concatenate([np.broadcast_to(np.asarray(getattr(p, name), dtype=float), (k,)) for p, k in pairs])

    def _map(self, name: str, *arrays: Any, **options: Any) -> Any:
        """Call a method of every group on its rows of the arrays; numbers are passed on as they are."""
        arrays = tuple(np.asarray(a, dtype=float) for a in arrays)
        answers = [
            getattr(p, name)(*(a[..., s] if a.ndim else a for a in arrays), **options)
            for p, s in zip(self.potentials, self._slices, strict=True)
        ]
        if isinstance(answers[0], tuple):
            return tuple(np.concatenate(column, axis=-1) for column in zip(*answers, strict=True))
        return np.concatenate(answers, axis=-1)

    def log_density(self, s: Any) -> np.ndarray:
        return self._map("log_density", s)

    def derivatives(self, s: Any) -> tuple[np.ndarray, np.ndarray]:
        return self._map("derivatives", s)

    def third_derivative(self, s: Any) -> np.ndarray:
        return self._map("third_derivative", s)

    def expectation(self, mean: Any, variance: Any) -> np.ndarray:
        return self._map("expectation", mean, variance)

    def expectation_derivatives(self, mean: Any, variance: Any) -> tuple[np.ndarray, ...]:
        return self._map("expectation_derivatives", mean, variance)

    def tilted_moments(self, mean: Any, variance: Any, fraction: Any = 1.0) -> tuple[np.ndarray, ...]:
        if not np.ndim(fraction):
            return self._map("tilted_moments", mean, variance, fraction=fraction)
        answers = [  # only weighted potentials take a fraction for each row; that of others is one number
            p.tilted_moments(mean[s], variance[s], fraction[s] if hasattr(p, "weights") else float(fraction[s][0]))
            for p, s in zip(self.potentials, self._slices, strict=True)
        ]
        return tuple(np.concatenate(column, axis=-1) for column in zip(*answers, strict=True))

    def tight_width(self, s: Any) -> np.ndarray:
        return self._map("tight_width", s)

    def height(self, width: Any) -> np.ndarray:
        return self._map("height", width)

    def height_derivatives(self, width: Any) -> tuple[np.ndarray, np.ndarray]:
        return self._map("height_derivatives", width)

    def concave_height_slope(self, width: Any) -> np.ndarray:
        return self._map("concave_height_slope", width)

    def inner(self, s: Any, z1: Any = 0.0, z2: Any = 0.0, z3: Any = 0.0) -> tuple[np.ndarray, ...]:
        return self._map("inner", s, z1, z2, z3)

    def inner_minimum(self, s: Any, z1: Any = 0.0, z2: Any = 0.0, z3: Any = 0.0) -> tuple[np.ndarray, ...]:
        return self._map("inner_minimum", s, z1, z2, z3)


def grouped(potentials: Sequence[Any], lengths: Sequence[int]) -> Any:
    """The only potential where there is one group, else all of them as one."""
    return potentials[0] if len(potentials) == 1 else GroupedPotential(potentials, lengths)
