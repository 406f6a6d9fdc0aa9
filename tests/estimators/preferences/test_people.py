"""Every person's sites: those of the same GLM, in either space; evidences and statistics against dense algebra."""

import numpy as np
import pytest

from adaptive import inference
from adaptive.estimators.preferences.inference.people import Comparisons, added_up, propagate, settle, stacks
from adaptive.estimators.preferences.inference.site_rules import LIKELIHOODS, RULES
from adaptive.estimators.preferences.inference.spaces import ItemSpace, PairSpace, space_of
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
from adaptive.inference import GLM

N = 6


def prior(kernel=True):
    rng = np.random.default_rng(1)
    root = rng.standard_normal((N, N))
    return UtilityPrior(
        rng.standard_normal(N), rng.standard_normal((N, 2)), 0.7, root @ root.T + 0.1 * np.eye(N) if kernel else None
    )


def comparisons(sizes=(3, 1, 3, 12, 12, 4), seed=0):
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    first = rng.integers(0, N, len(person))
    second = (first + rng.integers(1, N, len(person))) % N
    return Comparisons(person, first, second, rng.choice([-1.0, 1.0], len(person)))


def rows_of(data):
    rows = np.zeros((len(data), N))
    rows[np.arange(len(data)), data.first] += 1
    rows[np.arange(len(data)), data.second] -= 1
    return rows


@pytest.mark.parametrize("engine", RULES)
@pytest.mark.parametrize("kernel", [True, False])
def test_everybody_has_the_posterior_of_the_same_glm(engine, kernel):
    """To 1e-8 of mean, covariance, evidence; with contradictions and repeated comparisons, in both spaces."""
    near = 1e-5 if engine == "variational_bounds" else 1e-8  # that engine stops where its bound no longer moves
    given, data = prior(kernel), comparisons()
    nothing = np.zeros(len(data)), np.zeros(len(data))
    solved = propagate(given, data, RULES[engine], nothing)
    spaces = {type(space_of(given, data.first[rows], data.second[rows])) for rows in stacks(data)}
    assert spaces == {PairSpace, ItemSpace}
    sigma, seen = given.dense(), 0
    for one in solved:
        assert one.converged.all()
        for k, rows in enumerate(one.rows):
            own = data.take(rows)
            assert len(np.unique(own.person)) == 1
            seen += len(rows)
            model = GLM(
                B=rows_of(own), potentials=LIKELIHOODS[engine](own.y), prior_mean=given.mean, prior_covariance=sigma
            )
            posterior = getattr(inference, engine)(model, tol=1e-11, max_iter=1000)
            items, within, slope = (part[k] for part in one.statistics)
            W, w = np.zeros((N, N)), np.zeros(N)
            np.add.at(W, (items[:, None], items[None, :]), within)
            np.add.at(w, items, slope)
            np.testing.assert_allclose(given.mean + sigma @ w, posterior.mean, atol=near)
            np.testing.assert_allclose(sigma - sigma @ W @ sigma, posterior.covariance(), atol=near)
            assert one.log_evidence[k] == pytest.approx(posterior.log_evidence, abs=1e-8)
    assert seen == len(data)


def test_both_spaces_agree_and_sums_are_those_of_dense_posteriors():
    given, data = prior(), comparisons((5, 5, 5))
    block = np.argsort(data.person, kind="stable").reshape(3, 5)
    first, second, y = data.first[block], data.second[block], data.y[block]
    items = np.tile(np.arange(N), (3, 1))
    zero, found = np.zeros((3, 5)), []
    for space in (PairSpace(given, first, second), ItemSpace(given, items, first, second)):
        pi, nu, evidence, _ = settle(space, y, RULES["expectation_propagation"], zero, zero, 1e-12)
        found.append((pi, nu, evidence, space.mean, space.variance))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    solved = propagate(given, data, RULES["expectation_propagation"], (np.zeros(15), np.zeros(15)))
    S, s = added_up(solved, 3, N)
    sigma, means, covariances = given.dense(), [], []
    for k in range(3):
        B = rows_of(data.take(block[k]))
        covariance = np.linalg.inv(np.linalg.inv(sigma) + B.T @ (found[0][0][k][:, None] * B))
        means.append(covariance @ (np.linalg.solve(sigma, given.mean) + B.T @ found[0][1][k]))
        covariances.append(covariance)
    new = np.mean(means, axis=0)
    np.testing.assert_allclose(given.mean + sigma @ s, new, atol=1e-8)
    spread = np.mean([c + np.outer(new - m, new - m) for c, m in zip(covariances, means, strict=True)], axis=0)
    np.testing.assert_allclose(sigma - sigma @ S @ sigma, spread, atol=1e-8)


def test_workers_and_the_side_a_comparison_is_written_from_change_nothing():
    given, data = prior(), comparisons(tuple(range(1, 9)) * 3)
    sites = np.zeros(len(data)), np.zeros(len(data))
    rule = RULES["expectation_propagation"]
    turned = Comparisons(data.person, data.second, data.first, -data.y)
    alone, together, mirrored = propagate(given, data, rule, sites), propagate(given, data, rule, sites, n_jobs=2), \
        propagate(given, turned, rule, sites)  # fmt: skip
    for a, b, c in zip(alone, together, mirrored, strict=True):
        assert a.pi.tobytes() == b.pi.tobytes() and a.statistics[1].tobytes() == b.statistics[1].tobytes()
        np.testing.assert_allclose(c.pi, a.pi, atol=1e-9)
        np.testing.assert_allclose(c.nu, -a.nu, atol=1e-9)
        np.testing.assert_allclose(c.log_evidence, a.log_evidence, atol=1e-9)


def test_a_prior_that_is_extended_keeps_what_it_said():
    given = prior()
    wider = given.extended(N + 2)
    np.testing.assert_allclose(wider.block(np.arange(N), np.arange(N)), given.dense())
    assert np.all(wider.block(np.arange(N), [N, N + 1]) == 0) and len(wider) == N + 2
    assert wider.block([N], [N])[0, 0] == pytest.approx(np.mean(np.diag(given.dense())))
