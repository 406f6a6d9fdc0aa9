"""EM: its M-step is the optimum, by Lanczos as densely, and the evidence rises."""

import numpy as np
import pytest
from scipy import optimize

from adaptive import BradleyTerry, CollaborativePreference
from adaptive.estimators.preferences.inference import learning
from adaptive.estimators.preferences.inference.learning import learn_prior, updated
from adaptive.estimators.preferences.inference.people import Comparisons
from adaptive.estimators.preferences.inference.site_rules import RULES
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
from tests.estimators.preferences.test_people import N, comparisons, prior


def sums(n=N, seed=0):
    """S with C = Sigma - Sigma S Sigma positive definite, and s."""
    rng = np.random.default_rng(seed)
    root = 0.1 * rng.standard_normal((n, n))
    return root @ root.T, 0.1 * rng.standard_normal(n)


def loss(found, C):
    sigma = found.dense()
    return float(np.trace(np.linalg.solve(sigma, C)) + np.linalg.slogdet(sigma)[1])


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("d", [0, 2])
def test_the_m_step_is_the_optimum(kernel, d):
    given = prior(kernel)
    given = UtilityPrior(given.mean, given.loadings[:, :d], given.scale, given.kernel)
    S, s = sums()
    sigma = given.dense()
    C = sigma - sigma @ S @ sigma
    found = updated(given, S, s)
    np.testing.assert_allclose(found.mean, given.mean + sigma @ s)

    def at(x):
        return loss(UtilityPrior(found.mean, x[:-1].reshape(N, d), np.exp(x[-1]), given.kernel), C)

    start = np.append(given.loadings.ravel() + 0.1, np.log(given.scale))
    best = optimize.minimize(at, start, method="L-BFGS-B", options={"maxiter": 2000})
    assert loss(found, C) == pytest.approx(best.fun, abs=1e-5) and loss(found, C) <= best.fun + 1e-9
    assert found.scale != pytest.approx(given.scale, rel=1e-3)


@pytest.mark.parametrize("kernel", [True, False])
def test_what_was_believed_before_is_people_more(kernel):
    """C and mean of the M-step of a full covariance are those of three people and of one more who is N(0, K)."""
    given, (S, s) = prior(kernel), sums()
    sigma = given.dense()
    believed = UtilityPrior(np.zeros(N), np.zeros((N, 0)), 1.0, given.kernel)
    theirs = given.mean + sigma @ s
    mean = 0.75 * theirs
    C = 0.75 * (sigma - sigma @ S @ sigma + np.outer(theirs - mean, theirs - mean))
    C += 0.25 * (believed.dense() + np.outer(mean, mean))
    found = updated(given, S, s, "full", believed, 0.25)
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.dense(), C, atol=1e-12)


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("d", [0, 2])
def test_one_more_person_whose_scale_is_not_known_is_weighed_to_the_optimum(kernel, d):
    """Of three people and one more: the M-step is where no mean, loadings and scale are better, by the divergence."""
    given, (S, s) = prior(kernel), sums()
    given = UtilityPrior(given.mean, given.loadings[:, :d], given.scale, given.kernel)
    sigma = given.dense()
    believed = UtilityPrior(np.zeros(N), np.zeros((N, 0)), 1.0, given.kernel)
    theirs, spread = given.mean + sigma @ s, sigma - sigma @ S @ sigma

    def missed(found):
        apart = theirs - found.mean
        before = 2.0 * learning._divergence(found, believed, "low_rank")
        return 0.75 * loss(found, spread + np.outer(apart, apart)) + 0.25 * before

    found = updated(given, S, s, "low_rank", believed, 0.25)

    def at(x):
        return missed(UtilityPrior(x[:N], x[N:-1].reshape(N, d), np.exp(x[-1]), given.kernel))

    start = np.concatenate([found.mean, given.loadings.ravel() + 0.1, [np.log(given.scale)]])
    best = optimize.minimize(at, start, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10**6})
    assert missed(found) == pytest.approx(best.fun, abs=1e-5) and missed(found) <= best.fun + 1e-9


