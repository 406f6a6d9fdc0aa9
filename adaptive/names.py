"""The name by which users import a class or a function, whatever module of the library it stands in.

    adaptive.estimators.imaging.image_reconstructor.ImageReconstructor    ->    adaptive.ImageReconstructor

What is written into files names things so: modules may move, public names are a promise.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["means_the_same", "module_path", "public_name"]


def public_name(thing: Any) -> str:
    """Return the dotted name of a class or function in the outermost package that lists it, else where it stands.

    Examples
    --------
    >>> from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
    >>> public_name(ImageReconstructor), public_name(len)
    ('adaptive.ImageReconstructor', 'builtins.len')
    """
    name, module = thing.__qualname__, thing.__module__
    parts = module.split(".")
    for depth in range(1, len(parts)):
        package = sys.modules.get(".".join(parts[:depth]))
        if name in getattr(package, "__all__", ()) and getattr(package, name, None) is thing:
            return f"{package.__name__}.{name}"  # type: ignore[union-attr]
    return module_path(thing)


def module_path(thing: Any) -> str:
    """Return where a class or function stands; files of older versions name things so."""
    return f"{thing.__module__}.{thing.__qualname__}"


def means_the_same(recorded: str, name: str) -> bool:
    """Whether a recorded name is ``name``, or that name with the modules in between, as older files have it.

    Examples
    --------
    >>> means_the_same("adaptive.scorers.margin.margin", "adaptive.scorers.margin")
    True
    >>> means_the_same("adaptive.scorers.margin.margin", "adaptive.scorers.entropy")
    False
    >>> means_the_same("1.2.0", "1.0")
    False
    """
    theirs, ours = recorded.split("."), name.split(".")
    remaining = iter(theirs)
    in_order = theirs[0] == ours[0] and theirs[-1] == ours[-1] and all(part in remaining for part in ours)
    return in_order and ours[0].isidentifier()  # a package: not a version, not a path
