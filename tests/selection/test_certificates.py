"""Certificates against enumeration: what the best set tells is never above the bound."""

import itertools
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import entr
from sklearn.gaussian_process.kernels import RBF

import adaptive
from adaptive import (
    BayesianLogisticRegression,
    GaussianProcessRegressor,
    SparseLinearRegression,
    certificate,
    scorers,
)
from adaptive.estimators.imaging.dense_predictive import DenseBlockPredictive
from adaptive.linalg.relaxations import Budget, folded, frank_wolfe, leading
from adaptive.operators import Dense
from adaptive.potentials import Gaussian
from adaptive.predictive import (
    GaussianProjections,
    Mixture,
    StatedPredictive,
    SummedPredictive,
    Undecided,
    WeightedDraws,
)
from adaptive.selection import most_to_learn, select
from adaptive.selection.bounds import certificates
from adaptive.selection.bounds.exchanges import exchanged, in_order
from adaptive.selection.bounds.greedy import greedy

SLACK = 1e-9


class Believing:
    """An estimator by its predictive of positions."""

    def __init__(self, of):
        self.predictive = lambda candidates, *, target=None, random_state=None: of(np.asarray(candidates))


def half_log(covariance):
    return 0.5 * np.linalg.slogdet(np.eye(len(covariance)) + covariance)[1]


def rows_problem(rng, m, noise=0.3):
    """A linear model of as many, fewer or more unknowns than rows; and what a set tells."""
    d = int(rng.choice([2, 4, 20]))
    X, root = rng.standard_normal((m, d)) * rng.choice([0.1, 1.0, 5.0]), rng.standard_normal((d, d))
    K = X @ root @ root.T @ X.T / noise

    def of(i):
        return GaussianProjections.from_rows(X[i], np.zeros(d), root=root, likelihood=Gaussian(noise))

    return Believing(of), lambda B: half_log(K[np.ix_(B, B)])


def map_problem(rng, m):
    """A Gaussian process, whose covariance is stated, with the noise of each place."""
    x, noise = rng.uniform(0, 3, m), rng.uniform(0.05, 1.0, m)
    V = np.exp(-0.5 * (x[:, None] - x) ** 2)
    K = V / np.sqrt(np.outer(noise, noise))

    def of(i):
        likelihood = Gaussian(noise[i])
        return GaussianProjections(np.zeros(len(i)), np.diag(V)[i], lambda a, b: V[np.ix_(i[a], i[b])], likelihood)

    return Believing(of), lambda B: half_log(K[np.ix_(B, B)])


def blocks_problem(rng, m):
    """Blocks of one to three rows."""
    sizes = rng.integers(1, 4, m)
    ends = np.cumsum(sizes)
    A = rng.standard_normal((ends[-1], int(rng.choice([3, 12]))))
    K = A @ A.T

    def places(B):
        return np.concatenate([np.arange(ends[i] - sizes[i], ends[i]) for i in B])

    def of(i):
        operators = [Dense(np.zeros((sizes[k], 2))) for k in i]
        return DenseBlockPredictive(None, operators, 0.5, 0.5 * K[np.ix_(places(i), places(i))])

    return Believing(of), lambda B: half_log(K[np.ix_(places(B), places(B))])


def twins_problem(rng, m):
    """Every row twice, and a symmetric design: greedy and relaxation are full of ties."""
    x = np.linspace(-1, 1, (m + 1) // 2)
    X = np.repeat(np.stack([np.ones_like(x), x, x**2], axis=1), 2, axis=0)[:m]
    K = X @ X.T / 0.2

    def of(i):
        return GaussianProjections.from_rows(X[i], np.zeros(3), covariance=1.0, likelihood=Gaussian(0.2))

    return Believing(of), lambda B: half_log(K[np.ix_(B, B)])


def images_problem(rng, m):
    """Two independent unknowns that every candidate tells of."""
    first, second = rows_problem(rng, m), rows_problem(rng, m, noise=1.0)

    def of(i):
        return SummedPredictive([first[0].predictive(i), second[0].predictive(i)])

    return Believing(of), lambda B: first[1](B) + second[1](B)


PROBLEMS = [rows_problem, map_problem, blocks_problem, twins_problem, images_problem]


def best_set(told, m, allowed=None):
    """The largest information of the sets that are allowed."""
    return max(told(list(B)) for B in allowed or itertools.combinations(range(m), 3))


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_no_set_of_as_many_tells_more_than_the_bound(make):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(8, 12)), int(rng.integers(2, 5))
        model, told = make(rng, m)
        pool, chosen = np.arange(m), rng.choice(m, n, replace=False)
        best = best_set(told, m, itertools.combinations(range(m), n))
        found = [certificate(model, pool, chosen, n_iter=k) for k in (0, 1, 3, 20)]
        assert found[-1].information == pytest.approx(told(chosen), rel=1e-9, abs=1e-9), seed
        bounds = [one.bound for one in found]
        assert min(bounds) >= best - SLACK and bounds == sorted(bounds, reverse=True), seed
        assert 0 < found[-1].share <= 1 and found[-1].kind == "bound"
        assert found[-1].bound <= 1.35 * best, seed  # and it is no bound for nothing
        by_name = found[-1].bounds
        assert not by_name or (min(by_name.values()) >= best - SLACK and by_name[found[-1].by] == min(by_name.values()))


