"""Next items by counting:  P(i) = (c_i + a) / sum,   P(i | j) = (c_ji + a P(i)) / (c_j + a),  pooled over users.

The second backs off to the first by as much as ``a``, and is the strongest of the simple rivals; ``a`` is chosen by
held-out events. What stands before the first event counts as an item j of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

__all__ = ["NGram", "chosen", "held_out_error"]

STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


class NGram:
    """Counts of single items (order 1) or of pairs that follow each other (order 2).

    Parameters
    ----------
    order : {1, 2}
    histories : list of arrays of codes
    n_items : int
    strength : float
        a: of order 1 events added to each item, of order 2 those that the single counts stand for.
    single : float, default 0.1
        a of the single counts that order 2 backs off to.

    Examples
    --------
    >>> pairs = NGram(2, [np.array([0, 1, 0, 1, 0])], 2, 0.01)
    >>> np.exp(pairs.log_probabilities([np.array([0, 1, 1])])[0]).round(3).tolist()
    [0.996, 0.997, 0.002]
    """

    def __init__(
        self, order: int, histories: Sequence[np.ndarray], n_items: int, strength: float, single: float = 0.1
    ) -> None:
        self.order, self.strength = order, strength
        counts = np.bincount(np.concatenate([*histories, np.zeros(0, dtype=np.int64)]), minlength=n_items)
        share = counts + (strength if order == 1 else single)
        self.share = share / share.sum()
        if order == 2:
            before = np.concatenate([np.append(n_items, one[:-1]) for one in histories if len(one)])
            after = np.concatenate([one for one in histories if len(one)])
            ones = np.ones(len(before))
            self.pairs = sparse.csr_matrix((ones, (before, after)), shape=(n_items + 1, n_items))
            self.totals = np.asarray(self.pairs.sum(axis=1)).ravel()

    def log_probabilities(self, histories: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return those of all events of histories."""
        if self.order == 1:
            return [np.log(self.share[one]) for one in histories]
        found = []
        for one in histories:
            before = np.append(self.pairs.shape[1], one[:-1])[: len(one)].astype(np.int64)
            seen = np.asarray(self.pairs[before, one]).ravel()
            found.append(np.log((seen + self.strength * self.share[one]) / (self.totals[before] + self.strength)))
        return found

    def next(self, last: int) -> np.ndarray:
        """Return the probabilities (I,) of what follows an item, -1: of what is first."""
        if self.order == 1:
            return self.share
        seen = self.pairs[last if last >= 0 else self.pairs.shape[1]].toarray().ravel()
        total = seen.sum() + self.strength
        return (seen + self.strength * self.share) / total


def chosen(order: int, histories: Sequence[np.ndarray], n_seen: np.ndarray, n_items: int) -> NGram:
    """Return counts of all of the histories, with the strength by which the events after ``n_seen`` are best predicted
    from those before."""
    early = [one[:n] for one, n in zip(histories, n_seen.tolist(), strict=True)]
    single = 0.1 if order == 1 else chosen(1, histories, n_seen, n_items).strength
    if not any(n < len(one) for one, n in zip(histories, n_seen.tolist(), strict=True)):
        return NGram(order, histories, n_items, 1.0, single)  # nothing to choose by
    errors = []
    for strength in STRENGTHS:
        logs = NGram(order, early, n_items, strength, single).log_probabilities(histories)
        errors.append(-np.mean([one[n:].mean() for one, n in zip(logs, n_seen.tolist(), strict=True) if n < len(one)]))
    return NGram(order, histories, n_items, STRENGTHS[int(np.argmin(errors))], single)


def held_out_error(order: int, histories: Sequence[np.ndarray], n_seen: np.ndarray, n_items: int) -> float:
    """Return the mean over users of nats per event after ``n_seen``, by counts before, of the strength best there."""
    early = [one[:n] for one, n in zip(histories, n_seen.tolist(), strict=True)]
    best = chosen(order, histories, n_seen, n_items)
    single = 0.1 if order == 1 else chosen(1, histories, n_seen, n_items).strength
    logs = NGram(order, early, n_items, best.strength, single).log_probabilities(histories)
    return -float(np.mean([one[n:].mean() for one, n in zip(logs, n_seen.tolist(), strict=True) if n < len(one)]))
