"""Means, bands and paired differences, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adaptive.cli.classify import learning_curves


def test_bands_are_the_intervals_of_student():
    values = np.random.default_rng(0).uniform(0.4, 0.6, size=(7, 3))
    curve = learning_curves.learning_curve({"margin": values})
    for k in range(3):
        expected = stats.ttest_1samp(values[:, k], 0).confidence_interval(0.95)
        assert (curve["lower"][k], curve["upper"][k]) == pytest.approx((expected.low, expected.high))
    assert curve["mean"] == pytest.approx(values.mean(axis=0).tolist())


def test_one_seed_sets_no_limits():
    curve = learning_curves.learning_curve({"margin": np.array([[0.5, 0.6]])})
    assert curve["mean"] == [0.5, 0.6] and curve["lower"] == curve["upper"] == [None, None]
    found = learning_curves.summary({"random": np.array([[0.5, 0.6]]), "margin": np.array([[0.5, 0.8]])})
    assert found["margin"]["above_random_at_end"] == {"mean": pytest.approx(0.2), "lower": None, "upper": None}


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


def test_an_accuracy_ends_at_0_and_1_and_a_difference_at_minus_1():
    found = learning_curves.summary({"random": np.array([[0.9, 0.9], [0.6, 0.9]]), "margin": np.eye(2)})
    for name in ("accuracy_at_end", "accuracy_over_run"):
        assert found["random"][name]["upper"] <= 1 and found["margin"][name]["lower"] >= 0
    at_end = found["margin"]["accuracy_at_end"]  # of 0 and 1: half of six widths to either side
    assert (at_end["lower"], at_end["upper"]) == (0.0, 1.0)
    above = found["margin"]["above_random_at_end"]  # of -0.9 and 0.1
    assert (above["lower"], above["upper"]) == (-1.0, 1.0)
