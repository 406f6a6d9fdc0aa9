"""Packages whose names are imported when asked for (SPEC 1): whoever needs one does not wait for the others."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["lazily"]


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that imports its names ``if TYPE_CHECKING`` only.

    Its ``__init__`` stays the one list of names and of the modules that they stand in. Of a module and a thing in it
    that have one name the package has the thing, whoever imported the module before.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.

    Examples
    --------
    >>> import designs
    >>> "kspace" in dir(designs), designs.kspace.__name__
    (True, 'designs.kspace')
    """

    sys.modules[package].__class__ = _Package

    def get(name: str) -> Any:
        module = sys.modules[package]
        if name not in module.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = _homes(package)[name]
        thing = import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
        setattr(module, name, thing)
        return thing

    return get, lambda: sorted({*vars(sys.modules[package]), *sys.modules[package].__all__})


class _Package(ModuleType):
    """A package that an import of its module ``name`` does not give an attribute, where it lists a thing so called."""

    def __setattr__(self, name: str, value: Any) -> None:
        listed = (
            isinstance(value, ModuleType) and name in self.__all__ and _homes(self.__name__)[name] == value.__name__
        )
        if not listed:
            super().__setattr__(name, value)


@cache
def _homes(package: str) -> dict[str, str]:
    """The module that every name is imported from, as the source of the package says."""
    source = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
    imports = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}
