"""Training: seeds, stopping, resuming, samples of items, histories of any length."""

import numpy as np
import pytest

from adaptive.estimators.sequences.nets.batching import batches_of
from adaptive.estimators.sequences.nets.rmsprop import descend
from adaptive.estimators.sequences.nets.scoring import held_out_error
from adaptive.estimators.sequences.nets.training import Plan, Training
from adaptive.estimators.sequences.nets.weights import Weights
from adaptive.loop.log.snapshots import pack, unpack

PLAN = Plan(window=7, batch_size=3, learning_rate=0.03, patience=3, max_iter=6)


def histories(n_users=7, seed=0):
    """Everybody goes round in a circle of six; users of one half, the other way round."""
    rng = np.random.default_rng(seed)
    steps = [np.where(rng.random(rng.integers(20, 60)) < 0.9, 1 if u % 2 else -1, 2) for u in range(n_users)]
    return [(rng.integers(6) + np.cumsum(one)) % 6 for one in steps]


def begun(cell="gru", *, pooled=False, members=2, n_users=7, seed=0):
    rng = np.random.default_rng(seed)
    weights = Weights.drawn(cell, 6, n_users, 6, pooled=pooled, n_members=members, dtype=np.float32, rng=rng)
    return Training.begun(weights, rng)


def run(training, data, plan=PLAN, epochs=None):
    for done in training.epochs(data, plan):
        if done == epochs:
            break
    return training


def same(one, other):
    return pack(one.state()) == pack(other.state())


@pytest.mark.parametrize("options", [{}, {"pooled": True, "cell": "tanh"}], ids=["own", "pooled"])
@pytest.mark.parametrize("n_sampled", [None, 3])
def test_seeded_runs_are_the_same_and_so_is_one_that_was_stopped_and_goes_on(options, n_sampled):
    data, plan = histories(), Plan(**{**vars(PLAN), "n_sampled": n_sampled})
    whole = run(begun(**options), data, plan)
    assert same(whole, run(begun(**options), data, plan))
    stopped = run(begun(**options), data, plan, epochs=2)
    assert not same(whole, stopped)
    assert same(whole, run(Training.from_state(unpack(pack(stopped.state()))), data, plan))


def test_stopping_restores_the_best_of_each_member():
    own = {"learning_rate": 0.3, "max_iter": 40, "validation_fraction": 0.025}  # so fast that it gets worse
    data, plan = histories(), Plan(**{**vars(PLAN), **own})
    training = begun()
    n_seen = plan.trained_on(np.array([len(one) for one in data]))
    assert all(len(one) - n == 3 for one, n in zip(data, n_seen, strict=True))
    seen = [held_out_error(training.weights, data, n_seen) for _ in training.epochs(data, plan)]
    assert len(seen) < 40 and training.finished(plan)
    np.testing.assert_array_equal(training.errors, np.min(seen, axis=0))
    np.testing.assert_array_equal(held_out_error(training.best, data, n_seen), training.errors)
    assert (seen[-1] > training.errors).all() and (len(seen) - 1 - np.argmin(seen, axis=0) >= 3).all()


def test_what_is_learnt_is_the_way_round():
    plan = Plan(batch_size=4, window=20, learning_rate=0.03, patience=10, max_iter=30)
    others = histories(12, seed=1)
    for pooled in (False, True):
        found = run(begun(pooled=pooled, members=1, n_users=12), histories(12), plan).best
        assert held_out_error(found, others, np.full(12, 10))[0] < 0.9 < np.log(6)


def test_short_histories_train_too_and_users_without_events_stay_as_they_began():
    data = [np.array([1]), np.zeros(0, dtype=np.int64), np.array([0, 2, 4])]
    training = run(begun(n_users=3), data)
    first = begun(n_users=3).weights
    np.testing.assert_array_equal(training.weights.own[:, 1], first.own[:, 1])
    assert (training.weights.own[:, 2] != first.own[:, 2]).any() and len(training.trace) == 6
    assert training.trace[-1] < training.trace[0]  # in sample, as nothing is held out


def test_batches_hold_every_user_with_events_once():
    lengths = np.array([5, 0, 3, 9, 1, 2, 7])
    found = list(batches_of(lengths, 2, np.random.default_rng(0)))
    assert sorted(np.concatenate(found).tolist()) == [0, 2, 3, 4, 5, 6] and max(map(len, found)) == 2


def test_a_step_is_that_of_its_formula_and_leaves_other_rows_alone():
    rng = np.random.default_rng(0)
    theta, square, gradient = rng.normal(size=(2, 5, 3)), rng.random((2, 5, 3)), rng.normal(size=(2, 2, 3))
    moved, kept = theta.copy(), square.copy()
    descend(moved, kept, gradient, 0.1, np.array([1, 4]))
    m = 0.9 * square[:, [1, 4]] + 0.1 * gradient**2
    np.testing.assert_allclose(kept[:, [1, 4]], m)
    np.testing.assert_allclose(moved[:, [1, 4]], theta[:, [1, 4]] - 0.1 * gradient / (np.sqrt(m) + 1e-8))
    np.testing.assert_array_equal(moved[:, [0, 2, 3]], theta[:, [0, 2, 3]])
    whole, squares = theta.copy(), square.copy()
    descend(whole, squares, np.ones_like(theta), 0.1)
    np.testing.assert_allclose(whole, theta - 0.1 / (np.sqrt(0.9 * square + 0.1) + 1e-8))
