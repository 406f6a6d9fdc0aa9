"""Public is what a package's ``__init__`` lists: ``public_names.txt`` says what that is, inner modules may move.

A name that goes missing breaks somebody's program. A new one is a promise: add it to the file on purpose.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILE = Path(__file__).with_name("public_names.txt")
OPTIONAL = (
    "matplotlib",
    "finufft",
    "nibabel",
    "typer",
    "h5py",
    "ismrmrd",
    "pydicom",
    "skimage",
    "polars",
    "dask",
    "distributed",
)


def promised() -> dict[str, list[str]]:
    """What the file says: a line ``package: name name ...`` each, indented lines go on."""
    text = "\n".join(line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    entries = text.replace("\n ", " ").split("\n")
    return {package: names.split() for package, _, names in (entry.partition(":") for entry in entries) if package}


def packages() -> list[str]:
    """Every package of the two."""
    found = ["adaptive", "designs"]
    for top in ("adaptive", "designs"):
        path = importlib.import_module(top).__path__
        found += [module.name for module in pkgutil.walk_packages(path, f"{top}.") if module.ispkg]
    return found


def exports(package: str) -> dict[str, object]:
    """What a package lists, by name, the names of modules that it lists behind theirs."""
    module = importlib.import_module(package)
    found: dict[str, object] = {}
    for name in getattr(module, "__all__", ()):
        found[name] = thing = getattr(module, name)
        if isinstance(thing, ModuleType) and not hasattr(thing, "__path__"):
            found |= {f"{name}.{inner}": getattr(thing, inner) for inner in thing.__all__}
    return found


@pytest.mark.parametrize("package", sorted({*promised(), *packages()}))
def test_a_package_lists_what_is_promised(package):
    assert set(exports(package)) == set(promised().get(package, []))


@pytest.mark.parametrize("package", packages())
def test_what_is_listed_says_what_it_is(package):
    for name, thing in exports(package).items():
        if isinstance(thing, (type, ModuleType)) or inspect.isroutine(thing):
            text = thing.__doc__ or ""
            generated = text.startswith(f"{thing.__name__}(")  # by dataclasses and named tuples
            assert text and not generated, f"{package}.{name} has no docstring"


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import adaptive", ("numpy", "scipy", "sklearn", "numba")),
        ("from adaptive.cli import run; run(['--help'])", ("sklearn", "pandas", "numba", "matplotlib")),
        ("from adaptive import *; import adaptive.cli", tuple(one for one in OPTIONAL if one != "typer")),
    ],
)
def test_what_is_not_needed_is_not_imported(code, unwanted):
    """An import of the library, a command's help and an import of everything wait for nothing that they do not use."""
    code += "; import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(found.stdout.splitlines()[-1].split()) & set(unwanted)
