"""Whole histories through a trained net: states after each, log probabilities of some of their events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adaptive.estimators.sequences.nets.batching import padded
from adaptive.estimators.sequences.nets.item_softmax import log_probabilities
from adaptive.estimators.sequences.nets.unrolled import unroll
from adaptive.estimators.sequences.nets.weights import Weights

__all__ = ["held_out_error", "scored", "states_after"]

WINDOW = 256  # steps at a time, for memory
TOGETHER = 64  # users at a time, of about the same length


def _groups(lengths: np.ndarray) -> Iterator[np.ndarray]:
    order = np.argsort(lengths, kind="stable")
    for begin in range(0, len(order), TOGETHER):
        yield order[begin : begin + TOGETHER]


def scored(
    weights: Weights,
    own: np.ndarray,
    histories: Sequence[np.ndarray],
    *,
    start: np.ndarray | None = None,
    latest: np.ndarray | None = None,
    skip: np.ndarray | None = None,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return log probabilities (R, n_b) of the events of each history, and states (R, B, D) that predict the next one.

    Parameters
    ----------
    weights : Weights
        Whose inputs and outputs count.
    own : (R, B or 1, G D, D) array
        Of each history.
    histories : list of B arrays of codes
    start : (R, B, D) array, optional
        States from which the first events are predicted; 0 of nobody's history, where the step before it is to be made.
    latest : (B,) array, optional
        With ``start``: codes of the events before, -1 where there are none.
    skip : (B,) array, optional
        How many events at the beginning are gone through without being scored.
    """
    n_members = max(len(own), weights.n_members)
    d, kind = weights.n_components, weights.outputs.dtype
    lengths = np.array([len(history) for history in histories], dtype=np.int64)
    final = np.zeros((n_members, len(histories), d), kind)
    found: list[np.ndarray] = [np.zeros((n_members, 0), kind)] * len(histories)
    skipped = np.zeros_like(lengths) if skip is None else skip
    for users in _groups(lengths):
        # one step more than there are events: the state that predicts the next one
        codes, targets, _ = padded([np.append(histories[u], 0) for u in users])
        if latest is not None:
            codes[0] = latest[users]
        h = np.zeros((n_members, len(users), d), kind) if start is None else start[:, users]
        mine = own if own.shape[1] == 1 else own[:, users]
        parts: list[np.ndarray] = []
        for begin in range(0, len(codes), WINDOW):
            part = slice(begin, begin + WINDOW)
            steps = np.clip(lengths[users] + 1 - begin, 0, len(codes[part]))
            run = unroll(weights.cell, mine, weights.rows_of(codes[part]), h, steps)
            h = run.after[-1]
            at = begin + np.arange(len(codes[part]))[:, None]
            there = (at < lengths[users]) & (at >= skipped[users])
            table = np.zeros((n_members, *there.shape), kind)
            states = np.ascontiguousarray(np.moveaxis(run.after, 1, 0)[:, there])
            table[:, there] = log_probabilities(weights.outputs, states, targets[part][there])
            parts.append(table)
        final[:, users] = h
        whole = np.concatenate(parts, axis=1)
        for b, u in enumerate(users):
            found[u] = whole[:, skipped[u] : lengths[u], b]
    return found, final


def states_after(weights: Weights, own: np.ndarray, histories: Sequence[np.ndarray]) -> np.ndarray:
    """Return the states (R, B, D) from which the events after the histories are predicted."""
    every = np.array([len(history) for history in histories], dtype=np.int64)
    return scored(weights, own, histories, skip=every)[1]


def held_out_error(weights: Weights, histories: Sequence[np.ndarray], n_seen: np.ndarray) -> np.ndarray:
    """Return (R,) the mean over users of nats per event after the first ``n_seen``; users without such do not count."""
    some = np.flatnonzero(n_seen < np.array([len(history) for history in histories]))
    found, _ = scored(weights, weights.own_of(some), [histories[u] for u in some.tolist()], skip=n_seen[some])
    return -np.mean([one.mean(axis=1, dtype=float) for one in found], axis=0)
