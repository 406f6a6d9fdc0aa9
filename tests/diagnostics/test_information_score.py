"""Information in bits: 1 where all is known, 0 where only class frequencies are, and what a person computes by hand."""

import numpy as np
import pytest

from adaptive.diagnostics import information_score


def test_its_scale():
    y_train, y = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    certain = np.eye(2)[y]
    assert information_score(certain, y, y_train) == pytest.approx(1.0)  # balanced: one bit
    assert information_score(np.full((4, 2), 0.5), y, y_train) == pytest.approx(0.0)
    uneven = np.repeat([-1, 1], [30, 10])
    assert information_score(np.tile([0.75, 0.25], (4, 1)), [-1, 1, 1, -1], uneven) == pytest.approx(0.0)
    wrong = information_score(1 - certain, y, y_train)
    assert np.isfinite(wrong) and wrong < -900


def test_it_is_the_sources_formula():
    """I = B + 1/(2 n) sum (1 + y) log2 p + (1 - y) log2(1 - p),  B = -sum_y n_test^y/n_test log2 n_train^y/n_train."""
    rng = np.random.default_rng(0)
    p, y, y_train = rng.uniform(size=50), rng.choice([-1, 1], 50), rng.choice([-1, 1], 80, p=[0.3, 0.7])
    B = -sum(np.mean(y == c) * np.log2(np.mean(y_train == c)) for c in (-1, 1))
    expected = B + np.mean((1 + y) * np.log2(p) + (1 - y) * np.log2(1 - p)) / 2
    assert information_score(np.column_stack([1 - p, p]), y, y_train) == pytest.approx(expected)


def test_several_classes_and_their_order():
    y_train, y = ["a", "b", "c", "c"], ["c", "a"]
    p = np.array([[0.2, 0.2, 0.6], [0.5, 0.1, 0.4]])
    value = information_score(p, y, y_train)
    assert value == pytest.approx(np.log2([0.6 / 0.5, 0.5 / 0.25]).mean())
    assert information_score(p[:, ::-1], y, y_train, classes=["c", "b", "a"]) == pytest.approx(value)


def test_bad_input_is_one_sentence():
    p = np.full((2, 2), 0.5)
    with pytest.raises(ValueError, match=r"probabilities must have shape \(3, 2\), got \(2, 2\)"):
        information_score(p, [0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="y contains the label 5, which is not among the classes"):
        information_score(p, [0, 5], [0, 1])
    with pytest.raises(ValueError, match="the class 2 of y is not among y_train"):
        information_score(p, [1, 2], [1, 1], classes=[1, 2])
