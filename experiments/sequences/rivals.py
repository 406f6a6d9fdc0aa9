"""Rivals of recurrent nets: factors of users' counts through a softmax, and one hidden Markov model for everybody."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive.estimators.sequences.nets.batching import padded

__all__ = ["HiddenMarkov", "factor_softmax"]

SMOOTHING = 0.01  # events added to every item of a state


def factor_softmax(
    histories: Sequence[np.ndarray], n_items: int, d: int, penalty: float, scale: float, n_sweeps: int = 10
) -> np.ndarray:
    """Return log probabilities (U, I):  softmax(scale V u),  V and u by weighted alternating least squares.

    log(count + 1) is fitted where something was counted, with the penalty times how many such there are (Zhou et al.,
    2008; libpmf).
    """
    rng = np.random.default_rng(0)
    seen = [np.unique(one, return_counts=True) for one in histories]
    rows = [(items, np.log1p(counts)) for items, counts in seen]
    user = np.repeat(np.arange(len(rows)), [len(items) for items, _ in rows])
    item, value = (np.concatenate([row[k] for row in rows]) for k in (0, 1))
    order = np.argsort(item, kind="stable")
    starts = np.searchsorted(item[order], np.arange(n_items + 1))
    left, right = rng.normal(0, 0.1, (len(rows), d)), rng.normal(0, 0.1, (n_items, d))

    def solved(vectors: np.ndarray, values: np.ndarray) -> np.ndarray:
        n = max(len(values), 1)
        return np.linalg.solve(vectors.T @ vectors + penalty * n * np.eye(d), vectors.T @ values)

    for _ in range(n_sweeps):
        for u, (items, values) in enumerate(rows):
            left[u] = solved(right[items], values)
        for i in range(n_items):
            at = order[starts[i] : starts[i + 1]]
            right[i] = solved(left[user[at]], value[at])
    z = scale * left @ right.T
    z -= z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


class HiddenMarkov:
    """One hidden Markov model of all histories, by expectation maximisation (Rabiner, 1989, with scaled messages).

    Parameters
    ----------
    histories : list of arrays of codes
    n_items, n_states : int
    n_iter : int
    seed : int

    Attributes
    ----------
    objective : list of float
        Log likelihood before each iteration.
    """

    def __init__(
        self, histories: Sequence[np.ndarray], n_items: int, n_states: int, n_iter: int = 30, seed: int = 0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.start = rng.dirichlet(np.full(n_states, 5.0))
        self.moves = rng.dirichlet(np.full(n_states, 1.0), n_states) * 0.5 + 0.5 / n_states
        share = np.bincount(np.concatenate(histories), minlength=n_items) + 1.0
        self.emits = rng.dirichlet(np.full(n_items, 1.0), n_states) * 0.5 + 0.5 * share / share.sum()
        self.objective: list[float] = []
        some = [one for one in histories if len(one)]
        for _ in range(n_iter):
            self._improve(some)

    def _forward(self, codes: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Filtered beliefs (T, B, K), and probabilities (T, B) of events given those before."""
        filtered, scales = np.empty((*codes.shape, len(self.start))), np.ones(codes.shape)
        belief = np.tile(self.start, (codes.shape[1], 1))
        for t, row in enumerate(codes):
            joint = (belief if t == 0 else belief @ self.moves) * self.emits[:, row].T
            total = joint.sum(axis=1, keepdims=True)
            belief = filtered[t] = joint / total
            scales[t] = np.where(there[t], total[:, 0], 1.0)
        return filtered, scales

    def _improve(self, histories: list[np.ndarray]) -> None:
        _, codes, lengths = padded(histories)
        there = np.arange(len(codes))[:, None] < lengths
        filtered, scales = self._forward(codes, there)
        self.objective.append(float(np.log(scales).sum()))
        later = np.ones_like(filtered[0])
        moves, occupied = np.zeros_like(self.moves), filtered
        for t in range(len(codes) - 1, -1, -1):
            occupied_now = filtered[t] * later * there[t][:, None]  # in place of the filtered: what all events say
            if t:
                coming = self.emits[:, codes[t]].T * later / scales[t][:, None]
                coming = np.where(there[t][:, None], coming, 1.0)
                moves += (filtered[t - 1] * there[t][:, None]).T @ coming
                later = np.where(there[t][:, None], coming @ self.moves.T, 1.0)
            occupied[t] = occupied_now
        self.moves = self.moves * moves + 1e-3
        self.moves /= self.moves.sum(axis=1, keepdims=True)
        self.start = occupied[0].sum(axis=0) / len(histories)
        emits = np.full_like(self.emits, SMOOTHING)
        for k in range(len(emits)):
            emits[k] += np.bincount(codes[there], weights=occupied[..., k][there], minlength=emits.shape[1])
        self.emits = emits / emits.sum(axis=1, keepdims=True)

    def log_probabilities(self, histories: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return those of all events of histories, each given those before it."""
        _, codes, lengths = padded(histories)
        _, scales = self._forward(codes, np.arange(len(codes))[:, None] < lengths)
        return [np.log(scales[:n, b]) for b, n in enumerate(lengths.tolist())]
