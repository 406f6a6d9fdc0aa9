"""Users side by side: padded codes of several histories, and which of a batch's steps are theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

__all__ = ["batches_of", "padded"]


def padded(histories: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs (T, B), targets (T, B) and lengths (B,) of histories of codes.

    The first input is -1, what stands before the first event; padding is 0 in both.

    Examples
    --------
    >>> inputs, targets, lengths = padded([np.array([3, 1]), np.array([2])])
    >>> inputs.tolist(), targets.tolist(), lengths.tolist()
    ([[-1, -1], [3, 0]], [[3, 2], [1, 0]], [2, 1])
    """
    lengths = np.array([len(history) for history in histories], dtype=np.int64)
    inputs = np.zeros((int(lengths.max(initial=0)), len(histories)), dtype=np.int64)
    targets = np.zeros_like(inputs)
    inputs[:1] = -1
    for b, history in enumerate(histories):
        inputs[1 : len(history), b] = history[:-1]
        targets[: len(history), b] = history
    return inputs, targets, lengths


def batches_of(lengths: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield positions of users, at most ``size`` at a time, in random order; those of about the same length together.

    Users without events are left out.
    """
    order = rng.permutation(np.flatnonzero(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    groups = [order[begin : begin + size] for begin in range(0, len(order), size)]
    for k in rng.permutation(len(groups)):
        yield groups[k]