@pytest.mark.parametrize("kernel", [True, False])
def test_the_divergence_is_that_of_gaussians(kernel):
    found, other = prior(kernel), UtilityPrior(np.ones(N), np.zeros((N, 0)), 0.3, prior(True).kernel)
    for before in (other, UtilityPrior(np.ones(N), np.zeros((N, 0)), 0.3, found.kernel)):
        apart, sigma = found.mean - before.mean, found.dense()
        logs = np.linalg.slogdet(sigma)[1] - np.linalg.slogdet(before.dense())[1]
        squares = np.trace(np.linalg.solve(sigma, before.dense())) + apart @ np.linalg.solve(sigma, apart)
        assert found.divergence_from(before) == pytest.approx(0.5 * (logs + squares - N))


def test_a_full_covariance_is_what_people_have():
    given, (S, s) = prior(), sums()
    sigma = given.dense()
    np.testing.assert_allclose(updated(given, S, s, "full").dense(), sigma - sigma @ S @ sigma, atol=1e-12)


def test_lanczos_finds_what_the_dense_solver_finds(monkeypatch):
    rng, n = np.random.default_rng(3), 40
    root = rng.standard_normal((n, n))
    given = UtilityPrior(np.zeros(n), rng.standard_normal((n, 3)), 0.5, root @ root.T / n + 0.3 * np.eye(n))
    S, s = sums(n)
    dense = updated(given, 0.05 * S, s)
    monkeypatch.setattr(learning, "DENSE", 10)
    krylov = updated(given, 0.05 * S, s)
    np.testing.assert_allclose(krylov.dense(), dense.dense(), atol=1e-8)


@pytest.mark.parametrize(("engine", "covariance"), [("expectation_propagation", "low_rank"),
                                                    ("expectation_propagation", "full"),
                                                    ("variational_bounds", "low_rank")])  # fmt: skip
def test_the_evidence_rises(engine, covariance):
    data = comparisons((4,) * 30)
    start = UtilityPrior(np.zeros(N), 0.1 * np.random.default_rng(0).standard_normal((N, 1)), 1.0)
    options = {"covariance": covariance, "max_pairs": None, "n_jobs": None, "rng": np.random.default_rng(0)}
    believed = UtilityPrior(np.zeros(N), np.zeros((N, 0)), 1.0)
    for weight in (0.0, 1.0):
        options |= {"believed": believed, "weight": weight}
        found = learn_prior(start, data, 30, RULES[engine], max_iter=8, tol=0.0, **options)
        assert len(found.trace) == 8 and np.all(np.diff(found.trace) > -1e-6)
        assert found.objective >= found.trace[-1] - 1e-6


def test_em_comes_to_rest_by_its_own_tolerance():
    """Without steps ahead this takes some hundreds of iterations."""
    rng = np.random.default_rng(0)
    loadings, people, level = rng.normal(size=(10, 2)), rng.normal(size=(40, 2)), rng.normal(size=10)
    rows = np.array([(u, *rng.choice(10, 2, replace=False)) for u in range(40) for _ in range(12)])
    utilities = people @ loadings.T + level
    apart = utilities[rows[:, 0], rows[:, 1]] - utilities[rows[:, 0], rows[:, 2]]
    y = np.where(apart + rng.normal(size=len(rows)) > 0, 1.0, -1.0)
    start = UtilityPrior(np.zeros(10), 0.1 * rng.standard_normal((10, 2)), 1.0)
    options = {"covariance": "low_rank", "max_pairs": None, "n_jobs": None, "rng": rng, "max_iter": 160, "tol": 1e-4}
    found = learn_prior(start, Comparisons(*rows.T, y), 40, RULES["expectation_propagation"], **options)
    assert found.converged and np.all(np.diff(found.trace) > -1e-6)


