"""Rankings of items that one would have taken instead of a model of pairs: popularity, and items regressed on others.

    popularity       n_j, the users who took item j
    regression       f_ij = sum_l x_il B_lj,   B = I - P / diag(P),   P = (X'X + strength I)^-1

x_il is 1 where user i took item l. Each item is predicted from all others by a ridge regression; no item may predict
itself (Steck 2019, Embarrassingly shallow autoencoders for sparse data). Where users are fewer than items the same
scores come from their inner products:  X P = (I - X A (A'A + strength I)^-1 A') X / strength  with A = X'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from adaptive.diagnostics.beside import beside
from adaptive.diagnostics.mean_rank import ranks
from adaptive.estimators.pairs.columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ItemRegression", "Popularity", "beside_rankings", "held_out_items", "rankings_of"]

LEAST = 3  # items of a user of whom one is held out
STRENGTHS = (10.0, 100.0, 1000.0)  # of the ridge
MOST = 3000  # items, or users drawn at random: the matrix that is inverted
ENOUGH = 500  # held-out pairs by which the strength is chosen
TOGETHER = 2**22  # numbers of a block


def held_out_items(taken: Iterable[tuple[Any, Any]], seed: int, share: float = 0.0) -> list[tuple[Any, Any]]:
    """Return items, at random, of each user who has three: one, or this share of them where that is more.

    Examples
    --------
    >>> held_out_items([("anna", "tea"), ("anna", "milk"), ("anna", "water"), ("ben", "tea")], 0)
    [('anna', 'water')]
    """
    by_user: dict[Any, dict[Any, None]] = {}
    for user, item in taken:
        by_user.setdefault(user, {})[item] = None
    rng = np.random.default_rng(seed)
    found = []
    for user, items in by_user.items():
        listed, n = [*items], int(share * len(items))
        if len(listed) >= LEAST:
            some = [rng.integers(len(listed))] if n < 2 else rng.choice(len(listed), n, replace=False)
            found += [(user, listed[int(k)]) for k in some]
    return found


class Popularity:
    """Items by how many users took them.

    Attributes
    ----------
    items_ : (n_items,) array of ids
    taken_ : sparse (n_users, n_items), of ones
    counts_ : (n_items,) array
    """

    name = short = "popularity"
    lists = "what most users have"

    def fit(self, X: Any, y: Sequence[int | None] | None = None) -> Self:
        """Learn pairs (user, item); an outcome of 0 says that the item was shown to the user and refused."""
        columns = columns_of(X)
        where = [np.unique(column, return_inverse=True) for column in columns]
        self.items_ = where[1][0]
        self.users_ = {user: row for row, user in enumerate(where[0][0].tolist())}
        self.places_ = {item: column for column, item in enumerate(self.items_.tolist())}
        rows, at = (inverse.ravel() for _, inverse in where)
        shape = len(self.users_), len(self.items_)
        self.seen_ = sparse.csr_matrix((np.ones(len(rows)), (rows, at)), shape)
        kept = np.ones(len(rows), dtype=bool) if y is None else np.array([one is None or one > 0 for one in y])
        self.taken_ = sparse.csr_matrix((np.ones(int(kept.sum())), (rows[kept], at[kept])), shape)
        self.taken_.data[:] = 1.0  # however often
        self.counts_ = np.asarray(self.taken_.sum(axis=0)).ravel()
        return self

    def again(self, X: Any, y: Sequence[int | None] | None = None) -> Popularity:
        """Return the same ranking, of other pairs, with what was chosen."""
        return Popularity().fit(X, y)

    def seen(self, user: Any) -> np.ndarray:
        """Return the ids of the items that a user took or refused."""
        row = self.users_.get(user)
        return self.items_[:0] if row is None else self.items_[self.seen_[row].indices]

    def item_scores(self, users: Sequence[Any], items: Sequence[Any] | None = None, **_: Any) -> np.ndarray:
        """Return what items are ranked by for users, (n, m): an item that nobody has had gets zero."""
        rows = np.array([self.users_.get(user, -1) for user in users], dtype=np.intp)
        if items is None:
            return self._scores(rows, np.arange(len(self.items_)))
        columns = np.array([self.places_.get(item, -1) for item in items], dtype=np.intp)
        scores = np.zeros((len(rows), len(columns)))
        if (columns >= 0).any():
            scores[:, columns >= 0] = self._scores(rows, columns[columns >= 0])
        return scores

    def recommend(self, user: Any, n: int) -> np.ndarray:
        """Return the ids of the n items that a user has not seen and that rank highest, the best first."""
        scores, row = self.item_scores([user])[0], self.users_.get(user)
        if row is not None:
            scores[self.seen_[row].indices] = -np.inf
        order = np.argsort(-scores, kind="stable")
        return self.items_[order[np.isfinite(scores[order])][:n]]

    def _scores(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.tile(self.counts_[columns], (len(rows), 1))


class ItemRegression(Popularity):
    """Items by a ridge regression of each on all others that the user took, equal ones by popularity.

    Parameters
    ----------
    strength : float, optional
        Of the ridge. Default: of 10, 100 and 1000 the one that ranks a further pair of each user highest
        (of 500 users at most).
    random_state : int, default 0
        Of these pairs, and of the users that are learnt from where both users and items are more than 3000.
    """

    name, short = "a regression of each item on the others", "item regression"
    lists = "what a regression of each item on the others ranks highest"

    def __init__(self, strength: float | None = None, random_state: int = 0) -> None:
        self.strength = strength
        self.random_state = random_state

    def fit(self, X: Any, y: Sequence[int | None] | None = None) -> Self:
        """Choose the strength, then learn."""
        super().fit(X, y)
        self.strength_ = self._chosen() if self.strength is None else float(self.strength)
        n_users, n_items = self.taken_.shape
        self.by_items_ = n_items <= min(n_users, MOST)
        if self.by_items_:
            among = (self.taken_.T @ self.taken_).toarray()
        else:
            some = np.random.default_rng(self.random_state).permutation(n_users)[:MOST]
            self.base_ = self.taken_[np.sort(some)]
            among = (self.base_ @ self.base_.T).toarray()
        among[np.diag_indices_from(among)] += self.strength_
        self.inverse_ = np.linalg.inv(among)
        self.left_ = np.diag(self.inverse_).copy() if self.by_items_ else self._left()
        return self

    def again(self, X: Any, y: Sequence[int | None] | None = None) -> Popularity:
        """Return the same ranking, of other pairs, with the strength that was chosen."""
        return ItemRegression(self.strength_, self.random_state).fit(X, y)

    def _chosen(self) -> float:
        pairs = self.taken_.tocoo()
        listed = list(zip(pairs.row.tolist(), pairs.col.tolist(), strict=True))
        held_out = held_out_items(listed, self.random_state)
        if not held_out:
            return STRENGTHS[1]
        some = np.random.default_rng(self.random_state).permutation(len(held_out))[:ENOUGH]
        held_out = [held_out[k] for k in np.sort(some)]
        out = set(held_out)
        rest = np.array([pair for pair in listed if pair not in out])
        means = []
        for strength in STRENGTHS:
            one = ItemRegression(strength, self.random_state).fit(rest)
            means.append(float(ranks(one, held_out, ties=0.5)[0].mean()))
        return STRENGTHS[int(np.argmax(means))]

    def _left(self) -> np.ndarray:
        """strength diag(P), by blocks of items: the shares of their variances that users do not explain."""
        step = max(1, TOGETHER // len(self.inverse_))
        left = np.empty(self.base_.shape[1])
        columns = self.base_.tocsc()
        for start in range(0, len(left), step):
            block = columns[:, start : start + step]
            explained = block.multiply((block.T @ self.inverse_).T)
            left[start : start + step] = 1.0 - np.asarray(explained.sum(axis=0)).ravel()
        return np.maximum(left, 1e-12)

    def _scores(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        known = rows >= 0
        taken = self.taken_[rows[known]]
        scores = np.zeros((len(rows), len(columns)))
        own = taken[:, columns].toarray()
        if self.by_items_:
            scores[known] = own - (taken @ self.inverse_[:, columns]) / self.left_[columns]
        else:
            weights = (taken @ self.base_.T) @ self.inverse_
            scores[known] = own - (own - (self.base_[:, columns].T @ weights.T).T) / self.left_[columns]
        return scores + 1e-9 * self.counts_[columns] / max(float(self.counts_.max(initial=0.0)), 1.0)


def rankings_of(X: Any, y: Sequence[int | None] | None = None, random_state: int = 0) -> list[Popularity]:
    """Return the rivals of a ranking, fitted: popularity, and items regressed on others."""
    return [Popularity().fit(X, y), ItemRegression(random_state=random_state).fit(X, y)]


def beside_rankings(
    model: Any, rivals: Sequence[Popularity], held_out: Sequence[tuple[Any, Any]]
) -> tuple[dict[str, Any] | None, Popularity]:
    """Return a model beside the rival that ranks held-out pairs highest, as `beside` does, and this rival.

    Parameters
    ----------
    model : PairedSymbols or PoissonFactorization, fitted without ``held_out``
    rivals : list of rankings, fitted on the same pairs
    held_out : list of (user, item)

    Examples
    --------
    >>> from adaptive import PairedSymbols
    >>> pairs = [(u, i) for u in range(12) for i in range(8) if (u + i) % 2 or (u + i) % 5 == 0]
    >>> held_out = held_out_items(pairs, 0)
    >>> rest = [pair for pair in pairs if pair not in held_out]
    >>> model = PairedSymbols(1, random_state=0).fit(rest)
    >>> found, rival = beside_rankings(model, rankings_of(rest), held_out)
    >>> found["rival"], found["n"], rival.strength_
    ('a regression of each item on the others', 12, 10.0)
    """
    ours = ranks(model, held_out, ties=0.5)[0]
    theirs = [ranks(rival, held_out, ties=0.5)[0] for rival in rivals]
    best = int(np.argmax([one.mean() for one in theirs]))
    return beside({"mean_rank": (ours, theirs[best])}, rivals[best].name, of="pairs"), rivals[best]
