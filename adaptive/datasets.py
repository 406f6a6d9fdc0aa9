"""Sets to classify as ``(X, y)``, of counts, answers, texts with metadata; most from the folder ``ADAPTIVE_DATA``.

The folder (default ``~/adaptive_data``) holds one sub-folder per collection::

    uci/ionosphere.csv ...      no header, last column is the class, "?" = missing
    raetsch/banana.npz ...      X, y and, for some, train_idx and test_idx (one row per published split)
    libsvm/a9a.gz, a9a.t.gz ... svmlight text, plain or gzipped
    text-newsgroups/newsgroups20_bow.npz, labels.csv    word counts of 20 Newsgroups, split by date
    text-poliblog, text-cora, text-sotu                 word counts or texts, with metadata
    usps/usps.npz, ripley/ripley_synth.npz
    psychometrics/big5_ipip50.tsv.gz ... irt/VerbAgg.csv.gz   answers of people to questionnaires
    counts/coal.csv, DoctorVisits.csv.gz; spikes/cockroach_spikes.csv.gz; lastfm-2k/user_artists.dat.gz
    sushi/sushi_a_rankings.csv.gz, jester5k/jester5k.npz; a user's own sushi3b.5000.10.order, movielens/u.data
    baskets/groceries.txt.gz ...    one basket per line
    brightkite/loc-brightkite_totalCheckins.txt.gz, lastfm-1k/userid-timestamp-....tsv: a user's own

Nothing is downloaded. A set that is absent raises ``DataNotFoundError``, which says which file is wanted and where.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "DataNotFoundError",
    "address_words",
    "addresses",
    "all_newsgroups",
    "answers",
    "baskets",
    "breast_cancer",
    "coal",
    "cora",
    "digits_pair",
    "events",
    "file",
    "folder",
    "jester",
    "lastfm",
    "libsvm",
    "logs",
    "movielens",
    "newsgroups",
    "poliblog",
    "raetsch",
    "ripley",
    "spike_trains",
    "spikes",
    "sushi",
    "uci",
    "usps",
    "visits",
]

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


# name -> (file, where to get it); the columns that are no items are left out in `answers`
_ANSWERS = {
    "big_five": ("psychometrics/big5_ipip50.tsv.gz", "https://openpsychometrics.org/_rawdata"),
    "bfi": ("psychometrics/bfi.csv.gz", "the R package psychTools"),
    "icar": ("psychometrics/icar_ability16.csv.gz", "the R package psychTools (ability)"),
    "epi": ("psychometrics/epi57.csv.gz", "the R package psychTools"),
    "lsat6": ("irt/lsat6.csv", "the R package psych"),
    "lsat7": ("irt/lsat7.csv", "the R package psych"),
    "verbal_aggression": ("irt/VerbAgg.csv.gz", "the R package lme4"),
    "sat12": ("irt/SAT12.csv", "the R package mirt"),
    "science": ("irt/Science.csv", "the R package mirt"),
}
_BASKETS = {  # name -> (file, where to get it, what stands between items)
    "groceries": ("baskets/groceries.txt.gz", "the R package arules", " *, *"),
    "apparel": ("baskets/amazon_baby_apparel.txt.gz", "github.com/cgartrel/scalable-nonsymmetric-DPPs", "[ ,]+"),
    "registries": (
        "baskets/amazon_baby_apparel-diaper-feeding.txt.gz", "github.com/cgartrel/scalable-nonsymmetric-DPPs", "[ ,]+"
    ),
}  # fmt: skip
_LOGS = {  # name -> (file, where to get it, columns of user, item, time)
    "brightkite": (
        "brightkite/loc-brightkite_totalCheckins.txt.gz", "https://snap.stanford.edu/data/loc-Brightkite.html",
        (0, 4, 1),
    ),
    "lastfm-1k": (
        "lastfm-1k/userid-timestamp-artid-artname-traid-traname.tsv", "O. Celma's page of lastfm-dataset-1K",
        (0, 3, 1),
    ),
}  # fmt: skip
_SAT12_KEY = "1 4 5 2 3 1 2 1 3 1 2 4 2 1 5 3 4 4 1 4 3 3 4 1 3 5 1 3 1 5 4 3"  # ?SAT12 in mirt; its 5 at the end is
# an error, as is said there: who chose 3 was right elsewhere (correlation .20), who chose 5 hardly (.04)


class DataNotFoundError(FileNotFoundError):
    """A data set that is not on this machine; the message says which file is wanted and where it may lie."""


def folder() -> Path:
    """Return the folder that the sets are read from: ``$ADAPTIVE_DATA``, by default ``~/adaptive_data``.

    Examples
    --------
    >>> folder().is_absolute()
    True
    """
    return Path(os.environ.get("ADAPTIVE_DATA") or "~/adaptive_data").expanduser()


def file(name: str, source: str = "its publisher") -> Path:
    """Return the path of ``name`` inside the data folder.

    Parameters
    ----------
    name : str
        Path below the folder, as in ``"uci/sonar.csv"``.
    source : str
        Where a user gets the set, for the message.

    Returns
    -------
    Path

    Raises
    ------
    DataNotFoundError
        If there is no such file.

    Examples
    --------
    >>> file("counts/coal.csv").name
    'coal.csv'
    """
    path = folder() / name
    if not path.is_file():
        told = "ADAPTIVE_DATA" if os.environ.get("ADAPTIVE_DATA") else "ADAPTIVE_DATA is not set; the default"
        raise DataNotFoundError(
            f"{name} is not in the data folder {folder()} ({told}): get it from {source}, put it there, "
            "or set ADAPTIVE_DATA to the folder that holds it."
        )
    return path


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


def newsgroups(first: str, second: str, part: str = "train") -> tuple[csr_matrix, np.ndarray]:
    """Read two of the 20 Newsgroups as word counts, in the split by date.

    Parameters
    ----------
    first, second : str
        Different groups: "rec.sport.baseball", "sci.crypt", ... ; an unknown name lists them all.
    part : "train" or "test"

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n, 61188), float64
        Counts of all words of the collection, so that both parts have the same columns.
    y : ndarray of shape (n,)
        The group's name.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If the groups are the same, or there is no group or part of this name.

    Examples
    --------
    >>> X, y = newsgroups("sci.crypt", "sci.electronics", "test")
    >>> X.shape, str(y[0])
    ((788, 61188), 'sci.crypt')
    """
    from scipy.sparse import csr_matrix

    source = "the R package lda"
    with file("text-newsgroups/labels.csv", source).open(newline="") as stream:
        numbers = {name: int(number) for name, number in list(csv.reader(stream))[1:]}
    for name, group in (("first", first), ("second", second)):
        checks.choice(name, group, numbers)
    if first == second:
        raise ValueError(f"first and second must be two different groups, got {first!r} twice.")
    checks.choice("part", part, ("train", "test"))
    with np.load(file("text-newsgroups/newsgroups20_bow.npz", source)) as stored:
        of_part = {key: stored[f"{part}_{key}"] for key in ("data", "indices", "indptr", "shape", "label")}
    counts = csr_matrix((of_part["data"], of_part["indices"], of_part["indptr"]), shape=tuple(of_part["shape"]))
    rows = np.isin(of_part["label"], (numbers[first], numbers[second]))
    names = np.where(of_part["label"][rows] == numbers[first], first, second)
    return counts[rows].astype(float), names


def all_newsgroups(part: str = "train") -> tuple[csr_matrix, np.ndarray, list[str]]:
    """Read all 20 Newsgroups as word counts, in the split by date.

    Parameters
    ----------
    part : "train" or "test"

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n, 61188), float64
    y : ndarray of shape (n,)
        The group's name.
    words : list of str

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If ``part`` is neither.

    Examples
    --------
    >>> X, y, words = all_newsgroups("test")
    >>> X.shape, words[0]
    ((7505, 61188), 'archive')
    """
    checks.choice("part", part, ("train", "test"))
    source = "the R package lda"
    with file("text-newsgroups/labels.csv", source).open(newline="") as stream:
        names = {int(number): name for name, number in list(csv.reader(stream))[1:]}
    counts, stored = _counts("text-newsgroups/newsgroups20_bow.npz", f"{part}_")
    with gzip.open(file("text-newsgroups/vocab.txt.gz", source), "rt", encoding="utf-8", errors="replace") as lines:
        words = lines.read().splitlines()
    return counts, np.array([names[int(label)] for label in stored[f"{part}_label"]]), words


def poliblog() -> tuple[csr_matrix, np.ndarray, list[str]]:
    """Read 773 political blog posts of 2008 as word counts.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (773, 1290), float64
    y : ndarray of shape (773,)
        The blog's leaning, "liberal" or "conservative".
    words : list of str

    Examples
    --------
    >>> X, y, words = poliblog()
    >>> X.shape, words[0]
    ((773, 1290), 'obama')
    """
    counts, stored = _counts("text-poliblog/poliblog_bow.npz")
    words = file("text-poliblog/vocab.txt", "the R package lda").read_text(encoding="utf-8").splitlines()
    return counts, np.where(stored["rating"] < 0, "liberal", "conservative"), words


def cora() -> tuple[csr_matrix, np.ndarray, list[str]]:
    """Read 2,410 abstracts on machine learning as word counts, with who cites whom.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (2410, 2961), float64
    cites : ndarray of shape (4356, 2), int64
        Citing row, cited row.
    words : list of str

    Examples
    --------
    >>> X, cites, words = cora()
    >>> X.shape, cites[0]
    ((2410, 2961), array([  0, 484]))
    """
    counts, stored = _counts("text-cora/cora_bow_links.npz")
    words = file("text-cora/vocab.txt", "the R package lda").read_text(encoding="utf-8").splitlines()
    return counts, stored["cites"].astype(np.int64), words


def addresses(paragraphs: bool = False) -> dict[str, list[Any]]:
    """Read the 240 State of the Union addresses, 1790 to 2020, or their paragraphs.

    Parameters
    ----------
    paragraphs : bool, default False
        One entry for each paragraph, in the place of one for each address.

    Returns
    -------
    dict of lists of equal length
        "text", "year", "party", "president" and "type" (speech or written).

    Examples
    --------
    >>> table = addresses()
    >>> len(table["text"]), table["president"][0], table["year"][0]
    (240, 'George Washington', 1790)
    """
    with gzip.open(file("text-sotu/sotu.jsonl.gz", "the R package sotu"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    table: dict[str, list[Any]] = {name: [] for name in ("text", "year", "party", "president", "type")}
    for row in rows:
        parts = [part.strip() for part in row["text"].split("\n")] if paragraphs else [row["text"].strip()]
        for part in filter(None, parts):
            table["text"].append(part)
            for name in ("year", "party", "president", "type"):
                table[name].append(row[name])
    return table


def address_words(n_words: int = 6000, n_vocabulary: int = 2000) -> dict[str, list[str]]:
    """Read the words of the State of the Union addresses by president, in order.

    Parameters
    ----------
    n_words : int, default 6000
        The first so many of each president; who said less is left out.
    n_vocabulary : int, default 2000
        The most frequent words; others stand as "*".

    Returns
    -------
    dict
        president -> words in small letters.

    Raises
    ------
    DataNotFoundError
        If the file is absent.

    Examples
    --------
    >>> words = address_words()
    >>> len(words), words["George Washington"][:5]
    (42, ['fellow', 'citizens', 'of', 'the', 'senate'])
    """
    table = addresses()
    spoken: dict[str, list[str]] = {}
    for text, president in zip(table["text"], table["president"], strict=True):
        spoken.setdefault(president, []).extend(re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower()))
    chosen = {who: words[:n_words] for who, words in spoken.items() if len(words) >= n_words}
    frequent = {word for word, _ in Counter(chain.from_iterable(chosen.values())).most_common(n_vocabulary)}
    return {who: [word if word in frequent else "*" for word in words] for who, words in chosen.items()}


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
    X, y = _stored_part("usps/usps.npz", part, "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets")
    rows = np.ones(len(y), bool) if digits is None else np.isin(y, digits)
    return X[rows].astype(float), y[rows].astype(np.int64)


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
    X, y = _stored_part("ripley/ripley_synth.npz", part, "the R package MASS (synth.tr, synth.te)")
    return X.astype(float), y.astype(np.int64)


def answers(name: str) -> Any:
    """Read people's answers to a questionnaire.

    Parameters
    ----------
    name : str
        "big_five" (IPIP, 50 items of 5 traits, 1 to 5), "bfi" (25 items of 5 traits, 1 to 6), "icar" (16 ability items,
        0 and 1), "epi" (57 items, 1 and 2), "lsat6", "lsat7" (5 items, 0 and 1), "verbal_aggression" (24 items, 1 to
        3), "sat12" (32 items scored 0 and 1), "science" (4 items, 1 to 4).

    Returns
    -------
    pandas.DataFrame of shape (people, items), float
        NaN where there is no answer. Of "big_five" and "bfi" the trait is the letters of the item's name.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set of this name.

    Examples
    --------
    >>> answers("lsat6").shape
    (1000, 5)
    """
    import pandas as pd

    checks.choice("name", name, _ANSWERS)
    path = file(*_ANSWERS[name])
    table = pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",", keep_default_na=name != "big_five")
    if name == "verbal_aggression":  # one row per answer
        wide = table.assign(answer=table["resp"].map({"no": 1.0, "perhaps": 2.0, "yes": 3.0}))
        return wide.pivot(index="id", columns="item", values="answer")
    if name == "sat12":
        key = [float(one) for one in _SAT12_KEY.split()]
        return (table == key).astype(float).mask(table == 8)
    pattern = {"big_five": "[ENACO][0-9]+", "bfi": "[ACENO][0-9]"}.get(name)
    if name.startswith("lsat"):
        table = table.iloc[:, 1:]
    kept = table.filter(regex=f"^{pattern}$") if pattern else table
    kept = kept.apply(pd.to_numeric, errors="coerce").astype(float)
    return kept.mask(kept == 0) if name == "big_five" else kept


def coal() -> np.ndarray:
    """Return the (191,) dates, in years, of British coal mining disasters from 1851 to 1962.

    References
    ----------
    R. G. Jarrett (1979), A note on the intervals between coal-mining disasters.

    Examples
    --------
    >>> dates = coal()
    >>> dates.shape, round(float(dates[0]), 2)
    ((191,), 1851.2)
    """
    return np.loadtxt(file("counts/coal.csv"), delimiter=",", skiprows=1, usecols=1)


def spikes(recording: str, neuron: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the spikes of a neuron of a cockroach's antennal lobe, over repeated trials.

    Parameters
    ----------
    recording : str
        Such as "CAL1V" or "e060817citron".
    neuron : int
        From 1.

    Returns
    -------
    trials : ndarray of shape (k,), text
    times : ndarray of shape (k,), float64
        Seconds.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no such recording or neuron.

    Examples
    --------
    >>> trials, times = spikes("e060817citron", 1)
    >>> trials.shape == times.shape, bool((times > 0).all())
    (True, True)
    """
    import pandas as pd

    table = pd.read_csv(file("spikes/cockroach_spikes.csv.gz"))
    checks.choice("recording", recording, sorted(table["recording"].unique()))
    rows = table[(table["recording"] == recording) & (table["neuron"] == f"neuron {neuron}")]
    if rows.empty:
        raise ValueError(f"recording {recording!r} has no neuron {neuron!r}.")
    return rows["trial"].to_numpy(dtype=str), rows["time_s"].to_numpy(dtype=float)


