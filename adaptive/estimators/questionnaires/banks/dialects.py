"""Banks as other programs write them, read by their formulas; what has none here is refused by name.

mirt             a1 .. aT, d, g, u            p = g + (u - g) / (1 + exp(-(a.x + d)))
  graded         a1 .. aT, d1 .. dK           P(y >= k) = 1 / (1 + exp(-(a.x + d_k)))
  gpcm, nominal  a1 .. aT, ak0 .., d0 .. dK   p_k ~ exp(ak_k a.x + d_k); of gpcm ak_k = k
mirt, IRTpars    a, b, g, u; a, b1 .. bK      difficulties; graded or gpcm, as a column itemtype says
  nominal        a1 .. aK, c1 .. cK           p_k ~ exp(a_k x + c_k), one trait
catsim, catR     a, b, c, d                   p = c + (d - c) / (1 + exp(-a (x - b)))
jsCAT            a, b, c, d                   the same; discrimination, difficulty, guessing, slipping are other names,
                 TRAIT.a, TRAIT.b, ...        and these of several traits, of which an item has one
catR: GRM        alphaj, betaj1 ..            P(y >= k) = 1 / (1 + exp(-alpha (x - beta_k)))
  MGRM           alphaj, bj, c1 ..            the same, beta_k = b - c_k
  GPCM, PCM      [alphaj,] deltaj1 ..         p_k ~ exp(sum_{l <= k} alpha (x - delta_l))
  RSM            lambdaj, delta1 ..           the same, delta_l = lambda + delta_l
  NRM            alpha1, c1, alpha2, c2 ..    p_k ~ exp(alpha_k x + c_k), alpha_0 = c_0 = 0 (or alphaj1, cj1, ...)

A number that R calls NA is that of a category which the item lacks. Beside difficulties a column D multiplies slopes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.banks.many_traits import bank_of_slopes
from adaptive.estimators.questionnaires.banks.sheet import Sheet
from adaptive.estimators.questionnaires.base import MOST_TOGETHER, Loadings
from adaptive.estimators.questionnaires.curves import asymptote_coordinates, nominal_coordinates
from adaptive.estimators.questionnaires.factors.bank import FactorBank

__all__ = ["bank_of_dialect"]

TYPES = {
    **dict.fromkeys(("rasch", "1pl", "2pl", "3pl", "3plu", "4pl", "dich"), "dichotomous"),
    **dict.fromkeys(("graded", "grm", "mgrm"), "graded"),
    **dict.fromkeys(("gpcm", "pcm", "rsm", "partial_credit"), "partial_credit"),
    **dict.fromkeys(("nominal", "nrm"), "nominal"),
}
JSCAT = {"discrimination": "a", "difficulty": "b", "guessing": "c", "slipping": "d"}
MODEL_COLUMNS = ("itemtype", "model", "class")


def bank_of_dialect(sheet: Sheet) -> Bank | FactorBank:
    """Return the items of a file that some other program wrote; a ValueError names what they cannot be."""
    names = set(sheet.names)
    said = _said_model(sheet)
    if "logS" in names:
        raise ValueError(
            f"the bank {sheet.path} has items of a five-parameter model (column logS), which no model here has."
        )
    for slope, intercept in (("alpha", "c"), ("alphaj", "cj")):
        if f"{slope}1" in names:
            return _nominal_of_one_trait(sheet, sheet.numbered(slope), sheet.numbered(intercept), first=0)
    if names & {"alphaj", "deltaj1", "lambdaj"}:
        return _catr(sheet)
    if {"a1", "c1"} <= names and not names & {"d", "d0", "d1", "b1"}:
        return _nominal_of_one_trait(sheet, sheet.numbered("a"), sheet.numbered("c"), first=1, whole=True)
    if "a1" in names:
        return _slopes_and_intercepts(sheet, said)
    if "discrimination" in names:
        return _difficulties(_renamed(sheet, JSCAT), said)
    if "a" in names:
        return _difficulties(sheet, said)
    cats = [name[:-2] for name in sheet.names if name.endswith(".a")]
    if cats:
        return _of_cats(sheet, cats)
    cats = [name.removesuffix(".discrimination") for name in sheet.names if name.endswith(".discrimination")]
    if cats:
        return _of_cats(
            _renamed(sheet, {f"{cat}.{long}": f"{cat}.{one}" for cat in cats for long, one in JSCAT.items()}), cats
        )
    raise ValueError(
        f"the bank {sheet.path} has no column of discriminations: a (catsim, catR, jsCAT, mirt with IRTpars), a1 "
        "(mirt), alphaj, deltaj1, lambdaj or alpha1 (catR), discrimination or TRAIT.a (jsCAT), coordinate_1 (ours)."
    )


def _said_model(sheet: Sheet) -> str | None:
    """Return the model of polytomous items where a column names one."""
    for name in MODEL_COLUMNS:
        if name in sheet.names:
            said = [row[name].strip() for row in sheet.rows]
            for line, one in zip(sheet.lines, said, strict=True):
                if one and one.lower() not in TYPES:
                    raise ValueError(f"{sheet.path}, line {line}: no model here has items of {name} {one!r}.")
            models = {TYPES[one.lower()] for one in said if one} - {"dichotomous"}
            if "nominal" in models:
                models.discard("partial_credit")  # which is nominal, too
            if len(models) > 1:
                other = "nominal" if "nominal" in models else "partial-credit"
                raise ValueError(f"the bank {sheet.path} has graded and {other} items; split it by {name}.")
            return next(iter(models), None)
    return None


def _slopes_and_intercepts(sheet: Sheet, said: str | None) -> Bank | FactorBank:
    if "c" in sheet.names:
        raise ValueError(
            f"the bank {sheet.path} has mirt's rating-scale items (columns a1 and c), which no model here has."
        )
    slopes = sheet.numbered("a")
    slopes[:, 0] = sheet.needed("a1")
    slopes = np.nan_to_num(slopes)  # a trait that an item does not measure
    single = sheet.column("d") if "d" in sheet.names else np.full(len(slopes), np.nan)
    sums = sheet.numbered("d", 0)
    together = Loadings(_names(slopes.shape[1]), slopes != 0).components()
    if any(len(traits) > MOST_TOGETHER for _, traits in together):
        more = sums if sums.shape[1] else sheet.numbered("d")
        return bank_of_slopes(sheet, slopes, single, more, said or ("partial_credit" if sums.shape[1] else "graded"))
    model = said or ("partial_credit" if sums.shape[1] else "graded")
    if sums.shape[1]:
        scores = _scores(sheet, sums)
        if said == "nominal" or (said != "graded" and not _are_ranks(scores, sums)):
            return _nominal(sheet, slopes, single, sums, scores)
        steps = np.diff(sums, axis=1)
        several = steps if model == "partial_credit" else sums[:, 1:]
        if model == "graded" and not np.isnan(sums[:, 0]).all():
            raise ValueError(f"the bank {sheet.path} has graded items with a column d0, which belongs to gpcm.")
        graded = np.isnan(sums[:, 0]) & ~np.isnan(sums[:, 1:]).all(axis=1)
        if model == "partial_credit" and graded.any():
            raise ValueError(
                f"the bank {sheet.path} has gpcm items (d0) and graded ones (item {_first(sheet, graded)!r}): split it."
            )
    else:
        several = sheet.numbered("d")
    if "d" not in sheet.names and not several.shape[1]:
        sheet.require("d")
    return _bank(sheet, slopes, single, several, model, "g", "u")


def _difficulties(sheet: Sheet, said: str | None) -> Bank:
    slopes = (sheet.needed("a") * _scaling(sheet))[:, None]
    lower = [name for name in ("c", "g") if name in sheet.names]
    upper = [name for name in ("d", "u") if name in sheet.names]
    for found in (lower, upper):
        if len(found) > 1:
            raise ValueError(f"the bank {sheet.path} has both columns {found[0]} and {found[1]}, for one asymptote.")
    several = sheet.numbered("b")
    if several.shape[1] > 1 and said is None:
        raise ValueError(
            f"the bank {sheet.path} has columns b1 and b2, which mirt writes for graded items and for gpcm alike: add "
            "a column itemtype that says graded or gpcm."
        )
    if not several.shape[1]:
        sheet.needed("b")
    single = sheet.column("b") if "b" in sheet.names else np.full(len(slopes), np.nan)
    g, u = (one[0] if one else "" for one in (lower, upper))
    return _bank(sheet, slopes, -slopes[:, 0] * single, -slopes * several, said or "graded", g, u)


def _catr(sheet: Sheet) -> Bank:
    names = set(sheet.names)
    slopes = (sheet.needed("alphaj") if "alphaj" in names else np.ones(len(sheet.rows)))[:, None] * _scaling(sheet)[
        :, None
    ]
    model = "partial_credit"
    if "lambdaj" in names:
        levels = sheet.needed("lambdaj")[:, None] + sheet.numbered("delta")
    elif "deltaj1" in names:
        levels = sheet.numbered("deltaj")
    elif "bj" in names:
        model, levels = "graded", sheet.needed("bj")[:, None] - sheet.numbered("c")
    else:
        model, levels = "graded", sheet.numbered("betaj")
    if not levels.shape[1]:
        raise ValueError(f"the bank {sheet.path} has slopes, but no thresholds; it has {', '.join(sheet.names)}.")
    none = np.full(len(slopes), np.nan)
    return _bank(sheet, slopes, none, -slopes * levels, model, "", "", first=0)


def _bank(
    sheet: Sheet, slopes: np.ndarray, single: np.ndarray, several: np.ndarray, model: str, lower: str, upper: str,
    first: int = 1, asymptotes: tuple[np.ndarray, np.ndarray] | None = None, traits: Sequence[str] = (),
) -> Bank:  # fmt: skip
    """Return items of an intercept each, or of several; asymptotes are named by their columns."""
    for wrong in np.flatnonzero((slopes == 0).all(axis=1)):
        raise ValueError(
            f"item {sheet.labels[int(wrong)]!r} of {sheet.path} measures nothing: its discrimination is 0."
        )
    n = len(slopes)
    if asymptotes is None:
        g = sheet.column(lower, 0.0) if lower in sheet.names else np.zeros(n)
        u = sheet.column(upper, 1.0) if upper in sheet.names else np.ones(n)
    else:
        g, u = asymptotes
    for wrong in np.flatnonzero(~((g >= 0) & (g < u) & (u <= 1))):
        raise ValueError(
            f"item {sheet.labels[int(wrong)]!r} of {sheet.path} must have asymptotes 0 <= lower < upper <= 1, got "
            f"{g[wrong]:g} and {u[wrong]:g}."
        )
    if several.shape[1] == 1:  # two answers, written as the first of many
        single, several = np.where(np.isnan(single), several[:, 0], single), several[:, :0]
    has_several = ~np.isnan(several).all(axis=1) if several.shape[1] else np.zeros(n, dtype=bool)
    for wrong in np.flatnonzero(~has_several & np.isnan(single)):
        raise ValueError(f"{sheet.path}, line {sheet.lines[int(wrong)]}: the intercept or difficulty is missing.")
    if has_several.any():
        for wrong in np.flatnonzero((g > 0) | (u < 1)):
            raise ValueError(
                f"item {sheet.labels[int(wrong)]!r} of {sheet.path} has an asymptote ({lower} or {upper}) in a bank "
                "with items of more than two answers, which no model here has: split the bank."
            )
        levels = _graded_or_steps(sheet, np.where(has_several[:, None], several, _padded(single, several)), model)
    else:
        model = "four_parameter" if (u < 1).any() else "three_parameter" if (g > 0).any() else "two_parameter"
        levels = single[:, None]
        if model != "two_parameter":
            both = np.stack([g, u], axis=1) if model == "four_parameter" else g[:, None]
            levels = np.concatenate([levels, asymptote_coordinates(both)], axis=1)
    n_answers = several.shape[1] + 1 if has_several.any() else 2
    scale = (0, 1) if n_answers == 2 else tuple(range(first, first + n_answers))
    coordinates = np.concatenate([slopes, levels], axis=1)
    p, loadings = coordinates.shape[1], Loadings(tuple(traits) or _names(slopes.shape[1]), slopes != 0)
    return Bank(model, sheet.labels, scale, loadings, coordinates, np.zeros((n, p, p)))


def _graded_or_steps(sheet: Sheet, levels: np.ndarray, model: str) -> np.ndarray:
    """Return intercepts (items, K) as coordinates; NaN stands behind those of items with fewer answers only."""
    known = ~np.isnan(levels)
    for wrong in np.flatnonzero((~known[:, :-1] & known[:, 1:]).any(axis=1) | ~known[:, 0]):
        raise ValueError(
            f"item {sheet.labels[int(wrong)]!r} of {sheet.path} lacks a threshold before others: NA may only follow "
            "the last one."
        )
    if model == "partial_credit":
        return levels
    steps = np.diff(levels, axis=1)
    for wrong in np.flatnonzero((np.where(np.isnan(steps), -1.0, steps) >= 0).any(axis=1)):
        raise ValueError(
            f"intercepts of a graded item must decrease (thresholds increase), but those of "
            f"{sheet.labels[int(wrong)]!r} in {sheet.path} do not."
        )
    lacking = np.isnan(steps)  # NaN of one kind: files and hashes do not keep its sign
    return np.concatenate([levels[:, :1], np.where(lacking, np.nan, np.log(np.where(lacking, 1.0, -steps)))], axis=1)


def _padded(single: np.ndarray, several: np.ndarray) -> np.ndarray:
    return np.column_stack([single, np.full((len(single), several.shape[1] - 1), np.nan)])


def _scores(sheet: Sheet, sums: np.ndarray) -> np.ndarray:
    """Return the scores ak (items, K + 1) of answers, 0, 1, 2, ... where there are no such columns."""
    scores = sheet.numbered("ak", 0)
    if not scores.shape[1]:
        return np.where(np.isnan(sums), np.nan, np.arange(sums.shape[1]))
    if scores.shape != sums.shape or (np.isnan(scores) != np.isnan(sums)).any():
        raise ValueError(f"the bank {sheet.path} must have a score (ak) for each intercept (d0, d1, ...) and no other.")
    return scores


def _are_ranks(scores: np.ndarray, sums: np.ndarray) -> bool:
    return bool(((scores == np.arange(scores.shape[1])) | np.isnan(sums)).all())


def _nominal(sheet: Sheet, slopes: np.ndarray, single: np.ndarray, sums: np.ndarray, scores: np.ndarray) -> Bank:
    """Return mirt's items: a slope vector each, of which answers have multiples."""
    alone = np.isnan(sums[:, 0]) & ~np.isnan(single)  # items of two answers, written as such
    sums, scores = sums.copy(), scores.copy()
    sums[alone, :2] = np.column_stack([np.zeros(int(alone.sum())), single[alone]])
    scores[alone, :2] = [0.0, 1.0]
    for name, free in (("g", 0.0), ("u", 1.0)):
        if name in sheet.names:
            wrong = ~np.isin(sheet.column(name, free), free)
            if wrong.any():
                raise ValueError(
                    f"item {_first(sheet, wrong)!r} of {sheet.path} has an asymptote in a bank of nominal items."
                )
    return _nominal_bank(sheet, scores[..., None] * slopes[:, None, :], sums, first=1)


