"""Laplace's approximation of users' own matrices, the shared ones fixed:  N(mode, (1 + J' M J)^-1).

    prior      W_u = mean + A z B',  z ~ N(0, 1): a matrix normal distribution per gate, fitted to all users
    mode       Gauss-Newton steps in z by conjugate gradients, as long as the log posterior rises
    products   (1 + J' M J) v:   v forward as a direction, through the curvature M_t = W'(diag p - p p')W of each
               event's loss in its state, and back as a gradient; no matrix over a user's parameters is made
    draws      x = (1 + J' M J)^-1 b,  b of that covariance, so that x is of its inverse

In z the prior has no directions, so that few products solve a system: as many as the events tell of.

References: Schraudolph (2002), on products with curvature; Papandreou and Yuille (2010), on draws by solving; Dutilleul
(1999), on fitting a matrix normal distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adaptive.estimators.sequences.nets.batching import padded
from adaptive.estimators.sequences.nets.item_softmax import block_rows, exact_losses, log_probabilities
from adaptive.estimators.sequences.nets.unrolled import Unrolled, unroll
from adaptive.estimators.sequences.nets.weights import Weights

__all__ = ["PRIOR_DRAWS", "OwnPrior", "drawn_own", "settled"]

STEPPED, SOLVED, MOST_PRODUCTS = 1e-2, 1e-3, 100  # relative residuals of a step and of a draw; products they may take
MOST_STEPS, SETTLED = 20, 1e-2  # steps to a mode, which is reached when one gains less, in nats
LEAST_VARIANCE = 1e-4
PRIOR_DRAWS = 8  # of each user's own matrix, by which a prior is fitted
ROUNDS = 5  # of rows given columns and columns given rows
BLOCK = 2**22  # entries of an array over draws, users, steps and gates


@dataclass(frozen=True, eq=False)
class OwnPrior:
    """Prior of somebody's own matrix before they did anything: W = mean + A z B', gate by gate.

    Attributes
    ----------
    mean : (G D, D) array
    rows, columns : (G, D, D) arrays
        A and B: which entries of a gate's matrix go together, by what they act on and by what they read.
    """

    mean: np.ndarray
    rows: np.ndarray
    columns: np.ndarray

    @classmethod
    def alike(cls, mean: np.ndarray, variances: np.ndarray) -> OwnPrior:
        """Entries that are independent, with one variance per gate (G,)."""
        eye = np.eye(mean.shape[1])
        return cls(mean, np.sqrt(variances)[:, None, None] * eye, np.repeat(eye[None], len(variances), axis=0))

    @classmethod
    def fitted(cls, own: np.ndarray, n_gates: int, draws: np.ndarray | None = None) -> OwnPrior:
        """The most probable one of users' matrices (U, G D, D); ``draws`` (n, U, G D, D) say how little is known.

        As if one user more differed from the mean by as much as users do, entry by entry alike.
        """
        mean, d = own.mean(axis=0), own.shape[2]
        apart = (own[None] if draws is None else draws) - mean
        apart = apart.reshape(-1, n_gates, d, d)
        n_users, each = len(own), len(apart) / len(own)  # draws count as one user together
        level = np.maximum((apart**2).mean(axis=(0, 2, 3)), LEAST_VARIANCE)
        eye = np.eye(d)
        columns = np.repeat(eye[None], n_gates, axis=0)
        rows = np.empty_like(columns)
        for gate in range(n_gates):
            x = apart[:, gate]
            for _ in range(ROUNDS):
                read = np.linalg.solve(columns[gate], x.swapaxes(1, 2)).swapaxes(1, 2)
                rows[gate] = np.einsum("nij,nkj->ik", read, x, optimize=True) / each + d * level[gate] * eye
                rows[gate] /= (n_users + 1) * d
                acts = np.linalg.solve(rows[gate], x)
                columns[gate] = np.einsum("nij,nik->jk", acts, x, optimize=True) / each + d * eye
                columns[gate] /= (n_users + 1) * d
                columns[gate] *= d / np.trace(columns[gate])
        return cls(mean, np.linalg.cholesky(rows), np.linalg.cholesky(columns))

    def _gates(self, v: np.ndarray) -> np.ndarray:
        return v.reshape(*v.shape[:-2], *self.rows.shape)

    def spread(self, z: np.ndarray) -> np.ndarray:
        """A z B' (..., G D, D)."""
        return (self.rows @ self._gates(z) @ self.columns.swapaxes(1, 2)).reshape(z.shape)

    def pulled(self, g: np.ndarray) -> np.ndarray:
        """A' g B: the gradient by z from that by the matrix."""
        return (self.rows.swapaxes(1, 2) @ self._gates(g) @ self.columns).reshape(g.shape)

    def standard(self, own: np.ndarray) -> np.ndarray:
        """z of matrices (..., G D, D)."""
        left = np.linalg.solve(self.rows, self._gates(own - self.mean))
        return np.linalg.solve(self.columns, left.swapaxes(-1, -2)).swapaxes(-1, -2).reshape(own.shape)


