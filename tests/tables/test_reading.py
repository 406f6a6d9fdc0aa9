"""Files of any ordinary make become the same cells; what is no table is named with its line."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from adaptive import memory
from adaptive.tables import TableError, read_cells
from tests.tables.files import written

TEXT = "name,größe,x\nJürgen,1,2.5\n\nAnaïs,,3\n"


def test_files_of_any_make_hold_the_same_cells(tmp_path):
    makes = {
        "utf8.csv": TEXT.encode(),
        "marked.csv": TEXT.encode("utf-8-sig"),
        "latin1.csv": TEXT.encode("latin-1"),
        "utf16.csv": TEXT.encode("utf-16"),
        "crlf.csv": TEXT.replace("\n", "\r\n").encode(),
        "semicolons.csv": TEXT.replace(",", ";").encode(),
        "tabs.tsv": TEXT.replace(",", "\t").encode(),
        "packed.csv.gz": gzip.compress(TEXT.encode()),
    }
    for name, content in makes.items():
        frame = read_cells(written(tmp_path, content, name)).frame
        assert frame.to_dict("list") == {"name": ["Jürgen", "Anaïs"], "größe": ["1", ""], "x": ["2.5", "3"]}, name
        assert frame.index.tolist() == [2, 4], name


def test_parquet_is_read_where_pyarrow_is(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"], "t": pd.to_datetime(["2020-01-01", "2020-01-03"])})
    frame.to_parquet(tmp_path / "table.parquet")
    cells = read_cells(tmp_path / "table.parquet").frame
    assert cells["a"].tolist() == ["1.5", ""] and cells["b"].tolist() == ["x", "y"]
    assert cells["t"].tolist()[1].startswith("2020-01-03") and cells.index.tolist() == [1, 2]


def test_parquet_is_asked_for_memory_by_its_rows_however_well_it_is_packed(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [0] * 1_000_000}).to_parquet(tmp_path / "table.parquet")
    monkeypatch.setattr(memory, "memory_there", lambda: 32e6)
    with pytest.raises(TableError, match=r"table\.parquet is too large: 0\.008 GB at once"):
        read_cells(tmp_path / "table.parquet")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,a\n2,b,3\n", r"line 3: 3 fields, but the header has 2\."),
        ("x,x,y\n1,1,a\n", r"names the column 'x' twice"),
        ("x,y\n", r"has no rows"),
        ("", r"has no rows"),
        (b"\x89PNG\x81\xff\xfe\x00", r"is not a table of text; expected \.csv, \.csv\.gz or \.parquet"),
        (gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:20], r"is compressed, and damaged"),
    ],
)
def test_what_is_no_table_is_named_in_one_sentence(tmp_path, content, message):
    with pytest.raises(TableError, match=message) as caught:
        read_cells(written(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_absent_files_and_folders_are_named(tmp_path):
    with pytest.raises(TableError, match=r"there is no file .*absent\.csv"):
        read_cells(tmp_path / "absent.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_cells(tmp_path)
