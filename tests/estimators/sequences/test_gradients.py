"""The net's losses and closed gradients: finite differences, padding, what a prediction has seen."""

import dataclasses

import numpy as np
import pytest
from scipy.special import logsumexp

from adaptive.estimators.sequences.nets.batching import padded
from adaptive.estimators.sequences.nets.item_softmax import exact_losses, log_probabilities, sampled_losses
from adaptive.estimators.sequences.nets.scoring import scored, states_after
from adaptive.estimators.sequences.nets.unrolled import unroll
from adaptive.estimators.sequences.nets.weights import Weights

HISTORIES = [np.array([0, 3, 3, 1, 4, 2, 0]), np.array([2]), np.array([4, 4, 1, 0])]
KINDS = [("tanh", False), ("gru", False), ("tanh", True), ("gru", True)]


def drawn(cell, pooled, *, members=2, dtype=float, seed=0):
    rng = np.random.default_rng(seed)
    weights = Weights.drawn(cell, 5, 3, 4, pooled=pooled, n_members=members, dtype=dtype, rng=rng)
    own = weights.own + 0.3 * rng.standard_normal(weights.own.shape).astype(dtype)  # of each user another
    return dataclasses.replace(weights, own=own)


def run_of(weights, own):
    inputs, targets, lengths = padded(HISTORIES)
    there = np.arange(len(inputs))[:, None] < lengths
    start = np.full((weights.n_members, len(HISTORIES), weights.n_components), 0.1, own.dtype)
    run = unroll(weights.cell, own, weights.rows_of(inputs), start, lengths)
    states = np.ascontiguousarray(np.moveaxis(run.after, 1, 0)[:, there])
    return run, states, inputs, targets[there], there


def loss(weights):
    """Of each member, the sum over all events."""
    _, states, _, wanted, _ = run_of(weights, weights.own)
    return -log_probabilities(weights.outputs, states, wanted).sum(axis=1)


def differences(weights, name, function):
    """Central differences of member 1's loss by each entry of its array ``name``."""
    found = np.zeros_like(getattr(weights, name))
    for place in np.ndindex(*found.shape[1:]):
        values = []
        for step in (1e-5, -1e-5):
            moved = getattr(weights, name).copy()
            moved[(1, *place)] += step
            values.append(function(dataclasses.replace(weights, **{name: moved}))[1])
        found[(1, *place)] = (values[0] - values[1]) / 2e-5
    return found[1]


@pytest.mark.parametrize(("cell", "pooled"), KINDS)
def test_gradients_are_those_of_finite_differences(cell, pooled):
    weights = drawn(cell, pooled)
    run, states, inputs, wanted, there = run_of(weights, weights.own)
    slopes = exact_losses(weights.outputs, states, wanted)
    np.testing.assert_allclose(slopes.losses, loss(weights), rtol=1e-12)
    by_after = np.zeros_like(run.after)
    np.moveaxis(by_after, 1, 0)[:, there] = slopes.by_states
    by_inputs, by_own = run.gradients(by_after)
    by_rows = np.zeros_like(weights.inputs)
    for t, b in zip(*np.nonzero(there), strict=True):
        by_rows[:, inputs[t, b]] += by_inputs[t, :, b]
    for name, closed in (("own", by_own), ("outputs", slopes.by_rows), ("inputs", by_rows)):
        np.testing.assert_allclose(closed[1], differences(weights, name, loss), rtol=1e-7, atol=1e-8, err_msg=name)


