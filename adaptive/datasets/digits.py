"""Handwritten digits, a row of grey values per picture."""

from __future__ import annotations

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import stored_part

__all__ = ["digits_pair", "usps"]


def digits_pair(first: int = 3, second: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Two of scikit-learn's handwritten digits, 8 x 8 pixels scaled to [0, 1].

    Parameters
    ----------
    first, second : int
        The two digits, different, each 0 to 9.

    Returns
    -------
    X : ndarray of shape (n, 64), float64
    y : ndarray of shape (n,), int64
        The digit.

    Raises
    ------
    ValueError
        If the two are the same, or one is no digit.

    Examples
    --------
    >>> X, y = digits_pair(3, 5)
    >>> X.shape, sorted(set(y.tolist()))
    ((365, 64), [3, 5])
    """
    from sklearn.datasets import load_digits

    for name, digit in (("first", first), ("second", second)):
        checks.choice(name, str(digit), map(str, range(10)))
    if first == second:
        raise ValueError(f"first and second must be two different digits, got {first} twice.")
    X, y = load_digits(return_X_y=True)
    rows = np.isin(y, (first, second))
    return X[rows] / 16.0, y[rows].astype(np.int64)


def usps(part: str = "train", digits: tuple[int, ...] | None = (3, 5)) -> tuple[np.ndarray, np.ndarray]:
    """Read the USPS handwritten digits, 16 x 16 pixels in [-1, 1].

    Parameters
    ----------
    part : "train" or "test", default "train"
    digits : tuple of int, or None, default (3, 5)
        Which to keep; None: all ten.

    Returns
    -------
    X : ndarray of shape (n, 256), float64
    y : ndarray of shape (n,), int64
        The digit.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If ``part`` is neither.

    Examples
    --------
    >>> X, y = usps("test", digits=(3, 5))
    >>> X.shape, y[:2]
    ((326, 256), array([3, 3]))
    """
    checks.choice("part", part, ("train", "test"))
    X, y = stored_part("usps/usps.npz", part, "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets")
    rows = np.ones(len(y), bool) if digits is None else np.isin(y, digits)
    return X[rows].astype(float), y[rows].astype(np.int64)
