"""Banks in the columns of other programs: the same curves by their formulas; what a form cannot hold is named.

             two answers, asymptotes   graded   partial credit   nominal                 several traits
mirt         a1 .. aT, d, g, u         d1 ..    ak0 .., d0 ..    slopes along one line   yes
catR         a, b, c, d                GRM      GPCM             NRM                     no
jscat        a, b, c, d                no       no               no                      TRAIT.a ..: one for each item
catsim       a, b, c, d                no       no               no                      no

An item whose answers are turned round (``reverse``) is written as it is answered, with slopes of the other sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.curves import answer_slopes, difficulties, graded_levels

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Label
    from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank

__all__ = ["DIALECTS", "dialect_columns"]

DIALECTS = ("mirt", "catR", "jscat", "catsim")
NONE = "NA"
Columns = dict[str, list[object]]


@dataclass(frozen=True)
class _Item:
    """An item as it is answered: slopes (R - 1, T) and intercepts (R - 1,) of its answers but the first.

    Of graded items those of P(y >= r), else of log p_r / p_0; with two answers between the asymptotes.
    """

    label: Label
    slopes: np.ndarray
    intercepts: np.ndarray
    lower: float = 0.0
    upper: float = 1.0


def dialect_columns(bank: Bank | OrdinalBank, dialect: str) -> tuple[Columns, list[str]]:
    """Columns of a file in a program's form, and what else the bank knows and the form does not hold."""
    checks.choice("dialect", dialect, DIALECTS)
    if not isinstance(bank, Bank):
        raise ValueError(f"the form of {dialect} has no items of the ordinal model: fit another response_model.")
    items = [_item(bank, k) for k in range(len(bank))]
    several = max(len(item.intercepts) for item in items) > 1
    kind = {"graded": "graded", "nominal": "nominal"}.get(bank.model, "partial_credit") if several else "two"
    if several and dialect in ("jscat", "catsim"):
        many = next(item for item in items if len(item.intercepts) > 1)
        raise ValueError(
            f"the form of {dialect} has items of two answers, but {many.label!r} has {len(many.intercepts) + 1}: take "
            '"mirt" or "catR".'
        )
    if dialect == "mirt":
        columns = {"two": _mirt_two, "graded": _mirt_graded}.get(kind, _mirt_scored)(items)
        first = 1
    else:
        if len(bank.traits) > 1 and dialect != "jscat":
            raise ValueError(
                f"the form of {dialect} has items of one trait, but the bank has {len(bank.traits)} "
                f'({", ".join(map(str, bank.traits))}): take "mirt", or a bank of each.'
            )
        first = 0
        if kind == "two":
            columns = _two_of_traits(bank, items) if len(bank.traits) > 1 else _two(items)
        else:
            columns = {"graded": _catr_graded, "partial_credit": _catr_credit, "nominal": _catr_nominal}[kind](items)
    return {"item": list(bank.items), **columns}, _lost(bank, dialect, first if several else 0)


def _item(bank: Bank, k: int) -> _Item:
    coordinates, t, label = bank.known(k)[0], len(bank.traits), bank.items[k]
    slopes, turned = coordinates[None, :t], bool(bank.reverse[k])
    if bank.model in ("three_parameter", "four_parameter"):
        lower, *upper = difficulties(bank.model, coordinates, t)[t + 1 :]
        top = float(upper[0]) if upper else 1.0
        if turned:  # of the other answer
            return _Item(label, -slopes, -coordinates[t : t + 1], 1.0 - top, 1.0 - lower)
        return _Item(label, slopes, coordinates[t : t + 1], float(lower), top)
    if bank.model == "graded":
        levels = graded_levels(coordinates[t:])
        slopes = np.repeat(slopes, len(levels), axis=0)
        return _Item(label, -slopes, -levels[::-1]) if turned else _Item(label, slopes, levels)
    every, sums = answer_slopes(bank.model, coordinates, t)
    if turned:
        every, sums = every[::-1] - every[-1], sums[::-1] - sums[-1]
    return _Item(label, every[1:], sums[1:, 0])


def _lost(bank: Bank, dialect: str, first: int) -> list[str]:
    """Losses: what the columns do not hold, in words."""
    found = []
    if bank.covariances.any() or bank.shared.any():
        found.append("how uncertain the items are")
    n, t = len(bank.categories), len(bank.traits)
    usual: list[tuple[Label, ...]] = [("trait",) if t == 1 else tuple(f"trait_{k + 1}" for k in range(t))]
    if dialect == "jscat" and t > 1:
        usual.append(bank.traits)  # they are in its columns
    if bank.traits not in usual:
        found.append(f"what traits are called ({', '.join(map(str, bank.traits))})")
    scale = tuple(range(first, first + n))
    if tuple(bank.categories) != scale:
        told = ", ".join(map(str, bank.categories))
        found.append(f"what answers are called ({told}: {dialect} counts from {first})")
    return found


# -- two answers -----------------------------------------------------------------------------------------------------


def _mirt_two(items: list[_Item]) -> Columns:
    return _mirt_slopes(np.stack([item.slopes[0] for item in items])) | {
        "d": [float(item.intercepts[0]) for item in items],
        "g": [item.lower for item in items],
        "u": [item.upper for item in items],
    }


