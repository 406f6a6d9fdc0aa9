"""Optimal designs: the best of all by enumeration, textbook designs, constraints kept, blocks, priors, sentences."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from designs.optimal import approximate_design, coordinate_exchange, kiefer, optimal_design

CRITERIA = ["D", "A", "E", "I", "V", 0, 1, 2.5, np.inf]
POINTS = np.array([[1.0, 3.0, 9.0], [1.0, -2.0, 4.0]])


def quadratic(x):
    return np.column_stack([np.ones(len(x)), x, x**2])


def criterion(covariance, name, region):
    if name in ("I", "V"):
        rows = region if name == "I" else POINTS
        return np.mean(np.einsum("ni,ij,nj->n", rows, covariance, rows))
    return kiefer(covariance, {"D": 0, "A": 1, "E": np.inf}.get(name, name))


def value_of(rows, name, region, prior=0.0):
    information = rows.T @ rows + prior * np.eye(rows.shape[1])
    if np.linalg.matrix_rank(information) < len(information):
        return np.inf
    return criterion(np.linalg.inv(information), name, region)


def enumerated(rows, n_runs, name, prior=0.0, admits=lambda positions: True):
    multisets = itertools.combinations_with_replacement(range(len(rows)), n_runs)
    return min(value_of(rows[list(s)], name, rows, prior) for s in multisets if admits(s))


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("prior", [None, 0.3])
@pytest.mark.parametrize("method", ["modified", "fedorov"])
def test_the_best_design_by_enumeration_is_found(name, prior, method):
    rows = quadratic(np.array([-1.0, -0.6, -0.1, 0.3, 0.7, 1.0]))
    points = POINTS if name == "V" else None
    found = optimal_design(rows, 5, name, points=points, prior_precision=prior, method=method, random_state=0)
    assert found.converged and found.criterion == name
    np.testing.assert_allclose(found.value, enumerated(rows, 5, name, prior or 0.0), rtol=1e-9)
    chosen = rows[found.positions]
    np.testing.assert_allclose(found.value, value_of(chosen, name, rows, prior or 0.0), rtol=1e-9)
    np.testing.assert_allclose(found.information, chosen.T @ chosen + (prior or 0.0) * np.eye(3), atol=1e-12)
    assert 0 < found.efficiency <= 1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(["D", "A", "E", "I"]))
def test_random_candidates_by_enumeration(seed, name):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((7, 2)) * [1.0, 100.0]  # columns on scales of their own
    found = optimal_design(rows, 4, name, n_starts=20, random_state=seed)
    best = enumerated(rows, 4, name)
    assert found.value >= best * (1 - 1e-9)
    assert found.value <= best * 1.02  # twenty local searches: the best, or as good as
    assert found.efficiency <= best / found.value + 1e-9  # a bound that is one


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_factorial_is_optimal_for_main_effects(k):
    corners = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=k)))
    rows = np.column_stack([np.ones(len(corners)), corners])
    for name in ("D", "A", "E"):
        design = optimal_design(rows, 2**k, name, n_starts=5, random_state=0)
        np.testing.assert_allclose(design.value, 1 / 2**k, rtol=1e-9)
        np.testing.assert_allclose(design.information, 2**k * np.eye(k + 1), atol=1e-9)
        assert design.efficiency > 0.999
    two_levels = rows[(corners != 0).all(axis=1)]
    full = optimal_design(two_levels, 2**k, "D", max_replicates=1, random_state=0)
    np.testing.assert_array_equal(full.positions, range(2**k))


def test_mixtures_are_measured_at_the_corners_and_the_middles_of_edges():
    simplex = np.array([x for x in itertools.product(np.linspace(0, 1, 5), repeat=3) if abs(sum(x) - 1) < 1e-12])
    corners = optimal_design(simplex, 6, "D", random_state=0)
    np.testing.assert_allclose(simplex[corners.positions].sum(axis=0), [2, 2, 2])
    assert (simplex[corners.positions].max(axis=1) == 1).all()
    pairs = np.column_stack(
        [simplex, simplex[:, 0] * simplex[:, 1], simplex[:, 0] * simplex[:, 2], simplex[:, 1] * simplex[:, 2]]
    )
    scheffe = optimal_design(pairs, 6, "D", random_state=0)
    assert sorted(simplex[scheffe.positions].max(axis=1).tolist()) == [0.5] * 3 + [1.0] * 3
    assert scheffe.efficiency > 0.998


def test_a_quadratic_is_measured_at_both_ends_and_the_middle():
    rows = quadratic(np.linspace(-1, 1, 21))
    assert optimal_design(rows, 6, "D", random_state=0).positions.tolist() == [0, 0, 10, 10, 20, 20]
    weights, value, bound = approximate_design(rows, "A", n_runs=1, tol=1e-6)
    np.testing.assert_allclose(weights[[0, 10, 20]], [0.25, 0.5, 0.25], atol=2e-3)  # Kiefer: 1/4, 1/2, 1/4
    np.testing.assert_allclose(value, 8 / 3, rtol=1e-4)
    assert bound <= value


@pytest.mark.parametrize("name", ["D", "A", "I"])
def test_bounds_are_below_every_design(name):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 3))
    for prior in (None, 0.5):
        _, value, bound = approximate_design(rows, name, n_runs=6, prior_precision=prior, tol=1e-4)
        assert bound <= value * (1 + 1e-12) and value <= bound * 1.0002
        for _ in range(200):
            chosen = rows[rng.integers(0, 12, 6)]
            assert value_of(chosen, name, rows, prior or 0.0) >= bound


def test_constraints_are_kept_and_the_best_of_what_they_leave_is_found():
    rng = np.random.default_rng(3)
    rows, costs = rng.standard_normal((7, 2)), np.array([3.0, 1.0, 2.0, 5.0, 1.0, 4.0, 2.0])
    rules = {
        "max_replicates": lambda s: max(s.count(i) for i in s) <= 2,
        "include": lambda s: 4 in s and s.count(1) >= 1,
        "allowed": lambda s: 0 not in s and 3 not in s,
        "forbidden": lambda s: not {5, 6} <= set(s) and s.count(3) <= 1 and not {0, 3} <= set(s),
        "limits": lambda s: sum(costs[i] for i in s) <= 9 and sum(i > 4 for i in s) <= 2,
        "feasible": lambda s: sum(i % 2 for i in s) == 2,
    }
    given_ = {
        "max_replicates": 2,
        "include": [4, 1],
        "allowed": np.arange(7) % 3 != 0,
        "forbidden": [(5, 6), (3, 3), (0, 3)],
        "limits": ([costs, np.arange(7) > 4], [9.0, 2.0]),
        "feasible": lambda positions: (positions % 2).sum() == 2,
    }
    rules["allowed"] = lambda s: all(i % 3 for i in s)
    for name, rule in rules.items():
        for method in ("modified", "fedorov"):
            found = optimal_design(rows, 4, "D", n_starts=30, method=method, random_state=0, **{name: given_[name]})
            assert rule(tuple(found.positions.tolist())), name
            best = enumerated(rows, 4, "D", admits=rule)
            np.testing.assert_allclose(found.value, best, rtol=1e-9, err_msg=name)


def test_fewer_runs_than_unknowns_with_a_prior():
    rng = np.random.default_rng(1)
    rows, precision = rng.standard_normal((8, 4)), np.diag([1.0, 0.1, 3.0, 0.5])
    for name in ("D", "A", "E"):
        found = optimal_design(rows, 2, name, prior_precision=precision, n_starts=20, random_state=0)
        best = min(
            criterion(np.linalg.inv(rows[list(s)].T @ rows[list(s)] + precision), name, rows)
            for s in itertools.combinations_with_replacement(range(8), 2)
        )
        np.testing.assert_allclose(found.value, best, rtol=1e-9)
    assert optimal_design(rows, 2, prior_precision=np.diag(precision), random_state=0).n_exchanges >= 0


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["D", "A", "E", "I"])
def test_blocks_take_out_their_effects(intercept, name):
    x = np.array([-1.0, -0.5, 0.5, 1.0, 0.2])
    rows = np.column_stack([np.ones(5), x]) if intercept else np.column_stack([x, x**2])
    sizes = [2, 3]

    def value(first, second):
        labels = np.repeat([0, 1], sizes)
        effects = np.eye(2)[labels][:, 1 if intercept else 0 :]
        chosen = rows[list(first + second)]
        whole = np.hstack([effects, chosen])
        if np.linalg.matrix_rank(whole) < whole.shape[1]:
            return np.inf
        covariance = np.linalg.inv(whole.T @ whole)[effects.shape[1] :, effects.shape[1] :]
        return criterion(covariance, name, rows)

    multisets = [list(itertools.combinations_with_replacement(range(5), size)) for size in sizes]
    best = min(value(first, second) for first in multisets[0] for second in multisets[1])
    found = optimal_design(rows, 5, name, blocks=sizes, n_starts=20, random_state=0)
    assert found.blocks.tolist() == [0, 0, 1, 1, 1]
    np.testing.assert_allclose(found.value, best, rtol=1e-8)
    parts = tuple(found.positions[found.blocks == b].tolist() for b in (0, 1))
    np.testing.assert_allclose(found.value, value(*parts), rtol=1e-8)
    np.testing.assert_allclose(criterion(np.linalg.inv(found.information), name, rows), found.value, rtol=1e-8)


def test_a_given_set_of_runs_is_divided_into_orthogonal_blocks():
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    rows = np.column_stack([np.ones(8), corners])
    design = optimal_design(rows, 8, blocks=[4, 4], max_replicates=1, n_starts=5, random_state=0)
    assert sorted(design.positions.tolist()) == list(range(8))
    first = corners[design.positions[design.blocks == 0]]
    np.testing.assert_allclose(first.sum(axis=0), 0, atol=1e-12)  # main effects untouched by the blocks


@pytest.mark.parametrize("name", ["D", "A", "I", "E"])
def test_coordinate_exchange_reaches_what_the_list_reaches(name):
    levels = [np.linspace(-1, 1, 5), [-1.0, 1.0], [-1.0, 0.0, 1.0]]

    def expand(x):
        return np.column_stack([np.ones(len(x)), x, x[:, 0] ** 2, x[:, 0] * x[:, 1]])

    candidates = expand(np.array(list(itertools.product(*levels))))
    listed = optimal_design(candidates, 8, name, n_starts=20, random_state=0)
    free = coordinate_exchange(levels, 8, expand, name, n_starts=20, random_state=0)
    np.testing.assert_allclose(free.value, listed.value, rtol=0.01)
    np.testing.assert_allclose(free.value, value_of(expand(free.points), name, candidates), rtol=1e-8)
    assert free.efficiency is not None and free.positions is None


def test_coordinate_exchange_keeps_its_constraints():
    def expand(x):
        return np.column_stack([np.ones(len(x)), x])

    design = coordinate_exchange(
        [np.linspace(0, 1, 11)] * 2,
        6,
        expand,
        include=[[0.5, 0.5]],
        feasible=lambda x: x.sum(axis=1) <= 1.0 + 1e-9,
        random_state=0,
    )
    assert (design.points.sum(axis=1) <= 1.0 + 1e-9).all() and [0.5, 0.5] in design.points.tolist()
    many = coordinate_exchange([[-1, 1]] * 20, 24, expand, n_starts=1, random_state=0)  # a million settings
    assert many.efficiency is None and many.value < 1.15 / 24


def test_seeds_repeat_and_ties_do_not_depend_on_them():
    rows = quadratic(np.linspace(-1, 1, 9))
    designs = [optimal_design(rows, 7, "D", random_state=seed, n_starts=30).positions.tolist() for seed in (0, 0, 1)]
    assert designs[0] == designs[1] == designs[2]


def test_stopping_early_is_said():
    rows = quadratic(np.linspace(-1, 1, 31))
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter = 1"):
        assert not optimal_design(rows, 9, n_starts=1, max_iter=1, random_state=0).converged
    with pytest.warns(ConvergenceWarning, match="above its bound"):
        approximate_design(rows, "A", tol=1e-12, max_iter=3)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 3.0, 50.0, np.inf])
def test_kiefers_means_are_ordered_and_scale(p):
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    covariance = root @ root.T + 0.1 * np.eye(4)
    values = np.linalg.eigvalsh(covariance)
    np.testing.assert_allclose(kiefer(covariance * 1e200, p), 1e200 * kiefer(covariance, p), rtol=1e-12)
    assert values[0] <= kiefer(covariance, p) <= kiefer(covariance, p + 1) * (1 + 1e-12) <= values[-1] * (1 + 1e-11)
    assert kiefer(np.diag([2.0, 8.0]), 0) == pytest.approx(4) and kiefer(np.diag([2.0, 8.0]), 1) == pytest.approx(5)


LINE = np.column_stack([np.ones(4), np.arange(4.0)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: optimal_design(LINE, 1), "n_runs must be at least the number of unknowns, got 1 runs for 2 unknowns"),
        (lambda: optimal_design(LINE, 3, blocks=[1, 1, 1]), "2 unknowns and 2 block effects"),
        (lambda: optimal_design(np.ones((4, 2)), 3), "singular design: the best design found determines 1 of 2"),
        (lambda: optimal_design(LINE[:, :, None], 3), "candidates must be a table of model rows"),
        (lambda: optimal_design(LINE * np.nan, 3), "candidates contains nan"),
        (lambda: optimal_design(LINE, 0), "n_runs must be at least 1"),
        (lambda: optimal_design(LINE, 3, "G"), "criterion must be one of 'D', 'A', 'E', 'I', 'V' or a power"),
        (lambda: optimal_design(LINE, 3, -1.0), "criterion must be one of"),
        (lambda: optimal_design(LINE, 3, None), "criterion must be one of"),
        (lambda: optimal_design(LINE, 3, "V"), "points must be given with criterion 'V'"),
        (lambda: optimal_design(LINE, 3, "D", points=LINE), "and with no other"),
        (lambda: optimal_design(LINE, 3, "V", points=np.eye(3)), "points must have shape"),
        (lambda: optimal_design(LINE, 5, max_replicates=1), "n_runs must be at most 4"),
        (lambda: optimal_design(LINE, 3, max_replicates=0), "max_replicates must be at least 1"),
        (lambda: optimal_design(LINE, 3, include=[4]), "include must hold positions between 0 and 3"),
        (lambda: optimal_design(LINE, 1, prior_precision=1.0, include=[0, 1]), "include must hold at most n_runs = 1"),
        (lambda: optimal_design(LINE, 3, include=[0, 1], forbidden=[(0, 1)]), "position 1 breaks them"),
        (lambda: optimal_design(LINE, 3, forbidden=[(0, 1, 2)]), "forbidden must hold pairs of positions"),
        (lambda: optimal_design(LINE, 3, forbidden=[(0, 9)]), "forbidden must hold positions between"),
        (lambda: optimal_design(LINE, 3, allowed=[1, 0, 1, 1]), "allowed must be an array of booleans"),
        (lambda: optimal_design(LINE, 3, limits=[1, 2]), "limits must be a pair"),
        (lambda: optimal_design(LINE, 3, limits=([1, 1, 1, -1], 2)), r"limits\[0\] must be >= 0"),
        (lambda: optimal_design(LINE, 3, limits=([1, 1, 1, 1], 2)), "no design of 3 runs was found"),
        (lambda: optimal_design(LINE, 3, feasible=lambda positions: False), "no design of 3 runs was found"),
        (lambda: optimal_design(LINE, 3, feasible=[0]), "feasible must be a function"),
        (lambda: optimal_design(LINE, 3, blocks=[2, 2]), "blocks must be sizes that add up to n_runs = 3"),
        (lambda: optimal_design(LINE, 3, method="genetic"), "method must be one of"),
        (lambda: optimal_design(LINE, 3, prior_precision=-1.0), "no negative eigenvalue"),
        (lambda: optimal_design(LINE, 3, prior_precision=np.eye(3)), "prior_precision must have shape"),
        (lambda: approximate_design(LINE, "E"), "criterion must be one of"),
        (lambda: approximate_design(np.ones((4, 2))), "candidates must span all 2 unknowns"),
        (lambda: kiefer([[1.0, 2.0], [0.0, 1.0]], 1), "covariance must be symmetric"),
        (lambda: kiefer(-np.eye(2), 1), "covariance must be positive definite"),
        (lambda: kiefer(np.eye(2), -1), "p must be 0 or larger"),
        (lambda: kiefer([1.0], 1), "covariance must be a square matrix"),
        (lambda: coordinate_exchange([], 3, np.asarray), "levels must be a list"),
        (lambda: coordinate_exchange([[0.0, 1.0]], 3, lambda x: x[0]), "what expand returns must have shape"),
        (lambda: coordinate_exchange([[0.0, 1.0]], 3, np.asarray, feasible=lambda x: x), "feasible must return"),
        (
            lambda: coordinate_exchange([[0.0, 1.0]], 3, np.asarray, feasible=lambda x: x[:, 0] > 2),
            "feasible admits none",
        ),
        (lambda: coordinate_exchange([[0.0, 1.0]], 1, np.asarray, include=[[0], [1]]), "include must hold at most"),
    ],
)
def test_bad_input_ends_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_bound_on_determinants_is_as_tight_as_kiefer_and_wolfowitz_have_it():
    """|M*|^(1/d) <= |M|^(1/d) exp(max_i g_i - 1) for equal weights: the d-th root of the bound on ln|M|, no less."""
    x = np.linspace(-1, 1, 9)
    rows = np.column_stack([np.ones(9), x, x**2])
    _, value, bound = approximate_design(rows, n_runs=3, max_iter=1, warn=False)
    information = 3 * rows.T @ rows / 9
    leverage = np.einsum("ni,ij,nj->n", rows, np.linalg.inv(information), rows)
    assert value == pytest.approx(np.linalg.det(information) ** (-1 / 3))
    assert bound == pytest.approx(value * np.exp(1 - leverage.max()))
    best = np.linalg.det(3 * rows[::4].T @ rows[::4] / 3) ** (-1 / 3)  # thirds at -1, 0 and 1
    assert 0.5 * best < bound < best < value