def spike_trains(n_pauses: int = 5) -> dict[str, list[str]]:
    """Return trials of all recordings of a cockroach's antennal lobe as sequences of spikes: which neuron, how soon.

    Parameters
    ----------
    n_pauses : int, default 5
        Classes of the time since the spike before, of equal frequency in a recording.

    Returns
    -------
    dict
        "recording trial" -> events such as "neuron 2, pause 0" (0: the shortest).

    Raises
    ------
    DataNotFoundError
        If the file is absent.

    Examples
    --------
    >>> trains = spike_trains()
    >>> len(trains), trains["CAL1S spontaneous"][:2]
    (64, ['neuron 3, pause 4', 'neuron 3, pause 1'])
    """
    import pandas as pd

    table = pd.read_csv(file("spikes/cockroach_spikes.csv.gz")).sort_values("time_s", kind="stable")
    trains: dict[str, list[str]] = {}
    for recording, rows in table.groupby("recording"):
        pauses = rows.groupby("trial")["time_s"].diff()
        edges = np.quantile(pauses.dropna(), np.linspace(0, 1, n_pauses + 1)[1:-1])
        soon = np.searchsorted(edges, pauses.fillna(np.inf).to_numpy(), side="right")
        for trial, neuron, pause in zip(rows["trial"], rows["neuron"], soon.tolist(), strict=True):
            trains.setdefault(f"{recording} {trial}", []).append(f"{neuron}, pause {pause}")
    return trains


