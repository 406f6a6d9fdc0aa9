"""Laplace's approximation of users' own matrices, against dense algebra, quadrature and what is known of limits."""

import numpy as np
import pytest

from adaptive.estimators.sequences.nets.own_posterior import (
    LEAST_VARIANCE,
    OwnPrior,
    _Curvature,
    _Histories,
    _solved,
    drawn_own,
    settled,
)
from adaptive.estimators.sequences.nets.scoring import scored
from adaptive.estimators.sequences.nets.weights import Weights

HISTORIES = [np.array([0, 3, 3, 1, 4, 2, 0, 1, 1]), np.array([2, 2, 2]), np.zeros(0, dtype=np.int64)]


def about(cell, d=2, spread=0.3):
    rng = np.random.default_rng(0)
    weights = Weights.drawn(cell, 5, 3, d, pooled=False, n_members=1, dtype=float, rng=rng)
    own = weights.own[0] + np.sqrt(spread) * rng.standard_normal(weights.own[0].shape)
    n_gates = own.shape[1] // d
    factors = [np.tril(rng.uniform(0.3, 1.0, (n_gates, d, d))) for _ in range(2)]
    return weights, OwnPrior(own.mean(axis=0), *factors), own


def dense(curvature, shape):
    """The matrix of products for each user, by products with unit vectors."""
    size = int(np.prod(shape))
    units = np.broadcast_to(np.eye(size).reshape(size, 1, *shape), (size, 3, *shape))
    return curvature.product(units).reshape(size, 3, size).transpose(1, 0, 2)


@pytest.mark.parametrize("cell", ["tanh", "gru"])
def test_products_are_those_of_the_gauss_newton_matrix(cell):
    """J by finite differences of logits of every event, and the Hessian of the softmax, summed densely."""
    weights, prior, own = about(cell)
    histories = _Histories(weights, prior, HISTORIES)
    run, states = histories.run(own)
    found = dense(_Curvature(histories, run, states), own.shape[1:])
    for u, history in enumerate(HISTORIES):
        alone = _Histories(weights, prior, [history])

        def logits(flat, alone=alone):
            return alone.run(flat.reshape(1, *own.shape[1:]))[1][0] @ weights.outputs[0].T

        flat = own[u].ravel()
        steps = np.eye(len(flat)) * 1e-5
        jacobian = np.stack([(logits(flat + step) - logits(flat - step)) / 2e-5 for step in steps], axis=-1)
        by_hand, move = np.eye(len(flat)), prior.spread(np.eye(len(flat)).reshape(-1, *own.shape[1:]))
        jacobian = jacobian @ move.reshape(len(flat), -1).T  # by z
        for at, j in zip(logits(flat), jacobian, strict=True):
            p = np.exp(at - at.max()) / np.exp(at - at.max()).sum()
            by_hand += j.T @ (np.diag(p) - np.outer(p, p)) @ j
        np.testing.assert_allclose(found[u], by_hand, atol=1e-7)


def test_draws_have_the_inverse_as_their_covariance_and_are_each_users_own():
    weights, prior, own = about("tanh")
    histories = _Histories(weights, prior, HISTORIES)
    covariances = np.linalg.inv(dense(_Curvature(histories, *histories.run(own)), own.shape[1:]))
    seeds = [(7, u) for u in range(3)]
    draws = drawn_own(weights, prior, HISTORIES, own, 20_000, seeds)
    for u in range(3):
        flat = (prior.standard(draws[:, u]) - prior.standard(own[u])).reshape(len(draws), -1)
        np.testing.assert_allclose(flat.mean(axis=0), 0.0, atol=0.02)
        np.testing.assert_allclose(flat.T @ flat / len(flat), covariances[u], atol=0.025)
    few = drawn_own(weights, prior, HISTORIES, own, 5, seeds)
    alone = drawn_own(weights, prior, HISTORIES[1:2], own[1:2], 5, seeds[1:2])
    np.testing.assert_allclose(few[:, 1], alone[:, 0], atol=1e-12)


@pytest.mark.parametrize("cell", ["tanh", "gru"])
def test_a_mode_has_no_slope_and_is_higher_than_where_it_began(cell):
    weights, prior, own = about(cell, d=3)
    modes, reached = settled(weights, prior, HISTORIES, own)
    histories = _Histories(weights, prior, HISTORIES)
    assert reached and (histories.log_posterior(modes) > histories.log_posterior(own)).all()
    slope = histories.slope(modes, *histories.run(modes))
    assert abs(slope).max() < 0.1 * abs(histories.slope(own, *histories.run(own))).max()
    np.testing.assert_allclose(modes[2], prior.mean, atol=1e-6)  # of whom nothing is known
    h = 1e-5
    for place in ((0, 0, 0), (0, 2, 1), (1, 1, 0)):
        up, down = modes.copy(), modes.copy()
        up[place] += h
        down[place] -= h
        by_steps = (histories.log_posterior(up) - histories.log_posterior(down))[place[0]] / (2 * h)
        by_matrix = np.zeros_like(slope[0])
        by_matrix[place[1:]] = 1.0
        moved = np.sum(slope[place[0]] * prior.standard(prior.mean + by_matrix))
        assert moved == pytest.approx(by_steps, abs=1e-6)


