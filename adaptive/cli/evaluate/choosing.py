"""What predicts hidden answers of other systems best: a response model, and one ability or one for each benchmark.

Half of some systems teach the items; of the others every other answer is shown, and the rest is predicted.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adaptive.cli.evaluate.scale import Scale
    from adaptive.tables import Responses

__all__ = ["chosen_model_of", "chosen_traits"]

TRIED = ("rasch", "two_parameter", "three_parameter")  # where none was named
MANY = 500  # items from which on none but the usual one is tried
SYSTEMS = 400  # that are looked at
LEAST = 3  # items of a benchmark that has an ability of its own


def chosen_model_of(teachers: Responses, scale: Scale) -> tuple[str, list[str]]:
    """Return a response model, and what is to be said of the choice."""
    from adaptive.estimators.questionnaires.model_choice import chosen_model

    if scale.levels > 2:
        return "graded", []
    if len(teachers.items) > MANY:
        return "two_parameter", []
    found = chosen_model(teachers.scores, scale.categories, models=TRIED)
    if not found.log_scores:
        return found.model, []
    told = ", ".join(f"{name} {score:.3f}" for name, score in found.log_scores.items())
    return found.model, [f"{found.model} is taken: hidden answers were predicted with (nats an answer) {told}"]


def chosen_traits(teachers: Responses, scale: Scale, model: str, seed: int) -> tuple[dict[Any, Any] | None, list[str]]:
    """Return the ability that each item needs, None where one ability for all predicts as well; and what is to be said.

    One for each benchmark is taken where it predicts certainly better: by more than a standard error.
    """
    from adaptive.estimators import Questionnaire

    benchmarks = {one: teachers.benchmarks.count(one) for one in set(teachers.benchmarks)}
    people = np.random.default_rng(seed).permutation(teachers.distinct())[:SYSTEMS]
    if len(benchmarks) < 2 or min(benchmarks.values()) < LEAST or len(people) < 60 or len(teachers.items) > MANY:
        return None, []
    codes, names = scale.codes(teachers.scores), list(teachers.items)
    train, judge = codes[people[::2]], codes[people[1::2]]
    shown = np.arange(len(names)) % 2 == 0
    revealed, hidden = np.where(shown, judge, np.nan), np.where(shown, np.nan, judge)
    there = ~np.isnan(hidden)
    places = np.where(there, hidden, 0).astype(int)
    own: dict[Any, Any] = dict(zip(names, teachers.benchmarks, strict=True))
    logs: list[Any] = []
    for traits in (None, own):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learnt = Questionnaire(model, categories=scale.categories, item_traits=traits).fit(_frame(train, names))
            p = np.take_along_axis(learnt.predict_proba(_frame(revealed, names)), places[..., None], axis=2)[..., 0]
        each = np.where(there, np.log(np.maximum(p, 1e-12)), 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        logs.append(each)
    gain = logs[1] - logs[0]
    several = bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))
    told = f"hidden answers were predicted with {logs[0].mean():.3f} and {logs[1].mean():.3f} nats an answer"
    if several:
        return own, [
            f"each of the {len(benchmarks)} benchmarks has an ability of its own: by one for all and by these {told}"
        ]
    return None, [f"one ability for all {len(benchmarks)} benchmarks is taken: by it and by one for each {told}"]


def _frame(codes: np.ndarray, items: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(codes, columns=items)
