"""Lazy pools are the written-out pools, position by position, and the library's own functions take them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaptive import pool as library
from designs.pool import Joined, Pairs, Product, RowProduct, grid

LISTS = st.lists(st.integers(0, 99), min_size=1, max_size=5, unique=True)


@settings(max_examples=40, deadline=None)
@given(factors=st.lists(LISTS, min_size=1, max_size=3), seed=st.integers(0, 99))
def test_products_are_those_of_itertools(factors, seed):
    pool, written = Product(*factors), list(itertools.product(*factors))
    assert list(pool) == written and len(pool) == len(written)
    positions = np.random.default_rng(seed).integers(0, len(pool), 7)
    assert library.take(pool, positions) == [written[i] for i in positions]
    assert library.labels(pool, positions) == [written[i] for i in positions]
    np.testing.assert_array_equal(pool.positions([written[i] for i in positions]), positions)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 60))
def test_pairs_are_the_combinations(n):
    assert list(Pairs(range(n))) == list(itertools.combinations(range(n), 2))


def test_pairs_of_very_many_items_are_exact():
    n = 3_000_000_000 // 2
    pool = Pairs(range(n))
    positions = np.array([0, n - 2, n - 1, len(pool) // 2, len(pool) - 2, len(pool) - 1])
    pairs = pool.take(positions)
    assert pairs[:3] == [(0, 1), (0, n - 1), (1, 2)] and pairs[-2:] == [(n - 3, n - 1), (n - 2, n - 1)]
    for (i, j), position in zip(pairs, positions.tolist(), strict=True):
        assert 0 <= i < j < n and i * (2 * n - i - 1) // 2 + j - i - 1 == position


def test_users_times_pairs_are_flat_tuples():
    pool = Product(["Ann", "Bob"], Pairs(np.arange(4)))
    written = [(user, *pair) for user in ("Ann", "Bob") for pair in itertools.combinations(range(4), 2)]
    assert list(pool) == written
    assert all(type(part) is not np.int64 for entry in pool for part in entry)  # plain data, fit for a log


def test_ten_million_pairs_cost_nothing():
    pool = Product(range(100_000), range(100_000))
    assert len(pool) == 10**10 and pool.take([10**10 - 1]) == [(99_999, 99_999)]
    assert pool[-1] == (99_999, 99_999)


@pytest.mark.parametrize("combine", ["concatenate", "multiply"])
@pytest.mark.parametrize("kinds", [(0, 0, 0), (1, 0, 0), (0, 1, 1)])
def test_rows_are_put_together_from_their_factors(combine, kinds):
    rng = np.random.default_rng(0)
    tables = [np.round(rng.standard_normal(shape), 2) * (rng.random(shape) < 0.6) for shape in ((3, 2), (2, 3), (4, 2))]
    factors = [sparse.coo_array(t) if kind else t for t, kind in zip(tables, kinds, strict=True)]
    pool = RowProduct(*factors, combine=combine)
    join = np.concatenate if combine == "concatenate" else lambda rows: np.kron(np.kron(rows[0], rows[1]), rows[2])
    written = np.array([join(rows) for rows in itertools.product(*tables)])
    positions = rng.integers(0, len(pool), 9)
    taken = library.take(pool, positions)
    assert sparse.issparse(taken) == any(kinds) and pool.shape == written.shape
    np.testing.assert_allclose(taken.toarray() if any(kinds) else taken, written[positions])
    index = library.labels(pool, positions)
    np.testing.assert_array_equal(np.ravel_multi_index(np.transpose(index), (3, 2, 4)), positions)


def test_a_grid_holds_the_corners():
    pool = grid([0.0, -1.0], [1.0, 1.0], [2, 3])
    np.testing.assert_allclose(pool.take(range(6)), [[0, -1], [0, 0], [0, 1], [1, -1], [1, 0], [1, 1]])
    assert len(grid(0.0, 1.0, 11)) == 11


def test_pools_are_joined_without_writing_them_out():
    rng = np.random.default_rng(0)
    one, other = RowProduct(np.eye(3), np.ones((2, 1))), rng.standard_normal((5, 4))
    joined = library.concatenate([one, other, one])
    assert isinstance(joined, Joined) and library.length(joined) == 17
    written = np.concatenate([one.take(range(6)), other, one.take(range(6))])
    positions = rng.integers(0, 17, 30)
    np.testing.assert_array_equal(library.take(joined, positions), written[positions])
    np.testing.assert_array_equal(joined.take([]), np.empty((0, 4)))
    tuples = Joined([Product([1], [2, 3]), [(4, 5)]])
    assert list(tuples) == [(1, 2), (1, 3), (4, 5)] and library.labels(tuples, [2, 0]) == [(4, 5), (1, 2)]
    assert Joined([joined, one]).pools == [one, other, one, one]


def test_fingerprints_tell_contents_apart():
    pools = [
        Product([1, 2], [3]),
        Product([1], [2, 3]),
        Product([1, 2], [4]),
        Pairs([1, 2, 3]),
        Pairs([1, 2, 4]),
        RowProduct(np.eye(2), np.eye(2)),
        RowProduct(np.eye(2), np.eye(2), combine="multiply"),
        Joined([Pairs([1, 2, 3]), Pairs([1, 2, 3])]),
        grid(0, 1, 4),
        grid(0, 2, 4),
    ]
    prints = [library.fingerprint(pool) for pool in pools]
    assert len(set(prints)) == len(pools)
    assert library.fingerprint(Product([1, 2], [3])) == prints[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Product(), "at least one list"),
        (lambda: Product("abc"), r"factors\[0\] must be a list of labels"),
        (lambda: Product([1], np.eye(2)), r"factors\[1\] must be a list of labels"),
        (lambda: Pairs([1]), "at least two"),
        (lambda: RowProduct(np.ones(3)), r"factors\[0\] must be a table of numbers"),
        (lambda: RowProduct(np.eye(2), combine="add"), "combine must be one of"),
        (lambda: RowProduct(), "at least one table"),
        (lambda: Joined([]), "at least one pool"),
        (lambda: Product([1, 2]).take([2]), "positions must be between 0 and 1, got 2"),
        (lambda: Product([1, 2]).take([-1]), "positions must be between 0 and 1, got -1"),
        (lambda: Product([1, 2]).take([0.5]), "positions must be a list of integers"),
        (lambda: Product([1, 2]).positions([(3,)]), "entries must be tuples of the factors' labels, got 3"),
        (lambda: Product(Pairs([1, 2])).positions([(1, 2)]), "plain lists as factors"),
        (lambda: grid([0, 1], [1], 3), "corners of a box"),
        (lambda: grid(0, -1, 3), "lower <= upper"),
        (lambda: grid(0, 1, 0), "points must be positive integers"),
        (lambda: Product(*[range(2**16)] * 4), "more than can be counted"),
    ],
)
def test_bad_input_ends_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_positions_beyond_the_end_stop_an_iteration():
    with pytest.raises(IndexError):
        Product([1, 2])[2]