@pytest.mark.parametrize(("cell", "pooled"), KINDS)
def test_a_direction_forward_is_that_of_finite_differences(cell, pooled):
    weights = drawn(cell, pooled)
    v = np.random.default_rng(1).standard_normal(weights.own.shape)
    moved = run_of(weights, weights.own)[0].tangents(v)
    after = [run_of(weights, weights.own + step * v)[0].after for step in (1e-5, -1e-5)]
    there = run_of(weights, weights.own)[4]
    closed, by_steps = moved.transpose(1, 0, 2, 3), (after[0] - after[1]).transpose(1, 0, 2, 3) / 2e-5
    np.testing.assert_allclose(closed[:, there], by_steps[:, there], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_losses_are_those_of_the_formula_whatever_the_size_of_logits(scale):
    """Small logits are not lowered by their maximum, large ones are."""
    weights = drawn("gru", False, dtype=np.float32)
    _, states, _, wanted, _ = run_of(weights, weights.own)
    states = states * np.float32(scale)
    z = np.einsum("rnd,rid->rni", states.astype(float), weights.outputs.astype(float))
    logs = z - logsumexp(z, axis=2, keepdims=True)
    found = exact_losses(weights.outputs, states, wanted)
    np.testing.assert_allclose(found.losses, -logs[:, np.arange(len(wanted)), wanted].sum(axis=1), rtol=1e-5)
    errors = np.exp(logs) - np.eye(5)[wanted]
    np.testing.assert_allclose(found.by_states, errors @ weights.outputs, atol=1e-5)
    np.testing.assert_allclose(found.by_rows, errors.swapaxes(1, 2) @ states, atol=1e-5 * scale)
    picked = log_probabilities(weights.outputs, states, wanted)
    np.testing.assert_allclose(picked, logs[:, np.arange(len(wanted)), wanted], rtol=1e-5, atol=1e-6)


def test_a_sample_of_all_items_is_exact_but_for_its_correction_and_its_gradient_that_of_differences():
    weights = drawn("gru", False)
    _, states, _, wanted, _ = run_of(weights, weights.own)
    exact = exact_losses(weights.outputs, states, wanted)
    everything = sampled_losses(weights.outputs, states, wanted, np.arange(5), np.zeros(5))
    np.testing.assert_allclose(everything.losses, exact.losses)
    np.testing.assert_allclose(everything.by_states, exact.by_states, atol=1e-12)
    np.testing.assert_allclose(everything.by_rows, exact.by_rows, atol=1e-12)
    lowered = np.log([0.3, 0.1, 0.5, 0.2, 0.4])

    def by_sample(weights):
        return sampled_losses(weights.outputs, states, wanted, np.array([1, 4]), lowered).losses

    some = sampled_losses(weights.outputs, states, wanted, np.array([1, 4]), lowered)
    whole = np.zeros((5, 4))
    whole[some.rows] = some.by_rows[1]
    np.testing.assert_allclose(whole, differences(weights, "outputs", by_sample), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("cell", "pooled"), KINDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_padded_and_alone_agree_and_parts_carry_on(cell, pooled, dtype):
    weights = drawn(cell, pooled, dtype=dtype)
    tolerance = 1e-6 if dtype == "float32" else 1e-12
    together, states = scored(weights, weights.own, HISTORIES)
    for u, history in enumerate(HISTORIES):
        own = weights.own_of(np.array([u]))
        (alone,), state = scored(weights, own, [history])
        np.testing.assert_allclose(together[u], alone, atol=tolerance)
        np.testing.assert_allclose(states[:, [u]], state, atol=tolerance)
        half = len(history) // 2
        zero = np.zeros((2, 1, 4), dtype)
        begun = unroll(weights.cell, own, weights.rows_of(padded([history[: half + 1]])[0]), zero, np.array([half]))
        (rest,), _ = scored(
            weights, own, [history[half:]], start=begun.after[-1] if half else zero,
            latest=history[[half - 1]] if half else np.array([-1]),
        )  # fmt: skip
        np.testing.assert_allclose(rest, alone[:, half:], atol=tolerance)
    np.testing.assert_allclose(states_after(weights, weights.own, HISTORIES), states, atol=tolerance)


@pytest.mark.parametrize(("cell", "pooled"), KINDS)
def test_changing_an_event_moves_no_earlier_prediction_nor_its_own_state(cell, pooled):
    weights = drawn(cell, pooled)
    before, _ = scored(weights, weights.own, HISTORIES)
    changed = [history.copy() for history in HISTORIES]
    changed[0][3] = 2
    after, _ = scored(weights, weights.own, changed)
    np.testing.assert_array_equal(before[0][:, :3], after[0][:, :3])
    assert (before[0][:, 3:] != after[0][:, 3:]).all()  # it has another probability, and those behind it have seen it
    np.testing.assert_array_equal(before[2], after[2])
    total = sum(  # of what stands at the changed place: the prediction there has not seen it
        np.exp(scored(weights, weights.own, [np.append(HISTORIES[0][:3], item), *HISTORIES[1:]])[0][0][:, 3])
        for item in range(5)
    )
    np.testing.assert_allclose(total, 1.0)
