"""Mean rank of the held-out item among those that a user has not seen, by how active users are.

R(i, j*) = mean over items j that i has not seen of [f_ij* > f_ij],       1/2 at random, nearly 1 at best
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adaptive.types import ArrayLike

__all__ = ["mean_rank", "normalised_rank", "ranks"]

TOGETHER = 256  # users whose items are scored at once


def normalised_rank(scores: ArrayLike, held_out: float, ties: float = 0.0) -> float:
    """Return the share of ``scores`` (of the items not seen, the held-out one among them) below that of the held-out.

    Parameters
    ----------
    scores : (m,) array
    held_out : float
    ties : float, default 0
        What an equal score counts: 0 as in the source, 1/2 as if ties were broken at random.
    """
    values = np.asarray(scores, dtype=float)
    return float((np.sum(values < held_out) + ties * max(np.sum(values == held_out) - 1, 0)) / len(values))


def mean_rank(
    estimator: Any, pairs: Iterable[tuple[Any, Any]], *, n_groups: int = 6, popularity: float = 0.5, ties: float = 0.0
) -> dict[str, list[Any]]:
    """Return the mean rank of held-out items by the number of pairs that their users have in the fit.

    Parameters
    ----------
    estimator : PairedSymbols, fitted without ``pairs``
    pairs : list of (user, item)
        Held out, such as one of each user.
    n_groups : int, default 6
        Of users, by activity, equally long on a logarithmic axis; empty ones are left out.
    popularity : float, default 0.5
        As in `PairedSymbols.item_scores`.
    ties : float, default 0
        As in `normalised_rank`.

    Returns
    -------
    dict of lists
        Columns least, most (items that a user of the group has in the fit), n_pairs, mean_rank, standard_error; the
        first row is about all.

    Raises
    ------
    ValueError
        If ``n_groups`` is no integer of at least 1, or there is no pair.

    References
    ----------
    Paquet, Koenigstein and Winther (2014), section 5.

    Examples
    --------
    >>> from adaptive import PairedSymbols
    >>> model = PairedSymbols(1, random_state=0).fit([(u, i) for u in range(8) for i in range(6) if (u + i) % 2])
    >>> mean_rank(model, [(1, 2), (2, 3)], n_groups=1)["n_pairs"]
    [2, 2]
    """
    n_groups = checks.integer("n_groups", n_groups, minimum=1)
    return _by_activity(*ranks(estimator, pairs, popularity=popularity, ties=ties), n_groups)


def ranks(
    estimator: Any, pairs: Iterable[tuple[Any, Any]], *, popularity: float = 0.5, ties: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rank (n,) of each held-out pair's item, and how many items (n,) its user has in the fit."""
    held_out = list(pairs)
    if not held_out:
        raise ValueError("pairs must hold at least one pair, got none.")
    where = {item: k for k, item in enumerate(estimator.items_.tolist())}
    found, seen = np.empty(len(held_out)), np.empty(len(held_out), dtype=np.int64)
    for first in range(0, len(held_out), TOGETHER):
        part = held_out[first : first + TOGETHER]
        table = estimator.item_scores([user for user, _ in part], popularity=popularity)
        for k, (user, item) in enumerate(part):
            known = [where[one] for one in estimator.seen(user).tolist()]
            open_items = np.ones(len(where), dtype=bool)
            open_items[known] = False
            scores = table[k, open_items]
            if item in where and open_items[where[item]]:
                own = float(table[k, where[item]])
            else:  # not of the fit: beside the others
                own = float(estimator.item_scores([user], [item], popularity=popularity)[0, 0])
                scores = np.append(scores, own)
            found[first + k], seen[first + k] = normalised_rank(scores, own, ties), len(known)
    return found, seen


def _by_activity(found: np.ndarray, seen: np.ndarray, n_groups: int) -> dict[str, list[Any]]:
    edges = np.geomspace(1.0, seen.max() + 1.0, n_groups + 1)
    groups = [np.ones(len(found), dtype=bool)]
    at = np.clip(np.searchsorted(edges, seen + 1.0, side="right") - 1, 0, n_groups - 1)
    groups += [at == group for group in range(n_groups)]
    table: dict[str, list[Any]] = {name: [] for name in ("least", "most", "n_pairs", "mean_rank", "standard_error")}
    for group in groups:
        n = int(group.sum())
        if not n:
            continue
        error = float(found[group].std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        row = (int(seen[group].min()), int(seen[group].max()), n, float(found[group].mean()), error)
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    return table