def test_one_parameter_agrees_with_quadrature():
    """D = 1: the predictive of the next item by draws, against the exact integral over the only own parameter."""
    rng = np.random.default_rng(3)
    weights = Weights.drawn("tanh", 3, 1, 1, pooled=False, n_members=1, dtype=float, rng=rng)
    prior = OwnPrior.alike(np.array([[0.2]]), np.array([0.1]))
    history = np.array([0, 2, 1, 0, 0, 2, 1, 1, 2, 0])
    nodes = np.linspace(-4, 4, 801)
    own = nodes[:, None, None, None]
    (logs,), _ = scored(weights, own, [history])
    posterior = np.exp(logs.sum(axis=1) - 0.5 * (nodes - 0.2) ** 2 / 0.1)
    posterior /= posterior.sum()
    mode, _ = settled(weights, prior, [history], np.full((1, 1, 1), 0.2))
    assert mode.item() == pytest.approx(nodes[posterior.argmax()], abs=0.03)
    draws = drawn_own(weights, prior, [history], mode, 4000, [(0, 0)])
    deviation = np.sqrt(posterior @ (nodes - posterior @ nodes) ** 2)
    assert draws.std() == pytest.approx(deviation, rel=0.1)

    def next_item(own, shares):
        return [float(shares @ np.exp(scored(weights, own, [np.append(history, i)])[0][0][:, -1])) for i in range(3)]

    exact, ours = next_item(own, posterior), next_item(draws, np.full(4000, 1 / 4000))
    assert sum(ours) == pytest.approx(1.0)
    np.testing.assert_allclose(ours, exact, atol=0.01)


def test_conjugate_gradients_solve_each_system():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(2, 3, 6, 6))
    matrices = roots @ roots.swapaxes(2, 3) + np.eye(6)
    b = rng.normal(size=(2, 3, 6, 1))
    b[1, 2] = 0.0
    np.testing.assert_allclose(_solved(lambda v: matrices @ v, b, 1e-5), np.linalg.solve(matrices, b), atol=1e-4)


def test_a_prior_is_fitted_by_maximum_and_its_coordinates_are_standard():
    rng = np.random.default_rng(0)
    rows, columns = (np.tril(rng.normal(size=(3, 2, 2))) + 2 * np.eye(2) for _ in range(2))
    true = OwnPrior(rng.normal(size=(6, 2)), rows, columns)
    z = rng.standard_normal((4000, 6, 2))
    own = true.mean + true.spread(z)
    np.testing.assert_allclose(true.standard(own), z, atol=1e-12)
    g = rng.normal(size=(6, 2))
    assert np.sum(true.pulled(g) * z[0]) == pytest.approx(np.sum(g * true.spread(z[0])))
    prior = OwnPrior.fitted(own, 3)
    for gate in range(3):  # only the product of the two factors is told
        covariances = [np.kron(one.rows[gate] @ one.rows[gate].T, one.columns[gate] @ one.columns[gate].T)
                       for one in (prior, true)]  # fmt: skip
        np.testing.assert_allclose(covariances[0], covariances[1], rtol=0.1, atol=0.05 * covariances[1].max())
    draws = own[:50] + 0.5 * rng.standard_normal((400, 50, 6, 2))  # of whom little is known
    wider = OwnPrior.fitted(own[:50], 3, draws).standard(own[:50]).std()
    assert wider < OwnPrior.fitted(own[:50], 3).standard(own[:50]).std() < 1.05
    alone = OwnPrior.fitted(own[:1], 3)  # one user differs from nobody
    assert np.isfinite(alone.standard(own[:2])).all()


def test_a_prior_counts_one_user_more_who_differs_by_as_much_as_users_do():
    """Of rows that no user moved only that one tells: a share 1 / (U + 1) of the mean square, in every gate."""
    own = np.zeros((4, 2 * 3, 3))  # two gates; users differ in the first row of each
    own[:, 0] = np.random.default_rng(0).normal(size=(4, 3))
    own[:, 3] = 5 * own[:, 0]
    prior, apart = OwnPrior.fitted(own, 2), own - own.mean(axis=0)
    for gate, part in enumerate((slice(0, 3), slice(3, 6))):
        level = np.mean(apart[:, part] ** 2)
        covariance = prior.rows[gate] @ prior.rows[gate].T
        np.testing.assert_allclose(np.diag(covariance)[1:], level / 5)
        np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0, atol=1e-12)
        assert covariance[0, 0] > level
    few = OwnPrior.fitted(own[:1], 2)  # one user differs from nobody
    np.testing.assert_allclose(few.rows @ few.rows.swapaxes(1, 2), [np.eye(3) * LEAST_VARIANCE / 2] * 2)
