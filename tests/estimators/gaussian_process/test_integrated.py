"""Hyper-parameters of processes integrated over nodes: weights, designs of nodes, mixtures, states, what is refused."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor
from adaptive.estimators.gaussian_process.hyperparameters import units_of
from adaptive.estimators.places import on_a_sphere
from adaptive.predictive import Mixture
from adaptive.scorers import predictive_information_gain

RNG = np.random.default_rng(4)
X = RNG.random((24, 2))
Y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(24)
LABELS = np.where(Y > 0.8, "high", "low")
PROBES = RNG.random((7, 2))


def regressor(kernel, **options):
    return GaussianProcessRegressor(kernel, **{"alpha": 0.04, "hyperparameters": "integrated", **options})


@pytest.mark.parametrize("n", [5, 24])  # the grid, and nodes about the top
def test_moments_and_evidence_are_those_of_a_fine_integral(n):
    model = regressor(RBF(0.5)).fit(X[:n], Y[:n])
    assert len(model.belief_.places.points) == {5: 9, 24: 3}[n]
    lengths = np.linspace(np.log(0.5) - 4, np.log(0.5) + 4, 161)
    fine = [GaussianProcessRegressor(RBF(np.exp(one)), alpha=0.04, optimizer=None).fit(X[:n], Y[:n]) for one in lengths]
    logs = [one.log_evidence_ - 0.5 * (u - np.log(0.5)) ** 2 for one, u in zip(fine, lengths, strict=True)]
    shares = np.exp(logs - np.max(logs))
    step = lengths[1] - lengths[0]
    evidence = np.max(logs) + np.log(shares.sum() * step / np.sqrt(2 * np.pi))
    assert model.log_evidence_ == pytest.approx(evidence, abs=0.1)
    shares /= shares.sum()
    moments = np.array([one.predict(PROBES, return_std=True) for one in fine])
    mean = shares @ moments[:, 0]
    deviation = np.sqrt(shares @ (moments[:, 1] ** 2 + (moments[:, 0] - mean) ** 2))
    found = model.predict(PROBES, return_std=True)
    np.testing.assert_allclose(found[0], mean, atol=0.03)
    np.testing.assert_allclose(found[1], deviation, rtol=0.1)
    np.testing.assert_allclose(np.diag(model.predict(PROBES, return_cov=True)[1]), found[1] ** 2)
    density = sum(w * np.exp(one.log_predictive(PROBES, np.ones(7))) for w, one in zip(shares, fine, strict=True))
    np.testing.assert_allclose(np.exp(model.log_predictive(PROBES, np.ones(7))), density, rtol=0.2)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 6])
def test_a_sphere_has_the_moments_of_a_normal_distribution(p):
    z, shares = on_a_sphere(p)
    assert shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(shares @ z, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.einsum("k,ki,kj->ij", shares, z, z), np.eye(p), atol=1e-12)


def test_more_parameters_have_a_composite_design():
    model = regressor(1.0 * RBF([0.5, 0.5]) + WhiteKernel(0.01)).fit(X, Y)
    np.testing.assert_array_equal(units_of(model.kernel, 0), [2.0, 1.0, 1.0, 2.0])
    belief = model.belief_
    assert belief.places.points.shape == (25, 4) and belief.weights.sum() == pytest.approx(1.0)
    mode = GaussianProcessRegressor(1.0 * RBF([0.5, 0.5]) + WhiteKernel(0.01), alpha=0.04).fit(X, Y)
    assert np.all(model.predict(PROBES, return_std=True)[1] > 0.8 * mode.predict(PROBES, return_std=True)[1])


def test_nodes_about_the_top_take_the_place_of_a_grid_that_is_too_wide():
    kernel = 1.0 * RBF(0.5)
    model = regressor(kernel, alpha=0.01).fit(X, Y)
    assert len(model.belief_.places.points) == 9 and len(model.belief_.beliefs) >= 3  # of a grid there were 15
    exact = GaussianProcessRegressor(kernel, alpha=0.01).fit(X, Y).kernel_.theta
    assert np.all(np.abs(model.kernel_.theta - exact) < [2.0, 0.5])


def test_a_what_if_is_the_fit_with_that_row():
    model = regressor(1.0 * RBF(0.5)).fit(X[:12], Y[:12])
    what_if = model.predictive(PROBES).given(2, 0.7)
    after = model.partial_fit(PROBES[[2]], [0.7]).predictive(PROBES)
    np.testing.assert_allclose(what_if.mean, after.mean, atol=1e-3)  # but for nodes of small weight
    np.testing.assert_allclose(what_if.variance, after.variance, atol=1e-3)


def test_information_about_inputs_is_by_the_moments_of_the_mixture():
    model = regressor(1.0 * RBF(0.5)).fit(X[:8], Y[:8])
    about, chosen = X[:3], PROBES
    together = model.predict(np.concatenate([chosen, about]), return_cov=True)[1] + 0.04 * np.eye(10)
    deviation = np.sqrt(np.diag(together))
    r = (together / np.outer(deviation, deviation))[:7, 7:]
    scores = predictive_information_gain(model.predictive(chosen, target=about))
    np.testing.assert_allclose(scores, np.mean(-0.5 * np.log(1 - r**2), axis=1), rtol=1e-6)


def test_nothing_to_integrate_is_the_fit_as_it_was():
    for kernel, options in ((RBF(0.5), {"optimizer": None}), (RBF(0.5, "fixed"), {})):
        one, other = (
            GaussianProcessRegressor(kernel, alpha=0.04, hyperparameters=how, **options).fit(X, Y)
            for how in ("integrated", "mode")
        )
        np.testing.assert_array_equal(one.predict(PROBES), other.predict(PROBES))


def test_labels_are_mixed_learnt_from_and_come_back():
    model = GaussianProcessClassifier(4.0 * RBF(0.5), hyperparameters="integrated").fit(X[:16], LABELS[:16])
    belief = model.belief_
    tables = [part.probabilities(PROBES) for part in belief.beliefs]
    np.testing.assert_allclose(model.predict_proba(PROBES), np.tensordot(belief.weights, tables, axes=1))
    assert isinstance(model.predictive(PROBES), Mixture)
    assert len(model.select(PROBES, 2, target=X[:5])) == 2
    np.testing.assert_allclose(model.posterior_.mean, sum(w * p.mean for w, p in model.posterior_.components))
    model.partial_fit(X[16:20], LABELS[16:20])
    np.testing.assert_array_equal(model.belief_.places.points, belief.places.points)
    anew = GaussianProcessClassifier(4.0 * RBF(0.5), hyperparameters="integrated").fit(X[:20], LABELS[:20])
    np.testing.assert_allclose(model.predict_proba(PROBES), anew.predict_proba(PROBES), atol=1e-4)
    again = GaussianProcessClassifier(4.0 * RBF(0.5), hyperparameters="integrated").restore(model.state())
    np.testing.assert_array_equal(again.predict_proba(PROBES), model.predict_proba(PROBES))
    three = np.where(X[:, 0] < 0.3, "left", LABELS)
    several = GaussianProcessClassifier(4.0 * RBF(0.5), hyperparameters="integrated").fit(X, three)
    np.testing.assert_allclose(several.predict_proba(PROBES).sum(axis=1), 1.0)
    assert len(several.select(PROBES, 2)) == 2


def test_what_cannot_be_is_said_in_one_sentence():
    with pytest.raises(ValueError, match='hyperparameters must be one of .*"integrated"|hyperparameters must be'):
        regressor(RBF(0.5), hyperparameters="averaged").fit(X, Y)

    def silent(model, **settings):
        raise ValueError("nothing works today.")

    with pytest.raises(ValueError, match="nothing works today"):
        GaussianProcessClassifier(4.0 * RBF(0.5), inference=silent, hyperparameters="integrated").fit(X, LABELS)
    for how in ("mode", "integrated"):
        nothing = GaussianProcessClassifier(4.0 * RBF(0.5), inference=lambda model, **_: None, hyperparameters=how)
        with pytest.raises(ValueError, match="inference must return a Posterior, got NoneType"):
            nothing.fit(X, LABELS)