class _Histories:
    """Histories of some users at some own matrices: losses, gradients, curvature."""

    def __init__(self, weights: Weights, prior: OwnPrior, histories: Sequence[np.ndarray]) -> None:
        self.weights, self.prior = weights, prior
        inputs, targets, self.lengths = padded(histories)
        self.there = np.arange(len(inputs))[:, None] < self.lengths
        self.rows, self.wanted = weights.rows_of(inputs), targets[self.there]

    def run(self, own: np.ndarray) -> tuple[Unrolled, np.ndarray]:
        """Return states, and those of events (1, N, D), at own matrices (B, G D, D)."""
        start = np.zeros((1, len(own), self.weights.n_components))
        run = unroll(self.weights.cell, own[None], self.rows, start, self.lengths)
        return run, np.ascontiguousarray(np.moveaxis(run.after, 1, 0)[:, self.there])

    def by_user(self, values: np.ndarray) -> np.ndarray:
        """Sums (B,) over each user's events."""
        table = np.zeros(self.there.shape)
        table[self.there] = values
        return table.sum(axis=0)

    def log_posterior(self, own: np.ndarray) -> np.ndarray:
        """Up to a constant, (B,)."""
        found = self.by_user(log_probabilities(self.weights.outputs, self.run(own)[1], self.wanted)[0])
        return found - 0.5 * np.sum(self.prior.standard(own) ** 2, axis=(1, 2))

    def spread(self, by_events: np.ndarray) -> np.ndarray:
        """Rows of events (K, N, D) as (T, K, B, D)."""
        table = np.zeros((*self.there.shape, len(by_events), by_events.shape[2]))
        table[self.there] = by_events.swapaxes(0, 1)
        return table.transpose(0, 2, 1, 3)

    def slope(self, own: np.ndarray, run: Unrolled, states: np.ndarray) -> np.ndarray:
        """Gradient by z of the log posterior, (B, G D, D)."""
        by_states = exact_losses(self.weights.outputs, states, self.wanted).by_states
        return -self.prior.pulled(run.gradients(self.spread(by_states))[1][0]) - self.prior.standard(own)


class _Curvature:
    """Products with 1 + J' M J, of directions in z, for the users of some histories."""

    def __init__(self, about: _Histories, run: Unrolled, states: np.ndarray) -> None:
        self.about, self.run = about, run
        self.by_event = _curvatures(about.weights.outputs[0], states[0])

    @cached_property
    def roots(self) -> np.ndarray:
        """L (N, D, D) of M = L L'."""
        values, vectors = np.linalg.eigh(self.by_event)
        return vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]

    def product(self, v: np.ndarray) -> np.ndarray:
        """Product with directions (K, B, G D, D)."""
        moved = self.run.tangents(self.about.prior.spread(v)).transpose(1, 0, 2, 3)[:, self.about.there]
        curved = np.einsum("nde,kne->knd", self.by_event, moved)
        return self.about.prior.pulled(self.run.gradients(self.about.spread(curved))[1]) + v

    def noise(self, by_parameter: np.ndarray, by_event: np.ndarray) -> np.ndarray:
        """Standard normal numbers (K, B, G D, D) and (K, N, D) as ones of this covariance."""
        curved = np.einsum("nde,kne->knd", self.roots, by_event)
        return self.about.prior.pulled(self.run.gradients(self.about.spread(curved))[1]) + by_parameter


def settled(
    weights: Weights, prior: OwnPrior, histories: Sequence[np.ndarray], own: np.ndarray
) -> tuple[np.ndarray, bool]:
    """Return modes (B, G D, D) of users' own matrices, from ``own`` on, and whether all were reached.

    Parameters
    ----------
    weights : Weights
        Of one member, in float64.
    prior : OwnPrior
    histories : list of B arrays of codes
    own : (B, G D, D) array
    """
    found, whole = own.copy(), True
    for users in _groups([len(one) for one in histories], own.shape[1]):
        found[users], reached = _settle(_Histories(weights, prior, [histories[u] for u in users]), own[users])
        whole &= reached
    return found, whole