@pytest.mark.parametrize("make", PROBLEMS[:4], ids=lambda make: make.__name__)
def test_leading_eigenvalues_bound_what_every_set_tells(make, monkeypatch):
    monkeypatch.setattr(certificates, "MOST_ROWS", 0)
    for seed in range(15):
        rng = np.random.default_rng(200 + seed)
        m, n = int(rng.integers(8, 12)), int(rng.integers(2, 5))
        model, told = make(rng, m)
        pool, chosen, cost = np.arange(m), rng.choice(m, n, replace=False), rng.uniform(0.5, 2.0, m)
        best = best_set(told, m, itertools.combinations(range(m), n))
        sets = [list(B) for k in range(1, m + 1) for B in itertools.combinations(range(m), k)]
        dearest = best_set(told, m, [B for B in sets if cost[B].sum() <= cost[chosen].sum() + 1e-12])
        for k in (0, 1, 2, 160):
            monkeypatch.setattr(certificates, "LEADING", k)
            once, often = (certificate(model, pool, chosen, n_iter=n_iter) for n_iter in (1, 12))
            assert once.bounds["leading"] >= often.bounds["leading"] >= best - SLACK, (seed, k)
            assert certificate(model, pool, chosen, cost=cost).bounds["leading"] >= dearest - SLACK, (seed, k)


def test_leading_eigenvalues_prove_nearly_what_all_do_where_they_fall_quickly():
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((400, 200)) * 3 * (1 + np.arange(200)) ** -0.7)[:, None]
    budget, n = Budget(np.ones(400), 80.0), 80
    found = greedy(rows, budget)
    start = np.bincount(found.chosen, minlength=400).astype(float)
    every = frank_wolfe(rows, budget, start, r=n, n_iter=20).bound
    some = leading(rows, budget, start, r=n, k=40, n_iter=20)
    assert every < some.bound < every + 0.2 * (min(found.prefixes, found.tangent) - every)
    assert some.value <= some.bound and (np.diff(some.bounds) <= 0).all()
    # the tangent at the same weights, by the same eigenvalues, is the same
    one, both = leading(rows, budget, start, r=n, k=n, n_iter=1), frank_wolfe(rows, budget, start, r=n, n_iter=1)
    assert one.bound == pytest.approx(both.bound, rel=1e-9) and one.value == pytest.approx(both.value, rel=1e-9)


@pytest.mark.parametrize("make", PROBLEMS[:4], ids=lambda make: make.__name__)
def test_no_set_of_the_same_cost_repeated_or_allowed_tells_more(make):
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        m = 8
        model, told = make(rng, m)
        pool, chosen = np.arange(m), rng.choice(m, 3, replace=False)
        cost = rng.uniform(0.5, 2.0, m)
        sets = [list(B) for n in range(1, m + 1) for B in itertools.combinations(range(m), n)]
        affordable = [B for B in sets if cost[B].sum() <= cost[chosen].sum() + 1e-12]
        found = certificate(model, pool, chosen, cost=cost)
        assert found.bound >= best_set(told, m, affordable) - SLACK and found.cost == pytest.approx(cost[chosen].sum())

        mask = np.isin(pool, chosen) | (rng.random(m) < 0.5)
        inside = [B for B in sets if len(B) == 3 and mask[B].all()]
        masked = certificate(model, pool, chosen, mask=mask)
        assert masked.bound >= best_set(told, m, inside) - SLACK
        assert masked.bound <= certificate(model, pool, chosen).bound + SLACK
        left_out = certificate(model, pool, chosen, exclude=np.flatnonzero(~mask))
        assert left_out.bound == pytest.approx(masked.bound, rel=1e-12)

        again = certificate(model, pool, [0, 0, 1], repeat=True)
        multisets = [list(B) for B in itertools.combinations_with_replacement(range(m), 3)]
        assert again.bound >= best_set(told, m, multisets) - SLACK
        assert again.information == pytest.approx(told([0, 0, 1]))


