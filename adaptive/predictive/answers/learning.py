"""Several answers learnt in one go: with numbers of the answered candidates alone, by all what-ifs at once.

With t_P the projections of the n answered candidates (k each: contrasts of scores, or one), C their covariance and
X = Cov(., t_P), answers leave

    mean + X u,    Cov - X B X',

where each answer moves the moments of its own projections from (m, V) to (m', V'), and E_i picks them out of t_P:

    Q = E_i - B C E_i,    V = E_i' C Q,    G = Q V^+,    u += G (m' - m),    B += G (V - V') G'.

Draws follow by Matheron's rule, draw + X a, where each answer adds  G (its projections' step)  to a.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

__all__ = ["Learnt", "learn", "moves"]

_SUPPORT = 1e-12  # eigenvalues below this share of what a projection's variance was are zero but for rounding
#: (answer, means (p, k), covariances (p, k, k)) -> log p(answer) (p,) and the moments given it
Tilt: TypeAlias = Callable[[int, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


class Learnt(NamedTuple):
    """Lessons of n answers in p what-ifs, d = n k.

    Attributes
    ----------
    log : (p,) array
        log p(answers).
    u : (p, d) array
    B : (p, d, d) array
    gains : (n, p, d, k) array
        G of each answer.
    shifts : (n, p, k) array
        m' - m.
    stretches : (n, p, k, k) array
        V'^1/2 V^-1/2, which takes draws from the one covariance to the other.
    """

    log: np.ndarray
    u: np.ndarray
    B: np.ndarray
    gains: np.ndarray
    shifts: np.ndarray
    stretches: np.ndarray


def learn(mean: np.ndarray, covariance: np.ndarray, tilt: Tilt) -> Learnt:
    """Return what is learnt from answers, one after the other.

    Parameters
    ----------
    mean : (p, n, k) array
        Of the answered candidates' projections, in each what-if.
    covariance : (p, n k, n k) array
    tilt : function (i, means (p, k), covariances (p, k, k)) -> log p (p,), means (p, k), covariances (p, k, k)
        Of the answer to candidate i, what-if by what-if. Where a covariance is zero only log p matters.
    """
    p, n, k = mean.shape
    d = n * k
    log, u, B = np.zeros(p), np.zeros((p, d)), np.zeros((p, d, d))
    gains, shifts, stretches = np.zeros((n, p, d, k)), np.zeros((n, p, k)), np.zeros((n, p, k, k))
    for i in range(n):
        mine = slice(i * k, (i + 1) * k)
        column = covariance[:, :, mine]
        Q = -B @ column
        Q[:, mine] += np.eye(k)
        V = column.transpose(0, 2, 1) @ Q
        V = 0.5 * (V + V.transpose(0, 2, 1))
        at = mean[:, i] + np.einsum("pdk,pd->pk", column, u)
        inverse, inverse_root, V = _inverses(V, np.einsum("pkk->p", column[:, mine]))
        log_i, after, V_after = tilt(i, at, V)
        G = Q @ inverse
        known = ~np.any(inverse, axis=(1, 2))[:, None, None]  # nothing is to be learnt about it
        shift = np.where(known[:, 0], 0.0, after - at)
        shrink = np.where(known, 0.0, V - V_after)
        log += log_i
        u += np.einsum("pdk,pk->pd", G, shift)
        B += G @ shrink @ G.transpose(0, 2, 1)
        gains[i], shifts[i] = G, shift
        stretches[i] = np.where(known, np.eye(k), _roots(V_after) @ inverse_root)
    return Learnt(log, u, B, gains, shifts, stretches)


def moves(learnt: Learnt, which: int, drawn: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return a (members, d) of draws (members, n, k) of the answered candidates, in what-if ``which``.

    ``mean`` (n, k) and ``covariance`` (d, d) are those before the answers.
    """
    n, k = mean.shape
    apart = drawn - mean
    a, believed = np.zeros((len(drawn), n * k)), np.zeros(n * k)  # believed: u before each answer
    for i in range(n):
        G, shift, stretch = learnt.gains[i, which], learnt.shifts[i, which], learnt.stretches[i, which]
        now = apart[:, i] + (a - believed) @ covariance[:, i * k : (i + 1) * k]
        a += (shift + now @ (stretch - np.eye(k)).T) @ G.T
        believed = believed + G @ shift
    return a


def _inverses(V: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pseudo-inverses, their roots, and V without what is zero but for rounding."""
    values, vectors = np.linalg.eigh(V)
    kept = values > _SUPPORT * np.maximum(before, 0.0)[:, None]
    safe = np.where(kept, values, 1.0)
    turned = vectors.transpose(0, 2, 1)
    inverse = (vectors * np.where(kept, 1.0 / safe, 0.0)[:, None, :]) @ turned
    root = (vectors * np.where(kept, safe**-0.5, 0.0)[:, None, :]) @ turned
    return inverse, root, (vectors * np.where(kept, values, 0.0)[:, None, :]) @ turned


def _roots(V: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(0.5 * (V + V.transpose(0, 2, 1)))
    return (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.transpose(0, 2, 1)
