"""Banks of many traits as CSV files, ours and mirt's.

ours     item, model, categories, reverse, loading_1 .. loading_K, step_1 .. step_R-1 (sums of the steps), doubt;
         lower, upper where there are asymptotes, between (1) where answers may lie between the categories
mirt     a1 .. aK, d, g, u; of more than two answers a1 .. aK, ak0 .., d0 ..      p_r ~ exp(r a.x + d_r)

The doubt, by which an item's curve is flattened, has no place in mirt's form: that holds the curve of an item that is
known.
"""

from __future__ import annotations

import numpy as np

from adaptive import checks
from adaptive.estimators.questionnaires.banks.sheet import Sheet
from adaptive.estimators.questionnaires.factors.bank import FactorBank

__all__ = ["bank_of_ours", "bank_of_slopes", "dialect_columns", "our_columns"]

Columns = dict[str, list[object]]


def our_columns(bank: FactorBank) -> Columns:
    """Columns of a file that holds all of a bank."""
    columns: Columns = {
        "item": list(bank.items), "model": [bank.model] * len(bank),
        "categories": [" ".join(map(str, bank.categories))] * len(bank), "reverse": [int(one) for one in bank.reverse],
    }  # fmt: skip
    columns |= _numbered("loading_", bank.loadings_of, 1) | _numbered("step_", bank.steps[:, 1:], 1)
    columns["doubt"] = bank.doubt.tolist()
    if bank.asymptotic:
        columns |= {"lower": bank.asymptotes[:, 0].tolist(), "upper": bank.asymptotes[:, 1].tolist()}
    return columns | ({"between": [1] * len(bank)} if bank.between else {})


def bank_of_ours(sheet: Sheet) -> FactorBank:
    """The bank of a file with such columns."""
    categories, loadings, steps = sheet.categories(), sheet.numbered("loading_"), sheet.numbered("step_")
    if steps.shape[1] != len(categories) - 1:
        raise ValueError(
            f"the bank {sheet.path} must have {len(categories) - 1} steps for {len(categories)} answers, got "
            f"{steps.shape[1]}."
        )
    doubt, between = sheet.needed("doubt"), "between" in sheet.names and bool((sheet.column("between", 0.0) == 1).all())
    asymptotes = np.column_stack([sheet.column("lower", 0.0), sheet.column("upper", 1.0)])
    for name, wrong in (
        ("a loading is missing", np.isnan(loadings).any(axis=1)), ("a step is missing", np.isnan(steps).any(axis=1)),
        ("doubt must be a variance", doubt < 0), ("asymptotes must be 0 <= lower < upper <= 1", _wrong(asymptotes)),
        ("asymptotes are of two answers", (asymptotes != [0.0, 1.0]).any(axis=1) & (len(categories) != 2)),
    ):  # fmt: skip
        if wrong.any():
            raise ValueError(f"{sheet.path}, line {sheet.lines[int(np.argmax(wrong))]}: {name}.")
    return FactorBank(
        sheet.labels, categories, loadings, _with_first(steps), doubt, sheet.reverse(), asymptotes, between
    )


def dialect_columns(bank: FactorBank, dialect: str) -> tuple[Columns, list[str]]:
    """Columns in mirt's form, and what else the bank knows and the form does not hold."""
    checks.choice("dialect", dialect, ("mirt", "catR", "jscat", "catsim"))
    if dialect != "mirt":
        raise ValueError(
            f'the form of {dialect} has items of one trait, but each of these sees {len(bank.traits)}: take "mirt".'
        )
    turned = bank.reverse[:, None]
    slopes = np.where(turned, -bank.loadings_of, bank.loadings_of)
    steps = np.where(turned, bank.steps[:, ::-1] - bank.steps[:, -1:], bank.steps)
    lost = ["how uncertain the items are"] if bank.doubt.any() else []
    n, first = len(bank.categories), 0 if len(bank.categories) == 2 else 1
    if tuple(bank.categories) != tuple(range(first, first + n)):
        lost.append(f"what answers are called ({', '.join(map(str, bank.categories))}: mirt counts from {first})")
    columns = {"item": list(bank.items), **_numbered("a", slopes, 1)}
    if bank.between:
        lost.append("that answers lie between the categories, too")
    if n == 2:
        low, high = np.where(turned, 1.0 - bank.asymptotes[:, ::-1], bank.asymptotes).T.tolist()
        return columns | {"d": steps[:, 1].tolist(), "g": low, "u": high}, lost
    scores = np.tile(np.arange(float(n)), (len(bank), 1))
    return columns | _numbered("ak", scores, 0) | _numbered("d", steps, 0), lost


def bank_of_slopes(sheet: Sheet, slopes: np.ndarray, single: np.ndarray, sums: np.ndarray, said: str) -> FactorBank:
    """The bank of mirt's items that see more traits together than a grid holds.

    Parameters
    ----------
    slopes : (items, K) array
    single : (items,) array
        Intercepts of items of two answers, NaN of others.
    sums : (items, R) array
        Intercepts of items of more; no column where there are none.
    said : str
        The model: with two answers or partial credit.
    """
    asymptotes = np.column_stack([sheet.column("g", 0.0), sheet.column("u", 1.0)])
    own = (asymptotes != [0.0, 1.0]).any(axis=1)
    for wrong, why in (
        (_wrong(asymptotes), "asymptotes that are not 0 <= g < u <= 1"),
        (own & bool(sums.shape[1]), "an asymptote (g or u), and more than two answers"),
    ):
        if wrong.any():
            raise ValueError(f"item {sheet.labels[int(np.argmax(wrong))]!r} of {sheet.path} has {why}.")
    if sums.shape[1] and (said != "partial_credit" or np.isnan(sums).any()):
        raise ValueError(
            f"the bank {sheet.path} has items of {slopes.shape[1]} traits; with so many each must have two answers, or "
            "all as many by partial credit (gpcm)."
        )
    steps = sums - sums[:, :1] if sums.shape[1] else _with_first(single[:, None])
    if np.isnan(steps).any():
        wrong = sheet.lines[int(np.argmax(np.isnan(steps).any(axis=1)))]
        raise ValueError(f"{sheet.path}, line {wrong}: the intercept is missing.")
    n, first = steps.shape[1], 0 if steps.shape[1] == 2 else 1
    none = np.zeros(len(steps))
    return FactorBank(sheet.labels, range(first, first + n), slopes, steps, none, none, asymptotes)


def _wrong(asymptotes: np.ndarray) -> np.ndarray:
    low, high = asymptotes.T
    return ~((low >= 0) & (low < high) & (high <= 1))


def _numbered(prefix: str, values: np.ndarray, first: int) -> Columns:
    return {f"{prefix}{first + k}": values[:, k].tolist() for k in range(values.shape[1])}


def _with_first(steps: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((len(steps), 1)), steps], axis=1)
