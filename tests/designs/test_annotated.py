"""Pairs of a row and a person: positions, names, prices, parts."""

import numpy as np
import pandas as pd
import pytest

from adaptive import pool as pools
from designs.pool import Annotated

TABLE = np.arange(8.0).reshape(4, 2)


def test_positions_and_pairs_are_each_others_inverse():
    pool = Annotated(TABLE, ["Ann", 7, "Cid"])
    pairs = [pool[k] for k in range(len(pool))]
    assert len(pool) == 12 and pairs[:4] == [(0, "Ann"), (0, 7), (0, "Cid"), (1, "Ann")]
    assert pool.positions(pairs).tolist() == list(range(12))
    part = pool.of([3, 0], ["Cid", 7])
    assert [part[0], part[1]] == [(3, "Cid"), (0, 7)] and pools.length(part) == 2
    assert list(pools.read(pool, 2, 5)) == [(0, "Cid"), (1, "Ann"), (1, 7)]


def test_parts_go_together_and_have_a_fingerprint_of_their_own():
    pool = Annotated(TABLE, ["Ann", "Bob"])
    both = pools.concatenate([pool.take([1]), pool.take([6, 0])])
    assert list(both) == [(0, "Bob"), (3, "Ann"), (0, "Ann")]
    assert pool.fingerprint() == Annotated(TABLE.copy(), ["Ann", "Bob"]).fingerprint()
    assert pool.fingerprint() != Annotated(TABLE, ["Bob", "Ann"]).fingerprint()
    with pytest.raises(ValueError, match="from one table"):
        pools.concatenate([pool.take([1]), Annotated(TABLE + 1, ["Ann", "Bob"])])


def test_labels_are_those_of_the_rows():
    frame = pd.DataFrame(TABLE, index=list("wxyz"))
    assert Annotated(frame, ["Ann", "Bob"]).labels([0, 3]) == [("w", "Ann"), ("x", "Bob")]


def test_prices_and_masks_are_by_person():
    pool = Annotated(TABLE, ["Ann", "Bob"])
    assert pool.cost({"Ann": 3.0, "Bob": 1.0}).tolist() == [3.0, 1.0] * 4
    assert pool.asked_of("Bob").tolist() == [False, True] * 4


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Annotated(TABLE, []), "at least one person"),
        (lambda: Annotated(TABLE, ["Ann", "Ann"]), "each person once, got 'Ann' twice"),
        (lambda: Annotated(TABLE, ["Ann"]).of([0], ["Eve"]), "annotators are 'Ann', got 'Eve'"),
        (lambda: Annotated(TABLE, ["Ann"]).of([4], ["Ann"]), "rows must be between 0 and 3, got 4"),
        (lambda: Annotated(TABLE, ["Ann"]).asked_of("Eve"), "annotators are 'Ann', got 'Eve'"),
        (lambda: Annotated(TABLE, ["Ann", "Bob"]).cost({"Ann": 1.0}), "'Bob' is missing"),
    ],
)
def test_bad_calls_are_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
