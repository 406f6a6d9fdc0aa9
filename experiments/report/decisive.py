"""The numbers of a value that decide a verdict, in three significant digits: what stands beside the target.

The checks of a claim (``experiments/rules``) say where in its value they stand. Where a person reads the value, or a
check asks of words, the value is spelled out instead, as far as a cell of a table holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from experiments import verdicts
from experiments.judging import BOUNDS, Unreadable, beside, interval, numbers
from experiments.report.cells import digits, items_within

__all__ = ["came_out", "slack"]

SHOWN = 3  # numbers of one check that are spelled out; of more the smallest and the largest
CHECKS = 3
MOST = 200  # characters
GENERIC = {"95% interval", "interval", "ratio", "difference", "value", "mean", "mean ratio", "seconds", "paired"}


class _Found(NamedTuple):
    """One number that a check compares: its name, itself, the ends of its interval."""

    name: str
    middle: float
    low: float
    high: float

    @property
    def words(self) -> str:
        if self.low == self.high:
            return digits(self.middle)
        return f"{digits(self.middle)} [{digits(self.low)}, {digits(self.high)}]"


def came_out(entry: Mapping[str, Any]) -> str:
    """Return what came out, in at most two hundred characters and whole words.

    Examples
    --------
    >>> came_out({"id": "of no rule", "value": {"error": 0.12345, "limits": [0.1, 0.15001]}})
    'error: 0.123; limits: 0.1, 0.15'
    """
    value = entry["value"]
    said = []
    for check in _checks(entry):
        found = _numbers(check, value)
        if found:
            said.append(_together(found))
    said = list(dict.fromkeys(said))
    if not said:
        return items_within(value, MOST)
    shown = said[:CHECKS]
    while len(shown) > 1 and len("; ".join(shown)) > MOST:
        shown.pop()
    return "; ".join(shown) + (f"; and {len(said) - len(shown)} more" if len(said) > len(shown) else "")


def slack(entry: Mapping[str, Any]) -> float:
    """Return how far inside its target a claim lies, by its worst check; negative outside; 0 where no number says it.

    The distance from the nearer end of an interval to the bound, over the bound, or where that is 0 over the larger
    end.
    """
    worst = None
    for check in _checks(entry):
        for one in _numbers(check, entry["value"]):
            for name in BOUNDS:
                if name in check:
                    bound = check[name]
                    far = bound - one.high if name in ("most", "below") else one.low - bound
                    scale = abs(bound) or max(abs(one.low), abs(one.high)) or 1.0
                    worst = far / scale if worst is None else min(worst, far / scale)
    return worst or 0.0


def _checks(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The checks that compare numbers with bounds."""
    try:
        checks = verdicts.checks_of(entry["id"], entry["value"])
    except KeyError:
        return []
    if isinstance(checks, str):
        return []
    return [one for one in checks if set(BOUNDS) & set(one) and not {"any", "unless"} & set(one)]


def _numbers(check: Mapping[str, Any], value: Any) -> list[_Found]:
    path = check.get("at", [])
    leaves = [(name, leaf) for name, leaf in _named(value, path) if leaf is not None]
    try:
        offs, scales = (beside(value, check.get(key), len(leaves), none) for key, none in (("minus", 0), ("divide", 1)))
        found = []
        for (name, leaf), off, scale in zip(leaves, offs, scales, strict=True):
            own = dict(check) if check["kind"] != "share" else {**check, "kind": "exact"}
            if own.get("of") == "counted":
                own.pop("of")
            stands = numbers(leaf)
            low, high = interval(own, stands, off, scale)
            first = (stands[0] - off) / scale
            found.append(
                _Found(name + _rest(check, name), first if low < first < high else (low + high) / 2, low, high)
            )
    except (IndexError, KeyError, Unreadable, ValueError, ZeroDivisionError):
        return []
    return found


def _rest(check: Mapping[str, Any], name: str) -> str:
    """What is taken off a number, or what it is divided by, in words."""
    words = ""
    for key, joint, alone in (("minus", " less ", "difference"), ("divide", " over ", "ratio")):
        path = check.get(key)
        if isinstance(path, (int, float)):
            words += f"{joint}{digits(path)}"
        elif path:
            names = [one for one in path if isinstance(one, str) and one not in ("*", "#", "range")]
            same = not names or names[-1] == name.rpartition(", ")[2]  # two numbers of one list
            words += (f", {alone}" if name else alone) if same else joint + names[-1]
    return words


def _together(found: Sequence[_Found]) -> str:
    if len(found) <= SHOWN:
        return "; ".join(f"{one.name}: {one.words}" if one.name else one.words for one in found)
    low, high = min(one.low for one in found), max(one.high for one in found)
    return (
        f"{digits(low)} to {digits(high)} in {len(found)} numbers"
        if low < high
        else f"{len(found)} times {digits(low)}"
    )


def _named(value: Any, path: Sequence[Any], names: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every leaf at a path (`experiments.judging.standing_at`), with the names that lead to it."""
    if not path:
        told = [one for one in names if one not in GENERIC]
        yield ", ".join(told[-2:]), value
        return
    first, rest = path[0], path[1:]
    if first == "*":
        each = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, one in each:
            yield from _named(one, rest, (*names, key) if isinstance(key, str) else names)
    elif isinstance(first, list):
        for one in first:
            yield from _named(value, [one, *rest], names)
    elif first == "#":
        yield from _named(len(value), rest, (*names, "how many"))
    elif first == "range" and not isinstance(value, Mapping):
        found = numbers(value)
        yield from _named(max(found) - min(found), rest, (*names, "range"))
    else:
        try:
            inner = numbers(value)[first] if isinstance(value, str) else value[first]
        except (KeyError, IndexError, TypeError):
            return
        yield from _named(inner, rest, (*names, first) if isinstance(first, str) else names)
