"""Paired symbols: caches against dense sums, the bound against enumeration, every step an ascent."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, gammaln
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.pairs.inference.censored import Graph, climb_censored, started_censored
from adaptive.estimators.pairs.inference.censored_rows import curvature, log_sigmoid

ONES = (1.0, 1.0, 1.0)


def graph_of(counts, taken=None, refused=None):
    counts = np.asarray(counts, dtype=float)
    none = np.zeros_like(counts)
    taken, refused = (none if part is None else np.asarray(part, dtype=float) for part in (taken, refused))
    rows = np.nonzero(counts + taken + refused)
    c, p, m = (part[rows] for part in (counts, taken, refused))
    return Graph(rows, c, 0.5 * (c + p - m), c + p + m, counts.shape)


def random_state(seed, shape, k, fit_bias=True):
    """A posterior with random means, variances, s, t and xi*."""
    rng = np.random.default_rng(seed)
    now = started_censored(shape, k, (1.3, 0.7, 2.0), fit_bias, rng)
    sides = []
    for side in now.factors.sides:
        free = side.variance > 0
        mean, spread = side.mean.copy(), side.spread.copy()
        mean[:, free], spread[:, free] = (
            rng.normal(size=mean[:, free].shape),
            rng.uniform(0.2, 2, spread[:, free].shape),
        )
        sides.append(replace(side, mean=mean, spread=spread))
    selection = tuple(rng.dirichlet(np.ones(n)) for n in shape)
    dirichlet = tuple(rng.uniform(1, 4, n) for n in shape)
    return replace(
        now, factors=replace(now.factors, sides=tuple(sides)), selection=selection, dirichlet=dirichlet, shared=0.8
    )


def dense(now, graph, n_censored):
    """Every pair one by one: E a, E a^2, xi, B, trials and expected censored trials."""
    own, other = now.factors.sides
    mean = own.mean @ other.mean.T
    variance = (own.mean**2 + own.spread) @ other.spread.T + own.spread @ (other.mean**2).T
    square = mean**2 + variance
    on = np.zeros(graph.lengths, dtype=bool)
    on[graph.rows] = True
    xi = np.where(on, np.sqrt(square), now.shared)
    lam, logs = (np.vectorize(function)(xi) for function in (curvature, log_sigmoid))
    B = logs - lam * (square - xi**2) - xi / 2
    half, trials = np.zeros(graph.lengths), np.zeros(graph.lengths)
    half[graph.rows], trials[graph.rows] = graph.half, graph.trials
    w = n_censored * np.multiply.outer(*now.selection)
    return mean, square, lam, B, half, trials, w, on


CASES = {
    "plain": ([[2, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 3]], None, None),
    "shown": ([[2, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 3]], [[0, 1, 0]] * 4, [[0, 0, 2]] + [[0] * 3] * 3),
    "all seen": ([[1, 2], [3, 1]], None, None),
    "one user": ([[2, 0, 1]], None, None),
    "one item": ([[2], [0], [1]], None, None),
}


@pytest.mark.parametrize("fit_bias", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("n_censored", [0.0, 7.5])
@pytest.mark.parametrize("case", CASES)
def test_cached_sums_are_dense_ones(case, n_censored, fit_bias):
    graph = graph_of(*CASES[case])
    now = random_state(1, graph.lengths, 2, fit_bias)
    mean, square, lam, B, half, trials, w, on = dense(now, graph, n_censored)
    s, t = now.selection
    for side, turn in ((0, lambda table: table), (1, np.transpose)):
        energy, squares, mass, fit = now.surveyed(graph, side).T
        weights = (t, s)[side]
        np.testing.assert_allclose(energy, turn(B - mean / 2) @ weights, atol=1e-9)
        np.testing.assert_allclose(squares, turn(square * on) @ weights, atol=1e-9)
        np.testing.assert_allclose(mass, turn(on * 1.0) @ weights, atol=1e-12)
        np.testing.assert_allclose(fit, turn(trials * B + half * mean).sum(axis=1), atol=1e-9)
        solved = now.solved(graph, side, n_censored).factors.sides[side]
        own, other = now.factors.sides[side], now.factors.sides[1 - side]
        free = own.variance > 0
        for i in range(graph.lengths[side]):  # P and h as the densest formula has them
            weight = 2 * turn(lam * (trials + w))[i]
            second = np.einsum("jk,jl->jkl", other.mean, other.mean) + np.array([np.diag(v) for v in other.spread])
            P = np.einsum("j,jkl->kl", weight, second)
            h = turn(half - w / 2)[i] @ other.mean
            A = P[np.ix_(free, free)] + np.diag(1 / own.variance[free])
            x = np.linalg.solve(A, h[free] - P[np.ix_(free, ~free)] @ own.mean[i, ~free])
            np.testing.assert_allclose(solved.mean[i, free], x, atol=1e-9)
            np.testing.assert_allclose(solved.spread[i, free], 1 / np.diag(A), rtol=1e-9)
            np.testing.assert_array_equal(solved.mean[i, ~free], own.mean[i, ~free])
    off = np.multiply.outer(s, t) * ~on
    found = now.shared_over(graph).shared
    assert found == pytest.approx(now.shared if on.all() else np.sqrt(np.sum(off * square) / off.sum()), abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_the_bound_never_falls_step_by_step(case):
    graph = graph_of(*CASES[case])
    for seed, n_censored in ((0, 6.0), (1, 0.0), (2, 1.5)):
        now = started_censored(graph.lengths, 2, ONES, True, np.random.default_rng(seed)).counted(graph, n_censored)
        bound = now.bound(graph, n_censored)
        for _ in range(8):
            for name, arguments in (
                ("counted", (graph, n_censored)),
                ("selected", (graph, 0)),
                ("solved", (graph, 0, n_censored)),
                ("shared_over", (graph,)),
                ("selected", (graph, 1)),
                ("solved", (graph, 1, n_censored)),
                ("with_precisions", (2, (True, True, True))),
            ):
                now = getattr(now, name)(*arguments)
                reached = now.bound(graph, n_censored)
                assert reached >= bound - 1e-9, name
                bound = reached
        assert all(weights.sum() == pytest.approx(1.0) for weights in now.selection)


def log_evidence(counts, n_censored, fit_bias, n_nodes=11):
    """log p of an ordered stream, one component: censored pairs enumerated, both Dirichlets in closed form, the rest by
    nested Gauss-Hermite."""
    counts = np.asarray(counts)
    I, J = counts.shape
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    weights = weights / weights.sum()
    n_free = (I + J) * (2 if fit_bias else 1)
    grid = np.array(list(itertools.product(range(n_nodes), repeat=n_free)))
    x, p = nodes[grid], np.prod(weights[grid], axis=1)
    u, v = x[:, :I], x[:, I : I + J]
    b, c = (x[:, I + J : 2 * I + J], x[:, 2 * I + J :]) if fit_bias else (0 * u, 0 * v)
    a = u[:, :, None] * v[:, None, :] + b[:, :, None] + c[:, None, :]
    kept, lost = expit(a), expit(-a)
    total = 0.0
    for assigned in itertools.product(range(I * J), repeat=n_censored):
        n = np.bincount(assigned, minlength=I * J).reshape(I, J)
        logs = 0.0
        for row in (counts.sum(1) + n.sum(1), counts.sum(0) + n.sum(0)):
            logs += gammaln(len(row)) - gammaln(len(row) + row.sum()) + gammaln(1 + row).sum()
        total += np.exp(logs) * np.sum(p * np.prod(kept**counts * lost**n, axis=(1, 2)))
    return np.log(total)


@pytest.mark.parametrize(
    ("counts", "n_censored", "fit_bias", "exact", "best"),
    [([[2, 0]], 2, True, -4.31866, -5.02574), ([[2, 0], [0, 1]], 3, False, -9.17752, -10.09714)],
    ids=["one user", "two users"],
)
def test_the_bound_is_below_the_evidence_and_six_starts_come_near_the_best_known(
    counts, n_censored, fit_bias, exact, best
):
    assert log_evidence(counts, n_censored, fit_bias, 9 if fit_bias else 21) == pytest.approx(exact, abs=2e-4)
    graph, rng = graph_of(counts), np.random.default_rng(0)
    options = {"n_components": 1, "max_iter": 300, "tol": 1e-10}
    found = [
        climb_censored(graph, started_censored(graph.lengths, 1, ONES, fit_bias, rng), float(n_censored), **options)
        for _ in range(6)
    ]
    assert best - 0.02 < max(one.factors.bound for one in found) < exact


def test_relabelled_rows_permute_the_posterior_and_threads_change_no_bit():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.05, (1500, 700))
    start = started_censored(counts.shape, 3, ONES, True, rng)
    one, two = (climbed(graph_of(counts), start, n_jobs) for n_jobs in (1, 2))
    for a, b in zip(one.factors.sides, two.factors.sides, strict=True):
        np.testing.assert_array_equal(a.mean, b.mean)
        np.testing.assert_array_equal(a.spread, b.spread)
    order = rng.permutation(1500), rng.permutation(700)
    sides = [replace(s, mean=s.mean[o], spread=s.spread[o]) for s, o in zip(start.factors.sides, order, strict=True)]
    moved = replace(start, factors=replace(start.factors, sides=tuple(sides)))
    permuted = climbed(graph_of(counts[order[0]][:, order[1]]), moved, 1)
    for a, b, o in zip(one.factors.sides, permuted.factors.sides, order, strict=True):
        np.testing.assert_allclose(a.mean[o], b.mean, atol=1e-8)
    np.testing.assert_allclose(one.selection[1][order[1]], permuted.selection[1], rtol=1e-8)


def climbed(graph, start, n_jobs):
    with pytest.warns(ConvergenceWarning, match="stopped after 3 sweeps"):
        return climb_censored(graph, start, graph.total, n_components=3, max_iter=3, tol=0.0, n_jobs=n_jobs)


def test_means_of_zero_stay_and_rare_items_are_pruned_unless_messages_are_constant():
    counts = np.zeros((30, 12))
    counts[:, :6] = 3.0
    counts[0, 6:] = 1.0
    graph, still = graph_of(counts), started_censored((30, 12), 2, ONES, True, None)
    shares = {}
    for constant in (False, True):
        now = climb_censored(graph, still, graph.total, n_components=2, max_iter=400, tol=1e-9, constant=constant)
        assert np.all(now.factors.sides[0].mean[:, :2] == 0.0)
        shares[constant] = now.selection[1][6:].sum()
    assert shares[False] < 0.75 * shares[True]
