"""A short form beside a ridge regression: totals of people who calibrated nothing, from as many items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import RidgeCV

from adaptive import diagnostics

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.estimators import Questionnaire

__all__ = ["beside_ridge"]

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
