"""Tables of numbers with a class per row: ``(X, y)``."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import file, folder, stored_part

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["breast_cancer", "libsvm", "raetsch", "ripley", "uci"]

# name -> file; all but the last two are UCI copies without a header whose last column is the class
_UCI = {
    "breast_cancer_wisconsin": "breast-cancer-wisconsin.csv",
    "glass": "glass.csv",
    "haberman": "haberman.csv",
    "ionosphere": "ionosphere.csv",
    "iris": "iris.csv",
    "pima": "pima-indians-diabetes.csv",
    "sonar": "sonar.csv",
    "wheat_seeds": "wheat-seeds.csv",
    "wine": "wine.csv",
    "crabs": "crabs.csv",
    "pima_ripley": "Pima.tr.csv",
}
_RAETSCH = (
    "banana",
    "breast_cancer",
    "flare_solar",
    "german",
    "heart",
    "image",
    "splice",
    "thyroid",
    "titanic",
    "twonorm",
    "waveform",
)
_LIBSVM = {"a9a": 123, "w8a": 300, "german.numer": 24, "heart_scale": 13, "australian": 14}  # name -> features


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Return scikit-learn's Wisconsin diagnostic set: X (569, 30), raw units; y is 0 (malignant) or 1 (benign).

    Examples
    --------
    >>> X, y = breast_cancer()
    >>> X.shape, y[:3]
    ((569, 30), array([0, 0, 0]))
    """
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, y.astype(np.int64)


def uci(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a UCI set: numbers, and a class per row.

    Parameters
    ----------
    name : str
        "ionosphere", "sonar", "pima", "crabs" (class: sex), ... ; an unknown name lists them all.

    Returns
    -------
    X : ndarray of shape (n, d), float64
        Rows with a missing value ("?") are left out.
    y : ndarray of shape (n,)
        The class as printed in the file: text, or int64 where every class is an integer.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set of this name.

    Examples
    --------
    >>> X, y = uci("iris")
    >>> X.shape, str(y[0])
    ((150, 4), 'Iris-setosa')
    """
    checks.choice("name", name, _UCI)
    path = file(f"uci/{_UCI[name]}", "https://archive.ics.uci.edu")
    with path.open(newline="") as stream:
        rows = [row for row in csv.reader(stream) if row and "?" not in row]
    if name == "crabs":  # row name, species, sex, index within the group, five measurements
        return np.array([row[4:] for row in rows[1:]], dtype=float), np.array([row[2] for row in rows[1:]])
    if name == "pima_ripley":  # Ripley's 532 complete cases: training part, then test part
        with file("uci/Pima.te.csv", "the R package MASS").open(newline="") as stream:
            rows = rows[1:] + list(csv.reader(stream))[1:]
        rows = [row[1:] for row in rows]
    return np.array([row[:-1] for row in rows], dtype=float), _classes([row[-1] for row in rows])


def raetsch(name: str, split: int | None = None) -> tuple[np.ndarray, ...]:
    """Read one of Raetsch's two-class benchmark sets.

    Parameters
    ----------
    name : str
        "banana", "german", "titanic", ... ; an unknown name lists them all.
    split : int or None, default None
        Number of a published split, from 0. None gives the whole set.

    Returns
    -------
    X, y : ndarrays of shape (n, d), float64, and (n,), int64 of -1 and +1
        Or ``X_train, X_test, y_train, y_test`` with ``split``, in the order of scikit-learn's ``train_test_split``.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set of this name, or no such split of it.

    Examples
    --------
    >>> X, y = raetsch("titanic")
    >>> X.shape, sorted(set(y.tolist()))
    ((2201, 3), [-1, 1])
    """
    checks.choice("name", name, _RAETSCH)
    path = file(f"raetsch/{name}.npz", "https://github.com/tdiethe/gunnar_raetsch_benchmark_datasets")
    with np.load(path) as stored:
        X, y = stored["X"].astype(float), stored["y"].astype(np.int64)
        if split is None:
            return X, y
        if "train_idx" not in stored:
            raise ValueError(f"raetsch set {name!r} comes without published splits here; leave split=None.")
        n_splits = len(stored["train_idx"])
        if checks.integer("split", split, minimum=0) >= n_splits:
            raise ValueError(f"split must be below {n_splits} for the raetsch set {name!r}, got {split}.")
        train, test = stored["train_idx"][split], stored["test_idx"][split]
    return X[train], X[test], y[train], y[test]


def libsvm(name: str, part: str = "train") -> tuple[csr_matrix, np.ndarray]:
    """Read a set in svmlight format.

    Parameters
    ----------
    name : str
        "a9a", "w8a", "german.numer", "heart_scale" or "australian".
    part : "train" or "test"
        "test" reads ``NAME.t``, where that file exists.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n, d), float64
        The width is the set's, also where the last features of a part are empty.
    y : ndarray of shape (n,), int64 of -1 and +1

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set or part of this name.

    Examples
    --------
    >>> X, y = libsvm("australian")
    >>> X.shape, y[:2]
    ((690, 14), array([-1, -1]))
    """
    from sklearn.datasets import load_svmlight_file

    checks.choice("name", name, _LIBSVM)
    stem = "libsvm/" + name + (".t" if checks.choice("part", part, ("train", "test")) == "test" else "")
    packed = folder() / f"{stem}.gz"
    path = packed if packed.is_file() else file(stem, "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets")
    X, y = load_svmlight_file(str(path), n_features=_LIBSVM[name])
    return X, y.astype(np.int64)


def ripley(part: str = "train") -> tuple[np.ndarray, np.ndarray]:
    """Read Ripley's synthetic two-class mixture in the plane: 250 training or 1,000 test points, classes 0 and 1.

    Parameters
    ----------
    part : "train" or "test", default "train"

    Returns
    -------
    X : ndarray of shape (n, 2), float64
    y : ndarray of shape (n,), int64

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If ``part`` is neither.

    References
    ----------
    B. D. Ripley (1996), Pattern recognition and neural networks.

    Examples
    --------
    >>> X, y = ripley()
    >>> X.shape, y[:2]
    ((250, 2), array([0, 0]))
    """
    checks.choice("part", part, ("train", "test"))
    X, y = stored_part("ripley/ripley_synth.npz", part, "the R package MASS (synth.tr, synth.te)")
    return X.astype(float), y.astype(np.int64)


def _classes(texts: list[str]) -> np.ndarray:
    """Classes as integers where all are, else as they are printed."""
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except ValueError:
        return np.array(texts)