def _settle(about: _Histories, own: np.ndarray) -> tuple[np.ndarray, bool]:
    value = about.log_posterior(own)
    for _ in range(MOST_STEPS):
        run, states = about.run(own)
        curvature = _Curvature(about, run, states)
        direction = about.prior.spread(_solved(curvature.product, about.slope(own, run, states)[None], STEPPED)[0])
        gain = np.zeros(len(own))
        for length in (1.0, 0.5, 0.25, 0.1, 0.02):
            tried = np.where((gain > 0)[:, None, None], own, own + length * direction)
            risen = about.log_posterior(tried) - value
            better = (gain == 0) & (risen > 0)
            own, gain = np.where(better[:, None, None], tried, own), np.where(better, risen, gain)
            if (gain > 0).all():
                break
        value = value + gain
        if (gain < SETTLED).all():
            return own, True
    return own, False


def drawn_own(
    weights: Weights, prior: OwnPrior, histories: Sequence[np.ndarray], modes: np.ndarray, n: int,
    seeds: Sequence[Sequence[int]],
) -> np.ndarray:  # fmt: skip
    """Return draws (n, B, G D, D) of own matrices about their modes (B, G D, D).

    Each user's come from a seed of their own, so that they are the same whoever stands beside them.
    """
    found = np.empty((n, *modes.shape))
    for users in _groups([len(one) for one in histories], n * modes.shape[1]):
        about = _Histories(weights, prior, [histories[u] for u in users])
        curvature = _Curvature(about, *about.run(modes[users]))
        numbers = [np.random.default_rng(list(seeds[u])) for u in users]
        by_parameter = np.stack([rng.standard_normal((n, *modes.shape[1:])) for rng in numbers], axis=1)
        by_step = np.zeros((*about.there.shape, n, modes.shape[2]))
        for b, rng in enumerate(numbers):
            by_step[: about.lengths[b], b] = rng.standard_normal((n, about.lengths[b], modes.shape[2])).swapaxes(0, 1)
        by_event = by_step[about.there].swapaxes(0, 1)
        z = _solved(curvature.product, curvature.noise(by_parameter, by_event), SOLVED)
        found[:, users] = modes[users] + prior.spread(z)
    return found


def _groups(lengths: Sequence[int], width: int) -> list[list[int]]:
    """Users of about the same length, together as long as (users, steps, width) is no large array."""
    groups: list[list[int]] = []
    for u in np.argsort(lengths, kind="stable").tolist():
        if groups and (len(groups[-1]) + 1) * max(lengths[u], 1) * width <= BLOCK:
            groups[-1].append(u)
        else:
            groups.append([u])
    return groups


def _curvatures(outputs: np.ndarray, states: np.ndarray) -> np.ndarray:
    """M = W'(diag p - p p')W (N, D, D) at states (N, D)."""
    n_items, d = outputs.shape
    found = np.empty((len(states), d, d))
    step = block_rows(n_items)
    items = max(1, BLOCK // (d * d))
    for begin in range(0, len(states), step):
        rows = slice(begin, begin + step)
        z = states[rows] @ outputs.T
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        second = np.zeros((len(p), d * d))
        for first in range(0, n_items, items):
            some = outputs[first : first + items]
            second += p[:, first : first + items] @ (some[:, :, None] * some[:, None, :]).reshape(len(some), -1)
        mean = p @ outputs
        found[rows] = second.reshape(-1, d, d) - mean[:, :, None] * mean[:, None, :]
    return found


def _solved(product: Callable[[np.ndarray], np.ndarray], b: np.ndarray, residual_size: float) -> np.ndarray:
    """Return x (K, B, ...) of product(x) = b by conjugate gradients, one system per (K, B); each ends by itself."""

    def inner(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.einsum("kbij,kbij->kb", one, other)[..., None, None]

    x, residual = np.zeros_like(b), b.copy()
    direction, size = residual.copy(), inner(b, b)
    enough = residual_size**2 * size
    for _ in range(MOST_PRODUCTS):
        going = size > enough
        if not going.any():
            break
        turned = product(direction)
        length = np.where(going, size / np.maximum(inner(direction, turned), 1e-300), 0.0)
        x += length * direction
        residual -= length * turned
        smaller = np.where(going, inner(residual, residual), size)
        direction = residual + np.where(going, smaller / np.maximum(size, 1e-300), 0.0) * direction
        size = smaller
    return x
