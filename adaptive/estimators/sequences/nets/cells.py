"""Two cells: what a state becomes with the next input, how a gradient comes back through it, and a direction forward.

    tanh    h' = tanh(W h + x)
    GRU     w = s(W_w h + x_w),  r = s(W_r h + x_r),  c = tanh(W_c (r h) + x_c),  h' = (1 - w) h + w c

Arrays are (members, users, ...): states (R, B, D), inputs and gates (R, B, G D), a user's own matrix (R, B, G D, D), or
(R, 1, G D, D) where all users share one. The members' axis of any of them may be 1.

References: Ko (2017), section 3.3; the GRU is that of Cho et al. (2014).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

__all__ = ["CELLS", "Cell", "Gated", "Plain"]


def logistic(z: np.ndarray, out: np.ndarray) -> None:
    """1 / (1 + exp(-z)), of z in place, into ``out``: by tanh, which NumPy has vectorised."""
    z *= 0.5
    np.tanh(z, out=out)
    out *= 0.5
    out += 0.5


def times(matrix: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return (R, B, K) products of matrices (R, B or 1, K, D) and vectors (R, B, D)."""
    if matrix.shape[1] == 1 and h.shape[1] > 1:
        return np.matmul(h, matrix[:, 0].swapaxes(1, 2))
    return np.matmul(matrix, h[..., None])[..., 0]


def outer(gates: np.ndarray, states: np.ndarray, shared: bool) -> np.ndarray:
    """Return sum_t gates_t states_t' of each user (R, B, K, D), or of all together (R, 1, K, D)."""
    if shared:
        g, h = (np.moveaxis(one, 1, 0).reshape(one.shape[1], -1, one.shape[-1]) for one in (gates, states))
        return np.matmul(g.swapaxes(1, 2), h)[:, None]
    return np.matmul(gates.transpose(1, 2, 3, 0), states.transpose(1, 2, 0, 3))


class Cell(Protocol):
    """Cell of a recurrent net; ``gates`` are what it keeps of a step for the way back."""

    n_gates: int

    def step(self, own: np.ndarray, x: np.ndarray, h: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """Return the next state (R, B, D), and write gates (R, B, G D)."""

    def slopes(self, before: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """Return what ``back`` multiplies by, (T, R, B, n, D): of all steps at once."""

    def back(self, own: np.ndarray, slopes: np.ndarray, g: np.ndarray, by_input: np.ndarray) -> np.ndarray:
        """Return the gradient by the state before (R, B, D), given that by the next one; write that by the inputs."""

    def tangent(self, own: np.ndarray, h: np.ndarray, gates: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return how the next state moves when the own matrix moves by ``v`` and the state before by ``u``."""

    def own_gradient(self, before: np.ndarray, gates: np.ndarray, g: np.ndarray, shared: bool) -> np.ndarray:
        """Return the gradient by the own matrix from those by inputs, over all steps (T, R, B, ...)."""


class Plain:
    """h' = tanh(W h + x)."""

    n_gates = 1

    def step(self, own: np.ndarray, x: np.ndarray, h: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """Return the next state, which is the gate as well."""
        return np.tanh(times(own, h) + x, out=gates)

    def slopes(self, before: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """Return 1 - h'^2."""
        return (1.0 - gates * gates)[..., None, :]

    def back(self, own: np.ndarray, slopes: np.ndarray, g: np.ndarray, by_input: np.ndarray) -> np.ndarray:
        """Return the gradient by the state before."""
        np.multiply(g, slopes[..., 0, :], out=by_input)
        return times(own.swapaxes(2, 3), by_input)

    def tangent(self, own: np.ndarray, h: np.ndarray, gates: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return how the next state moves."""
        return (1.0 - gates * gates) * (times(v, h) + times(own, u))

    def own_gradient(self, before: np.ndarray, gates: np.ndarray, g: np.ndarray, shared: bool) -> np.ndarray:
        """Return sum_t g_t h_{t-1}'."""
        return outer(g, before, shared)


class Gated:
    """The GRU, its rows in the order w (how much is new), r (how much is remembered), c (what is new)."""

    n_gates = 3

    def step(self, own: np.ndarray, x: np.ndarray, h: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """Return the next state; gates are w, r, c side by side."""
        d = h.shape[-1]
        w, r, c = gates[..., :d], gates[..., d : 2 * d], gates[..., 2 * d :]
        logistic(times(own[:, :, : 2 * d], h) + x[..., : 2 * d], gates[..., : 2 * d])
        np.tanh(times(own[:, :, 2 * d :], r * h) + x[..., 2 * d :], out=c)
        new = c - h
        new *= w
        new += h
        return new

    def slopes(self, before: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """Return, of g: w (1 - c^2), (c - h) w (1 - w), 1 - w; and of what comes back through r h: h r (1 - r), r."""
        d = before.shape[-1]
        w, r, c = gates[..., :d], gates[..., d : 2 * d], gates[..., 2 * d :]
        rest = 1.0 - w
        return np.stack([w * (1.0 - c * c), (c - before) * w * rest, rest, before * r * (1.0 - r), r], axis=-2)

    def back(self, own: np.ndarray, slopes: np.ndarray, g: np.ndarray, by_input: np.ndarray) -> np.ndarray:
        """Return the gradient by the state before; those by inputs are of w, r, c (the specification's 6.3)."""
        d = g.shape[-1]
        direct = g[..., None, :] * slopes[..., :3, :]
        by_input[..., 2 * d :], by_input[..., :d] = direct[..., 0, :], direct[..., 1, :]
        remembered = times(own[:, :, 2 * d :].swapaxes(2, 3), direct[..., 0, :])
        through = remembered[..., None, :] * slopes[..., 3:, :]
        by_input[..., d : 2 * d] = through[..., 0, :]
        before = times(own[:, :, : 2 * d].swapaxes(2, 3), by_input[..., : 2 * d])
        before += direct[..., 2, :]
        before += through[..., 1, :]
        return before

    def tangent(self, own: np.ndarray, h: np.ndarray, gates: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return how the next state moves."""
        d = h.shape[-1]
        wr, c = gates[..., : 2 * d], gates[..., 2 * d :]
        w, r = wr[..., :d], wr[..., d:]
        moved = wr * (1.0 - wr) * (times(v[:, :, : 2 * d], h) + times(own[:, :, : 2 * d], u))
        by_w, by_r = moved[..., :d], moved[..., d:]
        by_c = times(v[:, :, 2 * d :], r * h) + times(own[:, :, 2 * d :], by_r * h + r * u)
        return (1.0 - w) * u + by_w * (c - h) + w * (1.0 - c * c) * by_c

    def own_gradient(self, before: np.ndarray, gates: np.ndarray, g: np.ndarray, shared: bool) -> np.ndarray:
        """Return sum_t g_t h_{t-1}', for c with r h in the place of h."""
        d = before.shape[-1]
        remembered = gates[..., d : 2 * d] * before
        parts = outer(g[..., : 2 * d], before, shared), outer(g[..., 2 * d :], remembered, shared)
        return np.concatenate(parts, axis=2)


CELLS: dict[str, Cell] = {"tanh": Plain(), "gru": Gated()}