def _nominal_of_one_trait(
    sheet: Sheet, slopes: np.ndarray, intercepts: np.ndarray, *, first: int, whole: bool = False
) -> Bank:
    """Return items of a slope and an intercept for each answer, of the ``whole`` of them or of all but the first."""
    if slopes.shape != intercepts.shape or (np.isnan(slopes) != np.isnan(intercepts)).any():
        raise ValueError(
            f"the bank {sheet.path} must have an intercept for each slope of a nominal item, and no other."
        )
    if not whole:
        slopes, intercepts = (np.column_stack([np.zeros(len(one)), one]) for one in (slopes, intercepts))
    return _nominal_bank(sheet, slopes[..., None], intercepts, first=first)


def _nominal_bank(sheet: Sheet, slopes: np.ndarray, intercepts: np.ndarray, *, first: int) -> Bank:
    """Return items of slopes (items, K + 1, T) and intercepts (items, K + 1) of their answers; NaN: no such answer."""
    n, n_answers, t = slopes.shape
    known = ~np.isnan(intercepts)
    for wrong in np.flatnonzero(~known[:, :2].all(axis=1) | (~known[:, :-1] & known[:, 1:]).any(axis=1)):
        raise ValueError(
            f"item {sheet.labels[int(wrong)]!r} of {sheet.path} must have parameters of two answers or more; NA may "
            "only follow the last one."
        )
    slopes, intercepts = slopes - slopes[:, :1], intercepts - intercepts[:, :1]
    mask = np.nan_to_num(slopes != 0) & known[..., None]
    for wrong in np.flatnonzero(~mask.any(axis=(1, 2))):
        raise ValueError(
            f"item {sheet.labels[int(wrong)]!r} of {sheet.path} measures nothing: its slopes are all alike."
        )
    p = t + 1 + (n_answers - 2) * (t + 1)
    coordinates = np.full((n, p), np.nan)
    for row, there, a, c in zip(coordinates, known, slopes, intercepts, strict=True):
        own = nominal_coordinates(a[there][1:], c[there][1:])
        row[: len(own)] = own
    scale = (0, 1) if n_answers == 2 else tuple(range(first, first + n_answers))
    return Bank("nominal", sheet.labels, scale, Loadings(_names(t), mask.any(axis=1)), coordinates, np.zeros((n, p, p)))


