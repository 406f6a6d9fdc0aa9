"""Opening a store by what the command line calls it: a folder, or the address of a database."""

from __future__ import annotations

import os
from pathlib import Path

from adaptive.serve.stores.any_store import AnyStore
from adaptive.serve.stores.postgres import PostgresStore
from adaptive.serve.stores.sqlite import Store

__all__ = ["is_address", "open_store"]

SCHEMES = ("postgresql://", "postgres://")


def is_address(place: str | os.PathLike[str]) -> bool:
    """Return whether a place is the address of a database.

    Examples
    --------
    >>> is_address("postgresql://localhost/labels"), is_address("adaptive-serve-run")
    (True, False)
    """
    return os.fspath(place).startswith(SCHEMES)


def open_store(
    place: str | os.PathLike[str], *, folder: str | os.PathLike[str] | None = None, write: bool = True,
    shared: bool = False,
) -> AnyStore:  # fmt: skip
    """Open the store at a place.

    Parameters
    ----------
    place : path or str
        A folder, made if absent, or postgresql://USER:PASSWORD@HOST/DATABASE.
    folder : path, optional
        Of the files beside a database (invitations, exports); default "adaptive-serve-run".
    write : bool, default True
        False looks only; a folder must exist then.
    shared : bool, default False
        Whether this is a process of a server that holds the folder already.

    Returns
    -------
    Store or PostgresStore

    Raises
    ------
    StoreError
        If it cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open_store(folder) as store:
    ...     store.facts()
    {}
    """
    if is_address(place):
        return PostgresStore(os.fspath(place), Path(folder or "adaptive-serve-run"))
    return Store(Path(place), write=write, shared=shared)
