"""The classic approximations: one fixed point with expectation propagation where they share it, their own elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.inference import GLM, expectation_propagation, laplace_approximation
from adaptive.inference.classic import (
    expectation_consistent,
    informative_vector_machine,
    label_regression,
    online_expectation_propagation,
    sparse_online,
    tap,
)
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Laplace, Poisson, Step

FAMILIES = [BernoulliLogit, BernoulliProbit]


def kernel(n=12, length=1.0, sd=2.0, seed=0):
    x = np.random.default_rng(seed).uniform(-3, 3, n)
    return x, sd**2 * np.exp(-0.5 * (x[:, None] - x) ** 2 / length**2) + 1e-8 * np.eye(n)


def classification(family, n=12, **settings):
    x, K = kernel(n, **settings)
    y = np.where(np.sin(2 * x) + 0.3 * np.random.default_rng(1).normal(size=n) > 0, 1, -1)
    return GLM(potentials=family(y), prior_covariance=K)


# ---------------------------------------------------------------------- the fixed points of EP in other variables
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sd", [0.5, 2.0, 10.0])
def test_tap_and_expectation_consistent_are_ep(family, sd):
    model = classification(family, sd=sd)
    ep = expectation_propagation(model, tol=1e-11)
    for posterior, close in ((tap(model, tol=1e-11), 1e-6), (expectation_consistent(model, tol=1e-12), 2e-3)):
        assert posterior.converged
        np.testing.assert_allclose(posterior.mean, ep.mean, atol=close * sd)
        np.testing.assert_allclose(posterior.variances(), ep.variances(), rtol=close)
        assert posterior.log_evidence == pytest.approx(ep.log_evidence, abs=1e-6)


def test_tap_and_expectation_consistent_on_other_potentials_and_data():
    rng = np.random.default_rng(0)
    B, X, y = rng.normal(size=(3, 4)), rng.normal(size=(2, 4)), rng.normal(size=2)
    for potential in (Poisson([0, 2, 1]), Laplace(0.5, [0.0, 1.0, 0.0])):
        model = GLM(X, y, 0.5, B=B, potentials=potential, prior_mean=0.2, prior_covariance=[1.0, 2.0, 1.0, 0.5])
        ep = expectation_propagation(model, tol=1e-11)
        for engine in (tap, expectation_consistent):
            for form in ("precision", "covariance"):
                posterior = engine(model, form=form)
                assert posterior.log_evidence == pytest.approx(ep.log_evidence, abs=1e-5)
                np.testing.assert_allclose(posterior.mean, ep.mean, atol=1e-3)


def test_expectation_consistent_rises_from_below():
    posterior = expectation_consistent(classification(BernoulliProbit), tol=1e-10)
    assert np.diff(posterior.objective_trace).max() <= 1e-9
    assert posterior.objective_trace[0] > posterior.objective_trace[-1] + 1.0


@pytest.mark.parametrize("family", FAMILIES)
def test_naive_tap_solves_its_own_equations(family):
    """alpha_i = d ln Z^_i / d mu_i with the prior's variances: another fixed point than EP's."""
    model = classification(family)
    K, posterior = model.prior_covariance, tap(model, naive=True, tol=1e-12)
    pi, nu = posterior.sites
    alpha = nu - pi * posterior.mean
    v = np.diag(K)
    mu = K @ alpha - v * alpha
    _, tilted_mean, tilted_variance = model.potential.tilted_moments(mu, v)
    np.testing.assert_allclose(alpha, (tilted_mean - mu) / v, atol=1e-8)
    np.testing.assert_allclose(posterior.mean, K @ alpha, atol=1e-7)
    assert np.all(pi >= 0)
    assert np.abs(posterior.mean - expectation_propagation(model).mean).max() > 0.05
    # its evidence is a function whose stationary point this is: it moves by less than first order
    assert np.isfinite(posterior.log_evidence)


# ---------------------------------------------------------------------- one pass
@pytest.mark.parametrize("family", FAMILIES)
def test_online_ep_is_the_first_sweep_and_the_filter(family):
    """m += a s, V += b s s', written out; and one row is exact."""
    model = classification(family)
    posterior = online_expectation_propagation(model)
    V, m, total = model.prior_covariance.copy(), np.zeros(12), 0.0
    for i in range(12):
        v, mean = V[i, i], m[i]
        log_z, t, var = (float(a[0]) for a in model.potential[i : i + 1].tilted_moments([mean], [v]))
        a, b, s = (t - mean) / v, (var / v - 1) / v, V[:, i].copy()
        m, V, total = m + a * s, V + b * np.outer(s, s), total + log_z
    np.testing.assert_allclose(posterior.mean, m, atol=1e-10)
    np.testing.assert_allclose(posterior.covariance(), V, atol=1e-8)
    assert posterior.log_evidence == pytest.approx(total, abs=1e-10)
    shuffled = online_expectation_propagation(model, random_state=0)
    assert shuffled.log_evidence != pytest.approx(total, abs=1e-6)  # it depends on the order
    one = GLM(B=np.eye(3)[:1], potentials=family([1]), prior_covariance=2.0)
    assert online_expectation_propagation(one).log_evidence == pytest.approx(np.log(0.5), abs=1e-10)


