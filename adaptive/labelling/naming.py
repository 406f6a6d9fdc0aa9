"""Labels as people say them: typed, pressed on a page or written into a file, a text means one label or none.

its own text  >  regardless of case and outer blanks  >  the same number or day  >  its beginning, where that is typed

The first rule that finds a label decides; where it finds several the text is ambiguous, and taken for none of them.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

__all__ = ["closest", "doubts", "folded", "keys_of", "meant", "number_in", "twins"]

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")


def meant(text: str, labels: Sequence[Any], *, beginning: bool = False) -> list[int]:
    """Return the places of the labels that a text may mean: one where it is clear, none where it is none of them.

    Parameters
    ----------
    text : str
    labels : sequence of text, numbers or booleans
        Called by what ``str`` makes of them.
    beginning : bool, default False
        Let the first letters of a label stand for it.

    Examples
    --------
    >>> meant(" Billing ", ["sales", "billing"]), meant("1.0", [0, 1]), meant("yes", ["Yes", "YES"])
    ([1], [1], [0, 1])
    >>> meant("b", ["sales", "billing"]), meant("b", ["sales", "billing"], beginning=True)
    ([], [1])
    """
    names = [str(label) for label in labels]
    said, bare = text.strip(), folded(text)
    rules: list[list[bool]] = [
        [name == text for name in names],
        [name.strip() == said for name in names],
        [folded(name) == bare for name in names],
    ]
    value = _value(said)
    if value is not None:
        rules.append([_value(name.strip()) == value for name in names])
    if beginning and bare:
        rules.append([folded(name).startswith(bare) for name in names])
    return next((found for rule in rules if (found := [k for k, holds in enumerate(rule) if holds])), [])


def closest(text: str, labels: Sequence[Any]) -> str | None:
    """Return the label that a text was perhaps to be; None where it resembles none.

    Examples
    --------
    >>> closest("biling", ["sales", "billing"]), closest("x", ["sales", "billing"])
    ('billing', None)
    """
    names = {folded(str(label)): str(label) for label in labels}
    near = difflib.get_close_matches(folded(text), names, n=1)
    return names[near[0]] if near else None


def doubts(text: str, labels: Sequence[Any], places: Sequence[int]) -> str:
    """Return why a text is not taken: it may mean several labels, or none and perhaps a near one."""
    if places:
        return f"{text!r} may mean {' or '.join(repr(str(labels[k])) for k in places)}; write it as it stands there"
    near = closest(text, labels)
    return f"{text!r} is none of them" + ("" if near is None else f"; did you mean {near!r}?")


def keys_of(labels: Sequence[Any]) -> list[str]:
    """Return what is typed for each label: its place from 1, or its own text where a place could mean another label.

    Examples
    --------
    >>> keys_of(["no", "yes"]), keys_of([0, 1]), keys_of(["2 apples", "1 apple"])
    (['1', '2'], ['0', '1'], ['2 apples', '1 apple'])
    """
    places = [str(k) for k in range(1, len(labels) + 1)]
    numbers = all(_float(str(label).replace(",", ".")) is not None for label in labels)
    if numbers or any(meant(place, labels, beginning=True) not in ([], [k]) for k, place in enumerate(places)):
        return [str(label) for label in labels]
    return places


def number_in(text: str) -> int | float | None:
    """Return the finite number that a text is the usual print of; else None.

    Examples
    --------
    >>> number_in("12"), number_in("1.50"), number_in("nan"), number_in("1_000"), number_in("01")
    (12, 1.5, None, None, None)
    """
    if _WHOLE.fullmatch(text.strip()):
        return int(text)
    return None if re.match(r"\s*[-+]?0[0-9]", text) else _float(text)


def folded(text: str) -> str:
    """Return a text regardless of case, outer blanks and the way in which accents are stored."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def twins(labels: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two labels that only case, blanks or Unicode tell apart; None where there are none.

    Examples
    --------
    >>> twins(["Billing", "sales", "billing"]), twins(["Billing", "sales"])
    (('Billing', 'billing'), None)
    """
    seen: dict[str, str] = {}
    for label in dict.fromkeys(labels):
        other = seen.setdefault(folded(label), label)
        if other != label:
            return other, label
    return None


def _value(text: str) -> float | datetime | None:
    """Return the number or moment that a text is: spreadsheets write 1 as 1.0 or 1,0, frames a day with its hour."""
    number = _float(text.replace(",", "."))
    if number is not None:
        return number
    try:
        return datetime.fromisoformat(text) if "-" in text[1:] else None  # 20240105 is a number
    except ValueError:
        return None


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None
