"""Defaults of `CollaborativePreference` on six real sets: how many components, what was believed before, and the stop.

Comparisons of pairs drawn at random from what people ranked (sushi), rated (Jester: thirty jokes), played (Last.fm:
thirty artists) or agreed with (statements of a personality test), and of language models by the questions of a
benchmark (each prefers those who answered it rightly, and all nearly agree: school mathematics, a general test); few
people, some, and many. Judges are log loss (bits) and share right of ten further comparisons of each person. Sushi,
Jester and school mathematics choose, the others confirm. Rivals: one ranking of everybody (logistic regression), the
former default (five components, maximum likelihood), a coin.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from adaptive import CollaborativePreference, datasets
from experiments.script import Script, command
from experiments.statistics import half_width

TEST, ITEMS = 10, 30
SIZES = {"10 people x 20": (10, 20), "40 people x 10": (40, 10), "150 people x 10": (150, 10)}
CHOOSE, CONFIRM = ("sushi", "Jester", "gsm8k"), ("Last.fm", "statements", "mmlu")
FORMER = {"n_components": 5, "prior_people": 0.0, "tol": 1e-4}
ARMS: dict[str, dict[str, Any]] = {
    **{f"{d} components": {"n_components": d} for d in (0, 1, 2, 4)},
    "auto": {},
    "auto, 3 people before": {"prior_people": 3.0},
    "auto, nobody before": {"prior_people": 0.0},
    "auto, tol 0.003": {"tol": 3e-3},
    "auto, tol 0.00003": {"tol": 3e-5},
    "former default": FORMER,
}
RIVAL = "one ranking"


def values_of(name: str) -> np.ndarray:
    """What each person (rows) thinks of each item, NaN where that is not known."""
    if name == "sushi":
        return -np.asarray(datasets.sushi()[0], dtype=float)
    if name == "Jester":
        return np.asarray(datasets.jester(), dtype=float)[:, :ITEMS]
    if name == "Last.fm":
        pairs, plays = datasets.lastfm()
        artists, column = np.unique(pairs[:, 1], return_inverse=True)
        users, row = np.unique(pairs[:, 0], return_inverse=True)
        best = np.argsort(-np.bincount(column, minlength=len(artists)), kind="stable")[:ITEMS]
        table = np.full((len(users), len(artists)), np.nan, dtype=np.float32)
        table[row, column] = np.log(np.maximum(plays, 1.0))
        return table[:, best].astype(float)
    if name in ("gsm8k", "mmlu"):
        responses, score = datasets.load_benchmark(name)
        spread = np.argsort(score, kind="stable")[np.linspace(0, len(score) - 1, ITEMS).round().astype(int)]
        return np.asarray(responses.scores, dtype=float)[spread].T
    return datasets.answers("bfi").to_numpy(dtype=float)


def drawn(values: np.ndarray, n_people: int, n_each: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Comparisons of pairs that differ, ``n_each`` and ten more of each of the people who have so many."""
    rows, y = [], []
    for person in rng.permutation(len(values)):
        known = np.flatnonzero(np.isfinite(values[person]))
        i, j = np.triu_indices(len(known), 1)
        i, j = known[i], known[j]
        apart = np.flatnonzero(values[person, i] != values[person, j])
        if len(apart) < n_each + TEST:
            continue
        some = rng.permutation(apart)[: n_each + TEST]
        turned = rng.random(len(some)) < 0.5
        first, second = np.where(turned, j[some], i[some]), np.where(turned, i[some], j[some])
        rows.append(np.column_stack([np.full(len(some), len(rows)), first, second]))
        y.append(np.where(values[person, first] > values[person, second], 1, -1))
        if len(rows) == n_people:
            break
    return np.concatenate(rows), np.concatenate(y)


