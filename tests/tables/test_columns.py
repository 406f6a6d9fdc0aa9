"""Each column is seen for what it is, and prepared so."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.tables import Kind, Preparation, TableError, columns_of, read_cells
from tests.tables.files import written


def column(tmp_path, cells, *, name="x", delimiter=",", max_missing=0.5):
    rows = "".join(f"0{delimiter}{cell}\n" for cell in cells)
    path = written(tmp_path, f"other{delimiter}{name}\n{rows}")
    return columns_of(read_cells(path), leave_out=["other"], max_missing=max_missing)[0]


@pytest.mark.parametrize(
    ("cells", "delimiter", "kind", "values"),
    [
        (["1", "-2.5e3", "NA"], ",", Kind.NUMBER, [1.0, -2500.0, np.nan]),
        (["1,5", "-2", "1.234,5"], ";", Kind.NUMBER, [1.5, -2.0, 1234.5]),
        (["1.5", "2", "?"], ";", Kind.NUMBER, [1.5, 2.0, np.nan]),
        (['"1,234.5"', "2", "3"], ",", Kind.NUMBER, [1234.5, 2.0, 3.0]),
        (["True", "FALSE", ""], ",", Kind.NUMBER, [1.0, 0.0, np.nan]),
        (["2020-01-31", "2020-02-02", ""], ",", Kind.DATE, [0.0, 2.0, np.nan]),
        (["31.12.2019", "02.01.2020", ""], ",", Kind.DATE, [0.0, 2.0, np.nan]),
        (["12/31/2019", "1/2/2020", ""], ",", Kind.DATE, [0.0, 2.0, np.nan]),
        (["red", "blue", "null"], ",", Kind.CATEGORY, ["red", "blue", np.nan]),
        (["1", "2", "many"], ",", Kind.CATEGORY, ["1", "2", "many"]),
    ],
)
def test_cells_are_read_as_people_write_them(tmp_path, cells, delimiter, kind, values):
    found = column(tmp_path, cells, delimiter=delimiter)
    assert found.kind is kind
    same = [a == b or (a != a and b != b) for a, b in zip(found.values.tolist(), values, strict=True)]
    assert all(same), found.values


def test_texts_names_and_gaps(tmp_path):
    rng = np.random.default_rng(0)
    words = ["a fine wine", "of old", "red oak", "in a dry", "summer on stones"]
    texts = [" ".join(rng.permutation(words)) + f" no {k}" for k in range(30)]
    assert column(tmp_path, texts).kind is Kind.TEXT
    assert "30 different entries" in column(tmp_path, [f"person{k}" for k in range(30)]).why
    assert column(tmp_path, [str(k) for k in range(30)], name="id").why == "names of rows"
    assert column(tmp_path, [str(k) for k in range(30)], name="age").kind is Kind.NUMBER
    assert column(tmp_path, ["1", "", "", "2"], max_missing=0.4).why == "50% missing"


@pytest.mark.parametrize(
    ("cell", "message"),
    [("red", r"line 14, column 'x': 'red' is not a number, as 24 other cells are"), ("inf", "'inf' is not finite")],
)
def test_a_bad_cell_among_numbers_is_named(tmp_path, cell, message):
    cells = [str(k) for k in range(24)]
    with pytest.raises(TableError, match=message):
        column(tmp_path, [*cells[:12], cell, *cells[12:]])


def test_columns_of_every_kind_become_features(tmp_path):
    rows = [
        f"{k or ''},{'red' if k % 3 else ''},2020-01-0{1 + k % 9},{k % 2 == 0},person{k},word{k % 4} and more words {k}"
        for k in range(24)
    ]
    path = written(tmp_path, "\n".join(["n,colour,day,flag,who,said", *rows]))
    columns = columns_of(read_cells(path), leave_out=(), max_missing=0.5)
    preparation = Preparation(columns, "table")
    X = preparation.features_of(np.arange(12))
    dense = X.toarray() if hasattr(X, "toarray") else X
    assert dense.shape[0] == 24 and np.isfinite(dense).all()
    assert preparation.in_words() == (
        "features: 2 numbers standardised, 1 date as days, standardised, 1 category as columns of 0 and 1, 1 text as "
        "word frequencies, 1 missing value filled by medians, what is learnt of a word also counts for words that "
        "occur beside it, and other columns weigh little until labels say otherwise; left out: who (24 different "
        "entries in 24 rows)"
    )


def test_texts_without_a_word_in_common_are_refused_in_a_sentence(tmp_path):
    """Before: scikit-learn's "After pruning, no terms remain"."""
    texts = [" ".join(f"w{k}x{j}" for j in range(5)) for k in range(60)]
    with pytest.raises(TableError, match="table: the texts of 'x' share no words that could tell rows apart"):
        Preparation([column(tmp_path, texts)], "table").features_of()