def _of_cats(sheet: Sheet, cats: list[str]) -> Bank:
    """Return jsCAT's items of several traits, each with the parameters of one; a, b, c, d not given are 1, 0, 0, 1."""
    found = np.stack(
        [np.stack([_column_or_none(sheet, f"{cat}.{one}") for one in "abcd"], axis=1) for cat in cats], axis=1
    )
    there = ~np.isnan(found).all(axis=2)  # (items, cats)
    for wrong in np.flatnonzero(there.sum(axis=1) != 1):
        many = [cat for cat, one in zip(cats, there[wrong], strict=True) if one]
        raise ValueError(
            f"item {sheet.labels[int(wrong)]!r} of {sheet.path} must have parameters of one trait, got "
            f"{' and '.join(many) or 'none'}."
        )
    own = found[there]
    a, b, c, d = np.where(np.isnan(own), [1.0, 0.0, 0.0, 1.0], own).T
    slopes = np.where(there, a[:, None], 0.0)
    return _bank(sheet, slopes, -a * b, np.zeros((len(a), 0)), "graded", "c", "d", asymptotes=(c, d), traits=cats)


def _column_or_none(sheet: Sheet, name: str) -> np.ndarray:
    return sheet.column(name) if name in sheet.names else np.full(len(sheet.rows), np.nan)


def _renamed(sheet: Sheet, names: Mapping[str, str]) -> Sheet:
    """Return the sheet with columns under other names."""
    twice = [one for one in names if one in sheet.names and names[one] in sheet.names]
    if twice:
        raise ValueError(f"the bank {sheet.path} has both columns {names[twice[0]]} and {twice[0]}, for one parameter.")
    rows = [{names.get(name, name): cell for name, cell in row.items()} for row in sheet.rows]
    return replace(sheet, names=[names.get(name, name) for name in sheet.names], rows=rows)


def _names(t: int) -> tuple[str, ...]:
    return ("trait",) if t == 1 else tuple(f"trait_{k + 1}" for k in range(t))


def _scaling(sheet: Sheet) -> np.ndarray:
    """Return the constants that multiply slopes, 1 where no column D gives them."""
    return sheet.column("D", 1.0) if "D" in sheet.names else np.ones(len(sheet.rows))


def _first(sheet: Sheet, wrong: np.ndarray) -> Any:
    return sheet.labels[int(np.argmax(wrong))]
