"""Scorers that look at the outcome's distribution or at nothing: values, ranges, order, names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive import scorers
from adaptive.predictive import MissingField, Predictive, StatedPredictive

OF_PROBABILITIES = ["entropy", "least_confident", "margin", "uncertainty"]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), c=st.integers(2, 6), sharpness=st.floats(0.01, 10))
def test_zero_is_certain_uniform_is_most_and_none_is_negative(seed, c, sharpness):
    rng = np.random.default_rng(seed)
    table = np.vstack([np.eye(c)[0], np.full(c, 1 / c), rng.dirichlet(np.full(c, sharpness), size=5)])
    for name in OF_PROBABILITIES:
        scores = scorers.get(name)(StatedPredictive(probabilities=table))
        assert scores[0] == 0.0
        assert np.all(scores >= 0) and np.all(scores <= scores[1] + 1e-12)
        shuffled = scorers.get(name)(StatedPredictive(probabilities=table[:, rng.permutation(c)]))
        np.testing.assert_allclose(shuffled, scores, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_of_two_outcomes_all_are_functions_of_the_distance_to_one_half(p):
    p = np.array(p)
    belief = StatedPredictive(probabilities=np.column_stack([p, 1 - p]))
    np.testing.assert_allclose(scorers.uncertainty(belief), 0.5 - abs(p - 0.5), atol=1e-15)
    np.testing.assert_allclose(scorers.least_confident(belief), np.minimum(p, 1 - p), atol=1e-15)
    np.testing.assert_allclose(scorers.margin(belief), 1 - abs(2 * p - 1), atol=1e-15)


def test_impossible_outcomes_of_a_padded_table_change_nothing():
    table = np.array([[0.7, 0.2, 0.1]])
    padded = np.pad(table, ((0, 0), (0, 4)))
    for name in OF_PROBABILITIES:
        scorer = scorers.get(name)
        assert scorer(StatedPredictive(probabilities=padded)) == scorer(StatedPredictive(probabilities=table))


@pytest.mark.parametrize("name", [*OF_PROBABILITIES, "predictive_variance"])
def test_a_missing_field_is_named(name):
    field = "variance" if name == "predictive_variance" else "probabilities"
    with pytest.raises(MissingField, match=f"{name} needs {field}, which Predictive does not provide"):
        scorers.get(name)(Predictive(2))


def test_random_is_seeded_and_needs_only_the_length():
    first, again, other = (scorers.random(Predictive(5), seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (5,) and np.all((first >= 0) & (first < 1))


def test_names_are_the_namespace():
    assert all(callable(scorers.get(name)) and scorers.get(name).__name__ == name for name in scorers.__all__)
    assert scorers.get(scorers.random) is scorers.random
    with pytest.raises(ValueError, match=r"scorer must be one of 'a_optimality', .* Did you mean 'entropy'"):
        scorers.get("entropie")
