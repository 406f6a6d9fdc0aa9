"""Sum-product on the forest of wavelet coefficients against enumeration of all states."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.estimators.imaging.trees import WaveletForest
from adaptive.operators import Wavelet

SMALL = [((4, 4), 2), ((4, 2), 1), ((16,), 3), ((4, 4), 1), ((2, 2, 2), 1)]


def chances_of(forest, rng):
    chances = rng.uniform(0.02, 0.98, (forest.depth + 1, 2))
    chances[[0, -1], 1] = chances[[0, -1], 0]
    return chances


def enumerated(forest, e, chances):
    """ln Z, P(d_j = 1) and P(d_parent, d_j) by summing over all 2^n states."""
    states = np.array(list(itertools.product([0, 1], repeat=forest.n)))
    parent = np.where(forest.parents >= 0, states[:, forest.parents], 0)
    p = chances[forest.levels, parent]
    log_p = np.sum(np.log(np.where(states == 1, p, 1 - p)), axis=1)
    total = log_p + np.sum(np.where(states == 1, e[1], e[0]), axis=1)
    log_z = np.logaddexp.reduce(total)
    q = np.exp(total - log_z)
    edges = np.stack([[q @ ((parent == a) & (states == b)) for b in (0, 1)] for a in (0, 1)])
    with np.errstate(divide="ignore"):
        divergence = q @ (total - log_z - log_p)
    return log_z, q @ states, edges, divergence


@pytest.mark.parametrize("shape, level", SMALL)
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_sum_product_is_enumeration(shape, level, size):
    forest = WaveletForest(Wavelet(shape, "haar", level))
    rng = np.random.default_rng(forest.n)
    e, chances = size * rng.standard_normal((2, forest.n)), chances_of(forest, rng)
    beliefs = forest.sum_product(e, chances)
    log_z, wide, edges, divergence = enumerated(forest, e, chances)
    assert beliefs.log_normaliser == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(beliefs.wide, wide, atol=1e-12)
    np.testing.assert_allclose(forest.edges(beliefs), edges, atol=1e-12)
    assert forest.divergence(beliefs, chances) == pytest.approx(divergence, rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.1, 300.0))
def test_divergence_is_potentials_less_normaliser(seed, size):
    """KL(Q || P) = E_Q[sum e] - ln Z, and is not negative."""
    forest = WaveletForest(Wavelet((16, 16), "haar", 3))
    rng = np.random.default_rng(seed)
    e, chances = size * rng.standard_normal((2, forest.n)), chances_of(forest, rng)
    beliefs = forest.sum_product(e, chances)
    expected = np.sum((1 - beliefs.wide) * e[0] + beliefs.wide * e[1]) - beliefs.log_normaliser
    assert forest.divergence(beliefs, chances) == pytest.approx(expected, rel=1e-9, abs=1e-7)
    assert expected > -1e-7


def test_without_potentials_the_posterior_is_the_prior():
    forest = WaveletForest(Wavelet((16, 16), "haar", 3))
    chances = np.array([[0.5, 0.5], [0.1, 0.8], [0.2, 0.7], [0.6, 0.6]])
    beliefs = forest.sum_product(np.zeros((2, forest.n)), chances)
    assert beliefs.log_normaliser == pytest.approx(0.0, abs=1e-10)
    assert forest.divergence(beliefs, chances) == pytest.approx(0.0, abs=1e-10)
    drawn = np.mean([forest.draw(chances, np.random.default_rng(k)) for k in range(400)], axis=0)
    for level in range(4):
        at = forest.levels == level
        assert drawn[at].mean() == pytest.approx(beliefs.wide[at].mean(), abs=0.05)


def test_parents_children_and_levels_of_an_image():
    forest = WaveletForest(Wavelet((16, 8), "db2", 2))
    rows, columns = np.divmod(np.arange(forest.n), 8)
    fine = forest.levels == 1
    # parent (r // 2, c // 2) in the packed layout
    np.testing.assert_array_equal(forest.parents[fine], (rows[fine] // 2) * 8 + columns[fine] // 2)
    assert np.all(forest.levels[forest.parents[fine]] == 2)
    roots = np.flatnonzero(forest.levels == 2)
    np.testing.assert_array_equal(forest.parents[forest.children[roots]], np.repeat(roots[:, None], 4, axis=1))
    assert np.all(forest.children[fine] == -1)
    np.testing.assert_array_equal(forest.counts, [8, 96, 24])


def test_wrong_shapes_are_refused():
    forest = WaveletForest(Wavelet((4, 4), "haar", 2))
    with pytest.raises(ValueError, match="must have shapes"):
        forest.sum_product(np.zeros((2, 5)), np.full((3, 2), 0.5))
