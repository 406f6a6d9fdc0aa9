"""Texts as word counts, with what is known of each: group, leaning, who cites whom, year and party."""

from __future__ import annotations

import csv
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import file

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["addresses", "all_newsgroups", "cora", "newsgroups", "poliblog"]


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


def _counts(name: str, prefix: str = "") -> tuple[csr_matrix, dict[str, np.ndarray]]:
    """Word counts in CSR parts, and all else that is stored beside them."""
    from scipy.sparse import csr_matrix

    with np.load(file(name, "the R package lda")) as stored:
        arrays = {key: stored[key] for key in stored}
    data, indices, indptr, shape = (arrays[prefix + key] for key in ("data", "indices", "indptr", "shape"))
    return csr_matrix((data.astype(float), indices, indptr), shape=tuple(shape)), arrays
