"""Pairs of integer ids: who played or rated what, which item is in which basket."""

from __future__ import annotations

import gzip
import re

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import file

__all__ = ["baskets", "lastfm", "movielens"]

_BASKETS = {  # name -> (file, where to get it, what stands between items)
    "groceries": ("baskets/groceries.txt.gz", "the R package arules", " *, *"),
    "apparel": ("baskets/amazon_baby_apparel.txt.gz", "github.com/cgartrel/scalable-nonsymmetric-DPPs", "[ ,]+"),
    "registries": (
        "baskets/amazon_baby_apparel-diaper-feeding.txt.gz", "github.com/cgartrel/scalable-nonsymmetric-DPPs", "[ ,]+"
    ),
}  # fmt: skip


def lastfm() -> tuple[np.ndarray, np.ndarray]:
    """Return the (92834, 2) integer ids (user, artist), and how often each was played.

    References
    ----------
    HetRec 2011, Last.fm.

    Examples
    --------
    >>> pairs, plays = lastfm()
    >>> pairs[0], float(plays[0])
    (array([ 2, 51]), 13883.0)
    """
    table = np.loadtxt(file("lastfm-2k/user_artists.dat.gz"), dtype=np.int64)
    return table[:, :2], table[:, 2].astype(float)


def movielens(path: str = "movielens/u.data") -> tuple[np.ndarray, np.ndarray]:
    """Return the (n, 2) integer ids (user, movie) and ratings (n,), of a user's own copy: u.data, or ratings.dat.

    Parameters
    ----------
    path : str, default "movielens/u.data"
        Below the data folder, ``u.data`` or ``ratings.dat``.

    Raises
    ------
    DataNotFoundError
        If the file is absent.

    References
    ----------
    GroupLens, MovieLens 100K, 1M, 10M, whose terms do not allow to pass them on.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as own:
    ...     _ = Path(own, "u.data").write_text("196::242::3::881250949")
    ...     pairs, ratings = movielens(f"{own}/u.data")
    >>> pairs, ratings
    (array([[196, 242]]), array([3.]))
    """
    with open(file(path, "https://grouplens.org/datasets/movielens"), encoding="latin-1") as stream:
        rows = [line.replace("::", "\t").split("\t")[:3] for line in stream if line.strip()]
    return np.array([row[:2] for row in rows], dtype=np.int64), np.array([row[2] for row in rows], dtype=float)


def baskets(name: str = "groceries") -> tuple[np.ndarray, np.ndarray]:
    """Return the (n, 2) pairs (basket, item), numbers from 0 on, and what items are called.

    Parameters
    ----------
    name : {"groceries", "apparel", "registries"}, default "groceries"
        A month of a shop's till (9,835 baskets, 169 items); Amazon's baby registries of apparel (14,970, 100 items),
        and of apparel, diapers and feeding (31,218, 300).

    Returns
    -------
    pairs : (n, 2) array of int
    items : (m,) array of str

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set of this name.

    References
    ----------
    M. Hahsler et al., the R package arules.  J. Gillenwater et al. (2014), Expectation-maximization for learning
    determinantal point processes.

    Examples
    --------
    >>> pairs, items = baskets("groceries")
    >>> pairs.shape, str(items[pairs[0, 1]])
    ((43367, 2), 'citrus fruit')
    """
    path, source, separator = _BASKETS[checks.choice("name", name, tuple(_BASKETS))]
    with gzip.open(file(path, source), "rt", encoding="utf-8") as stream:
        lines = [re.split(separator, line.strip()) for line in stream if line.strip()]
    items, rows = np.unique([item for line in lines for item in line], return_inverse=True)
    return np.column_stack([np.repeat(np.arange(len(lines)), [len(line) for line in lines]), rows]), items
