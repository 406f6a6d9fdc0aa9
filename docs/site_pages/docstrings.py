"""Docstrings as reStructuredText: what is meant as a formula or a name is not taken for markup.

Docstrings here are written for ``help()``: |s|, x * y and image_ mean themselves, an indented line is a formula.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["as_rst", "setup"]

_QUOTED = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`_?)")
_HEADING = re.compile(r"^-{3,}$")
_FREE = ("", "Notes")  # sections whose indented lines are formulas


def as_rst(text: str) -> str:
    """Return a docstring, dedented, as reStructuredText."""
    lines = text.split("\n")
    found: list[str] = []
    section = ""
    literal: int | None = None  # the indentation of the paragraph whose block is literal
    doctest = False
    for k, line in enumerate(lines):
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        if k + 1 < len(lines) and _HEADING.match(lines[k + 1].strip()) and indent == 0 and bare:
            section = bare
        if literal is not None and bare and indent <= literal:
            literal = None
        doctest = bool(bare) and (doctest or bare.startswith(">>>"))
        starts = section in _FREE and indent >= 4 and bare and literal is None and not doctest
        if starts and (not found or not found[-1].strip()):
            found += ["::", ""]
            literal = 0
        keep = doctest or literal is not None or _HEADING.match(bare) or section == "See Also"
        found.append(line if keep else _escaped(line))
        if bare.endswith("::") and literal is None and not doctest:
            literal = indent
    return "\n".join(found)


def _escaped(line: str) -> str:
    """Escape stars, bars, trailing underscores outside of quoted text, and an initial that would begin a list."""
    parts = _QUOTED.split(re.sub(r"^(\s*)([A-Z])\. ", r"\1\\\2. ", line))
    return "".join(
        part if k % 2 else re.sub(r"(?<=\w)_(?!\w)", r"\_", re.sub(r"([*|])", r"\\\1", part))
        for k, part in enumerate(parts)
    )


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_rst("\n".join(lines)).split("\n")


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every class, and whose text points into its own site."""
    added = name in ("get_metadata_routing", "set_output") or re.fullmatch(r"set_\w+_request", name)
    return True if added else None


def setup(app: Any) -> dict[str, bool]:
    """Connect before numpydoc."""
    app.connect("autodoc-process-docstring", _process, priority=100)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
