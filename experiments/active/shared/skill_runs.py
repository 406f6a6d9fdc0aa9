"""Runs of `skills.py`: rows labelled by five people who are right in 55 to 95% of the cases, or by a real crowd.

Every run says accuracy and log loss on rows that nobody labels, error and coverage of the skills, and the money spent,
after each of ``MARKS`` answers.
"""

from __future__ import annotations

import csv
import gzip
import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from designs.pool import Annotated

__all__ = [
    "ARMS",
    "CROWD",
    "DEAR",
    "MARKS",
    "PRICED",
    "PRICES",
    "SETS",
    "SKILLS",
    "UNIT",
    "crowd_run",
    "for_the_money",
    "one_run",
]

SKILLS = (0.55, 0.65, 0.75, 0.85, 0.95)
PRICED = ("digits 3, 5", "crabs")  # sets that are labelled for money
PRICES = (1.0, 1.0, 1.0, 2.0, 6.0)
MARKS = (20, 40, 80, 120)
FIRST, POOL, TEST = 6, 215, 300
SETS = ("digits 3, 5", "digits 4, 9", "crabs", "breast cancer", "waveform")
ARMS = (
    "row and person chosen, skills",
    "row chosen, skills",
    "random, skills",
    "row chosen, each a noisy answer",
    "random, each a noisy answer",
    "random, majority of three",
    "random, Dawid and Skene, LogisticRegressionCV",
)
DEAR = ("gain per cost", "gain", "random")  # arms where people have prices
ORIGIN = "zhydhkcws/crowd_truth_infer, d_jn-product"
CROWD = (ARMS[0], ARMS[2], ARMS[4], ARMS[6])


@cache
def table_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels 0, 1."""
    if name.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        first, second = (int(one) for one in name.removeprefix("digits ").split(", "))
        kept = np.isin(y, (first, second))
        return X[kept] / 16.0, (y[kept] == second).astype(int)
    if name == "waveform":
        X, y = datasets.raetsch(name)[:2]
    else:
        X, y = datasets.breast_cancer() if name == "breast cancer" else datasets.uci(name)
    X = np.asarray(X, dtype=float)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.unique(y, return_inverse=True)[1]


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and labels of pool and test, and what five people say of every row of the pool."""
    X, y = table_of(name)
    rng = np.random.default_rng([seed, 38])
    order = rng.permutation(len(y))
    n = min(POOL, round(0.6 * len(y)))
    pool, test = order[:n], order[n : n + TEST]
    right = rng.random((n, len(SKILLS))) < SKILLS
    said = np.where(right, y[pool, None], 1 - y[pool, None])
    return X[pool], y[pool], X[test], y[test], said


