"""What is believed of a person before the first answer: standard normal, wider, or with tails.

Real scales: items are taught by up to 400 people, 400 others of the same set are asked up to five of every other item,
chosen by information under each prior; judges are nats of an answer to the remaining half, and the error of its
total, less those of the standard normal prior (95% intervals over people). Drawn people: as the items' (of 100
items), two deviations above them, twice as far apart, and both; the share whose trait the 95% interval holds after 5
and 20 questions. Scales of Big Five markers and abilities choose, those of bfi and the others confirm.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import entr, expit

from adaptive import Questionnaire
from experiments.defaults.questionnaire_models import CHOOSE, CONFIRM, MOST, scale_of
from experiments.questionnaires.shared.people import two_parameter_bank
from experiments.script import Script, command
from experiments.statistics import half_width

USUAL = "normal, deviation 1"
PRIORS = {
    USUAL: stats.norm(),
    "normal, deviation 1.5": stats.norm(scale=1.5),
    "normal, deviation 2.5": stats.norm(scale=2.5),
    "Student t, 8": stats.t(8),
    "Student t, 4": stats.t(4),
    "Student t, 3": stats.t(3),
}
PEOPLE = {"as the items'": (0.0, 1.0), "2 above": (2.0, 1.0), "2 apart": (0.0, 2.0), "1 above, 1.5 apart": (1.0, 1.5)}
MARKS = (5, 20)
DEFAULT, COVERED = "Student t, 8", 0.9
NATS, ERROR = 0.002, 0.005  # what a prior may cost typical people, at most
SPLITS = 3


def asked(curves: np.ndarray, answers: np.ndarray, log_weights: np.ndarray, n: int) -> np.ndarray:
    """Weights (n + 1, people, k) on the grid, before and after each of ``n`` questions by information.

    Parameters
    ----------
    curves : (items, k, categories) array
    answers : (people, items) array of int
        Places of the answers.
    """
    uncertain = entr(curves).sum(axis=2).T
    joint, everyone = np.tile(log_weights, (len(answers), 1)), np.arange(len(answers))
    barred, found = np.zeros(answers.shape), []
    for question in range(n + 1):
        w = np.exp(joint - joint.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        found.append(w)
        if question < n:
            gain = sum(entr(w @ curve.T) for curve in np.moveaxis(curves, 2, 0)) - w @ uncertain + barred
            best = np.argmax(gain, axis=1)
            barred[everyone, best] = -np.inf
            joint = joint + np.log(np.maximum(curves[best, :, answers[everyone, best]], 1e-300))
    return np.array(found)


def real(name: str, seed: int, most: int) -> dict[str, np.ndarray]:
    """Of each prior (people, 2): nats of a hidden answer, square error of the hidden total in its variances."""
    values, categories, reverse = scale_of(name)
    values = values[(~np.isnan(values)).all(axis=1)]
    order = np.random.default_rng([seed, 34]).permutation(len(values))
    n = min(most, len(values) // 2)
    train, judge = values[order[:n]], values[order[n : 2 * n]]
    model = "two_parameter" if len(categories) == 2 else "graded"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bank: Any = Questionnaire(model, categories=categories, reverse=reverse).fit(train).bank_
    (part,) = bank.parts
    places = np.searchsorted(categories, judge)
    curves, points = part.table, np.tile(np.arange(len(categories)), (len(part.table), 1))
    points[list(reverse)] = points[list(reverse), ::-1]
    shown = np.arange(len(curves)) % 2 == 0
    total = points[np.arange(len(curves)), places][:, ~shown].sum(axis=1)
    found = {}
    for prior, density in PRIORS.items():
        w = asked(curves[shown], places[:, shown], density.logpdf(part.x[:, 0]), min(5, int(shown.sum())))[-1]
        p = np.einsum("uk,ikc->uic", w, curves[~shown])
        nats = np.log(np.take_along_axis(p, places[:, ~shown, None], axis=2)[..., 0]).mean(axis=1)
        error = (p * points[~shown]).sum(axis=(1, 2)) - total
        found[prior] = np.column_stack([nats, error**2 / total.var()])
    return found


def drawn(people: str, n: int) -> dict[str, np.ndarray]:
    """Of each prior (marks, 2): root mean square error of the trait, share that the 95% interval holds."""
    a, b = two_parameter_bank(100)
    rng = np.random.default_rng(34)
    x = rng.normal(*PEOPLE[people], n)
    answers = (rng.random((n, len(a))) < expit(a * (x[:, None] - b))).astype(int)
    (part,) = Questionnaire.from_parameters(a, b).bank_.parts
    grid, found = part.x[:, 0], {}
    for prior, density in PRIORS.items():
        rows = []
        for w in asked(part.table, answers, density.logpdf(grid), max(MARKS))[list(MARKS)]:
            mean = w @ grid
            deviation = np.sqrt(w @ grid**2 - mean**2)
            rows.append([np.sqrt(np.mean((mean - x) ** 2)), np.mean(np.abs(mean - x) <= 1.96 * deviation)])
        found[prior] = np.array(rows)
    return found


def run(script: Script) -> None:
    """A table of scales and of drawn people; the prior that typical people can afford."""
    names = ("lsat6", "science") if script.quick else (*CHOOSE, *CONFIRM)
    splits, most, n = (1, 80, 100) if script.quick else (SPLITS, MOST, 1000)
    found = {name: [script.kept("respondent_priors", real, name, seed, most) for seed in range(splits)]
             for name in names}  # fmt: skip
    held = {people: script.kept("respondent_priors", drawn, people, n) for people in PEOPLE}
    rows, price, behind = [], {}, {prior: [] for prior in PRIORS}
    for name, of in found.items():
        for prior in PRIORS:
            less = np.concatenate([one[prior] - one[USUAL] for one in of])
            mean, width = less.mean(axis=0), half_width(less)
            rows.append({
                "people": name, "half": "confirms" if name in CONFIRM else "chooses", "prior": prior,
                "nats more": round(float(mean[0]), 5), "half width": round(float(width[0]), 5),
                "square error more": round(float(mean[1]), 5), "its half width": round(float(width[1]), 5),
                "error after 5": "", "covered after 5": "", "error after 20": "", "covered after 20": "",
            })  # fmt: skip
            price.setdefault(prior, []).append((name in CONFIRM, mean))
            if mean[0] + width[0] < -NATS or mean[1] - width[1] > ERROR:
                behind[prior].append(name)
    for people, of in held.items():
        for prior, (few, many) in of.items():
            rows.append({
                "people": f"drawn, {people}", "half": "", "prior": prior, "nats more": "", "half width": "",
                "square error more": "", "its half width": "", "error after 5": round(float(few[0]), 3),
                "covered after 5": round(float(few[1]), 3), "error after 20": round(float(many[0]), 3),
                "covered after 20": round(float(many[1]), 3),
            })  # fmt: skip
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-respondent-priors",
        f"Five questions to people of a scale ({splits} splits), by prior: nats of an answer not asked for and square "
        "error of their total (in its variance), less the standard normal prior, with 95% half widths over people; "
        f"{n} drawn people who differ from those of the items, 100 items: error, share inside 95% intervals.",
    )  # fmt: skip
    said = {
        prior: {
            half: f"{np.mean([m[0] for c, m in each if c == confirms]):+.4f} nats, "
            f"{np.mean([m[1] for c, m in each if c == confirms]):+.4f} of the total's variance"
            for half, confirms in (("choosing", False), ("confirming", True)) if any(c == confirms for c, _ in each)
        } | {f"covered of {people}, after 5 and 20": [round(float(one[prior][k, 1]), 3) for k in (0, 1)]
             for people, one in held.items()}
        for prior, each in price.items()
    }  # fmt: skip
    least = {prior: min(float(one[prior][1, 1]) for one in held.values()) for prior in PRIORS}
    half = "confirming" if script.quick else "choosing"
    able = [prior for prior in PRIORS if least[prior] >= COVERED] or [max(least, key=lambda one: least[one])]
    chosen = max(able, key=lambda prior: np.mean([m[0] for c, m in price[prior] if c == (half == "confirming")]))
    lost = [name for name in behind[chosen] if name in CONFIRM]
    holds = chosen == DEFAULT and not lost and least[chosen] >= COVERED
    script.judge(
        "ours-default-respondent-priors", holds,
        claim=f"Of the priors that hold at least {COVERED:g} by nominal 0.95 after 20 questions where people differ "
        "from those who taught the items, the default predicts typical people of the choosing scales best; on no "
        f"confirming scale does it certainly cost them more than {NATS:g} nats an answer or {ERROR:g} of a total's "
        "variance.",
        target=f"coverage of each drawn population at least {COVERED:g}; no 95% interval on a confirming scale wholly "
        "beyond the price",
        value={"chosen": chosen, "least coverage": {prior: round(one, 3) for prior, one in least.items()},
               "price": said, "beyond the price on": {prior: of for prior, of in behind.items() if of}},
        reason=f"Beyond the price: {', '.join(lost)}; chosen: {chosen}." if not holds else
        "The choosing scales include " + ", ".join(one for one in behind[chosen] if one not in CONFIRM) +
        ", where it is beyond the price." if set(behind[chosen]) - set(CONFIRM) else "",
        seed=f"0..{splits - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
