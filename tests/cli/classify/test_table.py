"""A table file becomes features and classes, or one sentence that names line and column."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.cli.classify.table import read_table
from adaptive.tables import TableError
from tests.tables.files import written


def four_of_each(header="x,y", rows=("1,a", "2,b")):
    return "\n".join([header, *rows * 4]) + "\n"


def test_integer_classes_stay_integers_and_a_byte_order_mark_is_no_name(tmp_path):
    table = read_table(written(tmp_path, "\ufeff" + four_of_each("y,x", ("2,1", "4,2"))), "y")
    assert table.y.tolist() == [2, 4] * 4 and table.y.dtype.kind == "i"


def test_classes_that_are_equal_only_as_numbers_stay_apart(tmp_path):
    assert set(read_table(written(tmp_path, four_of_each("y,x", ("1,1", "01,2"))), "y").y) == {"1", "01"}


def test_rows_without_a_class_are_left_out_and_rare_classes_on_request(tmp_path):
    path = written(tmp_path, four_of_each() + "3,\n4,nan\n5,c\n")
    with pytest.raises(TableError, match=r"the class c \(one of 3 classes\) has 1 row; at least 4 .* --drop-rare"):
        read_table(path, "y")
    table = read_table(path, "y", drop_rare=True)
    assert table.y.tolist() == ["a", "b"] * 4
    assert table.notes[1:] == ["2 of 11 rows have no 'y' and are left out", "rows of rare classes are left out: 'c'"]


def test_features_are_prepared_by_the_pool_alone(tmp_path):
    table = read_table(written(tmp_path, "x,y\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(10))), "y")
    pool = np.arange(6)
    X = table.X(pool)
    assert X.shape == (10, 1) and abs(X[pool].mean()) < 1e-12 and abs(X[pool].std() - 1) < 1e-12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (four_of_each(rows=("1,a", "2,a")), r"the target 'y' of .* two classes or more, found only 'a'\."),
        (four_of_each("x,z"), r"has no column 'y'; its columns are 'x', 'z'\."),
        ("1.5,2\n" + "1,2\n" * 4, r"has no column 'y'.*does the file lack a line of names"),
        (four_of_each("y,y2", ("a,", "b,")), r"no feature columns besides the target \(y2: 100% missing\)"),
        (four_of_each("y", ("a", "b")), r"no feature columns besides the target\."),
        ("x,y\n" + "".join(f"1,{k / 7}\n" for k in range(60)), r"looks continuous: 60 different numbers in 60 rows"),
        (four_of_each(rows=("1,Billing", "2,billing")), r"holds 'Billing' and 'billing': write them alike where"),
        (four_of_each(rows=("1,", "2,")), r"two classes or more, found none"),
    ],
)
def test_bad_tables_are_named_in_one_sentence(tmp_path, text, message):
    with pytest.raises(TableError, match=message) as caught:
        read_table(written(tmp_path, text), "y")
    assert "\n" not in str(caught.value)


def test_names_with_two_points_are_not_taken_for_numbers(tmp_path):
    with pytest.raises(TableError, match="has no column 'y'") as caught:
        read_table(written(tmp_path, "1.0.2,1.0.3\n" + "1,2\n" * 4), "y")
    assert "line of names" not in str(caught.value)
