"""What `adaptive.diagnostics.beside_rival` says of a model from known outcomes alone, beside what new outcomes say.

Every family by its defaults, beside the simplest rival of its field: sixty known rows of real sets of labels, numbers
and counts, half of the bins of real series, half of the counts of a hundred users, twenty comparisons of each of sixty
people, all pairs of users and items but one of each user. Said is a paired 95% interval by folds of what is known;
found is the same on outcomes that neither had learnt, by models of all that is known.

Full mode: ten minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from adaptive import (
    BayesianLogisticRegression,
    CollaborativePreference,
    CoxProcess,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    PairedSymbols,
    PoissonFactorization,
    PoissonRegression,
    SparseLinearRegression,
)
from adaptive import pool as pools
from adaptive.diagnostics import beside, beside_rival
from adaptive.diagnostics.beside_rival import judged_labels
from adaptive.diagnostics.rankings import beside_rankings, held_out_items, rankings_of
from adaptive.diagnostics.rivals import rival_of
from experiments.bands import counts, labels, numbers
from experiments.defaults.censored_pairs import CHOOSE, CONFIRM, table_of
from experiments.defaults.preference_components import drawn, values_of
from experiments.defaults.stops import counts_of
from experiments.script import Script, command
from experiments.statistics import standardised

KNOWN, NEW, MOST_PAIRS = 60, 400, 1500  # rows; new ones at most; counts of pairs, known and new each
OF_LABELS = (*labels.TWO_CLASSES, *labels.MULTICLASS)
FAMILIES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "BayesianLogisticRegression": (BayesianLogisticRegression, OF_LABELS),
    "GaussianProcessClassifier": (GaussianProcessClassifier, tuple(labels.TWO_CLASSES)),
    "GaussianProcessRegressor": (GaussianProcessRegressor, tuple(numbers.SETS)),
    "SparseLinearRegression": (SparseLinearRegression, tuple(numbers.SETS)),
    "PoissonRegression": (PoissonRegression, tuple(counts.ROWS)),
    "CoxProcess": (CoxProcess, tuple(counts.BINS)),
    "PoissonFactorization": (lambda: PoissonFactorization(random_state=0), ("Last.fm", "Jester", "poliblog")),
    "CollaborativePreference": (lambda: CollaborativePreference(random_state=0), ("sushi", "Jester", "Last.fm")),
    "PairedSymbols": (
        lambda: PairedSymbols(random_state=0), tuple(f"{name}, {n} users" for name, n in (*CHOOSE, *CONFIRM)),
    ),
}  # fmt: skip
SPLITS = {"CollaborativePreference": 1, "PairedSymbols": 1}  # of others four
RANKED = {"PairedSymbols": "popularity or a regression of each item on the others"}
BY_USER = ("PoissonFactorization", "CollaborativePreference")


def outcomes(family: str, name: str, seed: int) -> tuple[Any, np.ndarray, int]:
    """Return candidates and outcomes in random order, and how many are known."""
    rng = np.random.default_rng([seed, 63])
    X: Any
    if family in ("BayesianLogisticRegression", "GaussianProcessClassifier"):
        X, y = (labels.TWO_CLASSES | labels.MULTICLASS)[name]()
        X, y = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    elif family in ("GaussianProcessRegressor", "SparseLinearRegression"):
        X, y = numbers.SETS[name]()
        y = y / y.std()
    elif family == "PoissonRegression":
        X, y = counts.ROWS[name]()
    elif family == "CoxProcess":
        X, y = counts.BINS[name]()
        order = rng.permutation(len(y))
        return X[order], y[order], len(y) // 2
    elif family == "PoissonFactorization":
        pairs, y = counts_of(name)
        some = np.isin(pairs[:, 0], rng.permutation(np.unique(pairs[:, 0]))[:100])
        order = rng.permutation(np.flatnonzero(some))[: 2 * MOST_PAIRS]
        return [tuple(pair) for pair in pairs[order].tolist()], y[order], len(order) // 2
    else:
        rows, y = drawn(values_of(name), 60, 30, rng)
        order = np.concatenate(
            [np.flatnonzero(np.arange(len(y)) % 30 < 20), np.flatnonzero(np.arange(len(y)) % 30 >= 20)]
        )
        return [tuple(rows[k]) for k in order], np.asarray(y)[order], 60 * 20
    order = rng.permutation(len(y))[: KNOWN + NEW]
    return standardised(X, order[:KNOWN])[order], y[order], KNOWN


def compared(family: str, name: str, seed: int) -> dict[str, np.ndarray]:
    """Differences and margins, nats an outcome, positive where the rival is ahead: said, and found on new outcomes."""
    X, y, n = outcomes(family, name, seed)
    known = pools.take(X, np.arange(n)), y[:n]
    new = pools.take(X, np.arange(n, len(y))), y[n:]
    model = FAMILIES[family][0]()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = beside_rival(model, known)
        ours, rival = clone(model).fit(*known), rival_of(model).fit(*known)
        if hasattr(rival, "predict_proba"):
            losses = [judged_labels(one, *new)["log_loss"] for one in (ours, rival)]
        else:
            losses = [-np.asarray(one.log_predictive(*new)) for one in (ours, rival)]
    groups = [pair[0] for pair in new[0]] if family in BY_USER else None
    found = beside({"log_loss": (losses[0], losses[1])}, "", groups=groups)
    pairs = [(np.nan, np.nan) if one is None else (one["difference"], one["margin"]) for one in (said, found)]
    return {"said": np.array(pairs[0]), "found": np.array(pairs[1])}


def ranked(family: str, name: str, seed: int) -> dict[str, np.ndarray]:
    """The same of pairs that happened, in shares of a rank: one of each user is known to nobody."""
    of, n = name.removesuffix(" users").rsplit(", ", 1)
    pairs = list(map(tuple, np.argwhere(table_of(of, int(n)).toarray()).tolist()))
    new = held_out_items(pairs, seed + 100)
    out = set(new)
    rest = [pair for pair in pairs if pair not in out]
    model = FAMILIES[family][0]()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = beside_rival(model, (rest, [None] * len(rest)), random_state=seed)
        found, _ = beside_rankings(clone(model).fit(rest), rankings_of(rest, random_state=seed), new)
    told = [(np.nan, np.nan) if one is None else (one["difference"], one["margin"]) for one in (said, found)]
    return {"said": np.array(told[0]), "found": np.array(told[1])}


def verdict(one: np.ndarray) -> int:
    """Return 1 where the rival is certainly ahead, -1 where the model is, 0 where it cannot be told."""
    return int(one[0] > one[1]) - int(one[0] < -one[1])


def run(script: Script) -> None:
    """All families and sets; how often what is said is so."""
    families = (
        {"PoissonRegression": ("epilepsy",)} if script.quick else {name: sets for name, (_, sets) in FAMILIES.items()}
    )
    rows: list[dict[str, Any]] = []
    both: list[tuple[int, int, str]] = []
    for family, sets in families.items():
        for name in sets:
            splits = 1 if script.quick else SPLITS.get(family, 4)
            judge = ranked if family in RANKED else compared
            of = [script.kept("default_beside", judge, family, name, seed) for seed in range(splits)]
            told = [(verdict(one["said"]), verdict(one["found"]), f"{family}, {name}") for one in of]
            both += told
            said, found = (np.mean([one[key][0] for one in of]) for key in ("said", "found"))
            rows.append({
                "model": family, "rival": RANKED.get(family) or getattr(rival_of(FAMILIES[family][0]()), "name", ""),
                "set": name,
                "said": round(float(said), 4), "found": round(float(found), 4),
                **{f"said: {word}": sum(a == sign for a, *_ in told) for word, sign in
                   (("rival", 1), ("cannot be told", 0), ("model", -1))},
                **{f"found: {word}": sum(b == sign for _, b, _ in told) for word, sign in
                   (("rival", 1), ("cannot be told", 0), ("model", -1))},
            })  # fmt: skip
            print(rows[-1], flush=True)
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-beside",
        "Nats an outcome (of pairs: mean rank) by which the rival is ahead, mean over splits: as the model's own "
        "comparison says by folds of what is known, and on new outcomes; in how many splits either is certain (95%).",
    )  # fmt: skip
    certain = [one for one in both if one[0]]
    wrong = [f"{name}: said {a:+d}" for a, b, name in both if a * b < 0]
    worse = [one for one in both if one[1] > 0]
    script.judge(
        "ours-default-said", len(wrong) <= 0.05 * max(len(certain), 1),
        claim="Where a model's own held-out outcomes say that it or its simplest rival is certainly better, new "
        "outcomes do not say the contrary.",
        target="contradicted with certainty (95%) in at most 1 of 20 certain sentences",
        value={"sentences": len(both), "certain": len(certain), "contradicted": len(wrong),
               "rival certainly ahead on new outcomes": {
                   "in all": len(worse), "said so": sum(a > 0 for a, *_ in worse),
                   "cannot be told": sum(a == 0 for a, *_ in worse),
                   "said the contrary": sum(a < 0 for a, *_ in worse)}},
        reason=("Contradicted: " + "; ".join(wrong) + ". " if wrong else "")
        + "Few known outcomes tell little: most of what new ones show is said to be open.",
        seed="0..3",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
