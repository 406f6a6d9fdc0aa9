"""A potential that is a Gaussian density says so, and is treated exactly, whatever its class is called."""

import numpy as np
import pytest
from scipy import stats

from adaptive import inference
from adaptive.inference.compatibility import as_gaussian
from adaptive.potentials import BernoulliLogit, ExponentialPower, Gaussian, Laplace
from adaptive.potentials.grouped import GroupedPotential
from adaptive.potentials.weighted import Weighted
from adaptive.predictive import GaussianProjections


class Noise(Gaussian):
    """A Gaussian under another name."""


def test_the_density_is_that_of_the_moments(potential):
    moments = potential.gaussian_moments()
    if moments is not None:
        s = np.linspace(-3, 3, 7)
        np.testing.assert_allclose(potential.log_density(s), stats.norm.logpdf(s, moments[0], np.sqrt(moments[1])))
    else:
        third = potential.third_derivative(np.array([0.6, 1.1]))
        pieces = potential.kinks or np.isfinite(potential.support[0])  # each of them may be a parabola
        assert np.any(third != 0) or not potential.smooth or pieces


def test_which_potentials_are_gaussian():
    assert Noise(2.0, location=[1.0, 3.0]).gaussian_moments()[1] == 2.0
    np.testing.assert_array_equal(ExponentialPower([2.0, 2.0], [1.0, 2.0]).gaussian_moments()[1], [0.5, 2.0])
    assert ExponentialPower([2.0, 1.0], 1.0).gaussian_moments() is None
    assert Laplace(1.0).gaussian_moments() is None and BernoulliLogit().gaussian_moments() is None


def test_a_subclass_of_the_gaussian_stays_exact():
    B, y = np.array([[1.0, 0.5], [0.0, 1.0], [1.0, -1.0]]), np.array([0.3, -1.0, 2.0])
    posteriors = [
        inference.expectation_propagation(inference.GLM(B=B, potentials=kind(0.5).observe(y), prior_covariance=2.0))
        for kind in (Gaussian, Noise)
    ]
    assert [posterior.evidence_kind for posterior in posteriors] == ["exact", "exact"]
    assert posteriors[0].log_evidence == posteriors[1].log_evidence
    beliefs = [
        GaussianProjections.from_rows(B, np.zeros(2), covariance=np.eye(2), likelihood=kind(0.5))
        for kind in (Gaussian, Noise)
    ]
    assert all(belief.provides("log_determinant") for belief in beliefs)
    np.testing.assert_array_equal(*(belief.log_determinant()[0] for belief in beliefs))
    np.testing.assert_array_equal(*(belief.given(0).variance for belief in beliefs))


def test_weights_divide_the_variance():
    weights = np.array([1.0, 2.0, 0.5])
    weighted = Weighted(Gaussian(3.0, location=[0.0, 1.0, 2.0]), weights)
    mean, variance = weighted.gaussian_moments()
    s = np.array([0.4, -1.0, 3.0])
    first, second = weighted.derivatives(s)
    np.testing.assert_allclose(first, -(s - mean) / variance)
    np.testing.assert_allclose(second, -1 / variance)
    assert Weighted(Laplace(1.0), weights).gaussian_moments() is None


def test_the_evidence_of_weighted_gaussians_is_that_of_repeated_rows():
    """They are multiples of densities: an engine that moved them into its data would lose the constants."""
    B, y, counts = np.array([[1.0, 0.5], [0.0, 1.0], [1.0, -1.0]]), np.array([0.3, -1.0, 2.0]), np.array([1, 3, 2])
    weighted = Weighted(Gaussian(0.5, location=y), counts)
    assert as_gaussian(weighted) is None
    repeated = inference.GLM(
        B=np.repeat(B, counts, axis=0), potentials=Gaussian(0.5, location=np.repeat(y, counts)), prior_covariance=2.0
    )
    once = inference.expectation_propagation(inference.GLM(B=B, potentials=weighted, prior_covariance=2.0), tol=1e-10)
    exact = inference.expectation_propagation(repeated)
    assert once.log_evidence == pytest.approx(exact.log_evidence, abs=1e-7)
    np.testing.assert_allclose(once.mean, exact.mean, atol=1e-7)


def test_a_group_is_gaussian_if_all_of_it_is():
    moments = GroupedPotential([Gaussian(1.0, location=[1.0, 2.0]), Noise(3.0)], [2, 1]).gaussian_moments()
    np.testing.assert_array_equal(moments, [[1.0, 2.0, 0.0], [1.0, 1.0, 3.0]])
    assert GroupedPotential([Gaussian(1.0), Laplace(1.0)], [2, 1]).gaussian_moments() is None
