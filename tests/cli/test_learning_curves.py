"""Means, bands and paired differences, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adaptive.cli import learning_curves


def test_intervals_are_those_of_student():
    values = np.random.default_rng(0).normal(size=(7, 3))
    mean, lower, upper = learning_curves.interval(values)
    for k in range(3):
        expected = stats.ttest_1samp(values[:, k], 0).confidence_interval(0.95)
        np.testing.assert_allclose([lower[k], upper[k]], [expected.low, expected.high])
    np.testing.assert_allclose(mean, values.mean(axis=0))


def test_one_seed_has_a_band_of_no_width():
    mean, lower, upper = learning_curves.interval(np.array([[0.5, 0.6]]))
    assert lower.tolist() == mean.tolist() == upper.tolist() == [0.5, 0.6]


def test_curve_has_one_row_per_scorer_and_answer_within_0_and_1():
    curve = learning_curves.learning_curve({"margin": np.array([[0.5, 1.0], [0.9, 0.9]]), "random": np.eye(2)})
    assert curve["scorer"] == ["margin"] * 2 + ["random"] * 2 and curve["n_labelled"] == [1, 2, 1, 2]
    assert curve["mean"] == pytest.approx([0.7, 0.95, 0.5, 0.5])
    assert min(curve["lower"]) == 0 and max(curve["upper"]) == 1


def test_differences_are_paired_by_seed():
    random = np.array([[0.5, 0.6], [0.7, 0.8], [0.6, 0.7]])
    found = learning_curves.summary({"random": random, "margin": random + 0.1})
    at_end = found["margin"]["above_random_at_end"]
    assert at_end["lower"] == pytest.approx(0.1) == at_end["upper"]  # no width, though accuracies differ between seeds
    assert found["margin"]["answers_to_match_random"] == 1 and "above_random_at_end" not in found["random"]
    assert learning_curves.answers_to_match(random - 0.3, random) is None
