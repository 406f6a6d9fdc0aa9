"""Log probabilities of items given states, and their gradients: three products with the matrix of items.

    z = H W',   log p = z_y - log sum_i exp z_i,   d(-log p)/dz = p - onehot(y)

In blocks of rows, so that the table of probabilities stays in the cache; or over a sample of items (training only).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

__all__ = ["Slopes", "block_rows", "exact_losses", "log_probabilities", "sampled_losses"]

BLOCK = 2**20  # entries of one block of the table
SAFE = 40.0  # e^40 is far from what float32 can hold, also when a row is summed and multiplied


class Slopes(NamedTuple):
    """Gradients of a sum of losses.

    Attributes
    ----------
    losses : (R,) array
        Sums of - log p.
    by_states : (R, N, D) array
    rows : (K,) array or slice
        Which items' rows have a gradient.
    by_rows : (R, K, D) array
    """

    losses: np.ndarray
    by_states: np.ndarray
    rows: np.ndarray | slice
    by_rows: np.ndarray


def block_rows(n_items: int) -> int:
    """Rows of a block."""
    return int(np.clip(BLOCK // max(n_items, 1), 16, 4096))


def safe(outputs: np.ndarray, states: np.ndarray) -> bool:
    """Test that exp of all logits, |z| <= |h| |w|, neither overflows nor vanishes, so that no row needs its maximum."""
    longest = [float(np.sqrt(np.einsum("nd,nd->n", one, one).max(initial=0.0))) for one in (outputs, states)]
    return longest[0] * longest[1] < SAFE


def exponentials(z: np.ndarray, targets: np.ndarray, *, shift: bool) -> tuple[np.ndarray, np.ndarray]:
    """Turn logits z (N, I), in place, into what is proportional to probabilities; return sums and log p(target), (N,).

    ``shift``: lower each row by its maximum first.
    """
    if shift:
        z -= z.max(axis=1, keepdims=True)
    picked = z[np.arange(len(z)), targets]
    totals = np.exp(z, out=z).sum(axis=1)
    return totals, picked - np.log(totals)


def log_probabilities(outputs: np.ndarray, states: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return log p(target) (R, N) from states (R, N, D); ``outputs`` is (R or 1, I, D)."""
    found = np.empty(states.shape[:2], states.dtype)
    step = min(block_rows(outputs.shape[1]), max(states.shape[1], 1))
    space = np.empty((step, outputs.shape[1]), states.dtype)
    for r in range(len(states)):
        table = outputs[r if len(outputs) > 1 else 0]
        shift = not safe(table, states[r])
        for begin in range(0, states.shape[1], step):
            rows = slice(begin, begin + step)
            z = np.matmul(states[r, rows], table.T, out=space[: len(states[r, rows])])
            found[r, rows] = exponentials(z, targets[rows], shift=shift)[1]
    return found


def exact_losses(outputs: np.ndarray, states: np.ndarray, targets: np.ndarray) -> Slopes:
    """Return losses and gradients of states (R, N, D) over all items."""
    n_members, n, _ = states.shape
    losses = np.zeros(n_members)
    by_states, by_rows = np.empty_like(states), np.zeros_like(outputs)
    step = min(block_rows(outputs.shape[1]), max(n, 1))
    space = np.empty((step, outputs.shape[1]), states.dtype)
    for r in range(n_members):
        table = outputs[r]
        shift = not safe(table, states[r])
        for begin in range(0, n, step):
            rows = slice(begin, begin + step)
            h, y = states[r, rows], targets[rows]
            z = np.matmul(h, table.T, out=space[: len(h)])
            totals, logs = exponentials(z, y, shift=shift)
            losses[r] -= float(np.sum(logs, dtype=float))
            z[np.arange(len(h)), y] -= totals  # the table of errors times its rows' sums, which are divided by below
            totals = totals[:, None]
            np.matmul(z, table, out=by_states[r, rows])
            by_states[r, rows] /= totals
            by_rows[r] += z.T @ (h / totals)
    return Slopes(losses, by_states, slice(None), by_rows)


def sampled_losses(
    outputs: np.ndarray, states: np.ndarray, targets: np.ndarray, sample: np.ndarray, log_expected: np.ndarray
) -> Slopes:
    """Return losses and gradients over the target and a sample of items that all rows share.

    Each logit is lowered by the log of how often its item is expected in the sample, so that the mean gradient comes
    close to the exact one (Bengio and Senecal, 2008; Jean et al., 2015); a target that was sampled counts once.

    Parameters
    ----------
    sample : (K,) array of int
        Different items.
    log_expected : (I,) array
    """
    items, inverse = np.unique(np.concatenate([sample, targets]), return_inverse=True)
    sampled, own = inverse[: len(sample)], inverse[len(sample) :]
    lowered = log_expected[items].astype(states.dtype)
    losses = np.zeros(len(states))
    by_states = np.empty_like(states)
    by_rows = np.zeros((len(states), len(items), states.shape[2]), states.dtype)
    step = block_rows(len(sample))
    for r in range(len(states)):
        table = outputs[r, items]
        for begin in range(0, states.shape[1], step):
            rows = slice(begin, begin + step)
            h, y = states[r, rows], own[rows]
            z = np.empty((len(h), len(sample) + 1), states.dtype)
            z[:, 1:] = h @ table[sampled].T - lowered[sampled]
            z[:, 0] = np.einsum("nd,nd->n", h, table[y]) - lowered[y]
            z[:, 1:][sampled == y[:, None]] = -np.inf
            total = logsumexp(z, axis=1, keepdims=True)
            losses[r] += float(np.sum(total[:, 0] - z[:, 0], dtype=float))
            p = np.exp(z - total)
            p[:, 0] -= 1.0
            by_states[r, rows] = p[:, 1:] @ table[sampled] + p[:, :1] * table[y]
            by_rows[r, sampled] += p[:, 1:].T @ h
            np.add.at(by_rows[r], y, p[:, :1] * h)
    return Slopes(losses, by_states, items, by_rows)
