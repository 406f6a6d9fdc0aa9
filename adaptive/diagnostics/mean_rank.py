"""Held-out items in a ranking of those that a user has not seen: mean rank, and hits among the first n.

R(i, j*) = mean over items j that i has not seen of [f_ij* > f_ij],       1/2 at random, nearly 1 at best
H(i)     = share of the n highest such items that were held out of user i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Placed", "mean_rank", "placed", "ranks"]

TOGETHER = 256  # users whose items are scored at once


def mean_rank(
    estimator: Any, pairs: Iterable[tuple[Any, Any]], *, n_groups: int = 6, popularity: float | None = None,
    ties: float = 0.0,
) -> dict[str, list[Any]]:  # fmt: skip
    """Return the mean rank of held-out items by the number of pairs that their users have in the fit.

    Parameters
    ----------
    estimator : PairedSymbols or PoissonFactorization, fitted without ``pairs``
    pairs : list of (user, item)
        Held out, such as one of each user.
    n_groups : int, default 6
        Of users, by activity, equally long on a logarithmic axis; empty ones are left out.
    popularity : float, optional
        Of `PairedSymbols.item_scores`, and by default as there.
    ties : float, default 0
        What an equal score counts: 0 as in the source, 1/2 as if ties were broken at random.

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


@dataclass(frozen=True)
class Placed:
    """Places that a ranking gives to pairs that it has not learnt.

    Attributes
    ----------
    ranks, seen : (n,) arrays
        Of each pair: the rank of its item, and how many items its user has in the fit.
    users : (n,) array
        Of each pair the place of its user in ``hits``.
    hits : (n_users,) array
        Of each user, the share of the first items that were held out.
    """

    ranks: np.ndarray
    seen: np.ndarray
    users: np.ndarray
    hits: np.ndarray

    def by_user(self) -> np.ndarray:
        """Return the mean rank (n_users,) of each user's pairs."""
        return np.bincount(self.users, weights=self.ranks) / np.bincount(self.users)


def placed(
    estimator: Any, pairs: Iterable[tuple[Any, Any]], first: int = 10, *, popularity: float | None = None,
    ties: float = 0.0,
) -> Placed:  # fmt: skip
    """Rank held-out pairs, and count those that are among the ``first`` items of their users.

    Parameters
    ----------
    estimator : ranking with ``items_``, ``seen`` and ``item_scores``, fitted without ``pairs``
    pairs : list of (user, item)
    first : int, default 10
    popularity, ties : float
        As in `mean_rank`.

    Examples
    --------
    >>> from adaptive.diagnostics.rankings import Popularity
    >>> model = Popularity().fit([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z")])
    >>> found = placed(model, [("a", "y"), ("b", "z")], 1)
    >>> found.ranks, found.hits
    (array([0.5, 0. ]), array([1., 1.]))
    """
    held_out = list(pairs)
    if not held_out:
        raise ValueError("pairs must hold at least one pair, got none.")
    how = {} if popularity is None else {"popularity": popularity}
    places = {item: k for k, item in enumerate(estimator.items_.tolist())}
    of: dict[Any, list[int]] = {}
    for k, (user, _) in enumerate(held_out):
        of.setdefault(user, []).append(k)
    users, where = list(of), np.empty(len(held_out), dtype=np.intp)
    found, seen, hits = np.empty(len(held_out)), np.empty(len(held_out), dtype=np.int64), np.zeros(len(users))
    for start in range(0, len(users), TOGETHER):
        part = users[start : start + TOGETHER]
        for row, (user, scores) in enumerate(zip(part, estimator.item_scores(part, **how), strict=True), start):
            unseen = np.ones(len(places), dtype=bool)
            unseen[[places[one] for one in estimator.seen(user).tolist()]] = False
            values = np.sort(scores[unseen])
            own = of[user]
            at = np.array([places.get(held_out[k][1], -1) for k in own])
            among = (at >= 0) & unseen[at]
            theirs = scores[at].astype(float)
            if not among.all():  # not of the fit: beside the others
                others = [held_out[k][1] for k, known in zip(own, among, strict=True) if not known]
                theirs[~among] = estimator.item_scores([user], others, **how)[0]
            below, upto = (np.searchsorted(values, theirs, side) for side in ("left", "right"))
            found[own] = (below + ties * np.maximum(upto - below - among, 0)) / (len(values) + ~among)
            where[own], seen[own] = row, len(places) - len(values)
            best = np.flatnonzero(unseen)[np.argsort(-scores[unseen], kind="stable")[:first]]
            hits[row] = np.isin(best, at[among]).sum() / max(len(best), 1)
    return Placed(found, seen, where, hits)


def ranks(
    estimator: Any, pairs: Iterable[tuple[Any, Any]], *, popularity: float | None = None, ties: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rank (n,) of each held-out pair's item, and how many items (n,) its user has in the fit."""
    found = placed(estimator, pairs, popularity=popularity, ties=ties)
    return found.ranks, found.seen


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
