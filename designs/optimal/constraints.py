"""Constraints on what takes the place of a run: replicates, forbidden pairs, budgets, whatever a function says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, integer, positive, shape

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Constraints"]

SLACK = 1e-9  # relative, of budgets: sums of decimal numbers may miss them by rounding


class Constraints:
    """The rules of a design over ``n`` candidates; arguments as in ``optimal_design``."""

    def __init__(
        self,
        n: int,
        n_runs: int,
        *,
        max_replicates: ArrayLike | None = None,
        include: ArrayLike = (),
        allowed: ArrayLike | None = None,
        forbidden: Iterable[tuple[int, int]] = (),
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        feasible: Callable[[np.ndarray], bool] | None = None,
    ):
        self.n, self.n_runs = n, n_runs
        most = n_runs if max_replicates is None else max_replicates
        if np.ndim(most) == 0:
            most = integer("max_replicates", most, minimum=1)
        else:
            shape("max_replicates", most, (n,))
        self.most = np.broadcast_to(np.asarray(most), (n,)).astype(int)
        if allowed is not None:
            shape("allowed", allowed, (n,))
            if np.asarray(allowed).dtype != bool:
                raise ValueError(f"allowed must be an array of booleans, got {np.asarray(allowed).dtype}.")
            self.most = np.where(allowed, self.most, 0)
        self.include = self._positions("include", include)
        if len(self.include) > n_runs:
            raise ValueError(f"include must hold at most n_runs = {n_runs} positions, got {len(self.include)}.")
        self.partners: dict[int, list[int]] = {}
        for pair in forbidden:
            i, j = self._positions("forbidden", pair, 2)
            self.partners.setdefault(int(i), []).append(int(j))
            self.partners.setdefault(int(j), []).append(int(i))
        self.amounts, self.upper = np.zeros((0, n)), np.zeros(0)
        if limits is not None:
            if not isinstance(limits, tuple) or len(limits) != 2:
                raise ValueError(
                    "limits must be a pair (amounts, upper): amounts of every candidate and their largest sums."
                )
            self.amounts = np.atleast_2d(positive("limits[0]", limits[0], or_zero=True))
            self.upper = np.atleast_1d(finite("limits[1]", limits[1]))
            shape("limits[0]", self.amounts, (len(self.upper), n))
        if feasible is not None and not callable(feasible):
            raise ValueError(
                f"feasible must be a function of the positions of a design, got {type(feasible).__name__}."
            )
        self.feasible = feasible
        room = int(np.minimum(self.most, n_runs).sum())
        if room < n_runs:
            raise ValueError(f"n_runs must be at most {room}, what max_replicates and allowed leave, got {n_runs}.")

    def candidates(self, others: np.ndarray) -> np.ndarray:
        """Mask of the candidates (n,) that may join the runs at these positions, as far as pairs and sums go."""
        mask = np.bincount(others, minlength=self.n) < self.most
        for position in set(others.tolist()) & self.partners.keys():
            mask[self.partners[position]] = False
        if len(self.upper):
            missing = self.n_runs - len(others) - 1  # each of them needs at least the cheapest
            spent = self.amounts[:, others].sum(axis=1) + missing * self.amounts[:, self.most > 0].min(axis=1)
            limit = self.upper + SLACK * np.abs(self.upper)
            mask &= (spent[:, None] + self.amounts <= limit[:, None]).all(axis=0)
        return mask

    def accepts(self, positions: np.ndarray) -> bool:
        """Ask ``feasible`` about a complete design."""
        return self.feasible is None or bool(self.feasible(np.sort(positions)))

    def random_start(self, rng: np.random.Generator, attempts: int = 1000) -> np.ndarray:
        """Positions of a design that keeps the rules, what is included first."""
        for _ in range(attempts):
            positions = np.empty(0, np.intp)
            for position in self.include:
                if not self.candidates(positions)[position]:
                    raise ValueError(f"include must keep the other constraints, position {position} breaks them.")
                positions = np.append(positions, position)
            while len(positions) < self.n_runs:
                choices = np.flatnonzero(self.candidates(positions))
                if not len(choices):
                    break
                positions = np.append(positions, rng.choice(choices))
            if len(positions) == self.n_runs and self.accepts(positions):
                return positions
        raise ValueError(
            f"no design of {self.n_runs} runs was found that keeps the constraints, in {attempts} attempts."
        )

    def _positions(self, name: str, values: ArrayLike, length: int | None = None) -> np.ndarray:
        array = np.asarray(values)
        if array.size == 0 and length is None:
            return np.empty(0, np.intp)
        if array.ndim != 1 or array.dtype.kind not in "iu" or (length is not None and len(array) != length):
            raise ValueError(
                f"{name} must hold {'pairs of ' if length else ''}positions of candidates, got {values!r}."
            )
        if (array < 0).any() or (array >= self.n).any():
            raise ValueError(f"{name} must hold positions between 0 and {self.n - 1}, got {values!r}.")
        return array.astype(np.intp)