def events(path: str | Path, user: str = "user", item: str = "item", time: str | None = None) -> dict[str, list[str]]:
    """Read a user's own CSV of events, one per line, as text: user -> items in order.

    Parameters
    ----------
    path : path
        Not below the data folder.
    user, item, time : str
        Names of columns; without a time, events are in order as they stand. Times sort as numbers where they are.

    Raises
    ------
    ValueError
        If there is no such column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.csv"
    >>> _ = path.write_text("user,item,when\\nann,b,10\\nben,c,3\\nann,a,9\\n")
    >>> events(path)["ann"], events(path, time="when")["ann"]
    (['b', 'a'], ['a', 'b'])
    """
    import pandas as pd

    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in filter(None, (user, item, time)):
        if name not in table.columns:
            raise ValueError(f"{path} has no column {name!r}, only {', '.join(map(repr, table.columns))}.")
    if time is not None:
        numbers = pd.to_numeric(table[time], errors="coerce")
        table = table.iloc[np.argsort(table[time] if numbers.isna().any() else numbers, kind="stable")]
    return {str(who): rows.tolist() for who, rows in table.groupby(user, sort=False)[item]}


def logs(name: str) -> dict[str, list[str]]:
    """Read a user's own copy of a log: user -> items in order of time.

    Parameters
    ----------
    name : {"brightkite", "lastfm-1k"}
        Check-ins, or plays by artist.

    Returns
    -------
    dict
        user -> places, or artists.

    Raises
    ------
    ValueError
        If ``name`` is neither.
    DataNotFoundError
        If the file is absent: no copy comes with the other sets.

    Examples
    --------
    >>> import tempfile
    >>> from unittest.mock import patch
    >>> home = Path(tempfile.mkdtemp())
    >>> (home / "brightkite").mkdir()
    >>> with gzip.open(home / "brightkite/loc-brightkite_totalCheckins.txt.gz", "wt") as copy:
    ...     _ = copy.write("0\\t2010-10-17\\t39.7\\t-104.9\\tpark\\n0\\t2010-10-16\\t39.8\\t-105.0\\tcafe\\n")
    >>> with patch.dict(os.environ, ADAPTIVE_DATA=str(home)):
    ...     logs("brightkite")
    {'0': ['cafe', 'park']}
    """
    import pandas as pd

    path, source, columns = _LOGS[checks.choice("name", name, _LOGS)]
    table = pd.read_csv(
        file(path, source), sep="\t", header=None, dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE
    )
    table = table[list(columns)].set_axis(["user", "item", "time"], axis=1).sort_values("time", kind="stable")
    return {str(who): rows.tolist() for who, rows in table.groupby("user", sort=False)["item"]}


