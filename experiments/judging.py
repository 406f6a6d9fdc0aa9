"""What one check says of a value: it holds, it fails, it cannot tell.

``experiments/verdicts.py`` says what kinds of checks there are and how they make a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, inf, sqrt
from typing import Any

import numpy as np
from scipy.stats import t as student_t

from experiments.equivalence import all_of, inside
from experiments.statistics import half_width

__all__ = ["BOUNDS", "Unreadable", "beside", "interval", "judge", "numbers", "standing_at"]

BOUNDS = ("least", "most", "above", "below")
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
UNTOLD = ("cannot be told", "could not be told")
UNITS = 5
Z = 1.96


class Unreadable(ValueError):
    """A check that finds nothing to compare in the value of its claim."""


def judge(check: Mapping[str, Any], value: Any) -> bool | None:
    """Return whether one check holds; None where it cannot tell.

    ``at`` is a path into the value: a key or index, "*" for all, a list for some of them, "#" for how many there are,
    "range" for the largest less the smallest of a list, a number into a text for the number that stands there. ``take``
    says which number of a leaf, or which two are an interval, ``plus_minus`` which are a mean and a half-width,
    ``times`` what that is multiplied by (where a standard error is stored). ``minus`` and ``divide`` are paths of what
    is taken off (or a number) and then divided by, one number for all leaves or one for each; ``against`` is another
    interval (its own ``at``, ``minus`` and ``divide``, else as here), of which the less favourable end is taken off.
    ``end`` ("lower", "upper") asks of one end of an interval, where a claim says no more than that none lies wholly
    beyond. ``count`` says how many of the leaves have to hold, where not all; ``unless`` is the mark by which a text
    says that an interval that is not stored did not lie inside, ``says`` words that a text has to have; ``only`` are
    the entries that a list may have. With ``miss`` a failed check cannot tell. A share "of": "counted" reads how many,
    of how many. ``{"at": ..., "any": [checks, ...]}`` holds for a leaf where all of one of its lists of checks do.

    Examples
    --------
    >>> judge({"at": ["gain"], "kind": "paired", "above": 0}, {"gain": [0.02, 0.01, 0.03]})
    True
    >>> print(judge({"at": ["gain"], "kind": "paired", "above": 0}, {"gain": "+0.02 [-0.01, +0.05]"}))
    None
    >>> print(judge({"at": ["gain"], "kind": "one run", "above": 0}, {"gain": 0.02}))
    None
    >>> judge({"at": ["covered"], "kind": "share", "of": 400, "least": 0.85, "most": 0.95}, {"covered": 0.91})
    True
    >>> heads = {"ours": [8.1, 7.9, 8.4, 8.0, 8.2], "theirs": [9.0, 9.1, 8.9, 9.4, 9.2]}
    >>> ratios = {"at": ["ours", "*"], "divide": ["theirs", "*"], "kind": "over units", "over": "5 heads", "log": True}
    >>> judge({**ratios, "most": 0.95}, heads), judge({**ratios, "most": 0.8}, heads)
    (True, False)
    >>> print(judge({**ratios, "most": 0.89}, heads))
    None
    >>> judge({"at": [0], "minus": [1], "kind": "exact", "below": 0}, "4.2 against 4.5 nats, 20 splits")
    True
    >>> judge({"plus_minus": [0, 1], "times": 2.571, "kind": "paired", "over": "6 heads", "below": 1}, [0.981, 0.005])
    True
    >>> judge({"at": ["words", "#"], "kind": "exact", "least": 2}, {"words": ["canal", "silver"]})
    True
    >>> one = {"kind": "paired", "plus_minus": [0, 1], "over": "splits"}
    >>> judge({**one, "end": "upper", "least": 0}, "-.1 +- .2")
    True
    >>> judge({"at": ["a"], **one, "above": 0, "against": {"at": ["b"]}}, {"a": "3 +- 1", "b": "1 +- .5"})
    True
    >>> judge({"any": [[{**one, "above": 0}], [{"kind": "exact", "says": "none"}]]}, "-3 +- 1, none")
    True
    >>> judge({"kind": "exact", "only": ["a"]}, ["a", "b"])
    False
    >>> print(judge({"kind": "share", "of": "counted", "most": 0.05}, "wrong in 3 of 38"))
    None
    """
    if "any" in check:
        return all_of(
            _any_of(all_of(judge(one, leaf) for one in several) for several in check["any"])
            for leaf in standing_at(value, check.get("at", []))
        )
    leaves = list(standing_at(value, check.get("at", [])))
    if not leaves:
        raise Unreadable(f"nothing at {check.get('at')}.")
    offs, scales = (beside(value, check.get(name), len(leaves), none) for name, none in (("minus", 0), ("divide", 1)))
    if check["kind"] == "over units":
        return _over_units(check, leaves, offs, scales)
    rival = _rival(check, value)
    found = [_compared(check, leaf, off, scale, rival) for leaf, off, scale in zip(leaves, offs, scales, strict=True)]
    if check.get("miss"):
        found = [one or None for one in found]
    if "count" in check:
        sure, perhaps = found.count(True), found.count(True) + found.count(None)
        return True if sure >= check["count"] else False if perhaps < check["count"] else None
    return all_of(found)


def numbers(leaf: Any) -> list[float]:
    """Return the numbers of a leaf, in its order; of a mapping of an interval the mean, the lower and the upper limit.

    Examples
    --------
    >>> numbers("+.096 [+.072, .119]"), numbers({"lower": 1, "upper": 3, "difference": 2}), numbers(4)
    ([0.096, 0.072, 0.119], [2.0, 1.0, 3.0], [4.0])
    """
    if isinstance(leaf, bool):
        return [float(leaf)]
    if isinstance(leaf, (int, float)):
        return [float(leaf)]
    if isinstance(leaf, str):
        return [float(one.replace("−", "-")) for one in NUMBER.findall(leaf)]
    if isinstance(leaf, Mapping):
        low, high = (next((leaf[name] for name in names if name in leaf), None) for names in _LIMITS)
        if low is not None and high is not None:
            rest = [one for name, one in leaf.items() if name not in _LIMITS[0] + _LIMITS[1] and _is_number(one)]
            return [float(rest[0]) if rest else (low + high) / 2, float(low), float(high)]
        return [float(one) for one in leaf.values() if _is_number(one)]
    if isinstance(leaf, Sequence):
        return [number for one in leaf for number in numbers(one)]
    return []


_LIMITS = (("lower", "low"), ("upper", "high"))


def _any_of(parts: Iterable[bool | None]) -> bool | None:
    parts = list(parts)
    return True if True in parts else None if None in parts else False


def beside(value: Any, path: Sequence[Any] | float | None, n: int, none: float) -> list[float]:
    """Return what stands at the path for each of n leaves: one number for all, or as many."""
    if path is None or isinstance(path, (int, float)):
        return [none if path is None else path] * n
    found = [numbers(leaf) for leaf in standing_at(value, path)]
    if len(found) not in (1, n) or not all(found):
        raise Unreadable(f"{len(found)} numbers at {path} for {n} leaves.")
    if none and not all(one[0] for one in found):
        raise Unreadable(f"a ratio to 0 at {path}.")
    return [one[0] for one in found] * (n if len(found) == 1 else 1)


def _rival(check: Mapping[str, Any], value: Any) -> tuple[float, float]:
    """Return the interval that is taken off all leaves."""
    if "against" not in check:
        return 0.0, 0.0
    other = {**check, **check["against"]}
    (off,), (scale,) = (
        beside(value, check["against"].get(name), 1, none) for name, none in (("minus", 0), ("divide", 1))
    )
    try:
        return interval(other, numbers(next(standing_at(value, other["at"]))), off, scale)
    except IndexError:
        raise Unreadable(f"too few numbers at {other['at']}.") from None


def _over_units(
    check: Mapping[str, Any], leaves: Sequence[Any], offs: Sequence[float], scales: Sequence[float]
) -> bool | None:
    """Compare the interval of the mean over units, of each of which the mean of its numbers is taken."""
    if len(leaves) < UNITS:
        raise Unreadable(f"{len(leaves)} units at {check.get('at')}, {UNITS} are needed for an interval.")
    found = [[numbers(leaf)[at] for at in check["take"]] if "take" in check else numbers(leaf) for leaf in leaves]
    units = (np.array([np.mean(one) for one in found]) - offs) / scales
    units = np.log(units) if check.get("log") else units
    half = float(half_width(units, student_t.ppf(0.975, len(units) - 1)))
    low, high = float(units.mean()) - half, float(units.mean()) + half
    return _told(check, *((exp(low), exp(high)) if check.get("log") else (low, high)))


def _compared(check: Mapping[str, Any], leaf: Any, off: float, scale: float, rival: tuple[float, float]) -> bool | None:
    if leaf is None:  # what a run never came to
        return False
    if "says" in check:
        return check["says"] in str(leaf)
    if "only" in check:
        return set(leaf) <= set(check["only"])
    kind, found = check["kind"], numbers(leaf)
    if kind == "exact" and not set(BOUNDS) & set(check):
        if isinstance(leaf, bool):
            return leaf
        if leaf in UNTOLD:
            return None
    if "unless" in check:
        return check["unless"] not in leaf or (False if kind == "exact" else None)
    try:
        low, high = interval(check, found, off, scale)
    except IndexError:
        raise Unreadable(f"too few numbers in {leaf!r}.") from None
    low, high = low - rival[1], high - rival[0]
    if "end" in check:
        low = high = {"lower": low, "upper": high}[check["end"]]
    return _told(check, low, high)


def _told(check: Mapping[str, Any], low: float, high: float) -> bool | None:
    strict = ("above" in check and low <= check["above"]) or ("below" in check and high >= check["below"])
    least, most = check.get("least", check.get("above", -inf)), check.get("most", check.get("below", inf))
    told = inside(low, high, least, most)
    if told and strict:  # an interval that touches the bound does not show that it lies beyond
        told = False if low == high else None
    return None if told and check["kind"] == "one run" else told


def interval(check: Mapping[str, Any], found: Sequence[float], off: float, scale: float) -> tuple[float, float]:
    """Return the two ends that a check compares, of the numbers of a leaf."""
    if "plus_minus" in check:
        places = check["plus_minus"]
        pairs = places if isinstance(places[0], list) else [places]  # several: their mean, each independent
        mean = sum(found[at] for at, _ in pairs) / len(pairs)
        half = sqrt(sum(found[at] ** 2 for _, at in pairs)) / len(pairs)
        mean, half = (mean - off) / scale, half * check.get("times", 1) / abs(scale)
        return mean - half, mean + half
    if check.get("of") == "counted":
        return _wilson(found[0] / found[1], int(found[1]))
    take = check.get("take", [1, 2] if check["kind"] == "paired" else [0])
    low, high = sorted((found[at] - off) / scale for at in (take[0], take[-1]))
    return _wilson(low, check["of"]) if check["kind"] == "share" else (low, high)


def _wilson(share: float, n: int) -> tuple[float, float]:
    middle, wide = (share + Z**2 / (2 * n)), Z * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return (middle - wide) / (1 + Z**2 / n), (middle + wide) / (1 + Z**2 / n)


def standing_at(value: Any, path: Sequence[Any]) -> Iterator[Any]:
    """Yield what stands at a path into a value; of "*" and of lists every leaf.

    Examples
    --------
    >>> list(standing_at({"a": {"mean": 1}, "b": {"mean": 2}}, ["*", "mean"])), list(standing_at("2.5 of 4", [1]))
    ([1, 2], [4.0])
    """
    if not path:
        yield value
        return
    first, rest = path[0], path[1:]
    if first == "*":
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from standing_at(one, rest)
        return
    if first == "#":
        yield len(value)
        return
    if first == "range" and not isinstance(value, Mapping):
        found = numbers(value)
        yield max(found) - min(found)
        return
    if isinstance(first, list):
        for one in first:
            yield from standing_at(value, [one, *rest])
        return
    try:
        inner = numbers(value)[first] if isinstance(value, str) else value[first]
    except (KeyError, IndexError, TypeError):
        raise Unreadable(f"nothing at {first!r}.") from None
    yield from standing_at(inner, rest)


def _is_number(one: Any) -> bool:
    return isinstance(one, (int, float)) and not isinstance(one, bool)
