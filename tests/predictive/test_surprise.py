"""How surprising an outcome is agrees with what is drawn, and is uniform where it is promised to be."""

import numpy as np
import pytest
from scipy import stats

from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections, MissingField, Mixture, Predictive, WeightedDraws


def gaussian(mean, variance, noise=0.5):
    return GaussianProjections(
        np.array([mean, 0.0]), np.array([variance, 1.0]), lambda i, j: np.diag([variance, 1.0])[np.ix_(i, j)],
        Gaussian(noise),
    )  # fmt: skip


def test_of_discrete_outcomes_those_that_are_no_more_probable_count():
    belief = WeightedDraws([0.5, 0.5], [[[0.1, 0.3, 0.6]], [[0.1, 0.3, 0.6]]], ["a", "b", "c"])
    assert [belief.tail_probability(0, y) for y in "abcd"] == pytest.approx([0.1, 0.4, 1.0, 0.0])
    even = Predictive(1, outcomes=[0, 1], probabilities=[[0.5, 0.5]])
    assert even.tail_probability(0, True) == 1.0


def test_of_a_gaussian_both_sides_count():
    belief = gaussian(1.0, 1.5)
    assert belief.tail_probability(0, 1.0 + 1.96 * np.sqrt(2.0)) == pytest.approx(2 * stats.norm.sf(1.96))
    assert belief.tail_probability(0, 1.0) == 1.0


def test_of_a_mixture_it_is_uniform_on_what_the_mixture_draws():
    belief = Mixture([0.3, 0.7], [gaussian(-3.0, 0.1, 0.2), gaussian(1.0, 2.0, 0.5)])
    rng = np.random.default_rng(0)
    which = rng.random(2000) < 0.3
    drawn = np.where(which, rng.normal(-3.0, np.sqrt(0.3), 2000), rng.normal(1.0, np.sqrt(2.5), 2000))
    assert stats.kstest([belief.tail_probability(0, y) for y in drawn], "uniform").pvalue > 0.01
    moments = stats.norm(belief.mean[0], np.sqrt(belief.variance[0] + 0.41))  # one Gaussian would not be
    assert stats.kstest(2 * np.minimum(moments.cdf(drawn), moments.sf(drawn)), "uniform").pvalue < 1e-6


def test_what_cannot_say_it_says_so_in_one_line():
    with pytest.raises(MissingField, match="cannot say how surprising") as problem:
        Predictive(1, mean=[0.0], variance=[1.0]).tail_probability(0, 1.0)
    assert str(problem.value).count("\n") == 0
    with pytest.raises(MissingField):
        gaussian(0.0, 1.0).tail_probability(0, np.zeros(3))
