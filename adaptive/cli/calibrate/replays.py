"""Tests of many people at their ends: estimates, how far off they are, and along the trait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.estimators import Questionnaire
    from adaptive.estimators.questionnaires.simulation import Simulation

__all__ = ["Ends", "along", "ends_of", "first_items", "lengths_of", "random_items", "unit_of", "verdict_in_words"]

SEED = 0
LEVELS = (("below -1", -np.inf, -1.0), ("from -1 to 1", -1.0, 1.0), ("above 1", 1.0, np.inf))
FEW = 10  # people of a level of whom nothing is said


class Ends(NamedTuple):
    """Estimates where tests ended: means and deviations (people,) of the trait."""

    mean: np.ndarray
    std: np.ndarray


def unit_of(learnt: Questionnaire) -> str:
    """Return what a trait is measured in."""
    whose = "the prior" if learnt.response_model == "ordinal" else "the people calibrated on"
    return f"standard deviations of {whose}"


def lengths_of(taken: Simulation) -> np.ndarray:
    """(people,) numbers of questions."""
    return np.array([sum(one is not None for one in row) for row in taken.items])


def ends_of(learnt: Questionnaire, answers: pd.DataFrame, places: np.ndarray | None = None) -> Ends:
    """Return the ends of tests that ask all answered items, or those at ``places`` (people, n); -1 is none."""
    table = answers[list(learnt.items_)].to_numpy(dtype=float)
    if places is not None:
        asked = np.zeros((len(table), table.shape[1] + 1), dtype=bool)
        np.put_along_axis(asked, places, True, axis=1)
        table = np.where(asked[:, :-1], table, np.nan)
    n = max(1, int((~np.isnan(table)).sum(axis=1).max()))
    frame = type(answers)(table, columns=list(learnt.items_))
    taken = learnt.simulate(frame, n, scorer="random", random_state=SEED)  # of a set of items, in any order
    return Ends(taken.mean[:, -1], taken.std[:, -1])


def first_items(learnt: Questionnaire, answers: pd.DataFrame, n: int) -> tuple[list[Any], np.ndarray]:
    """Return the n items that teach most of somebody of whom nothing is known, and places (people, n) of the form.

    Where somebody lacks an answer the item that comes next in that order takes its place.
    """
    items = list(learnt.items_)
    gaps = np.isnan(answers[items].to_numpy(dtype=float))
    enough = min(len(items), n + int(gaps.sum(axis=1).max()))
    chosen = learnt.respondent().select(items, enough, scorer="information_gain", random_state=SEED)
    rank = np.full(len(items), np.inf)
    rank[chosen] = np.arange(enough)
    return [items[k] for k in chosen[:n]], _least(np.where(gaps, np.inf, rank), n)


def random_items(answers: pd.DataFrame, items: list[Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Places (people, n) of random answered items, drawn for each person."""
    gaps = np.isnan(answers[items].to_numpy(dtype=float))
    return _least(np.where(gaps, np.inf, rng.random(gaps.shape)), n)


def _least(keys: np.ndarray, n: int) -> np.ndarray:
    """(people, n) places of the least keys, -1 where they are infinite."""
    places = np.argsort(keys, axis=1, kind="stable")[:, :n]
    return np.where(np.isfinite(np.take_along_axis(keys, places, axis=1)), places, -1)


def along(
    trait: np.ndarray, std: np.ndarray, off: np.ndarray | None = None, name: str = "error"
) -> list[dict[str, Any]]:  # fmt: skip
    """Return, for people of a low, a middle and a high trait, how many they are and how far off their tests are.

    Of fewer than ten people nothing is said.
    """
    found: list[dict[str, Any]] = []
    for level, low, high in LEVELS:
        there = (trait >= low) & (trait < high)
        n = int(there.sum())
        found.append({"trait": level, "people": n, "stated deviation": None if n < FEW else float(std[there].mean())})
        if off is not None:
            found[-1][name] = None if n < FEW else float(np.sqrt(np.mean(off[there] ** 2)))
    return found


def verdict_in_words(against: dict[str, Any] | None) -> str:
    """Return what a paired comparison says of a rival of the adaptive test: the rival's mean square less the test's."""
    if against is None:
        return "too few people to tell which is better"
    if abs(against["difference"]) <= against["margin"]:
        verdict = "which is better cannot be told"
    else:
        verdict = f"certainly {'better' if against['difference'] > 0 else 'worse'}"
    return f"{verdict} ({-against['difference']:+.3f} +- {against['margin']:.3f})"
