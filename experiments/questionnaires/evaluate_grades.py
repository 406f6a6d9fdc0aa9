"""Scores between 0 and 1 rounded to grades: what that loses beside the likelihood of the scores themselves.

Simulated: the logit of a score is a Gaussian about the projection of three traits, so that the posterior of whoever is
asked is Gaussian by the true items, which no grades and no fit can beat. Everybody is asked the same items at random.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.factors.fit import fit_factors
from adaptive.estimators.questionnaires.factors.people import People
from experiments.script import Script, command
from experiments.statistics import limits

GRADES = (5, 10, 20, 50)
SPLITS, KNOWN, NEW, ITEMS = 5, 300, 150, 40
AFTER, Z = (5, 10, 20), 1.645
EXACT = "scores themselves, true items"


def run(script: Script) -> None:
    """Errors and coverage by grades."""
    grades = (5, 10) if script.quick else GRADES
    cells = [script.kept("evaluate-grades", one, seed, len(grades)) for seed in range(1 if script.quick else SPLITS)]
    names = [*(f"{n} grades" for n in grades), EXACT]
    told = {
        what: {
            name: [
                "{:.2f} ({:.2f} to {:.2f})".format(*limits(np.array([cell[f"{what} {name}"][k] for cell in cells])))
                for k in range(len(AFTER))
            ]
            for name in names
        }
        for what in ("error", "coverage")
    }
    if script.quick:
        return
    told["error of ten grades over that of fifty"] = [
        "{:.3f} ({:.3f} to {:.3f})".format(
            *limits(np.array([cell["error 10 grades"][k] / cell["error 50 grades"][k] for cell in cells]))
        )
        for k in range(len(AFTER))
    ]
    script.judge(
        "ours-evaluate-grades", None,
        claim="Ten grades of scores between 0 and 1 lose nothing: their error of the full score is at most 1.05 times "
        "that of fifty.",
        target="<= 1.05 after 5, 10 and 20 of 40 items", value=told, seed=f"0 to {SPLITS - 1}",
        reason=f"Simulated: three traits, {KNOWN} systems calibrate, {NEW} are asked; points, coverage of nominal .90 "
        "by the model. The scores themselves are judged by the items that made them, the others learn theirs.",
    )  # fmt: skip


def one(seed: int, n_grades: int) -> dict[str, np.ndarray]:
    """Errors in points and coverage after each number of items, by grades and by the scores themselves."""
    rng = np.random.default_rng([seed, 7])
    loadings = rng.normal(0.5, 0.5, (ITEMS, 3))
    centre, noise = rng.normal(0.3, 1.0, ITEMS), 0.8
    x = rng.standard_normal((KNOWN + NEW, 3))
    scores = expit(x @ loadings.T + centre + noise * rng.standard_normal((KNOWN + NEW, ITEMS)))
    order = rng.permutation(ITEMS)
    found: dict[str, np.ndarray] = {}
    truth = 100.0 * scores[KNOWN:].mean(axis=1)
    told = {f"{n} grades": _by_grades(scores, n, order) for n in GRADES[:n_grades]}
    told[EXACT] = _by_scores(scores[KNOWN:], loadings, centre, noise, order)
    for name, (mean, std) in told.items():
        off = mean - truth[:, None]
        found[f"error {name}"] = np.sqrt(np.mean(off**2, axis=0))
        found[f"coverage {name}"] = np.mean(np.abs(off) <= Z * std, axis=0)
    return found


def _by_grades(scores: np.ndarray, n: int, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations (systems, numbers of items) of full scores in points, from scores rounded to grades."""
    codes = np.round(scores * (n - 1)).astype(int)
    person, item = (one.ravel() for one in np.indices((KNOWN, ITEMS)))  # more grades than `of_table` takes
    answers = Answers(tuple(range(KNOWN)), tuple(range(ITEMS)), person, item, codes[:KNOWN].ravel(), tuple(range(n)))
    fit = fit_factors(answers, 3)
    turned = np.zeros(ITEMS, dtype=bool)
    bank = FactorBank(range(ITEMS), range(n), fit.loadings, fit.steps, fit.doubt, turned)
    new = codes[KNOWN:]
    people, rows = People.before(bank, len(new)), np.arange(len(new))
    left, said = np.ones(new.shape, dtype=bool), []
    for k, item in enumerate(order[: max(AFTER)], 1):
        people.learn(rows, np.full(len(new), item), new[:, item])
        left[:, item] = False
        if k in AFTER:
            mean, variance = people.outlook(np.arange(ITEMS)).totals(left)
            said.append(((mean + np.where(left, 0, new).sum(axis=1)), np.sqrt(variance)))
    both = np.array(said) * 100.0 / ((n - 1) * ITEMS)
    return both[:, 0].T, both[:, 1].T


def _by_scores(
    scores: np.ndarray, loadings: np.ndarray, centre: np.ndarray, noise: float, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same by the Gaussian posterior of traits given the logits, averaged over 400 draws."""
    draws = np.random.default_rng(0)
    means, stds = [], []
    for k in AFTER:
        asked, left = order[:k], order[k:]
        a = loadings[asked]
        covariance = np.linalg.inv(np.eye(3) + a.T @ a / noise**2)
        mean = (logit(scores[:, asked]) - centre[asked]) @ a @ covariance / noise**2
        x = mean[:, None] + draws.standard_normal((len(scores), 400, 3)) @ np.linalg.cholesky(covariance).T
        s = x @ loadings[left].T + centre[left] + noise * draws.standard_normal((len(scores), 400, len(left)))
        total = (expit(s).sum(axis=2) + scores[:, asked].sum(axis=1)[:, None]) * 100.0 / ITEMS
        means.append(total.mean(axis=1))
        stds.append(total.std(axis=1))
    return np.array(means).T, np.array(stds).T


if __name__ == "__main__":
    command(run, __doc__, __file__)
