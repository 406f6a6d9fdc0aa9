"""What a docstring of a public name has to say: the rules of ``test_docstrings.py``.

Arguments with the shapes of arrays, what is returned, what is raised, units, a source where the mathematics has one,
and an example that runs (as a doctest of its module).
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

__all__ = ["is_result", "problems", "sections"]

_UNITS = {  # what is spoken of, or an argument is called: how its unit is named
    r"\bentrop(y|ies)\b|\binformation gain\b|\blog[ _]evidence\b": r"\bnats?\b|\bbits?\b",
    r"\bangles?\b|^phase_? : (?:nd)?array|^period :|^turns :": r"\bradians?\b|\bdegrees?\b",
    r"\bduration\b|\btimes\b :|^(lease|dwell|seconds|rate) :": r"\bseconds?\b|\bminutes?\b|\byears?\b|\bs\b",
}
_QUOTED = re.compile(r"``.*?``|\"[^\"\n]*\"|`[^`\n]*`", re.DOTALL)
_SHAPE = re.compile(r"\([^()]*\)|\bshape|\bscalar|\bsequence")
_SOURCE = re.compile(r"\(\d{4}\)|\b(19|20)\d\d\b")


def sections(text: str) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by their headings; what stands before the first is under ""."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", text, flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def items(section: str) -> dict[str, tuple[str, str]]:
    """Return the type and the description of every name of a section of arguments."""
    found = {}
    for block in re.split(r"^(?=\S)", section, flags=re.MULTILINE):
        head, _, said = block.partition("\n")
        names, _, kind = head.partition(" : ")
        found |= {name.strip().lstrip("*"): (kind, said) for name in names.split(",") if name.strip()}
    return found


def arguments(thing: Any) -> list[str]:
    """Return what a caller may give by name, without what is private."""
    if inspect.isclass(thing) and (getattr(thing, "_is_protocol", False) or issubclass(thing, Enum)):
        return []  # nobody makes one by calling it
    given = inspect.signature(thing).parameters.values()
    return [one.name for one in given if not one.name.startswith("_")]


def problems(thing: Any, *, mathematics: bool) -> list[str]:
    """Return one sentence for each thing that the docstring of a class or function leaves out."""
    text = inspect.getdoc(thing) or ""
    said = sections(text)
    listed = items(said.get("Parameters", "")) | items(said.get("Attributes", ""))
    found = [f"argument {name} is not described" for name in arguments(thing) if name not in listed]
    found += [
        f"{name} is an array of no shape"
        for name, (kind, words) in (listed | items(said.get("Returns", ""))).items()
        if re.search(r"\b(nd)?arrays?\b|array-like", kind) and not _SHAPE.search(kind + words)
    ]
    if inspect.isroutine(thing):
        found += _returned(thing, said)
    raised = _raised(thing)
    found += [f"raises {name}, which Raises does not say" for name in raised if name not in said.get("Raises", "")]
    if mathematics and not _SOURCE.search(said.get("References", "") + said.get("Notes", "") + said[""]):
        found.append("names no source")
    found += _unitless(
        "\n".join(words for name, words in said.items() if name not in ("Examples", "References", "See Also"))
    )
    example = said.get("Examples", "")
    if ">>>" not in example or example.count("+SKIP") == example.count(">>>"):
        found.append("has no example that runs")
    return found


def _returned(thing: Any, said: dict[str, str]) -> list[str]:
    kind = str(inspect.signature(thing).return_annotation)
    if kind in ("None", "<class 'inspect._empty'>"):
        return []
    words = said.get("Returns", "") + said.get("Yields", "")
    first = said[""].split("\n\n")[0]
    if not words and first.startswith(("Return", "Read")):
        words = first
    if not words:
        return ["does not say what it returns"]
    return ["returns an array of no shape"] if "ndarray" in kind and not _SHAPE.search(words) else []


def _raised(thing: Any) -> list[str]:
    """Return the errors that a function, or the constructor of a class, raises in its own lines."""
    bodies: list[Callable[..., Any]] = [thing]
    if inspect.isclass(thing):
        if not arguments(thing):
            return []
        own = (vars(thing).get(name) for name in ("__init__", "__post_init__", "__new__"))
        bodies = [one for one in own if inspect.isfunction(one)]
    found: set[str] = set()
    for body in bodies:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(body))))
        except (OSError, TypeError, SyntaxError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                found.add(ast.unparse(node.exc.func).rpartition(".")[2])
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("checks."):
                found.add("ValueError")
    return sorted(found - {"NotImplementedError"})


def _unitless(text: str) -> list[str]:
    spoken_of = _QUOTED.sub("", text)
    found = [(re.search(spoken, spoken_of, re.MULTILINE), unit) for spoken, unit in _UNITS.items()]
    return [
        f"speaks of {one.group()!r} without a unit"
        for one, unit in found
        if one and not re.search(unit, text, re.IGNORECASE)
    ]


def is_result(thing: type) -> bool:
    """Whether a class only holds what a function returned."""
    return hasattr(thing, "_fields") or is_dataclass(thing)
