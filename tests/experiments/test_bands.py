"""What bands cover: the scripts' quick modes, shares by brute force, and a small calibration of exact models."""

import numpy as np
import pytest
from scipy.stats import binom, poisson

from experiments import claims
from experiments.bands import drawn, table
from experiments.bands.rows import simple_labels
from experiments.bands.shares import LEVELS, central, labels
from experiments.script import Script


def test_the_table_runs_in_quick_mode(tmp_path):
    table.run(Script("experiments/bands/table.py", tmp_path, quick=True))
    found = {entry["id"] for entry in claims.load(tmp_path)}
    assert found == {"ours-bands-gp-regressor", "ours-bands-poisson-regression", "ours-bands-traits"}
    assert (tmp_path / "tables" / "bands.csv").is_file() and (tmp_path / "figures" / "bands.png").is_file()


def test_the_calibration_runs_in_quick_mode(tmp_path):
    drawn.run(Script("experiments/bands/drawn.py", tmp_path, quick=True))
    assert {entry["id"] for entry in claims.load(tmp_path)} == {"ours-bands-drawn"}


@pytest.mark.parametrize("name", drawn.EXACT)
def test_bands_of_what_is_drawn_from_the_model_hold(name):
    """One outcome of each of a hundred designed runs; of ten thousand right models one would fail."""
    n = 100
    low, high = drawn.allowed(n)
    assert low <= sum(drawn.one(name, "designed", seed)[0] for seed in range(n)) <= high


def test_the_calibration_would_see_bands_half_as_wide():
    low, _ = drawn.allowed(100)
    assert binom.cdf(low - 1, 100, 0.59) > 0.99  # what half of 1.645 deviations covers


def test_shares_of_counts_are_those_of_a_uniform_place_in_their_mass():
    rng = np.random.default_rng(0)
    y = rng.poisson(2.3, 4000)
    below, upto = poisson.cdf(y - 1, 2.3), poisson.cdf(y, 2.3)
    place = below[:, None] + (upto - below)[:, None] * rng.random((4000, 50))
    brute = [np.mean(np.abs(2 * place - 1) <= q) for q in LEVELS]
    np.testing.assert_allclose(central(below, upto), brute, atol=0.003)
    np.testing.assert_allclose(brute, LEVELS, atol=0.02)  # a right model covers what it says


def test_shares_of_labels_of_a_right_model_are_nominal():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), 20_000)
    codes = (rng.random((20_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    covered, size = labels(p, codes)
    np.testing.assert_allclose(covered, LEVELS, atol=0.01)
    assert 1 < size < 4


def test_one_number_of_labels_covers_what_the_answers_did():
    """A model that ranks at random: nine tenths of four labels are 3.6, a little more for what was not seen."""

    class Random:
        def __init__(self):
            self.rng = np.random.default_rng(0)

        def get_params(self, deep=True):
            return {}

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return self.rng.random((len(X), 4))

    rng = np.random.default_rng(2)
    y, truth = rng.integers(0, 4, 500), rng.integers(0, 4, 2000)
    covered, size = simple_labels(Random(), np.zeros((500, 1)), y, Random().predict_proba(truth), truth, 0)
    assert 0.87 < covered < 0.93 and 3.4 < size < 3.8
