"""Which command for a table of plays: `adaptive recommend`, the same with --count, or `adaptive counts --pairs`.

A fifth of each user's items is held out of tables of plays, words of posts, groceries, jokes rated above 4 and baby
registries; judges are the share of the five best items that were held out, and their mean rank. Plays are taken as
their square roots, or --count would refuse them. Whose list is best is also told beforehand, by a further fifth, as
both commands do it.

Full mode: ten minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import PairedSymbols, PoissonFactorization, datasets
from adaptive.diagnostics.mean_rank import placed
from adaptive.diagnostics.rankings import held_out_items, rankings_of
from experiments.defaults import censored_pairs, pair_counts
from experiments.script import Script, command
from experiments.statistics import half_width

COUNTS = ("Last.fm", "words of posts")
ONCE = ("groceries", "Jester", "registries")
USERS, SHARE, FIRST, SPLITS = 300, 0.2, 5, 4
ARMS = ("recommend", "recommend --count", "counts", "counts, 10 components", "counts, each once")
CHOOSERS = ("recommend", "counts")
RIVALS = ("popularity", "item regression")


@cache
def table_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (n, 2) and counts (n,), of all users."""
    if name == "Last.fm":
        pairs, plays = datasets.lastfm()
        return pairs, np.floor(np.sqrt(plays) + 0.5)
    if name == "words of posts":
        return pair_counts.table_of(name)
    table = censored_pairs.table_of(name, {"groceries": 9835, "Jester": 500, "registries": 8000}[name]).tocoo()
    return np.column_stack([table.row, table.col]), np.ones(table.nnz)


def fitted(arm: str, pairs: list[Any], counts: np.ndarray) -> Any:
    """Return the model of a command by its defaults."""
    if arm.startswith("recommend"):
        times = counts.astype(int) if arm.endswith("--count") else np.ones(len(pairs), dtype=int)
        return PairedSymbols(random_state=0).fit([pair for pair, n in zip(pairs, times, strict=True) for _ in range(n)])
    model = PoissonFactorization(10 if "10" in arm else 5, zeros="observed", random_state=0)
    return model.fit(pairs, np.ones(len(pairs)) if "once" in arm else counts)


def one_split(name: str, seed: int) -> dict[str, np.ndarray]:
    """Hits among the first five and mean rank of each user, by all arms and rivals; means of a further fifth."""
    table, y = table_of(name)
    rng = np.random.default_rng([seed, 22])
    some = np.flatnonzero(np.isin(table[:, 0], rng.permutation(np.unique(table[:, 0]))[:USERS]))
    pairs, counts = [tuple(pair) for pair in table[some].tolist()], y[some].astype(float)
    found: dict[str, np.ndarray] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in ("", "further "):
            held_out = held_out_items(pairs, seed, SHARE)
            out = set(held_out)
            rest = [k for k, pair in enumerate(pairs) if pair not in out]
            pairs, counts = [pairs[k] for k in rest], counts[rest]
            arms = CHOOSERS if part else ARMS if name in COUNTS else ("recommend", "counts", "counts, 10 components")
            rankings = {arm: fitted(arm, pairs, counts) for arm in arms}
            rankings |= {one.short: one for one in rankings_of(pairs, random_state=seed)}
            for arm, model in rankings.items():
                one = placed(model, held_out, FIRST, ties=0.5)
                found |= {f"{part}{arm}, hits": one.hits, f"{part}{arm}, rank": one.by_user()}
    return found


if __name__ == "__main__":
    command(run, __doc__, __file__)
