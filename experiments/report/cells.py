"""Text for tables and details of a page: numbers of three digits, nothing that Markdown takes for its own."""

from __future__ import annotations

import re
import textwrap
from typing import Any

__all__ = ["anchor", "digits", "escaped", "items_within", "row", "sentence", "spelled", "text", "wrapped"]


def digits(number: float) -> str:
    """Return a number in three significant digits, whole ones in full.

    Examples
    --------
    >>> [digits(one) for one in (0.12345, 12345.6, 1e-14, 3.0, 758)]
    ['0.123', '12,346', '1e-14', '3', '758']
    """
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def text(value: Any) -> str:
    """Return a value as a person reads it: floats to three digits, lists and mappings spelled out.

    Examples
    --------
    >>> text({"error": 0.123456, "limits": [0.1, 0.15]})
    'error: 0.123; limits: 0.1, 0.15'
    """
    if isinstance(value, float):
        return digits(value)
    if isinstance(value, list):
        return ", ".join(f"[{text(one)}]" if isinstance(one, list) else text(one) for one in value)
    if isinstance(value, dict):
        inner = {key: f"({text(one)})" if isinstance(one, dict) else text(one) for key, one in value.items()}
        return "; ".join(f"{key}: {one}" for key, one in inner.items())
    return "" if value is None else str(value)


def spelled(settings: Any) -> str:
    """Return settings, a mapping or how Python prints one, in words for a sentence.

    Examples
    --------
    >>> spelled({"length": 0.5, "side": "both"})
    'length 0.5, side both'
    """
    return re.sub("[{}']", "", str(settings)).replace(": ", " ")


def items_within(value: Any, most: int) -> str:
    """Return as many whole items of a value as ``most`` characters hold, and how many more there are.

    Examples
    --------
    >>> items_within({"rows": {"error": 0.5, "time": 3.0}, "cells": [1, 2]}, 30)
    'rows, error: 0.5; and 2 more'
    >>> items_within("two sentences. Here is the second.", 20)
    'two sentences.'
    """
    if isinstance(value, str):
        first = sentence(value)
        return value if len(value) <= most else first
    items = [f"{name}: {one}" if name else one for name, one in _items(value)]
    for shown in range(len(items), 0, -1):
        said = "; ".join(items[:shown]) + (f"; and {len(items) - shown} more" if shown < len(items) else "")
        if len(said) <= most or shown == 1:
            return said
    return ""


def _items(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [
            item for key, one in value.items() for item in _items(one, f"{name}, {key}" if name else str(key))
        ]  # fmt: skip
    return [(name, text(value))]


def sentence(words: str) -> str:
    """Return the first sentence."""
    return re.split(r"(?<=[.?!])\s+(?=[A-Z0-9])", " ".join(words.split()), maxsplit=1)[0]


def escaped(words: str) -> str:
    """Return text in one line that Markdown leaves as it is, also inside a table.

    Examples
    --------
    >>> print(escaped("exp(-|s|) < 2*x"))
    exp(-\\|s\\|) &lt; 2\\*x
    """
    words = " ".join(words.split()).replace("<", "&lt;")
    return re.sub(r"([|*\[\]$])", r"\\\1", words)


def row(*cells: str) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cells) + " |"


def wrapped(words: str, indent: str = "") -> list[str]:
    """Return the lines of an item of a list, none longer than 120 characters; none begins as another item would.

    Examples
    --------
    >>> print(*wrapped("- " + "word " * 30), sep="\\n")
    - word word word word word word word word word word word word word word word word word word word word word word word
      word word word word word word word
    """
    lines = textwrap.wrap(
        words,
        118,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    joined = lines[:1]
    for line in lines[1:]:
        if re.match(r"([-+*>#=|:]|\d+[.)]( |$))", line.strip()):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    return joined


def anchor(heading: str) -> str:
    """Return what GitHub and MyST make of a heading that is an id.

    Examples
    --------
    >>> anchor("nickisch-fig-4.10")
    'nickisch-fig-410'
    """
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))
