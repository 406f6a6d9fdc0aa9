"""Selective expectation propagation: the n = 32 problem, scores and updates by dense algebra, warm starts, forms."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.inference import GLM, expectation_propagation, posterior_state, restored_posterior
from adaptive.inference.dense.selective_propagation import SelectiveProblem, SelectiveUpdates, change_scores
from adaptive.operators import Dense, FiniteDifference, Identity, Reshaped, Wavelet
from adaptive.potentials import BernoulliLogit, Gaussian, Laplace, Logistic, StudentT
from adaptive.potentials.weighted import Weighted

NOISE = 0.005


def selective(model, **options):
    return expectation_propagation(model, **{"fraction": 0.9, "update": "selective", "tol": 1e-13, **options})


# ---------------------------------------------------------------------- the reference problem
def test_first_site_and_its_score(image):
    problem = SelectiveProblem(image.model(image.X, image.y))
    problem.start()
    scores = SelectiveUpdates(problem, 0.9, 0.8, 1e-13, 256, np.random.default_rng(0)).score_all()
    assert int(np.argmax(scores)) == 31
    assert scores[31] == pytest.approx(0.0597762262, abs=1e-8)


def test_reference_problem(image):
    posterior = selective(image.model(image.X, image.y), max_sweeps=0)
    assert posterior.n_iter == pytest.approx(439, rel=0.1)
    assert posterior.log_evidence - image.log_constant == pytest.approx(-40.40160242, abs=1e-7)
    assert np.linalg.norm(posterior.mean) == pytest.approx(3.26436412, abs=1e-6)
    assert np.linalg.norm(posterior.mean - image.u) == pytest.approx(1.91373950, abs=1e-6)
    picked = [0, 8, 16, 24]
    np.testing.assert_allclose(posterior.mean[picked], [0.4154683, 0.4521965, 0.5474489, 0.4718624], atol=1e-6)
    np.testing.assert_allclose(posterior.variances()[picked], [0.1229212, 0.0498216, 0.0501273, 0.0429500], atol=1e-6)
    assert posterior.gaussian.log_determinant == pytest.approx(-122.82797802, abs=1e-6)
    values, directions = posterior.leading_directions(4, tol=1e-10)
    np.testing.assert_allclose(values, [0.5540065, 0.2049522, 0.1757570, 0.1362181], atol=1e-6)
    x = directions[0]
    assert posterior.information_gain(x, NOISE) == pytest.approx(2.35836164, abs=1e-6)
    # one designed measurement, without noise
    longer = image.model(np.vstack([image.X, x]), np.r_[image.y, x @ image.u])
    warm = selective(longer, max_sweeps=0, warm_start=posterior)
    assert warm.n_iter == pytest.approx(297, rel=0.1)
    assert warm.gaussian.work.factorisations == posterior.gaussian.work.factorisations == 1
    assert np.linalg.norm(warm.mean - image.u) == pytest.approx(1.16292786, abs=1e-6)
    cold = selective(longer)
    np.testing.assert_allclose(warm.mean, cold.mean, atol=2e-7)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-7)


def test_reference_problem_with_full_potentials(image):
    posterior = selective(image.model(image.X, image.y), fraction=1.0)
    assert posterior.log_evidence - image.log_constant == pytest.approx(-40.30462719, abs=1e-7)
    assert np.linalg.norm(posterior.mean - image.u) == pytest.approx(1.91384735, abs=1e-6)


# ---------------------------------------------------------------------- scores and updates against dense algebra
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(-0.9, 10.0), st.floats(-3.0, 3.0))
def test_score_is_the_divergence_of_the_whole_posterior(seed, relative, shift):
    rng = np.random.default_rng(seed)
    root, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    A, linear = root @ root.T + 0.1 * np.eye(4), rng.normal(size=4)
    V = np.linalg.inv(A)
    mean, variance = b @ V @ linear, b @ V @ b
    d_pi, d_nu = relative / variance, shift / np.sqrt(variance)
    new_V = np.linalg.inv(A + d_pi * np.outer(b, b))
    step = new_V @ (linear + d_nu * b) - V @ linear
    divergence = 0.5 * (np.trace(A @ new_V) - 4 - np.linalg.slogdet(A @ new_V)[1] + step @ A @ step)
    score, allowed = change_scores(*(np.array([x]) for x in (mean, variance, d_pi, d_nu)))
    assert allowed[0] and score[0] == pytest.approx(divergence, rel=1e-6, abs=1e-10)
    assert not change_scores(*(np.array([x]) for x in (mean, variance, -1.5 / variance, d_nu)))[1][0]


POTENTIALS = {
    "laplace": Laplace(0.3),
    "logistic": Logistic(0.2, 0.1),
    "logit": BernoulliLogit(np.where(np.arange(31) % 3, 1, -1)),
}


@pytest.mark.parametrize("name", POTENTIALS)
@pytest.mark.parametrize("prior", [None, 0.5, "diagonal", "full"])
def test_equals_the_parallel_engine(name, prior):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 16)), rng.normal(size=40)
    options = {}
    if prior is not None:
        full = 0.3 * np.eye(16) + 0.2
        options = {"prior_mean": 0.1 * rng.normal(size=16)}
        options["prior_covariance"] = {"diagonal": 0.1 + rng.random(16), "full": full}.get(prior, prior)
    B, potentials = [FiniteDifference(16), Wavelet(16, "haar")], POTENTIALS[name][:31]
    potentials = [potentials[:15], potentials[15:]]
    model = GLM(X, y, 0.3, B=B, potentials=potentials, **options)
    one = expectation_propagation(model, fraction=0.9, tol=1e-10)
    two = selective(model, tol=1e-18)
    np.testing.assert_allclose(two.mean, one.mean, atol=1e-8)
    np.testing.assert_allclose(two.covariance(), one.covariance(), atol=1e-8)
    assert two.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)
    assert two.jensen_evidence == pytest.approx(one.jensen_evidence, abs=1e-6)


def test_gaussian_groups_are_data():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(5, 8)), rng.normal(size=5)
    B, potentials = [FiniteDifference(8), Identity(8)], [Laplace(0.3), Gaussian(0.5, 1.0)]
    model = GLM(X, y, 0.1, B=B, potentials=potentials)
    one, two = expectation_propagation(model, tol=1e-10), selective(model, fraction=1.0, tol=1e-18)
    np.testing.assert_allclose(two.mean, one.mean, atol=1e-8)
    np.testing.assert_allclose(two.sites[0], one.sites[0], rtol=1e-6)
    assert two.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)
    linear = selective(GLM(X, y, 0.1, B=B[1:], potentials=potentials[1:]))
    assert linear.evidence_kind == "exact"


def test_rows_that_count_several_times():
    rng = np.random.default_rng(4)
    B, y = rng.normal(size=(12, 5)), rng.choice([-1, 1], 12)
    B[3] = 0.0  # and one that says nothing
    potential = Weighted(BernoulliLogit(y), rng.integers(1, 4, 12).astype(float))
    model = GLM(B=B, potentials=potential, prior_covariance=2.0)
    one, two = expectation_propagation(model, tol=1e-10), selective(model, fraction=1.0, tol=1e-18)
    np.testing.assert_allclose(two.mean, one.mean, atol=1e-8)
    assert two.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)
    assert two.gaussian.check() < 1e-12


# ---------------------------------------------------------------------- warm starts and who owns the covariance
@pytest.fixture(scope="module")
def scene():
    side, rng = 12, np.random.default_rng(0)
    u = (np.add.outer(np.arange(side) > side / 3, np.arange(side) > side / 2) / 2.0).ravel()
    X = rng.normal(size=(40, side * side))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = X @ u + np.sqrt(NOISE) * rng.normal(size=40)

    def model(m):
        B = [FiniteDifference((side, side)), Wavelet((side, side), "db2")]
        potentials = [Laplace(np.sqrt(NOISE) / 0.5), Laplace(np.sqrt(NOISE) / 0.075)]
        return GLM(Reshaped(Dense(X[:m]), (side, side)), y[:m], NOISE, B=B, potentials=potentials)

    return SimpleNamespace(model=model, u=u)


def test_rows_are_absorbed_and_the_old_posterior_stays_valid(scene):
    old = selective(scene.model(30), tol=1e-4)
    mean, covariance, variances = old.mean.copy(), old.covariance(), old.variances(scene.model(30).groups[1][0])
    kept = copy.deepcopy(old)
    new = selective(scene.model(36), tol=1e-4, warm_start=old, max_sweeps=0)
    assert new.gaussian.work.absorbed == 6
    assert new.gaussian.work.factorisations == old.gaussian.work.factorisations  # none
    for posterior in (old, kept):
        np.testing.assert_array_equal(posterior.mean, mean)
        np.testing.assert_allclose(posterior.covariance(), covariance, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(posterior.variances(scene.model(30).groups[1][0]), variances, rtol=1e-9)
    # both can be gone on from, and reach the same
    for start in (old, kept):
        again = selective(scene.model(36), tol=1e-14, warm_start=start)
        cold = selective(scene.model(36), tol=1e-14)
        np.testing.assert_allclose(again.mean, cold.mean, atol=2e-7)
        assert again.log_evidence == pytest.approx(cold.log_evidence, abs=1e-7)


def test_marginals_are_those_of_the_covariance_and_drift_is_small(scene):
    posterior = start = selective(scene.model(10), tol=1e-2)
    for m in range(13, 41, 3):
        posterior = selective(scene.model(m), tol=1e-5, warm_start=posterior, max_sweeps=0)
    g = posterior.gaussian
    assert g.work.factorisations == start.gaussian.work.factorisations and g.work.updates > 400
    V, B = posterior.covariance(), np.vstack([b.to_dense() for b, _ in scene.model(10).groups])
    np.testing.assert_allclose(g.row_variances, np.einsum("ij,jk,ik->i", B, V, B), rtol=1e-9)
    np.testing.assert_allclose(g.projections, B @ g.mean, atol=1e-14)
    determinant = g.log_determinant
    assert g.refresh() < 1e-8 and g.work.drift < 1e-8
    assert g.log_determinant == pytest.approx(determinant, abs=1e-8)


def test_single_precision_is_the_posterior_of_double_but_for_its_digits(scene):
    """Through two sets of new data and plain data; another precision is not gone on from."""
    found = []
    for dtype in ("float64", "float32"):
        old = selective(scene.model(30), tol=1e-4, dtype=dtype)
        new = selective(scene.model(36), tol=1e-4, dtype=dtype, warm_start=old, max_sweeps=0)
        back = restored_posterior(scene.model(36), posterior_state(new))
        last, again = (selective(scene.model(40), tol=1e-4, dtype=dtype, warm_start=p) for p in (new, back))
        np.testing.assert_array_equal(last.mean, again.mean)
        found.append(last)
    double, single = found
    assert single.gaussian.single and single.gaussian.work.absorbed and single.converged
    np.testing.assert_allclose(single.mean, double.mean, atol=1e-3)
    np.testing.assert_allclose(single.gaussian.row_variances, double.gaussian.row_variances, rtol=2e-2)
    assert single.log_evidence == pytest.approx(double.log_evidence, abs=1e-2)
    other = selective(scene.model(40), tol=1e-4, warm_start=single)
    assert not other.gaussian.single and other.gaussian.work.absorbed == 0
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got 'float16'"):
        selective(scene.model(20), dtype="float16")


def test_changed_data_are_not_absorbed(scene):
    old = selective(scene.model(30), tol=1e-4)
    model = scene.model(33)
    model.y[0] += 1.0
    new = selective(model, tol=1e-14, warm_start=old)
    assert new.gaussian.work.absorbed == 0
    np.testing.assert_allclose(new.mean, selective(model, tol=1e-14).mean, atol=2e-7)


def test_plain_data_and_back(scene):
    old = selective(scene.model(30), tol=1e-4)
    new = selective(scene.model(33), tol=1e-4, warm_start=old)
    new.leading_directions(2)
    back = restored_posterior(scene.model(33), posterior_state(new))
    np.testing.assert_array_equal(back.mean, new.mean)
    for one, two in zip(back.leading_directions(3), new.leading_directions(3), strict=True):
        np.testing.assert_array_equal(one, two)
    one, two = (selective(scene.model(36), tol=1e-4, warm_start=p) for p in (back, new))
    np.testing.assert_array_equal(one.mean, two.mean)


# ---------------------------------------------------------------------- the form with few measurements
@pytest.mark.parametrize("B", ["identity", "wavelet", "matrix"])
@pytest.mark.parametrize("prior", [None, 2.0])
def test_both_forms_agree(B, prior):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 64)), rng.normal(size=20)
    Q = np.linalg.qr(rng.normal(size=(64, 64)))[0]
    B = {"identity": Identity(64), "wavelet": Wavelet(64, "db2"), "matrix": Q}[B]

    def model(m):
        return GLM(X[:m], y[:m], NOISE, B=B, potentials=Laplace(0.3), prior_covariance=prior)

    results = {}
    for form in ("measurements", "unknowns"):
        first = selective(model(10), form=form, max_sweeps=1)
        assert first.gaussian.form == form
        second = selective(model(14), form=form, warm_start=first)
        assert second.gaussian.work.absorbed == 4
        results[form] = first, second
    for one, two in zip(*results.values(), strict=True):
        np.testing.assert_allclose(one.mean, two.mean, atol=1e-8)
        np.testing.assert_allclose(one.covariance(), two.covariance(), atol=1e-8)
        np.testing.assert_allclose(one.gaussian.row_variances, two.gaussian.row_variances, atol=1e-8)
        np.testing.assert_allclose(one.variances(X), two.variances(X), atol=1e-8)
        assert one.log_evidence == pytest.approx(two.log_evidence, abs=1e-8)
        for a, b in zip(one.leading_directions(2, tol=1e-9), two.leading_directions(2, tol=1e-9), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)
    chosen = selective(model(15), tol=1e-6)
    assert chosen.gaussian.form == "measurements"
    grown = selective(model(16), tol=1e-6, warm_start=chosen)  # a quarter of the unknowns
    assert grown.gaussian.form == "unknowns"
    assert selective(model(15), tol=1e-6, form="unknowns").gaussian.form == "unknowns"


def test_sites_that_say_next_to_nothing_change_the_form():
    """Of signals that are not sparse some sites go to zero: over the measurements that would cost all digits."""
    rng = np.random.default_rng([0, 0])
    u, X = rng.standard_normal(512), rng.standard_normal((40, 512))
    X /= np.linalg.norm(X, axis=1)[:, None]
    noise = np.sqrt(NOISE) * rng.standard_normal(400)
    posterior, identity = None, Identity(512)
    for _ in range(9):
        model = GLM(X, X @ u + noise[: len(X)], NOISE, B=identity, potentials=Laplace(0.2))
        posterior = selective(model, fraction=0.9, tol=1e-2, warm_start=posterior)
        assert posterior.converged
        X = np.vstack([X, posterior.leading_directions(4)[1]])
    rows, pi = X[: len(model.y)], posterior.gaussian.pi
    assert posterior.gaussian.form == "unknowns" and len(model.y) < 512 / 4
    expected = np.linalg.inv(rows.T @ rows / NOISE + np.diag(pi))
    np.testing.assert_allclose(posterior.covariance(), expected, atol=1e-8 * expected.max())


# ---------------------------------------------------------------------- extremes and refusals
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(-3, 2), st.floats(-2, 2), st.floats(-2, 2), st.sampled_from([0.3, 0.9, 1.0]))
def test_extremes(seed, log_noise, log_rate_difference, log_rate_wavelet, fraction):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(5, 16)), rng.normal(size=5)
    B = [FiniteDifference(16), Wavelet(16, "haar")]
    potentials = [Laplace(10**-log_rate_difference), Laplace(10**-log_rate_wavelet)]
    posterior = selective(GLM(X, y, 10**log_noise, B=B, potentials=potentials), fraction=fraction, tol=1e-6)
    assert posterior.converged
    assert np.isfinite(posterior.mean).all() and np.isfinite(posterior.log_evidence)
    assert posterior.gaussian.row_variances.min() > 0 and posterior.gaussian.pi.min() >= 0
    assert posterior.gaussian.work.drift < 1e-6


def test_refusals(scene):
    with pytest.raises(ValueError, match="form must be"):
        selective(scene.model(10), form="precision")
    with pytest.raises(ValueError, match="orthonormal"):
        selective(scene.model(10), form="measurements")
    student = GLM(np.eye(2), np.zeros(2), potentials=StudentT(3.0, 1.0))
    with pytest.raises(ValueError, match="log-concave"), pytest.warns(UserWarning, match="no guarantee"):
        selective(student, force=True)
    singular = GLM(np.eye(2), np.zeros(2), potentials=Laplace(1.0), prior_covariance=np.ones((2, 2)))
    with pytest.raises(ValueError, match="inverted"):
        selective(singular)
    large = Identity((300, 300))
    with pytest.raises(ValueError, match="dense posterior over 90000 unknowns"):
        selective(GLM(large, np.zeros((300, 300)), B=large, potentials=Laplace(1.0)))
    with pytest.warns(match="not converged"):
        selective(scene.model(20), max_iter=0, max_sweeps=0)