def judged(name: str, size: str, splits: int, quick: bool) -> dict[str, np.ndarray]:
    """Return of each arm (splits, 4): bits a comparison, share right, components, processor seconds."""
    n_people, n_each = SIZES[size]
    arms = {arm: ARMS[arm] for arm in ("auto", "former default")} if quick else ARMS
    values, found = values_of(name), {arm: [] for arm in (*arms, RIVAL)}
    for seed in range(splits):
        rng = np.random.default_rng([seed, n_people])
        rows, y = drawn(values, n_people, n_each, rng)
        test = np.arange(len(rows)) % (n_each + TEST) >= n_each
        for arm, options in arms.items():
            begun = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = CollaborativePreference(random_state=seed, **options).fit(rows[~test], y[~test])
            took = time.process_time() - begun
            logs = np.maximum(model.log_predictive(rows[test], y[test]), np.log(1e-4))
            right = model.score(rows[test], y[test])
            found[arm].append([-logs.mean() / np.log(2), right, model.posterior_.loadings.shape[1], took])
        table = _ranking(rows, y, test, values.shape[1])
        p = np.where(y[test] > 0, table[:, 1], table[:, 0])
        found[RIVAL].append([-np.log2(np.maximum(p, 1e-4)).mean(), np.mean(p > 0.5), 0.0, 0.0])
    return {arm: np.array(one) for arm, one in found.items()}


def _ranking(rows: np.ndarray, y: np.ndarray, test: np.ndarray, n_items: int) -> np.ndarray:
    n = len(rows)
    ends = np.concatenate([rows[:, 1], rows[:, 2]])
    X = sp.csr_array((np.repeat([1.0, -1.0], n), (np.tile(np.arange(n), 2), ends)), shape=(n, n_items))
    return LogisticRegression(fit_intercept=False).fit(X[~test], y[~test]).predict_proba(X[test])


def run(script: Script) -> None:
    """Fit, choose on one half of the sets, confirm on the other."""
    splits = 2 if script.quick else 5
    sizes = list(SIZES)[:1] if script.quick else list(SIZES)
    names = (CHOOSE[0], CONFIRM[0]) if script.quick else (*CHOOSE, *CONFIRM)
    cells = [(name, size) for name in names for size in sizes]
    found = {cell: script.kept("default_preferences", judged, *cell, splits, script.quick) for cell in cells}
    rows = [
        {
            "set": name, "half": "chooses" if name in CHOOSE else "confirms", "size": size, "arm": arm,
            "bits": round(float(one[:, 0].mean()), 3), "share right": round(float(one[:, 1].mean()), 3),
            "components": round(float(one[:, 2].mean()), 2), "seconds": round(float(one[:, 3].mean()), 2),
        }
        for (name, size), of in found.items()
        for arm, one in of.items()
    ]  # fmt: skip
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-preferences",
        f"Held-out comparisons of the people learnt from, ten each, {splits} splits: bits a comparison (a coin has 1), "
        "share of winners predicted, components, processor seconds of a fit. Former default: five components by "
        "maximum likelihood; one ranking: logistic regression of all comparisons.",
    )  # fmt: skip
    autos = [arm for arm in found[cells[0]] if arm.startswith("auto")]
    over = {arm: np.mean([found[cell][arm][:, 0].mean() for cell in cells if cell[0] in CHOOSE]) for arm in autos}
    behind, against = [], {}
    for rival in (RIVAL, "former default"):
        for cell in cells:
            bits, right = (found[cell]["auto"][:, k] - found[cell][rival][:, k] for k in (0, 1))
            against[f"{', '.join(cell)}, {rival}: bits, share right"] = (
                f"{bits.mean():+.3f} +- {half_width(bits):.3f}, {right.mean():+.3f} +- {half_width(right):.3f}"
            )
            if cell[0] in CONFIRM and (bits.mean() > half_width(bits) or right.mean() < -half_width(right)):
                behind.append(f"{rival} on {', '.join(cell)}")
    script.judge(
        "ours-default-preferences", not behind,
        claim="CollaborativePreference by its defaults is certainly behind one ranking of everybody and its former "
        "default on none of three confirming sets, by log loss or share right, with few people and many.",
        target="no paired 95% interval over splits on the wrong side of 0",
        value={
            "auto less rival": against,
            "bits on choosing sets": {arm: round(float(value), 3) for arm, value in over.items()},
        },
        reason=f"Behind {'; '.join(behind)}." if behind else "",
        seed=f"0..{splits - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
