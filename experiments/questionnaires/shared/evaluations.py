"""One split of a benchmark: errors of the full score by chosen items and by all rivals, and bands of it.

Whoever is evaluated is of other families than those who calibrate. Everybody gets the same systems, and answers to as
many items.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaptive import Questionnaire
from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.estimators.questionnaires.simulation import replay
from experiments.questionnaires.shared.systems import Systems, anchors, greedy_form, ridge, systems

__all__ = ["AT", "CHOSEN", "ITEMS", "LEVEL", "RIDGE", "RIVALS", "STATED", "evaluated", "stronger"]

ITEMS = (5, 10, 20, 40, 60, 100)
AT = 500  # systems that calibrate, where bands are looked at
LEVEL, STATED = 0.9, (3.0, 2.0)
CHOSEN, RIDGE = "chosen", "random, ridge"
RIVALS = (
    "random, mean", RIDGE, "random, one trait", "random, many traits", "anchors, mean", "anchors, ridge",
    "anchors, many traits", "greedy form, ridge", "maximum information",
)  # fmt: skip


def fitted(answers: np.ndarray, many: bool) -> Questionnaire:
    """Items by one trait, or by as many as held-out answers ask for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Questionnaire("two_parameter", n_traits="held_out" if many else 1).fit(answers)


def stranger(items: Questionnaire, target: str | None = "total") -> Respondent:
    """Somebody new; of many traits one who may be better than all that calibrated, as `adaptive evaluate` has it."""
    return items.respondent(target, "newcomer" if items.n_traits == "held_out" else None)


def said(items: Questionnaire, one: Systems, n: int, scorer: str, seed: int = 0) -> np.ndarray:
    """(systems, n, 2) means and deviations of the full score in points, after each item."""
    about_total = scorer == "random" or hasattr(items.bank_, "loadings_of")
    everybody = stranger(items, "total" if about_total else None)
    found = replay(everybody, one.new.astype(int), n, scorer=scorer, totals=True, random_state=seed)
    return np.asarray(100.0 * found.totals / one.new.shape[1])


def form(items: Questionnaire, one: Systems, chosen: np.ndarray) -> np.ndarray:
    """(systems,) means of the full score in points, everybody having answered the same items."""
    table = np.full(one.new.shape, -1)
    table[:, chosen] = one.new[:, chosen]
    found = replay(stranger(items), table, len(chosen), scorer="random", totals=True, random_state=0)
    return np.asarray(100.0 * found.totals[:, -1, 0] / one.new.shape[1])


def evaluated(name: str, n_known: int, seed: int, quick: bool = False) -> dict[str, np.ndarray]:
    """Root mean square errors in points (numbers of items,) by method; where 500 calibrate (and of quick), bands."""
    one = systems(name, n_known, seed, n_new=40 if quick else 400)
    asked = [n for n in ((5, 20) if quick else ITEMS) if n < one.new.shape[1]]
    longest = min(asked[-1] if quick else 100, one.new.shape[1] - 1)
    many, single = fitted(one.known, True), fitted(one.known, False)
    drawn = np.random.default_rng([seed, 41]).permutation(one.new.shape[1])
    greedy = greedy_form(one.known, asked[-1])
    chosen = said(many, one, longest, "information_gain")
    adaptive = {
        CHOSEN: chosen,
        "random, one trait": said(single, one, asked[-1], "random", seed),
        "random, many traits": said(many, one, asked[-1], "random", seed),
        "maximum information": said(single, one, asked[-1], "fisher_information"),
    }
    parameters = single.item_parameters_ * [1.0, 1.0]
    parameters[:, 1] = -parameters[:, 0] * parameters[:, 1]  # intercepts: difficulties of flat items run away
    found: dict[str, list[float]] = {method: [] for method in (CHOSEN, *RIVALS)}
    for n in asked:
        few = drawn[:n]
        nearest, shares = anchors(parameters, n, seed)
        estimates = {method: values[:, n - 1, 0] for method, values in adaptive.items()}
        estimates |= {
            "random, mean": 100.0 * one.new[:, few].mean(axis=1), RIDGE: ridge(one, few),
            "anchors, mean": 100.0 * one.new[:, nearest] @ shares, "anchors, ridge": ridge(one, nearest),
            "anchors, many traits": form(many, one, np.unique(nearest)), "greedy form, ridge": ridge(one, greedy[:n]),
        }  # fmt: skip
        for method, values in estimates.items():
            found[method].append(float(np.sqrt(np.mean((values - one.truth) ** 2))))
    told = {"items": np.array(asked), **{method: np.array(values) for method, values in found.items()}}
    if n_known == AT or quick:
        beside = many.total_band(one.known, longest, target="total", prior="newcomer", families=one.families)
        told |= covered(chosen, one, beside, longest) | stated(chosen, one, beside, longest)
    return told


def stronger(name: str, n_known: int, seed: int, quick: bool = False) -> dict[str, np.ndarray]:
    """The same of systems that are better than all that calibrated; their errors and those of ridge."""
    one = systems(name, n_known, seed, stronger=True, n_new=40 if quick else 400)
    n = 20 if quick else 40
    many = fitted(one.known, True)
    beside = many.total_band(one.known, n, target="total", prior="newcomer", families=one.families)
    points = said(many, one, n, "information_gain")
    drawn = np.random.default_rng([seed, 41]).permutation(one.new.shape[1])
    asked = [k for k in (5, 10, 20, 40) if k <= n]
    off = np.array([np.sqrt(np.mean((points[:, k - 1, 0] - one.truth) ** 2)) for k in asked])
    beaten = np.array([np.sqrt(np.mean((ridge(one, drawn[:k]) - one.truth) ** 2)) for k in asked])
    bias = np.array([np.mean(points[:, k - 1, 0] - one.truth) for k in asked])
    return covered(points, one, beside, n) | {"error": off, "ridge": beaten, "bias": bias}


def covered(points: np.ndarray, one: Systems, beside: Any, n: int) -> dict[str, np.ndarray]:
    """Coverage at 10, 20 and 40 items."""
    asked = [k for k in (10, 20, 40) if k <= n]
    off = np.abs(points[..., 0] - one.truth[:, None]) / np.maximum(points[..., 1], 1e-9)
    return {
        "by the model": np.array([np.mean(off[:, k - 1] <= 1.645) for k in asked]),
        "by families": np.array([np.mean(off[:, k - 1] <= beside.deviations(k, LEVEL)) for k in asked]),
    }


def stated(points: np.ndarray, one: Systems, beside: Any, n: int) -> dict[str, np.ndarray]:
    """Of each stated error: mean number of items until the band's root mean square is below it, and the error then.

    The deviation that is stated is the model's, times the root mean square of the calibrating families' distances.
    """
    inflated = points[..., 1] * np.sqrt(np.mean(beside.off**2, axis=0))
    found = []
    for limit in STATED:
        done = inflated <= limit
        last = np.where(done.any(axis=1), done.argmax(axis=1), n - 1)
        rows = np.arange(len(points))
        off = points[rows, last, 0] - one.truth
        found.append([float(np.mean(last + 1)), float(np.sqrt(np.mean(off**2))), float(np.mean(done.any(axis=1)))])
    return {"stated": np.array(found)}
