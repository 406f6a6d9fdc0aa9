"""Several groups of potentials seen as one: functions split their rows by group and join what the groups answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaptive.potentials.base import Potential
from adaptive.potentials.sharing import MEMBERS

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Index, Number

__all__ = ["GroupedPotential", "grouped"]


class GroupedPotential(Potential):
    """Potentials of different families, one after the other along the last axis.

    What is not written here is shared out as :mod:`adaptive.potentials.sharing` says.

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

    size: int

    def __init__(self, potentials: Sequence[Potential], lengths: Sequence[int]):
        self.potentials, self.lengths = list(potentials), [int(k) for k in lengths]
        ends = np.cumsum([0, *self.lengths])
        self._slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.size = int(ends[-1])

    def __repr__(self) -> str:
        return f"{self.name}({self.potentials}, {self.lengths})"

    def __getitem__(self, rows: Index) -> Potential:  # type: ignore[override]
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

    def expand(self, size: int) -> Self:
        if size != self.size:
            raise ValueError(f"{self.name} of length {self.size} cannot be expanded to {size} rows.")
        return self

    def parts(self) -> list[tuple[Potential, slice]]:
        """The groups' potentials with their rows."""
        return list(zip(self.potentials, self._slices, strict=True))

    # ------------------------------------------------------------------------------------------ shared out among groups
    def _map(self, name: str, *arrays: ArrayLike | None) -> Any:
        """Call a method of every group on its rows of the arrays; numbers are passed on as they are."""
        given = [a if a is None else np.asarray(a, dtype=float) for a in arrays]
        answers = [
            getattr(p, name)(*(a[..., s] if a is not None and a.ndim else a for a in given))
            for p, s in zip(self.potentials, self._slices, strict=True)
        ]
        if isinstance(answers[0], tuple):
            return tuple(np.concatenate(column, axis=-1) for column in zip(*answers, strict=True))
        return np.concatenate(answers, axis=-1)

    def _column(self, values: Sequence[Number]) -> np.ndarray:
        """One entry per row of what every group has as a number or an array."""
        pairs = zip(values, self.lengths, strict=True)
        return np.concatenate([np.broadcast_to(np.asarray(value, dtype=float), (k,)) for value, k in pairs])

    @property
    def weights(self) -> np.ndarray | None:  # type: ignore[override]
        """Number of times each row counts; None where none has a weight of its own."""
        if all(p.weights is None for p in self.potentials):
            return None
        return self._column([1.0 if p.weights is None else p.weights for p in self.potentials])

    @property
    def kinks(self) -> tuple[float, ...]:  # type: ignore[override]
        return tuple(sorted({kink for p in self.potentials for kink in p.kinks}))

    @property
    def support(self) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[override]
        lower, upper = zip(*(p.support for p in self.potentials), strict=True)
        return self._column(lower), self._column(upper)

    def gaussian_moments(self) -> tuple[np.ndarray, np.ndarray] | None:
        found = [p.gaussian_moments() for p in self.potentials]
        means, variances = ([m[k] for m in found if m is not None] for k in (0, 1))
        return (self._column(means), self._column(variances)) if len(means) == len(found) else None

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return self._map("log_density", s, y)

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        return self._map("derivatives", s, y)

    def tilted_moments(
        self, mean: ArrayLike, variance: ArrayLike, fraction: Number = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not isinstance(fraction, np.ndarray) or not fraction.ndim:
            return self._map("tilted_moments", mean, variance, fraction)
        mean, variance = np.asarray(mean, dtype=float), np.asarray(variance, dtype=float)
        answers = []
        for p, s in self.parts():  # only weighted potentials take a fraction for each row; that of others is one number
            share: Any = float(fraction[s][0]) if p.weights is None else fraction[s]
            answers.append(p.tilted_moments(mean[s], variance[s], share))
        log_normaliser, centre, spread = (np.concatenate(column, axis=-1) for column in zip(*answers, strict=True))
        return log_normaliser, centre, spread


# ---------------------------------------------------------------------------------------- what the list of members says
def _rows(name: str) -> Callable[..., Any]:
    by_potential = getattr(Potential, name)
    signature = inspect.signature(by_potential)

    @wraps(by_potential)
    def method(self: GroupedPotential, *arrays: ArrayLike, **named: ArrayLike) -> Any:
        if named:
            given = signature.bind(self, *arrays, **named)
            given.apply_defaults()
            arrays = given.args[1:]
        return self._map(name, *arrays)

    return method


def _column(name: str) -> property:
    return property(lambda self: self._column([getattr(p, name) for p in self.potentials]))


def _all(name: str) -> property:
    return property(lambda self: all(bool(np.all(getattr(p, name))) for p in self.potentials))


def _any(name: str) -> property:
    return property(lambda self: any(bool(np.any(getattr(p, name))) for p in self.potentials))


def _common(name: str) -> property:
    def member(self: GroupedPotential) -> Any:
        said = {getattr(p, name) for p in self.potentials}
        return said.pop() if len(said) == 1 else None

    return property(member)


_WAYS = {"rows": _rows, "column": _column, "all": _all, "any": _any, "common": _common}
for _name, _member in MEMBERS.items():
    if _member.groups in _WAYS:
        setattr(GroupedPotential, _name, _WAYS[_member.groups](_name))


def grouped(potentials: Sequence[Potential], lengths: Sequence[int]) -> Potential:
    """The only potential where there is one group, else all of them as one."""
    return potentials[0] if len(potentials) == 1 else GroupedPotential(potentials, lengths)
