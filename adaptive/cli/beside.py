"""A command's model beside the simplest rival of its field: found once, kept in the folder, and said."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from adaptive.cli.run_folder import RunFolder
from adaptive.files import write_file

__all__ = ["kept", "say"]

T = TypeVar("T")


def kept(folder: RunFolder, compare: Callable[[], T], name: str = "beside.json") -> T:
    """Return what ``compare()`` found, from the folder of a run that goes on."""
    path = folder.log / name
    if path.is_file():
        known: T = json.loads(path.read_text(encoding="utf-8"))
        return known
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits of parts: that of all says what there is to say
        found = compare()
    write_file(path, json.dumps(found).encode())
    return found


def say(found: dict[str, Any] | None, **words: str) -> None:
    """Print it, where there was enough to tell."""
    from adaptive.diagnostics import rival_in_words

    if found is not None:
        print(rival_in_words(found, **words))
