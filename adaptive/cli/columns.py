"""Columns that nobody named: by the words that tables use for them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from adaptive.cli.errors import CommandError
from adaptive.tables import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adaptive.tables import Cells

__all__ = ["COUNTS", "PEOPLE", "column_for"]

PEOPLE = ("user", "person", "people", "customer", "client", "member", "listener", "visitor", "account", "respondent",
          "participant", "subject", "student", "name")  # fmt: skip
ITEMS = ("item", "product", "track", "song", "artist", "movie", "film", "book", "article", "page", "sku", "title")
COUNTS = ("count", "counts", "n", "plays", "visits", "views", "clicks", "listens", "purchases", "quantity", "times")
WORDS: Mapping[str, tuple[str, ...]] = {"user": PEOPLE, "item": ITEMS, "count": COUNTS}


def column_for(cells: Cells, role: str, named: str) -> str:
    """Return the column of a role: the one that was named, else the only one that goes by such a word.

    Parameters
    ----------
    cells : Cells
    role : {"user", "item", "count"}
        Also the option that names it.
    named : str
        The name that was typed, or the option's default; only in place of the default, which is the role's own name,
        is another column taken.

    Raises
    ------
    CommandError
        If there is no such column, or more than one; it names the option.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from adaptive.tables import Cells
    >>> cells = Cells(Path("plays.csv"), pd.DataFrame({"Listener": ["a"], "track": ["b"], "plays": ["2"]}))
    >>> [column_for(cells, role, role) for role in ("user", "item", "count")]
    ['Listener', 'track', 'plays']
    """
    columns = list(map(str, cells.frame.columns))
    if named in columns:
        return named
    folded = {column: column.strip().lower().removesuffix("_id").removesuffix(" id") for column in columns}
    found = [column for column in columns if folded[column] in WORDS[role]] if named == role else []
    if len(found) == 1:
        return found[0]
    example = next((one for one in columns if one not in found), columns[0]) if not found else found[0]
    raise CommandError(
        f"{cells.path} has no column {named!r}; its columns are {listed(columns)}. Name the one that holds the {role}, "
        f"such as --{role} {shlex.quote(example)}."
    )