def visits() -> tuple[np.ndarray, np.ndarray]:
    """Return X (5190, 11), of two words the later one as 1, and y: visits to a doctor within two weeks.

    Examples
    --------
    >>> X, y = visits()
    >>> X.shape, y[:3]
    ((5190, 11), array([1., 1., 1.]))
    """
    import pandas as pd

    table = pd.read_csv(file("counts/DoctorVisits.csv.gz"))
    y = table["visits"].to_numpy(dtype=float)
    columns = table.drop(columns=[name for name in ("rownames", "visits") if name in table])
    X = np.column_stack(
        [
            column.to_numpy(dtype=float)
            if column.dtype.kind in "fiu"
            else (column == column.max()).to_numpy(dtype=float)
            for _, column in columns.items()
        ]
    )
    return X, y


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
    >>> with tempfile.TemporaryDirectory() as own:
    ...     _ = Path(own, "u.data").write_text("196::242::3::881250949")
    ...     pairs, ratings = movielens(f"{own}/u.data")
    >>> pairs, ratings
    (array([[196, 242]]), array([3.]))
    """
    with open(file(path, "https://grouplens.org/datasets/movielens"), encoding="latin-1") as stream:
        rows = [line.replace("::", "\t").split("\t")[:3] for line in stream if line.strip()]
    return np.array([row[:2] for row in rows], dtype=np.int64), np.array([row[2] for row in rows], dtype=float)


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


def _counts(name: str, prefix: str = "") -> tuple[csr_matrix, dict[str, np.ndarray]]:
    """Word counts in CSR parts, and all else that is stored beside them."""
    from scipy.sparse import csr_matrix

    with np.load(file(name, "the R package lda")) as stored:
        arrays = {key: stored[key] for key in stored}
    data, indices, indptr, shape = (arrays[prefix + key] for key in ("data", "indices", "indptr", "shape"))
    return csr_matrix((data.astype(float), indices, indptr), shape=tuple(shape)), arrays


def _stored_part(name: str, part: str, source: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(file(name, source)) as stored:
        return stored[f"X_{part}"], stored[f"y_{part}"]


def _classes(texts: list[str]) -> np.ndarray:
    """Classes as integers where all are, else as they are printed."""
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except ValueError:
        return np.array(texts)
