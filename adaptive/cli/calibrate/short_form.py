"""Short forms: that of the model beside a ridge regression, and the one from which the total is predicted best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeCV

from adaptive import diagnostics
from adaptive.cli import beside
from adaptive.cli.calibrate.results import cells_of
from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.cli.job import Job
    from adaptive.estimators import Questionnaire

__all__ = ["beside_ridge", "model_form", "total_form"]

FOLDS = 5
LEAST = 40  # people who answered everything
DRAWS = 10  # of random items
STRENGTHS = np.logspace(-1, 4, 11)


def model_form(fitted: Questionnaire, n: int, folder: Job, table: pd.DataFrame) -> None:
    """Choose a fixed form for somebody of whom nothing is known; write it, and print how good it is."""
    items = list(fitted.items_)
    if n > len(items):
        raise CommandError(f"--short-form must be at most {len(items)}, the number of items; got {n}.")
    chosen, gains, found = fitted.respondent().select(
        items, n, scorer="information_gain", return_scores=True, return_certificate=True, random_state=0
    )
    folder.write_csv("short_form.csv", {"item": [items[i] for i in chosen], "nats": cells_of(gains)})
    share = f"{'an estimated' if found.kind == 'estimate' else 'at least'} {np.floor(100 * found.share):.0f}%"
    print(
        f"Short form of {n} items, which tell most about the trait: {', '.join(str(items[i]) for i in chosen)}.\n"
        f"  Under this model they hold {share} of the information that the best {n} items could hold."
    )
    against = beside.kept(folder, lambda: beside_ridge(clone(fitted), table, n), f"short-form-{n}-folds.json")
    folder.write_json("short_form.json", {"beside the rivals": against})
    if not against:
        return
    print(
        f"  From its answers the model predicts the total of all {len(items)} items, for the {against[0]['n']} people "
        f"who answered all of them, each while the items are learnt from others ({FOLDS} folds). It leaves "
        f"{against[0]['square_error']:.1%} of the variance of totals unexplained."
    )
    for one in against:
        by = f"(by {abs(one['difference']):.1%} +- {one['margin']:.1%}, a 95% interval)"
        if abs(one["difference"]) <= one["margin"]:
            verdict = f"which of them is better cannot be told {by}"
        elif one["difference"] < 0:
            verdict = f"the model is certainly better {by}"
        else:
            verdict = f"{one['rival']} is certainly better {by}: predict totals by it"
        print(f"  {one['rival'].capitalize()} leaves {one['rival_square_error']:.1%}; {verdict}.")


def beside_ridge(model: Questionnaire, table: pd.DataFrame, n: int, seed: int = 0) -> list[dict[str, Any]] | None:
    """Return how totals are predicted by a short form of n items and its model, and by ridge regressions.

    Of those who answered everything, four fifths calibrate the items, choose the form, and teach the ridge; the totals
    of the other fifth are predicted, and so of each fifth. The first rival has n random items (its square errors are
    means over draws), the second those of the form.

    Parameters
    ----------
    model : Questionnaire, unfitted
    table : (people, items) frame
    n : int
    seed : int
        Of the folds, and of random items.

    Returns
    -------
    list of dict, or None
        As of `adaptive.diagnostics.beside`, in shares of the variance of totals; None where all items are in the form,
        or too few people answered all.
    """
    whole = table.dropna()
    if len(whole) < LEAST or n >= table.shape[1]:
        return None
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(whole))
    variance = max(float(whole.sum(axis=1).var(ddof=0)), 1e-12)
    squares = [_squares(clone(model), whole, order[k::FOLDS], n, rng) for k in range(FOLDS)]
    ours, drawn, same = np.concatenate(squares, axis=1) / variance
    rivals = {f"a ridge regression on {n} random items": drawn, "a ridge regression on the same items": same}
    found = [diagnostics.beside({"square_error": (ours, one)}, name, of="people") for name, one in rivals.items()]
    return [one for one in found if one is not None]


def _squares(
    model: Questionnaire, whole: pd.DataFrame, held_out: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:  # fmt: skip
    """(3, people) square errors of the totals of a fold: by the model, by random items, by the form's."""
    there = np.isin(np.arange(len(whole)), held_out)
    out, rest = whole.loc[there], whole.loc[~there]
    fitted = model.fit(rest)
    items = list(fitted.items_)
    chosen = fitted.respondent().select(items, n, scorer="information_gain", random_state=0)
    shown = np.isin(np.arange(len(items)), chosen)
    answers, teach = (one[items].to_numpy(dtype=float) for one in (out, rest))
    truth = answers.sum(axis=1)
    revealed = np.where(shown, answers, np.nan)
    expected = fitted.predict_proba(revealed) @ np.asarray(fitted.bank_.categories, dtype=float)
    total = np.where(shown, answers, expected).sum(axis=1)

    def by_ridge(places: np.ndarray) -> np.ndarray:
        ridge = RidgeCV(STRENGTHS).fit(teach[:, places], teach.sum(axis=1))
        return np.asarray((ridge.predict(answers[:, places]) - truth) ** 2)

    drawn = np.mean([by_ridge(rng.permutation(len(items))[:n]) for _ in range(DRAWS)], axis=0)
    return np.stack([(total - truth) ** 2, drawn, by_ridge(np.flatnonzero(shown))])


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
    judged = ~np.isnan(found.squares[:, 0])
    whose = None if groups is None else np.asarray(groups)[judged]
    both = (found.squares[judged, 0], found.squares[judged, 1])
    against = diagnostics.beside({"square_error": both}, "random items", of="people", groups=whose)
    certain = against is not None and against["difference"] < -against["margin"]
    n_items, gaps = table.shape[1], bool(np.isnan(values).any())
    print(
        f"Another form of {n} items, from which a regression predicts the total of all {n_items} best: "
        f"{', '.join(items)} (total_form.csv; the short form above is about the trait).\n"
        f"  It is off by {found.error:.2f} points, a root mean square, of a total from {n_items * scale[0]} to "
        f"{n_items * scale[-1]}; {n} random items by {found.random_error:.2f}"
        f"{', certainly more' if certain else ', which may be chance'}. Judged by {int(judged.sum())} people"
        f"{'' if groups is None else ' of other groups'} who taught nothing"
        f"{'; a missing answer counts as the mean of its item' if gaps else ''}."
    )
