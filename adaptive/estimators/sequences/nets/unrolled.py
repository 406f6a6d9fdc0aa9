"""The net over the steps of a window: states forward, gradients back, directions forward.

Step t has the event before it as its input, so that the state it leaves, from which event t is predicted, has not seen
event t.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adaptive.estimators.sequences.nets.cells import Cell

__all__ = ["Unrolled", "unroll"]


@dataclass(frozen=True, eq=False)
class Unrolled:
    """States of T steps, and what the way back needs.

    Attributes
    ----------
    cell : Cell
    own : (R, B, G D, D) array
    before, after : (T, R, B, D) arrays
        States; a user whose steps are over keeps the last one.
    gates : (T, R, B, G D) array
    """

    cell: Cell
    own: np.ndarray
    before: np.ndarray
    after: np.ndarray
    gates: np.ndarray

    @cached_property
    def slopes(self) -> np.ndarray:
        """Factors of gradients on their way back, (T, R, B, n, D)."""
        return self.cell.slopes(self.before, self.gates)

    def gradients(self, by_states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients by inputs (T, R, B, G D) and own matrices from those by states ``after`` (T, R, B, D).

        ``by_states`` must be 0 in steps that are over.
        """
        by_inputs = np.empty((len(by_states), *by_states.shape[1:3], self.gates.shape[-1]), by_states.dtype)
        coming, slopes = np.zeros(by_states.shape[1:], by_states.dtype), self.slopes
        for t in range(len(by_states) - 1, -1, -1):
            coming = self.cell.back(self.own, slopes[t], by_states[t] + coming, by_inputs[t])
        return by_inputs, self.cell.own_gradient(self.before, self.gates, by_inputs, self.own.shape[1] == 1)

    def tangents(self, v: np.ndarray) -> np.ndarray:
        """Return how states ``after`` move (T, R', B, D) when own matrices move by ``v`` (R', B, G D, D)."""
        moved = np.empty((len(self.after), len(v), *self.after.shape[2:]), self.after.dtype)
        u = np.zeros(moved.shape[1:], moved.dtype)
        for t in range(len(moved)):
            u = moved[t] = self.cell.tangent(self.own, self.before[t], self.gates[t], v, u)
        return moved


def unroll(cell: Cell, own: np.ndarray, rows: np.ndarray, start: np.ndarray, steps: np.ndarray) -> Unrolled:
    """Return the states of T steps.

    Parameters
    ----------
    cell : Cell
    own : (R, B or 1, G D, D) array
    rows : (T, R, B, G D) array
        Input rows.
    start : (R, B, D) array
        States before the first step.
    steps : (B,) array
        How many of the steps are a user's; the others are padding.
    """
    length = len(rows)
    states = np.empty((length + 1, *start.shape), start.dtype)
    states[0] = h = start
    gates = np.empty((length, *start.shape[:2], rows.shape[-1]), start.dtype)
    shortest = int(steps.min(initial=length))
    for t in range(length):
        new = cell.step(own, rows[t], h, gates[t])
        if t >= shortest:
            new = np.where((t < steps)[None, :, None], new, h)
        states[t + 1] = h = new
    return Unrolled(cell, own, states[:-1], states[1:], gates)
