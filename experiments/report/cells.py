"""Text for tables and details of a page: numbers of four digits, nothing that Markdown takes for its own."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["anchor", "escaped", "row", "sentence", "shortened", "text"]


def text(value: Any) -> str:
    """Return a value as a person reads it: floats to four digits, lists and mappings spelled out.

    Examples
    --------
    >>> text({"error": 0.123456, "limits": [0.1, 0.15]})
    'error: 0.1235; limits: 0.1, 0.15'
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(f"[{text(one)}]" if isinstance(one, list) else text(one) for one in value)
    if isinstance(value, dict):
        inner = {key: f"({text(one)})" if isinstance(one, dict) else text(one) for key, one in value.items()}
        return "; ".join(f"{key}: {one}" for key, one in inner.items())
    return "" if value is None else str(value)


def shortened(words: str, most: int) -> str:
    """Return the words, cut behind a whole one where they are longer than ``most`` characters.

    Examples
    --------
    >>> shortened("a line of six words here", 14)
    'a line of ...'
    """
    return words if len(words) <= most else words[: most - 3].rsplit(" ", 1)[0].rstrip(" ,;:([") + " ..."


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


def anchor(heading: str) -> str:
    """Return what GitHub and MyST make of a heading that is an id.

    Examples
    --------
    >>> anchor("nickisch-fig-4.10")
    'nickisch-fig-410'
    """
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))
