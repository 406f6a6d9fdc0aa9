"""Every public name says what it takes, with shapes and units, what it gives, what it raises, its source, an example.

``docstrings.py`` holds the rules; the examples run as doctests of their modules. What is in ``tests/public_names.txt``
is asked, and nothing is left out but constants, errors (which say when they come in their first line), and the
commands, whose arguments say themselves what they are.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from adaptive.cli import app
from tests import docstrings

ROOT = Path(__file__).resolve().parents[1]
# packages of methods somebody published; of estimators those that are no view of another
MATHEMATICS = (
    "adaptive", "adaptive.estimators.imaging.trees", "adaptive.inference", "adaptive.inference.classic",
    "adaptive.kernels", "adaptive.linalg", "adaptive.linalg.variances", "adaptive.potentials", "adaptive.scorers",
    "designs.filters", "designs.optimal",
)  # fmt: skip
# what only holds, names, joins, drives or restores what others compute
NO_MATHEMATICS = {
    "adaptive.ClassifierView", "adaptive.PipelineView", "adaptive.Posterior", "adaptive.SequentialDesign",
    "adaptive.cite", "adaptive.compare_with_random", "adaptive.embed", "adaptive.inference.Zero",
    "adaptive.inference.compatible", "adaptive.make_pipeline",
    "adaptive.inference.posterior_state", "adaptive.inference.restored_posterior", "adaptive.potentials.Likelihood",
    "adaptive.potentials.LocationDensity", "adaptive.potentials.Potential", "adaptive.potentials.join",
    "adaptive.estimators.imaging.trees.TreePosterior", "designs.filters.TransformRows", "designs.filters.as_filters",
}  # fmt: skip


def _public() -> Iterator[tuple[str, str, Any]]:
    """Package, name, and what it is, once each."""
    text = (ROOT / "tests" / "public_names.txt").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\n ", " ").split("\n")
    seen: set[int] = set()
    for package, _, names in (line.partition(":") for line in lines):
        for name in names.split():
            thing: Any = importlib.import_module(package)
            for part in name.split("."):
                thing = getattr(thing, part)
            if (inspect.isclass(thing) or inspect.isroutine(thing)) and id(thing) not in seen:
                seen.add(id(thing))
                yield package, f"{package}.{name}", thing


COMMANDS = {one.callback for one in app.registered_commands}
PUBLIC = [one for one in _public() if one[2] not in COMMANDS]


@pytest.mark.parametrize("package", sorted({package for package, _, _ in PUBLIC}))
def test_docstrings_say_what_a_user_needs(package):
    found = []
    for home, name, thing in PUBLIC:
        if home != package:
            continue
        if inspect.isclass(thing) and issubclass(thing, BaseException):
            assert thing.__doc__ and len(thing.__doc__) > 20, name
            continue
        result = inspect.isclass(thing) and docstrings.is_result(thing)
        mathematics = package in MATHEMATICS and name not in NO_MATHEMATICS and not result
        found += [f"{name}: {problem}" for problem in docstrings.problems(thing, mathematics=mathematics)]
    assert not found, "\n".join(found)


def test_what_is_said_to_hold_no_mathematics_exists():
    assert {name for _, name, _ in PUBLIC} >= NO_MATHEMATICS


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda one: one.callback.__name__)
def test_every_argument_of_a_command_says_what_it_is(command):
    group = typer.main.get_command(app)
    (of,) = [one for one in group.commands.values() if one.callback.__wrapped__ is command.callback]
    silent = [one.name for one in of.params if not getattr(one, "help", None)]
    assert of.help and not silent, silent


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Return x.", "argument x is not described"),
        ("Return x.\n\nParameters\n----------\nx : array\n    The x.", "x is an array of no shape"),
        ("Do it.\n\nParameters\n----------\nx : float", "does not say what it returns"),
        (
            "Return the log evidence of x.\n\nParameters\n----------\nx : float",
            "speaks of 'log evidence' without a unit",
        ),
        ("Return x.\n\nParameters\n----------\nx : float", "raises ValueError, which Raises does not say"),
        ("Return x.\n\nExamples\n--------\n>>> f(1)  # doctest: +SKIP", "has no example that runs"),
        ("Return x.", "names no source"),
    ],
)
def test_what_is_left_out_is_found(text, said):
    def f(x: float) -> float:
        if x < 0:
            raise ValueError("x")
        return x

    f.__doc__ = text
    assert said in docstrings.problems(f, mathematics=True)


NO_OPENING = {"What", "Whether", "How", "Where", "Of"}


def test_docstrings_open_with_a_noun_or_a_verb():
    """Of modules, classes and functions, public and private: never with a question or a genitive."""
    astray = []
    for path in sorted([*(ROOT / "adaptive").rglob("*.py"), *(ROOT / "designs").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                words = (ast.get_docstring(node) or "").split()
                if words and words[0].strip(",.:") in NO_OPENING:
                    astray.append(f"{path.relative_to(ROOT)}:{node.body[0].lineno}: {' '.join(words[:6])}")
    assert not astray, "\n".join(astray)
