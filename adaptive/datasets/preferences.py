"""Preferences: rankings and ratings, a row per person."""

from __future__ import annotations

import csv
import gzip

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import file

__all__ = ["jester", "sushi"]


def jester() -> np.ndarray:
    """Return the (5000, 100) ratings of jokes, -10 to 10; NaN where somebody did not rate.

    References
    ----------
    Goldberg, Roeder, Gupta and Perkins (2001), Eigentaste; those of the R package recommenderlab.

    Examples
    --------
    >>> ratings = jester()
    >>> ratings.shape, round(float(np.nanmax(ratings)), 2)
    ((5000, 100), 9.9)
    """
    with np.load(file("jester5k/jester5k.npz", "the R package recommenderlab")) as stored:
        return stored["ratings"].astype(float)


def sushi(name: str = "a") -> tuple[np.ndarray, list[str]]:
    """Return ranks (5000, items), 1 the best, of kinds of sushi by people, and the kinds' names.

    Parameters
    ----------
    name : {"a", "b"}
        "a": complete rankings of 10 kinds. "b": a user's own copy of sushi3b.5000.10.order, in which everybody ranks 10
        of 100 kinds, named by their numbers; NaN where a kind was not ranked.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set of this name.

    References
    ----------
    T. Kamishima (2003), Nantonac collaborative filtering.

    Examples
    --------
    >>> ranks, names = sushi()
    >>> ranks.shape, names[0]
    ((5000, 10), 'shrimp')
    """
    checks.choice("name", name, ("a", "b"))
    if name == "a":
        path = file("sushi/sushi_a_rankings.csv.gz", "the R package BayesMallows")
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            names = next(csv.reader(stream))
            return np.loadtxt(stream, delimiter=","), names
    path = file("sushi/sushi3b.5000.10.order", "https://www.kamishima.net/sushi")
    orders = np.loadtxt(path, skiprows=1, dtype=np.int64, ndmin=2)[:, 2:]  # its first two columns are counts
    ranks = np.full((len(orders), 100), np.nan)
    np.put_along_axis(ranks, orders, np.arange(1.0, orders.shape[1] + 1.0)[None, :].repeat(len(orders), axis=0), axis=1)
    return ranks, [str(kind) for kind in range(100)]