def test_a_scale_far_from_its_start_is_found_in_a_few_iterations():
    """Plain EM of thirty items and ten answers a person moves the scale by some hundredths in each of these."""
    rng = np.random.default_rng(0)
    utilities = 3.0 * rng.normal(size=(60, 30))
    rows = np.array([(u, *rng.choice(30, 2, replace=False)) for u in range(60) for _ in range(10)])
    apart = utilities[rows[:, 0], rows[:, 1]] - utilities[rows[:, 0], rows[:, 2]]
    y = np.where(apart + rng.normal(size=len(rows)) > 0, 1, -1)
    quick, long = (CollaborativePreference(0, random_state=0, **more).fit(rows, y)
                   for more in ({}, {"tol": 0.0, "max_iter": 150}))  # fmt: skip
    assert quick.n_iter_ <= 40 and quick.posterior_.scale > 3.0
    assert quick.objective_trace_[-1] > long.objective_trace_[-1] - 3e-4 * len(y)


def test_people_who_agree_are_not_told_apart_by_what_was_believed_before():
    """One taste: the scale of a person's own is small, and one ranking of everybody is hardly better."""
    rng = np.random.default_rng(0)
    level = rng.normal(size=14)
    rows = np.array([(u, *rng.choice(14, 2, replace=False)) for u in range(100) for _ in range(20)])
    y = np.where(level[rows[:, 1]] - level[rows[:, 2]] + rng.logistic(size=len(rows)) > 0, 1, -1)
    test = np.arange(len(rows)) % 20 >= 10
    model = CollaborativePreference(0, random_state=0).fit(rows[~test], y[~test])
    own = -model.log_predictive(rows[test], y[test]).mean()
    alike = -BradleyTerry(range(14), ties=False).fit(rows[~test, 1:], y[~test]).log_predictive(
        rows[test, 1:], y[test]).mean()  # fmt: skip
    assert model.posterior_.scale < 0.35 and own < alike + 0.02


@pytest.mark.parametrize("full", [True, False])
def test_coordinates_lead_back_and_a_rotation_of_the_loadings_is_none(full):
    """Of covariances any step ends at a matrix that is positive definite; the logarithm of the scale is that of all."""
    here = prior(False)
    if full:
        here = UtilityPrior(here.mean, np.zeros((N, 0)), 1.0, here.dense())
        step = here.coordinates(here, kernel=True) + np.linspace(-3.0, 3.0, 2 * N + 1 + N * (N - 1) // 2)
        assert np.linalg.eigvalsh(here.at(step).dense())[0] > 0
    again = here.at(here.coordinates(here, kernel=full))
    np.testing.assert_allclose(again.dense(), here.dense(), atol=1e-12)
    np.testing.assert_allclose(again.mean, here.mean)
    if not full:
        turned = UtilityPrior(here.mean, here.loadings @ np.linalg.qr(np.ones((2, 2)) + np.eye(2))[0], here.scale)
        np.testing.assert_allclose(turned.coordinates(here), here.coordinates(here), atol=1e-12)
        larger = here.coordinates(here)
        larger[-1] += np.log(4.0)
        np.testing.assert_allclose(here.at(larger).dense(), 4.0 * here.dense())
        np.testing.assert_allclose(here.at(larger).mean, 2.0 * here.mean)


def test_a_cap_looks_at_so_many_comparisons_of_everybody():
    data = comparisons((2, 9, 9, 1))
    counts = np.bincount(data.person)
    rng = np.random.default_rng(0)
    drawn = [learning._sampled(data, counts, 4, rng) for _ in range(40)]
    for rows in drawn:
        assert np.bincount(data.person[rows]).tolist() == [2, 4, 4, 1] and len(np.unique(rows)) == len(rows)
    assert len(np.unique(np.concatenate(drawn))) == len(data)