def _difficulties(items: list[_Item]) -> np.ndarray:
    """(items, 4) a, b, c, d of items that measure one trait each."""
    found = []
    for item in items:
        a = float(item.slopes[0][np.flatnonzero(item.slopes[0])[:1]].sum())
        _refuse_flat(item, a)
        found.append([a, -float(item.intercepts[0]) / a, item.lower, item.upper])
    return np.array(found)


def _two(items: list[_Item]) -> Columns:
    return dict(zip("abcd", _difficulties(items).T.tolist(), strict=True))


def _two_of_traits(bank: Bank, items: list[_Item]) -> Columns:
    """jsCAT's columns of several traits, of which an item has those of its own."""
    of = bank.loadings.mask
    many = np.flatnonzero(of.sum(axis=1) > 1)
    if len(many):
        raise ValueError(
            f"the form of jscat has items of one trait each, but {bank.items[many[0]]!r} measures "
            f'{int(of[many[0]].sum())}: take "mirt".'
        )
    values = _difficulties(items)
    return {
        f"{trait}.{name}": [float(one) if there else NONE for one, there in zip(values[:, j], of[:, k], strict=True)]
        for k, trait in enumerate(bank.traits)
        for j, name in enumerate("abcd")
    }


# -- several answers -------------------------------------------------------------------------------------------------


def _mirt_slopes(slopes: np.ndarray) -> Columns:
    return {f"a{k + 1}": slopes[:, k].tolist() for k in range(slopes.shape[1])}


def _mirt_graded(items: list[_Item]) -> Columns:
    """Items of two answers stand as such among those of more, as mirt has them."""
    alone = [len(item.intercepts) == 1 for item in items]
    columns = _mirt_slopes(np.stack([item.slopes[0] for item in items]))
    if any(alone):
        for name, cells in (
            ("d", [float(one.intercepts[0]) for one in items]),
            ("g", [0.0] * len(items)),
            ("u", [1.0] * len(items)),
        ):
            columns[name] = [cell if there else NONE for cell, there in zip(cells, alone, strict=True)]
    rows = [[] if lone else item.intercepts.tolist() for item, lone in zip(items, alone, strict=True)]
    return columns | _numbered("d", rows, 1)


def _mirt_scored(items: list[_Item]) -> Columns:
    """Partial credit and nominal items: a slope vector, and scores of the answers along it."""
    vectors, scores = [], []
    for item in items:
        last = len(item.slopes)
        vector, own = item.slopes[-1] / last, np.arange(1.0, last + 1)
        if not np.allclose(item.slopes, own[:, None] * vector, rtol=0.0, atol=1e-14 * np.abs(item.slopes).max()):
            largest = int(np.linalg.norm(item.slopes, axis=1).argmax())
            if np.linalg.norm(vector) < 1e-3 * np.linalg.norm(item.slopes[largest]):
                vector = item.slopes[largest]
            own = item.slopes @ vector / (vector @ vector)
            if np.abs(item.slopes - own[:, None] * vector).max() > 1e-12 * np.abs(item.slopes).max():
                raise ValueError(
                    f"the form of mirt has nominal items whose answers have slopes along one line, but those of "
                    f"{item.label!r} do not: give it one trait."
                )
        vectors.append(vector)
        scores.append([0.0, *own.tolist()])
    sums = [[0.0, *item.intercepts.tolist()] for item in items]
    return _mirt_slopes(np.stack(vectors)) | _numbered("ak", scores, 0) | _numbered("d", sums, 0)


def _catr_graded(items: list[_Item]) -> Columns:
    slopes = [float(item.slopes[0, 0]) for item in items]
    for item, a in zip(items, slopes, strict=True):
        _refuse_flat(item, a)
    rows = [(-item.intercepts / a).tolist() for item, a in zip(items, slopes, strict=True)]
    return {"alphaj": list(slopes), **_numbered("betaj", rows, 1)}


def _catr_credit(items: list[_Item]) -> Columns:
    slopes = [float(item.slopes[0, 0]) for item in items]
    for item, a in zip(items, slopes, strict=True):
        _refuse_flat(item, a)
    rows = [(-np.diff(item.intercepts, prepend=0.0) / a).tolist() for item, a in zip(items, slopes, strict=True)]
    return {"alphaj": list(slopes), **_numbered("deltaj", rows, 1)}


def _catr_nominal(items: list[_Item]) -> Columns:
    alpha, c = (
        _numbered(name, rows, 1)
        for name, rows in (
            ("alpha", [item.slopes[:, 0].tolist() for item in items]),
            ("c", [item.intercepts.tolist() for item in items]),
        )
    )
    return {name: cells for both in zip(alpha.items(), c.items(), strict=True) for name, cells in both}


def _numbered(prefix: str, rows: list[list[float]], first: int) -> Columns:
    """Columns of rows of unequal length."""
    width = max(map(len, rows))
    return {f"{prefix}{first + k}": [row[k] if k < len(row) else NONE for row in rows] for k in range(width)}


def _refuse_flat(item: _Item, slope: float) -> None:
    if slope == 0.0:
        raise ValueError(f"item {item.label!r} has no difficulty, for its discrimination is 0: leave it out.")
