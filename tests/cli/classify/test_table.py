"""A CSV file becomes numbers and classes, or one sentence that names line and column."""

from __future__ import annotations

import pytest

from adaptive.cli.classify.table import read_table
from adaptive.cli.errors import CommandError


def written(folder, text):
    path = folder / "table.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_features_and_classes_are_read(tmp_path, delimiter):
    text = 'id,"width",colour,height\na1,1.5,red,2\n\na2,-1e3,blue,0\n'.replace(",", delimiter)
    table = read_table(written(tmp_path, text), "colour", ignore=["id"])
    assert table.X.tolist() == [[1.5, 2.0], [-1000.0, 0.0]]
    assert table.y.tolist() == ["red", "blue"] and table.features == ("width", "height")


def test_integer_classes_stay_integers_and_a_byte_order_mark_is_no_name(tmp_path):
    table = read_table(written(tmp_path, "\ufeffy,x\n2,1\n4,1\n"), "y")
    assert table.y.tolist() == [2, 4] and table.y.dtype.kind == "i"


def test_classes_that_are_equal_only_as_numbers_stay_apart(tmp_path):
    assert read_table(written(tmp_path, "y,x\n1,1\n01,1\n"), "y").y.tolist() == ["1", "01"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,a\n2,a\n", r"the target 'y' of .* two classes or more, found only 'a'\."),
        ("x,z\n1,a\n", r"has no column 'y'; its columns are 'x', 'z'\."),
        ("x,y\n1,a\nnan,b\n", r"line 3, column 'x': a missing value"),
        ("x,y\n1,a\n,b\n", r"line 3, column 'x': a missing value"),
        ("x,y\n1,a\n\n?,b\n", r"line 4, column 'x': a missing value"),
        ("x,y\n1,a\ninf,b\n", r"line 3, column 'x': 'inf' is not finite"),
        ("x,y\n1,a\nred,b\n", r"line 3, column 'x': 'red' is not a number; write categories as 0/1 columns"),
        ("x,y\n1,a\n2,\n", r"line 3: the target 'y' is empty"),
        ("x,y\n1,a\n2,b,3\n", r"line 3: 3 fields, but the header has 2\."),
        ("x,x,y\n1,1,a\n", r"names the column 'x' twice"),
        ("y\na\nb\n", r"no feature columns besides the target 'y'"),
        ("x,y\n", r"has no rows"),
        ("", r"has no rows"),
        (b"\x89PNG\xff\xfe\x00", r"is not a CSV file in UTF-8"),
    ],
)
def test_bad_tables_are_named_in_one_sentence(tmp_path, text, message):
    with pytest.raises(CommandError, match=message) as caught:
        read_table(written(tmp_path, text), "y")
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_absent_files_and_folders_are_named(tmp_path):
    with pytest.raises(CommandError, match=r"there is no file .*absent\.csv"):
        read_table(tmp_path / "absent.csv", "y")
    with pytest.raises(CommandError, match="is a folder"):
        read_table(tmp_path, "y")