def draws_problem(rng, m):
    """Two outcomes, of which a few draws are certain to different degrees; the information of a set by enumeration."""
    k = 6
    p = 1 / (1 + np.exp(-3 * rng.standard_normal((k, m))))
    table, weights = np.stack([1 - p, p], axis=-1), rng.dirichlet(np.ones(k))

    def told(B):
        joint = np.ones((k, 1))
        for i in B:
            joint = (joint[:, :, None] * table[:, i, None, :]).reshape(k, -1)
        return entr(weights @ joint).sum() - weights @ entr(joint).sum(axis=1)

    def of(i):
        return WeightedDraws(weights, table[:, i], [0, 1])

    return Believing(of), told


def test_of_discrete_outcomes_the_estimate_is_above_what_enumeration_finds():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model, told = draws_problem(rng, 9)
        chosen = select(model, np.arange(9), 3, scorer="information_gain")
        found = certificate(model, np.arange(9), chosen)
        assert found.information == pytest.approx(told(chosen), rel=1e-9)
        assert found.bound >= best_set(told, 9) - SLACK and 0 < found.share <= 1
        assert found.bound <= np.sort([told([i]) for i in range(9)])[-3:].sum() + SLACK, seed  # each alone
        assert found.kind == "estimate" and "estimate" in str(found) and "at least" not in str(found)


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_a_bound_does_not_depend_on_the_order_of_the_candidates(make):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model, told = make(rng, 10)
        pool, chosen, order = np.arange(10), np.array([1, 4, 7]), rng.permutation(10)
        straight = certificate(model, pool, chosen)
        turned = certificate(model, pool[order], np.argsort(order)[chosen])
        assert turned.bound == pytest.approx(straight.bound, rel=1e-9), seed
        assert turned.information == pytest.approx(straight.information, rel=1e-9)


def test_select_returns_the_certificate_of_its_choice_whatever_the_chunks():
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((60, 5))
    model = SparseLinearRegression()
    chosen, scores, found = model.select(pool, 4, return_scores=True, return_certificate=True, random_state=0)
    assert found.information == pytest.approx(scores.sum()) and found.kind == "bound"
    parts = model.select(pool, 4, return_certificate=True, chunk_size=7, random_state=0)
    assert parts[0].tolist() == chosen.tolist() and parts[1] == found
    labels = np.where(pool[:, 0] > 0, 1, -1)
    fitted = BayesianLogisticRegression().fit(pool[:30], labels[:30])
    estimate = fitted.select(pool, 2, return_certificate=True, random_state=0)[1]
    assert estimate.kind == "estimate" and 0 < estimate.share <= 1


def test_pending_candidates_are_not_counted_again():
    rng = np.random.default_rng(1)
    model, told = rows_problem(rng, 9)
    pool, pending = np.arange(9), np.array([0, 3])
    for chosen in ([1, 2], [4, 8]):
        found = certificate(model, pool, chosen, pending=pending)
        assert found.information == pytest.approx(told([*pending, *chosen]) - told(pending))
        best = max(told([*pending, *B]) for B in itertools.combinations(range(9), 2)) - told(pending)
        assert found.bound >= best - SLACK


def test_where_scales_are_integrated_a_mean_over_them_is_certified():
    parts = [rows_problem(np.random.default_rng(s), 8) for s in (0, 1)]
    model = Believing(lambda i: Mixture([0.25, 0.75], [part[0].predictive(i) for part in parts]))
    found = certificate(model, np.arange(8), [0, 1, 2])

    def told(B):
        return 0.25 * parts[0][1](B) + 0.75 * parts[1][1](B)

    assert found.information == pytest.approx(told([0, 1, 2])) and found.bound >= best_set(told, 8) - SLACK
    assert found.n_scales == 2 and "mean over 2 scales" in str(found)


