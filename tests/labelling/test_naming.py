"""A text means one label or none, and its own text always wins."""

import pytest

from adaptive.labelling.naming import closest, doubts, keys_of, meant
from adaptive.serve.pages import Place


@pytest.mark.parametrize(
    ("text", "labels", "places"),
    [
        ("1", [0, 1], [1]),
        ("1.0", [0, 1], [1]),
        ("1,0", ["0", "1"], [1]),
        ("2", ["2 apples", "1 apple"], []),
        (" Billing\t", ["sales", "billing"], [1]),
        ("yes", ["Yes", "yes", "YES"], [1]),
        ("yEs", ["Yes", "yes"], [0, 1]),
        ("01", ["1", "01"], [1]),
        ("1.0", ["1", "01"], [0, 1]),
        ("TRUE", [False, True], [1]),
        ("1", [False, True], []),
        ("None", ["none", "nan"], [0]),
        ("nan", [0.5, 1.0], []),
        ("2024-01-05 00:00:00", ["2024-01-04", "2024-01-05"], [1]),
        ("cafe\u0301", ["café", "bar"], [0]),
        (" a", ["a", " a"], [1]),
        ("", ["a", "b"], []),
    ],
)
def test_a_text_means_the_label_that_it_is(text, labels, places):
    assert meant(text, labels) == places


def test_a_beginning_is_a_label_where_it_is_one_only():
    labels = ["no", "not sure", "yes"]
    assert meant("y", labels, beginning=True) == [2] and meant("NO", labels, beginning=True) == [0]
    assert meant("n", labels, beginning=True) == [0, 1] and meant("y", labels) == []
    assert "'n' may mean 'no' or 'not sure'" in doubts("n", labels, [0, 1])
    assert closest("yse", labels) == "yes" and "did you mean 'yes'" in doubts("yse", labels, [])


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (["no", "yes"], "12"),
        (["0", "1"], "01"),
        (["1", "2", "3"], "123"),
        (["1", "0"], "10"),
        ([*"0123456789"], "0123456789"),
        (["-1", "0", "1"], ["", "0", "1"]),
        (["10", "20"], ["", ""]),
        (["2", "1 or none"], ["2", ""]),
        ([*"abcdefghijk"], [*"1234567890", ""]),
        (["0 kg", *"bcdefghijk"], [""] * 11),
        (["1 never", "2 often"], "12"),
    ],
)
def test_a_key_of_a_page_never_means_another_answer(labels, keys):
    place = Place(answers=labels)
    assert place.keys == list(keys)
    for key, label in zip(place.keys, labels, strict=True):
        if key and key != "0":
            assert meant(key, labels, beginning=True) in ([], [labels.index(label)])
    assert place.numbered == (keys_of(labels) != labels and labels[0] != "0 kg")
