"""The name by which users import a class or a function, whatever module of the library it stands in.

    adaptive.estimators.imaging.image_reconstructor.ImageReconstructor    ->    adaptive.ImageReconstructor

What is written into files names things so: modules may move, public names are a promise.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["public_name"]


def public_name(thing: Any) -> str:
    """Return the dotted name of a class or function in the outermost package that lists it, else where it stands.

    Examples
    --------
    >>> from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
    >>> public_name(ImageReconstructor), public_name(len)
    ('adaptive.ImageReconstructor', 'builtins.len')
    """
    name, module = thing.__qualname__, thing.__module__ or "__main__"  # none: made by `exec` without a module
    parts = module.split(".")
    for depth in range(1, len(parts)):
        package = sys.modules.get(".".join(parts[:depth]))
        if name in getattr(package, "__all__", ()) and getattr(package, name, None) is thing:
            return f"{package.__name__}.{name}"  # type: ignore[union-attr]
    return f"{module}.{name}"