def test_the_words_are_about_the_model_and_never_round_up():
    found = adaptive.Certificate(information=0.99996, bound=1.0, by="relaxation", kind="bound", n=2)
    for one in (found, adaptive.Certificate(0.5, 1.0, "prefixes", "estimate", 2, cost=3.0)):
        assert "of the information under this model" in str(one) and "best design" not in str(one)
    assert "99.9%" in str(found)


def test_what_is_wrong_is_said_in_one_line():
    model, _ = rows_problem(np.random.default_rng(0), 5)
    pool = np.arange(5)
    for chosen, options, message in [
        ([], {}, "chosen is empty"),
        ([7], {}, "chosen contains 7"),
        ([1, 1], {}, "chosen holds a position twice; repeat=True allows that"),
        ([1], {"exclude": [1]}, "chosen contains 1, which mask or exclude do not allow"),
        ([1], {"n_iter": -1}, "n_iter"),
        ([1], {"cost": [1, 0, 1, 1, 1]}, "cost must be finite and > 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            certificate(model, pool, chosen, **options)
    with pytest.raises(ValueError, match="cannot tell candidates apart yet"):
        certificate(Believing(lambda i: Undecided(len(i))), pool, [1])
    with pytest.raises(ValueError, match="a certificate needs given"):
        stated = SimpleNamespace(predictive=lambda *a, **k: StatedPredictive(
            outcomes=[0, 1], outcome_entropy=np.ones(5), expected_entropy=np.zeros(5)))  # fmt: skip
        certificate(stated, pool, [1])


def test_twins_are_counted_once_in_the_prefixes(monkeypatch):
    """Every row twice, which the belief says and its rows do not: the bound holds, and is lower for knowing it."""

    def twins(self):
        pairs = np.arange(len(self) - len(self) % 2).reshape(-1, 2)
        return pairs, np.array([half_log(self.covariance(pair, pair) / 0.2) for pair in pairs])

    monkeypatch.setattr(GaussianProjections, "whitened", lambda self: None)
    lower = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model, told = twins_problem(rng, 10)
        pool, chosen = np.arange(10), rng.choice(10, 4, replace=False)
        cost = rng.uniform(0.5, 2.0, 10)
        plain, dear = (certificate(model, pool, chosen, cost=one) for one in (None, cost))
        with monkeypatch.context() as known:
            known.setattr(GaussianProjections, "twins", twins)
            found = certificate(model, pool, chosen)
            assert certificate(model, pool, chosen, cost=cost).bound == dear.bound  # of unequal costs they say nothing
        best = best_set(told, 10, itertools.combinations(range(10), 4))
        assert best - SLACK <= found.bounds["prefixes"] <= plain.bounds["prefixes"]
        lower += found.bounds["prefixes"] < plain.bounds["prefixes"] - 0.01
    assert lower >= 3


# ---------------------------------------------------------------------------------------------- exchanges


def half_log_of(rows, B):
    flat = rows[list(B)].reshape(-1, rows.shape[2])
    return half_log(flat @ flat.T)


def of_rows(rows, i):
    return GaussianProjections.from_rows(rows[i], np.zeros(6), covariance=1.0, likelihood=Gaussian(1.0))


def test_exchanges_never_lose_and_the_batch_keeps_its_order_and_its_sum():
    better = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((40, int(rng.choice([1, 2])), 6))
        chosen = rng.choice(40, 3, replace=False).tolist()
        told = partial(half_log_of, rows)
        members = exchanged(rows, chosen)
        assert len(set(members)) == 3 and told(members) >= told(chosen)
        for k, i in itertools.product(range(3), set(range(40)) - set(members)):  # no exchange is left
            assert told([*members[:k], i, *members[k + 1 :]]) <= told(members) + 1e-8
        order, gains = in_order(rows, members)
        assert sorted(order) == sorted(members) and gains.sum() == pytest.approx(told(members))
        cost = rng.uniform(1, 2, 40)
        thrifty = exchanged(rows, chosen, cost)
        assert cost[thrifty].sum() <= cost[chosen].sum() and told(thrifty) >= told(chosen)
        single = partial(half_log_of, rows[:, :1])
        model = Believing(partial(of_rows, rows[:, 0]))
        batch, scores = select(model, np.arange(40), 4, scorer="information_gain", return_scores=True)
        greedy = []
        for _ in range(4):
            greedy.append(max(set(range(40)) - set(greedy), key=lambda i: single([*greedy, i])))
        assert scores.sum() == pytest.approx(single(batch)) and single(batch) >= single(greedy) - SLACK
        better += single(batch) > single(greedy) + 1e-6
        own = lambda predictive, random_state: scorers.information_gain(predictive)  # noqa: E731
        assert select(model, np.arange(40), 4, scorer=own).tolist() == greedy
    assert better >= 5


def test_a_batch_from_candidates_that_are_all_alike_covers_the_whole_map():
    """More than the short list holds, and single scores that do not tell them apart."""
    places = np.linspace(0.0, 1.0, 1500)[:, None]
    model = GaussianProcessRegressor(RBF(0.05), optimizer=None, alpha=0.1)
    chosen, scores, found = model.select(places, 12, return_scores=True, return_certificate=True)
    assert np.histogram(places[chosen, 0], 4, (0, 1))[0].tolist() == [3, 3, 3, 3]
    assert found.share > 0.97 and scores.sum() == pytest.approx(found.information)
    assert model.select(places, 12, chunk_size=400).tolist() == chosen.tolist()


# ---------------------------------------------------------------------------------------------- the relaxation


def test_the_folded_sum_is_the_information_of_every_set_and_never_convex():
    rng = np.random.default_rng(0)
    for _ in range(50):
        d, r = int(rng.integers(2, 7)), int(rng.integers(1, 7))
        A, B = (rng.standard_normal((d, d)) * rng.choice([0.1, 1, 3]) for _ in range(2))
        X, Y = A @ A.T, B @ B.T

        def phi(M, r=r):
            return folded(np.linalg.eigvalsh(M), r)[0]

        assert phi(0.5 * (X + Y)) >= 0.5 * (phi(X) + phi(Y)) - 1e-10
        few = rng.standard_normal((min(r, d), d))
        assert phi(few.T @ few) == pytest.approx(half_log(few @ few.T))
        assert phi(X) <= half_log(X) + 1e-10
        eigenvalues, vectors = np.linalg.eigh(X)
        slopes = folded(eigenvalues, r)[1]
        ahead = (phi(X + 1e-6 * Y) - phi(X)) / 1e-6
        assert ahead == pytest.approx(0.5 * np.trace((vectors * slopes) @ vectors.T @ Y), rel=1e-3)


def test_frank_wolfe_reaches_the_relaxation_from_both_sides():
    rows = np.random.default_rng(3).standard_normal((60, 1, 8))
    start = np.zeros(60)
    start[:5] = 1.0
    found = frank_wolfe(rows, Budget(np.ones(60), 5.0), start, r=5, n_iter=400)
    assert found.value <= found.bound <= 1.001 * found.value
    assert found.weights.sum() == pytest.approx(5.0) and found.weights.min() >= 0 and found.weights.max() <= 1 + 1e-12
    assert (np.diff(found.bounds) <= 0).all()


def test_a_budget_is_filled_by_worth_and_ties_share():
    budget = Budget(np.array([1.0, 2.0, 1.0, 1.0]), 2.5)
    gains = np.array([3.0, 4.0, 2.0, 0.1])
    assert budget.most(gains) == pytest.approx(3.0 + 0.75 * 4.0)
    np.testing.assert_allclose(budget.best(gains), [1.0, 0.5, 0.5, 0.0])
    assert Budget(np.ones(3), 2.0, repeat=True).most(np.array([1.0, 3.0, 2.0])) == 6.0
    assert Budget(np.ones(3), 5.0).best(np.ones(3)).tolist() == [1.0, 1.0, 1.0]


# -------------------------------------------------------------------------------------- what the next answers tell


def test_what_the_next_answers_tell_is_at_most_what_is_said():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model, told = rows_problem(rng, 9)
        best = best_set(told, 9)
        for enough in (None, 0.5 * best, 1.1 * best, 10 * best):
            most, kind = most_to_learn(model, np.arange(9), 3, enough=enough)
            assert most >= best - SLACK and kind == "bound"
        model, told = draws_problem(rng, 9)
        assert most_to_learn(model, np.arange(9), 3)[0] >= best_set(told, 9) - SLACK
    place = GaussianProcessRegressor(optimizer=None)
    assert most_to_learn(place, np.zeros((2, 1)), 5, exclude=[0, 1]) == (0.0, "bound")