def test_online_ep_goes_on_where_it_was():
    x, K = kernel()
    y = np.where(x > 0, 1, -1)
    whole = online_expectation_propagation(GLM(B=np.eye(12), potentials=BernoulliLogit(y), prior_covariance=K))
    part = online_expectation_propagation(GLM(B=np.eye(12)[:8], potentials=BernoulliLogit(y[:8]), prior_covariance=K))
    model = GLM(B=np.eye(12), potentials=BernoulliLogit(y), prior_covariance=K)
    rest = online_expectation_propagation(model, warm_start=part)
    np.testing.assert_allclose(rest.mean, whole.mean, atol=1e-9)
    assert part.log_evidence + rest.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)


# ---------------------------------------------------------------------- few rows
def test_informative_vector_machine_with_all_rows_is_online_ep_in_its_order():
    model = classification(BernoulliProbit)
    posterior = informative_vector_machine(model, n_active=12)
    order = posterior.active
    moved = GLM(B=np.eye(12)[order], potentials=model.potential[order], prior_covariance=model.prior_covariance)
    online = online_expectation_propagation(moved)
    np.testing.assert_allclose(posterior.mean, online.mean, atol=1e-9)
    np.testing.assert_allclose(posterior.variances(), online.variances(), rtol=1e-7)
    assert posterior.log_evidence == pytest.approx(online.log_evidence, abs=1e-9)


def test_informative_vector_machine_believes_its_rows_alone():
    model = classification(BernoulliLogit, n=40)
    posterior = informative_vector_machine(model, n_active=10, refine=True)
    active = np.sort(posterior.active)
    alone = GLM(B=np.eye(40)[active], potentials=model.potential[active], prior_covariance=model.prior_covariance)
    ep = expectation_propagation(alone)
    np.testing.assert_allclose(posterior.mean, ep.mean, atol=1e-4)
    assert np.count_nonzero(posterior.sites[0]) == 10
    few = informative_vector_machine(model, n_active=10, n_scored=5, random_state=0)
    again = informative_vector_machine(model, n_active=10, n_scored=5, random_state=0)
    np.testing.assert_array_equal(few.active, again.active)


def test_sparse_online_without_limits_is_online_ep():
    model = classification(BernoulliProbit)
    sparse, online = sparse_online(model, tolerance=0.0), online_expectation_propagation(model)
    np.testing.assert_allclose(sparse.mean, online.mean, atol=1e-5)
    np.testing.assert_allclose(sparse.covariance(), online.covariance(), atol=1e-5)
    assert sparse.log_evidence == pytest.approx(online.log_evidence, abs=1e-6)


def test_sparse_online_with_few_basis_rows_stays_near():
    """9 basis rows of 40 (nickisch-gpc.md 10.10 has ln Z -6.457 against -6.398 with 9 of 12)."""
    model = classification(BernoulliProbit, n=40)
    online = online_expectation_propagation(model)
    for settings in ({"capacity": 15}, {"tolerance": 1e-3}, {"tolerance": 1e-3, "keep_mean": True}):
        sparse = sparse_online(model, **settings)
        assert len(sparse.active) < 25
        assert sparse.log_evidence == pytest.approx(online.log_evidence, abs=1.0)
        assert np.mean(np.sign(sparse.mean) == np.sign(online.mean)) > 0.9
        assert np.all(sparse.variances() >= 0)


