"""A column of vectors is one block of numbers, whatever wrote it, and never words."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from adaptive.cli import app
from adaptive.tables import Kind, Preparation, TableError, columns_of, read_cells
from tests.tables.files import written

RNG = np.random.default_rng(0)
BLOCK = RNG.standard_normal((30, 5)).astype(np.float32)


def printed_by(way, row):
    numbers = [float(f"{one:.9g}") for one in row]
    return {
        "json": json.dumps(numbers),
        "tuple": repr(tuple(numbers)),
        "numpy": str(np.array(numbers)).replace("\n", " "),
        "array": f"array({numbers}, dtype=float32)",
        "torch": f"tensor({numbers})",
    }[way]


def columns(path):
    return {one.name: one for one in columns_of(read_cells(path), leave_out=["label"], max_missing=0.5)}


@pytest.mark.parametrize("way", ["json", "tuple", "numpy", "array", "torch"])
def test_printed_vectors_are_one_block_in_single_precision(tmp_path, way):
    frame = pd.DataFrame({"label": "x", "e": [printed_by(way, row) for row in BLOCK]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    found = columns(tmp_path / "e.csv")["e"]
    assert found.kind is Kind.VECTOR and set(found.values.dtypes) == {np.dtype(np.float32)}
    np.testing.assert_allclose(found.values, BLOCK, atol=0 if way in ("json", "tuple", "array", "torch") else 1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_lists_of_parquet_are_the_same_block(tmp_path, dtype):
    pytest.importorskip("pyarrow")
    block = (10 * BLOCK).astype(dtype)
    pd.DataFrame({"label": "x", "e": list(block)}).to_parquet(tmp_path / "e.parquet")
    cells = read_cells(tmp_path / "e.parquet")
    assert cells.frame["e"].str.len().max() < 60  # what a person sees of it
    few = columns_of(cells.where(np.arange(30) % 2 == 0), leave_out=["label"], max_missing=0.5)[0]
    np.testing.assert_array_equal(few.values, block[::2].astype(np.float32))


def test_a_block_stays_in_single_precision_with_its_angles_and_says_so(tmp_path):
    frame = pd.DataFrame({"e": [json.dumps(row.tolist()) for row in BLOCK], "age": range(30)})
    frame.loc[3, "e"] = ""
    frame.to_csv(tmp_path / "e.csv", index=False)
    preparation = Preparation(list(columns(tmp_path / "e.csv").values()), "e.csv")
    X = preparation.features_of()
    known = np.arange(30) != 3
    centred = BLOCK[known] - BLOCK[known].mean(0, dtype=float)
    assert X.dtype == np.float32 and X.shape == (30, 6)
    np.testing.assert_allclose(X[known, 1:], centred / np.sqrt((centred**2).mean()), atol=1e-5)
    np.testing.assert_array_equal(X[3, 1:], 0.0)
    assert preparation.in_words() == (
        "features: 1 number standardised, 1 vector as they are, centred and on one scale, 1 missing vector filled by "
        "the mean"
    )


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("[1, 2]", r"line 6, column 'e': expected a vector of 5 numbers, as 29 other cells hold, got 2 numbers"),
        ("broken", r"line 6, column 'e': expected a vector of 5 numbers, .* got no vector of numbers"),
        ("[1, 2, 3, 4, NaN]", r"line 6, column 'e': this vector has an entry that is missing or not finite"),
        ("[1, 2, 3, 4, 1e60]", r"not finite in single precision"),
        ("[1, 2, 3, 4, null]", r"not finite"),
    ],
)
def test_one_broken_vector_is_named_by_its_line(tmp_path, bad, message):
    cells = [json.dumps(row.tolist()) for row in BLOCK]
    cells[4] = bad
    pd.DataFrame({"label": "x", "e": cells}).to_csv(tmp_path / "e.csv", index=False)
    with pytest.raises(TableError, match=message) as caught:
        columns(tmp_path / "e.csv")
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([json.dumps([1] * (1 + k % 3)) for k in range(30)], "vectors of 1 to 3 numbers"),
        ([json.dumps([1, 2]) if k % 3 else "none at all" for k in range(30)], "vectors of 2 to 2 numbers and 10 other"),
        (["[0.1 0.2 ... 0.9]"] * 30, "vectors printed without all their numbers"),
    ],
)
def test_columns_of_vectors_that_do_not_fit_together_are_left_out_with_the_reason(tmp_path, cells, why):
    pd.DataFrame({"label": "x", "e": cells}).to_csv(tmp_path / "e.csv", index=False)
    found = columns(tmp_path / "e.csv")["e"]
    assert found.kind is Kind.UNUSED and why in found.why


@pytest.mark.parametrize("text", ["[sic] {} is what they wrote to us", "['red', 'blue{}']", "(see above {})"])
def test_texts_in_brackets_stay_texts(tmp_path, text):
    pd.DataFrame({"label": "x", "e": [text.format(k) for k in range(30)]}).to_csv(tmp_path / "e.csv", index=False)
    assert columns(tmp_path / "e.csv")["e"].kind is not Kind.VECTOR


def test_lists_of_words_and_ragged_lists_of_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    ragged = [list(range(1 + k % 4)) for k in range(30)]
    pd.DataFrame({"label": "x", "tags": [["red", "blue"]] * 30, "tokens": ragged}).to_parquet(tmp_path / "e.parquet")
    found = columns(tmp_path / "e.parquet")
    assert found["tags"].kind is Kind.CATEGORY and found["tags"].values[1] == "red, blue"
    assert found["tokens"].why == "vectors of 1 to 4 numbers"


@pytest.mark.parametrize("kind", ["csv"])
def test_label_asks_about_vectors(tmp_path, kind):
    """Both were "1 text as word frequencies", or a refusal, before."""
    frame = pd.DataFrame({"e": list(BLOCK), "kind": ["a", "b"] + [None] * 28})
    path = tmp_path / f"e.{kind}"
    if kind == "csv":
        frame.assign(e=[json.dumps(row.tolist()) for row in BLOCK]).to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    arguments = [
        "label",
        str(path),
        "--target",
        "kind",
        "--ask",
        str(tmp_path / "next.csv"),
        "--out",
        str(tmp_path / "o"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, found.output
    assert "1 vector as they are" in " ".join(found.output.split())


def test_a_text_file_of_vectors_is_written_as_it_was(tmp_path):
    path = written(tmp_path, 'id,e\na,"[1, 2]"\nb,"[3, 4]"\n')
    assert read_cells(path).frame["e"].tolist() == ["[1, 2]", "[3, 4]"]
