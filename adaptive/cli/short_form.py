"""Short forms: that of the model beside a ridge regression, and the one from which the total is predicted best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import RidgeCV

from adaptive import diagnostics

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.cli.job import Job
    from adaptive.estimators import Questionnaire

__all__ = ["beside_ridge", "total_form"]

ONE_IN = 5  # people are left out
LEAST = 40  # people who answered everything
DRAWS = 10  # of random items
STRENGTHS = np.logspace(-1, 4, 11)


def beside_ridge(model: Questionnaire, table: pd.DataFrame, n: int, seed: int = 0) -> list[dict[str, Any]] | None:
    """Return how totals are predicted by a short form of n items and its model, and by ridge regressions.

    Four fifths of those who answered everything calibrate the items, choose the form, and teach the ridge; the others'
    totals of all items are predicted. The first rival has n random items (its square errors are means over draws), the
    second those of the form.

    Parameters
    ----------
    model : Questionnaire, unfitted
    table : (people, items) frame
    n : int
    seed : int
        Of who is left out, and of random items.

    Returns
    -------
    list of dict, or None
        As of `adaptive.diagnostics.beside`, in squares of the total's deviation; None where all items are in the form,
        or too few people answered all.
    """
    whole = table.dropna()
    if len(whole) < LEAST or n >= table.shape[1]:
        return None
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(whole))
    out, rest = whole.iloc[order[: len(whole) // ONE_IN]], whole.iloc[order[len(whole) // ONE_IN :]]
    fitted = model.fit(rest)
    items = list(fitted.items_)
    chosen = fitted.respondent().select(items, n, scorer="information_gain", random_state=0)
    shown = np.isin(np.arange(len(items)), chosen)
    answers, teach = (one[items].to_numpy(dtype=float) for one in (out, rest))
    truth, unit = answers.sum(axis=1), max(float(teach.sum(axis=1).std()), 1e-12)
    revealed = np.where(shown, answers, np.nan)
    expected = fitted.predict_proba(revealed) @ np.asarray(fitted.bank_.categories, dtype=float)
    total = np.where(shown, answers, expected).sum(axis=1)

    def by_ridge(places: np.ndarray) -> np.ndarray:
        ridge = RidgeCV(STRENGTHS).fit(teach[:, places], teach.sum(axis=1))
        return ((ridge.predict(answers[:, places]) - truth) / unit) ** 2

    ours = ((total - truth) / unit) ** 2
    drawn = np.mean([by_ridge(rng.permutation(len(items))[:n]) for _ in range(DRAWS)], axis=0)
    rivals = {f"a ridge regression on {n} random items": drawn, "a ridge regression on the same items": by_ridge(shown)}
    found = [diagnostics.beside({"square_error": (ours, one)}, name, of="people") for name, one in rivals.items()]
    return [one for one in found if one is not None]


def total_form(fitted: Questionnaire, table: pd.DataFrame, groups: Any, n: int, folder: Job) -> None:
    """Choose the fixed items from which the total is predicted best; write them, and print the error they leave."""
    from adaptive.estimators.questionnaires.short_form import short_form

    few = groups is not None and len(set(groups)) < 5
    if n >= table.shape[1] or len(table) < 10 or few:  # nothing to predict, or nobody to judge by
        return
    values, reverse = table.to_numpy(dtype=float), np.asarray(fitted.bank_.reverse)
    scale = fitted.categories_
    turned = np.where(reverse, scale[0] + scale[-1] - values, values)
    found = short_form(turned, n, None if groups is None else list(groups))
    sign = np.where(reverse[found.items], -1.0, 1.0)
    added = found.weights[sign < 0].sum() * (scale[0] + scale[-1])
    items = [str(table.columns[k]) for k in found.items]
    folder.write_csv(
        "total_form.csv",
        {"item": ["intercept", *items], "weight": [float(found.intercept + added), *(sign * found.weights).tolist()]},
    )
    print(
        f"The total of all {table.shape[1]} items from {n} of them: {', '.join(items)}. They leave an error of "
        f"{found.error:.3g} (as many random ones {found.random_error:.3g}), judged by people"
        f"{'' if groups is None else ' of other groups'} who taught nothing."
    )