def test_deleting_a_basis_row_keeps_the_marginals_of_the_others():
    from adaptive.inference.classic.sparse_online import _Basis
    from adaptive.inference.dense.problem import DenseProblem

    model = classification(BernoulliLogit)
    problem = DenseProblem(model, "expectation_propagation")
    none = np.zeros(12)
    prior = problem.gaussian.refit(none, none)
    basis = _Basis(prior, problem.rows)
    K = model.prior_covariance
    for j in range(6):
        k = basis.covariances(j)
        basis.include(j, k, K[j, j], 0.3 * (-1) ** j, -0.1, 0.0, False)
    before_mean, before = K[:, basis.rows] @ basis.alpha, K + K[:, basis.rows] @ basis.C @ K[basis.rows]
    basis.delete()
    left = np.array(basis.rows)
    assert len(left) == 5
    np.testing.assert_allclose((K[:, left] @ basis.alpha)[left], before_mean[left], atol=1e-8)
    after = K + K[:, left] @ basis.C @ K[left]
    np.testing.assert_allclose(after[np.ix_(left, left)], before[np.ix_(left, left)], atol=1e-7)


# ---------------------------------------------------------------------- label regression
def test_label_regression_is_regression_on_the_labels():
    x, K = kernel()
    y = np.where(x > 0, 1.0, -1.0)
    model = GLM(potentials=BernoulliLogit(y), prior_covariance=K)
    posterior = label_regression(model, noise_sd=0.7)
    np.testing.assert_allclose(posterior.mean, K @ np.linalg.solve(K + 0.49 * np.eye(12), y), atol=1e-8)
    assert posterior.log_evidence == pytest.approx(posterior.jensen_evidence)
    learnt = label_regression(model)

    def evidence(sd):
        total = K + sd**2 * np.eye(12)
        return -0.5 * y @ np.linalg.solve(total, y) - 0.5 * np.linalg.slogdet(2 * np.pi * total)[1]

    sd = 1 / np.sqrt(learnt.sites[0][0])
    assert evidence(sd) >= max(evidence(s) for s in np.linspace(0.5, 2.0, 31)) - 1e-3
    assert learnt.jensen_evidence <= expectation_propagation(model).log_evidence


# ---------------------------------------------------------------------- bad input
def test_refusals_are_one_sentence():
    x, K = kernel(4)
    step = GLM(potentials=Step(0.0), prior_covariance=K)
    with pytest.raises(ValueError, match="label_regression accepts Bernoulli potentials only, got"):
        label_regression(step)
    model = GLM(potentials=BernoulliLogit(np.ones(4)), prior_covariance=K)
    with pytest.raises(ValueError, match="a second pass is expectation_propagation"):
        online_expectation_propagation(model, max_iter=2)
    with pytest.raises(ValueError, match="n_active must be at most the 4 rows there are, got 9"):
        informative_vector_machine(model, n_active=9)
    free = GLM(B=np.eye(2), potentials=Laplace(1.0))
    for engine in (tap, expectation_consistent, online_expectation_propagation):
        with pytest.raises(ValueError, match="Gaussian part"):
            engine(free)
    for engine in (sparse_online, lambda m: informative_vector_machine(m, n_active=1)):
        with pytest.raises(ValueError, match="one group of potentials and a Gaussian prior"):
            engine(free)
    assert laplace_approximation(model).converged


@pytest.mark.parametrize("family", FAMILIES)
def test_informative_vector_machine_chooses_the_largest_fall_of_entropy(family):
    """Brute force: at every step the row whose tilted variance is the smallest part of what it was."""
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((9, 9)) * np.geomspace(0.05, 3, 9)[:, None]
    covariance, mean = roots @ roots.T + 1e-6 * np.eye(9), np.zeros(9)
    potential = family(np.where(rng.random(9) < 0.5, 1, -1))
    posterior = informative_vector_machine(GLM(potentials=potential, prior_covariance=covariance), n_active=6)
    chosen = []
    for _ in range(6):
        variance = np.diag(covariance)
        _, after_mean, after_variance = potential.tilted_moments(mean, variance)
        fall = -0.5 * np.log(after_variance / variance)
        fall[chosen] = -np.inf
        j = int(np.argmax(fall))
        step = covariance[:, j] / variance[j]
        mean = mean + step * (after_mean[j] - mean[j])
        covariance = covariance + np.outer(step, step) * (after_variance[j] - variance[j])
        chosen.append(j)
    assert posterior.active.tolist() == chosen