def one_run(name: str, arm: str, seed: int, priced: bool = False, most: int = MARKS[-1]) -> dict[str, np.ndarray]:
    """Return what an arm knows after each mark."""
    X, _, X_test, y_test, said = split(name, seed)
    people = [f"person {k}" for k in range(len(SKILLS))]
    pool = Annotated(X, people)
    rng = np.random.default_rng([seed, 39])
    marks = [mark for mark in MARKS if mark <= most]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if arm == "row chosen, each a noisy answer":
            looks = _noisy_design(X, said, rng, marks, seed)
        elif arm in ARMS[4:]:
            order = _three_each(X, rng) if "majority" in arm else rng.permutation(len(pool))
            looks = [_offline(arm, pool, said, order[:mark]) for mark in marks]
        else:
            looks = _skill_design(arm, pool, said, rng, marks, seed, priced)
    rows = [_judged(table(X_test), y_test) | of_people for table, of_people in looks]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def _judged(table: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    p = np.clip(table[np.arange(len(truth)), truth], 1e-12, 1.0)
    return {"accuracy": float((np.argmax(table, axis=1) == truth).mean()), "log loss": float(-np.log(p).mean())}


UNIT = {"gain less 0.01 a unit": 0.01, "gain less .03 a unit": 0.03}  # nats


def for_the_money(runs: list[dict[str, np.ndarray]], budgets: tuple[float, ...]) -> dict[str, dict[str, float]]:
    """Return the means of accuracy and log loss over runs when so much was spent, by the sum."""
    return {
        f"{budget:.0f}": {
            metric: round(float(np.mean([np.interp(budget, one["spent"], one[metric]) for one in runs])), 3)
            for metric in ("accuracy", "log loss")
        }
        for budget in budgets
    }


def _skill_design(
    arm: str, pool: Annotated, said: np.ndarray, rng: np.random.Generator, marks: list[int], seed: int, priced: bool
) -> list[Any]:
    prices = dict(zip(pool.people, PRICES, strict=True))
    design = SequentialDesign(
        BayesianLogisticRegression(annotators=True, classes=[0, 1]), pool, initial=FIRST, random_state=seed,
        scorer="random" if arm.startswith("random") else "auto",
        cost=pool.cost(prices) if priced and arm in (DEAR[0], *UNIT) else None, price=UNIT.get(arm),
    )  # fmt: skip
    looks: list[Any] = []
    asked: list[int] = []
    while len(asked) < marks[-1]:
        if arm == "row chosen, skills" and len(asked) >= FIRST and rng.random() >= 0.15:
            query = design.ask(positions=[_of_a_row(design, pool, asked, rng)])
        else:
            query = design.ask()
        position = int(query.positions[0])
        asked.append(position)
        design.tell(query, [said[position // len(SKILLS), position % len(SKILLS)]])
        if len(asked) in marks:
            model = design.estimator_
            skills = [model.annotators_.get(person) for person in pool.people]
            known = [(k, one) for k, one in enumerate(skills) if one is not None]
            spent = float(sum(PRICES[p % len(SKILLS)] for p in asked))
            of_people = {
                "skill error": float(np.mean([abs(one.mean - SKILLS[k]) for k, one in known])),
                "covered": float(np.mean([one.low <= SKILLS[k] <= one.high for k, one in known])),
                "spent": spent,
                "best person's share": float(np.mean(np.array(asked) % len(SKILLS) == len(SKILLS) - 1)),
            }
            looks.append((_kept_table(model), of_people))
    return looks


def _kept_table(model: Any) -> Any:
    belief = model.belief_  # a later answer makes another one
    return lambda X: belief.probabilities(X)


def _of_a_row(design: SequentialDesign, pool: Annotated, asked: list[int], rng: np.random.Generator) -> int:
    """Return a random person's pair of the row about which people can say most, on average."""
    predictive = design.estimator_.predictive(pool, random_state=0)
    gain = (predictive.outcome_entropy - predictive.expected_entropy).reshape(-1, len(SKILLS))
    free = np.ones(len(pool), dtype=bool)
    free[asked] = False
    free = free.reshape(gain.shape)
    row = int(np.argmax(np.where(free.any(axis=1), gain.mean(axis=1), -1.0)))
    return row * len(SKILLS) + int(rng.choice(np.flatnonzero(free[row])))


def _noisy_design(X: np.ndarray, said: np.ndarray, rng: np.random.Generator, marks: list[int], seed: int) -> list[Any]:
    """Rows by the default design, people at random; each answer is one more noisy observation of its row."""
    design = SequentialDesign(
        BayesianLogisticRegression(classes=[0, 1]), X, initial=FIRST, repeat=True, random_state=seed
    )
    looks: list[Any] = []
    for n in range(1, marks[-1] + 1):
        query = design.ask()
        design.tell(query, [said[query.positions[0], rng.integers(len(SKILLS))]])
        if n in marks:
            looks.append((_kept_table(design.estimator_), {}))
    return looks


def _three_each(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    rows = rng.permutation(len(X))
    return np.concatenate([row * len(SKILLS) + rng.permutation(len(SKILLS))[:3] for row in rows])


def _offline(arm: str, pool: Annotated, said: np.ndarray, positions: np.ndarray) -> tuple[Any, dict[str, float]]:
    part = pool.take(positions)
    answers = said[part.rows, part.who]
    X = np.asarray(pool.table)
    if "noisy" in arm:
        model = BayesianLogisticRegression(classes=[0, 1]).fit(X[part.rows], answers)
        return model.predict_proba, {}
    rows, where = np.unique(part.rows, return_inverse=True)
    if "majority" in arm:
        votes = np.bincount(where, 2.0 * answers - 1.0)
        model = BayesianLogisticRegression(classes=[0, 1]).fit(X[rows[votes != 0]], (votes[votes != 0] > 0).astype(int))
        return model.predict_proba, {}
    soft = dawid_skene(where, part.who, answers, len(rows), len(pool.people))
    return soft_regression(X[rows], soft), {}


def dawid_skene(rows: np.ndarray, who: np.ndarray, said: np.ndarray, n: int, people: int) -> np.ndarray:
    """Return P(true label is 1) of n rows by Dawid and Skene's EM, from majorities.

    Two right answers and one wrong one are added for everybody and each class: with one answer a row EM without them
    ends where all rows are of one class.
    """
    one = np.bincount(rows, said, n) / np.maximum(np.bincount(rows, minlength=n), 1)
    for _ in range(100):
        share = (1.0 + one.sum()) / (2.0 + n)
        right = (2.0 + np.bincount(who, one[rows] * said, people)) / (3.0 + np.bincount(who, one[rows], people))
        wrong = (1.0 + np.bincount(who, (1 - one[rows]) * said, people)) / (
            3.0 + np.bincount(who, 1 - one[rows], people)
        )
        odds = np.where(said == 1, np.log(right / wrong)[who], np.log((1 - right) / (1 - wrong))[who])
        new = 1.0 / (1.0 + np.exp(-(np.log(share / (1 - share)) + np.bincount(rows, odds, n))))
        if np.abs(new - one).max() < 1e-6:
            break
        one = new
    return one


def soft_regression(X: np.ndarray, one: np.ndarray) -> Any:
    """Return predict_proba of scikit-learn's LogisticRegressionCV (its settings) with soft labels as weights."""
    hard = (one > 0.5).astype(int)
    if min(np.bincount(hard, minlength=2)) < 2:
        share = (1.0 + one.sum()) / (2.0 + len(one))
        return lambda rows: np.tile([1 - share, share], (len(rows), 1))
    folds = min(5, int(np.bincount(hard, minlength=2).min()))
    both = np.concatenate([X, X])
    labels = np.concatenate([np.ones(len(X), int), np.zeros(len(X), int)])
    weights = np.concatenate([one, 1.0 - one])
    kept = weights > 1e-3
    model = LogisticRegressionCV(cv=folds, max_iter=2000).fit(both[kept], labels[kept], sample_weight=weights[kept])
    return model.predict_proba


# -- a real crowd -----------------------------------------------------------------------------------------------
@cache
def crowd() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return features and truth of 8,315 pairs of products, and row, worker and answer of 24,945 answers."""
    with gzip.open(datasets.file("crowd/product_pairs.csv.gz", ORIGIN), "rt", encoding="utf-8", newline="") as lines:
        pairs = list(csv.DictReader(lines))
    with gzip.open(datasets.file("crowd/product_answers.csv.gz", ORIGIN), "rt", encoding="utf-8", newline="") as lines:
        answers = list(csv.DictReader(lines))
    columns = []
    for settings in ({"analyzer": "word"}, {"analyzer": "char_wb", "ngram_range": (3, 3)}):
        texts = [one["name_a"] for one in pairs] + [one["name_b"] for one in pairs]
        found = TfidfVectorizer(sublinear_tf=True, **settings).fit_transform(texts)
        columns.append(np.asarray(found[: len(pairs)].multiply(found[len(pairs) :]).sum(axis=1)).ravel())
    words = [[set(one[key].lower().split()) for key in ("name_a", "name_b")] for one in pairs]
    columns.append(np.array([len(a & b) / max(1, min(len(a), len(b))) for a, b in words]))
    codes = [[{w for w in part if any(c.isdigit() for c in w)} for part in both] for both in words]
    columns.append(np.array([len(a & b) for a, b in codes], dtype=float))
    columns.append(np.array([len(a ^ b) for a, b in codes], dtype=float))
    prices = [[_price(one[key]) for key in ("price_a", "price_b")] for one in pairs]
    known = np.array([a > 0 and b > 0 for a, b in prices])
    columns.append(np.where(known, [abs(np.log(max(a, 0.01) / max(b, 0.01))) for a, b in prices], 0.0))
    columns.append(known.astype(float))
    X = np.stack(columns, axis=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    place = {one["pair"]: k for k, one in enumerate(pairs)}
    return (
        X,
        np.array([int(one["same"]) for one in pairs]),
        np.array([place[one["pair"]] for one in answers]),
        np.array([int(one["worker"]) for one in answers]),
        np.array([int(one["answer"]) for one in answers]),
    )


def _price(text: str) -> float:
    try:
        return float(text.strip().lstrip("$").replace(",", "") or 0.0)
    except ValueError:
        return 0.0


CROWD_MARKS = (60, 120, 240)


def crowd_run(arm: str, seed: int, most: int = CROWD_MARKS[-1]) -> dict[str, np.ndarray]:
    """Return what an arm knows of the crowd's pairs; it is asked about half of them, and the others test."""
    X, truth, rows, who, said = crowd()
    rng = np.random.default_rng([seed, 40])
    own = np.zeros(len(X), dtype=bool)
    own[rng.permutation(len(X))[: len(X) // 2]] = True
    everyone = Annotated(X, list(range(int(who.max()) + 1)))
    kept = np.flatnonzero(own[rows])
    pool = everyone.of(rows[kept], who[kept].tolist())
    answers = said[kept]
    marks = [mark for mark in CROWD_MARKS if mark <= most]
    looks: list[Any] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "skills" in arm:
            scorer = "random" if arm.startswith("random") else "auto"
            model = BayesianLogisticRegression(annotators=True, classes=[0, 1])
            design = SequentialDesign(model, pool, initial=20, random_state=seed, scorer=scorer)
            for n in range(1, marks[-1] + 1):
                query = design.ask()
                design.tell(query, answers[query.positions])
                if n in marks:
                    looks.append(_kept_table(design.estimator_))
        else:
            order = rng.permutation(len(kept))
            for mark in marks:
                part = pool.take(order[:mark])
                given = answers[order[:mark]]
                if "noisy" in arm:
                    looks.append(BayesianLogisticRegression(classes=[0, 1]).fit(X[part.rows], given).predict_proba)
                else:
                    some, where = np.unique(part.rows, return_inverse=True)
                    people, persons = np.unique(part.who, return_inverse=True)
                    soft = dawid_skene(where, persons, given, len(some), len(people))
                    looks.append(soft_regression(X[some], soft))
    tested = [_judged(table(X[~own]), truth[~own]) for table in looks]
    return {key: np.array([row[key] for row in tested]) for key in tested[0]}
