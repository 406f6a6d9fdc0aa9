"""Scores between 0 and 1 taken as they are, beside the same rounded to grades: errors of the full score.

Real: jokes rated from -10 to 10 by a slider (Jester). Simulated: the logit of a score is a Gaussian about the
projection of three traits. Everybody is asked the same items at random, or those that each model chooses; what was
asked counts exactly in all of them, so that grades lose only what they tell of the items that were not asked.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit

from adaptive import Questionnaire
from adaptive.datasets import jester
from adaptive.estimators.questionnaires.simulation import replay
from experiments.equivalence import all_of, inside
from experiments.script import Script, command
from experiments.statistics import limits

SETS, WAYS, GRADES = ("jester", "simulated"), ("random", "chosen"), (5, 10)
SPLITS, KNOWN, NEW, ITEMS, TRAITS = 8, 400, 250, 60, 4
AFTER, Z = (5, 10, 20), 1.645
EXACT = "as they are"


def run(script: Script) -> None:
    """Errors and coverage by grades."""
    sets, splits = (SETS[1:], 1) if script.quick else (SETS, SPLITS)
    cells = {name: [script.kept("evaluate-grades", one, name, seed, script.quick) for seed in range(splits)]
             for name in sets}  # fmt: skip
    names = [*(f"{n} grades" for n in GRADES), EXACT]
    rows: dict[str, list[object]] = {"set": [], "items": [], "scores": [], **{str(k): [] for k in AFTER}}
    for name in sets:
        for way in WAYS:
            for kind in names:
                rows["set"].append(name)
                rows["items"].append(way)
                rows["scores"].append(kind)
                error = np.mean([cell[f"error {way}, {kind}"] for cell in cells[name]], axis=0)
                covered = np.mean([cell[f"coverage {way}, {kind}"] for cell in cells[name]], axis=0)
                for place, k in enumerate(AFTER):
                    rows[str(k)].append(f"{error[place]:.2f} ({covered[place]:.2f})")
    script.table(
        rows, "ours-evaluate-grades",
        "Root mean square error of the full score, in points of 100, and coverage of the model's own nominal .90 band, "
        f"after so many of {ITEMS} items; {SPLITS} splits of {KNOWN} people who calibrate and {NEW} who are asked, "
        f"{TRAITS} traits.",
    )  # fmt: skip
    if script.quick:
        return
    ratios = {
        f"{name}, {way}, {grades} grades": {
            str(k): limits(np.array([
                cell[f"error {way}, {EXACT}"][place] / cell[f"error {way}, {grades} grades"][place]
                for cell in cells[name]
            ]))
            for place, k in enumerate(AFTER)
        }
        for name in sets for way in WAYS for grades in GRADES
    }  # fmt: skip
    told = {key: {k: "{:.3f} ({:.3f} to {:.3f})".format(*one) for k, one in row.items()} for key, row in ratios.items()}
    of_ten = [one for key, row in ratios.items() if key.endswith(" 10 grades") for one in row.values()]
    script.judge(
        "ours-evaluate-grades", all_of(inside(low, high, most=1.05) for _, low, high in of_ten),
        claim="Scores between 0 and 1 taken as they are leave no more error of the full score than ten grades of them.",
        target="ratio of errors <= 1.05 after 5, 10 and 20 items, real and simulated, by random and by chosen items",
        value=told, seed=f"0 to {SPLITS - 1}",
        reason=f"{KNOWN} people calibrate, {NEW} are asked, {ITEMS} items, {TRAITS} traits. Five grades beside. The "
        "density between ten marks is the partial credit model's, which the scores need not follow.",
    )  # fmt: skip


def one(name: str, seed: int, quick: bool = False) -> dict[str, np.ndarray]:
    """Errors in points and coverage after each number of items, by way of asking and by grades."""
    known, new = (100, 40) if quick else (KNOWN, NEW)
    scores = (_jester if name == "jester" else _simulated)(known + new, seed)
    truth = 100.0 * scores[known:].mean(axis=1)
    found: dict[str, np.ndarray] = {}
    for levels in (*GRADES, None):
        most = (levels or max(GRADES)) - 1
        given = scores * most if levels is None else np.round(scores * most)
        model = "continuous" if levels is None else "partial_credit"
        items = Questionnaire(model, n_traits=TRAITS, categories=range(most + 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            items.fit(given[:known])
        for way in WAYS:
            scorer = "random" if way == "random" else "information_gain"
            said = replay(
                items.respondent("total"), given[known:], max(AFTER), scorer=scorer, totals=True, random_state=seed
            )
            rows = np.arange(new)[:, None]
            lost = np.cumsum((scores[known:] * most - given[known:])[rows, said.chosen], axis=1)
            points = 100.0 / (most * ITEMS)
            mean, std = points * (said.totals[..., 0] + lost), points * said.totals[..., 1]
            off = (mean - truth[:, None])[:, np.array(AFTER) - 1]
            kind = EXACT if levels is None else f"{levels} grades"
            found[f"error {way}, {kind}"] = np.sqrt(np.mean(off**2, axis=0))
            found[f"coverage {way}, {kind}"] = np.mean(np.abs(off) <= Z * std[:, np.array(AFTER) - 1], axis=0)
    return found


def _jester(n: int, seed: int) -> np.ndarray:
    """(n, ITEMS) ratings of people who rated all jokes, from 0 to 1."""
    ratings, rng = jester().astype(float), np.random.default_rng([seed, 7])
    ratings = ratings[~np.isnan(ratings).any(axis=1)]
    people, jokes = rng.permutation(len(ratings))[:n], np.sort(rng.permutation(ratings.shape[1])[:ITEMS])
    return np.clip((ratings[np.ix_(people, jokes)] + 10.0) / 20.0, 0.0, 1.0)


def _simulated(n: int, seed: int) -> np.ndarray:
    """(n, ITEMS) scores of three traits."""
    rng = np.random.default_rng([seed, 7])
    loadings, centre = rng.normal(0.5, 0.5, (ITEMS, 3)), rng.normal(0.3, 1.0, ITEMS)
    s = rng.standard_normal((n, 3)) @ loadings.T + centre + 0.8 * rng.standard_normal((n, ITEMS))
    return np.asarray(expit(s))


if __name__ == "__main__":
    command(run, __doc__, __file__)
