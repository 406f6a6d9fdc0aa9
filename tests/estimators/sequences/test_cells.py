"""Cells of the collaborative nets: their formulas, with matrices of each user's own."""

import numpy as np
import pytest

from adaptive import CollaborativeRNN
from adaptive.estimators.sequences.nets.cells import CELLS
from adaptive.estimators.sequences.nets.scoring import states_after

RNG = np.random.default_rng(0)


def logistic(z):
    return 1.0 / (1.0 + np.exp(-z))


@pytest.mark.parametrize("users", [1, 3])  # 1: one matrix for all
def test_a_step_is_its_formula_with_three_matrices_of_each_user(users):
    d, (x, h) = 4, (RNG.normal(size=(2, 3, width)) for width in (12, 4))
    own = RNG.normal(size=(2, users, 3 * d, d))
    found = CELLS["gru"].step(own, x, h, np.empty((2, 3, 3 * d)))
    plain = CELLS["tanh"].step(own[:, :, :d], x[..., :d], h, np.empty((2, 3, d)))
    for member, user in np.ndindex(2, 3):
        new, remembered, content = own[member, user % users].reshape(3, d, d)
        by_new, by_remembered, by_content = x[member, user].reshape(3, d)
        state = h[member, user]
        w, r = logistic(new @ state + by_new), logistic(remembered @ state + by_remembered)
        c = np.tanh(content @ (r * state) + by_content)
        np.testing.assert_allclose(found[member, user], (1 - w) * state + w * c, atol=1e-12)
        np.testing.assert_allclose(plain[member, user], np.tanh(new @ state + by_new), atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fitted_gru_has_three_matrices_for_each_user_that_nobody_else_uses():
    histories = {user: RNG.choice(list("abcd"), 12).tolist() for user in ("ann", "ben", "cleo")}
    model = CollaborativeRNN(3, cell="gru", pooled=False, max_iter=3, random_state=0).fit(histories)
    net = model.belief_.posterior
    assert net.own.shape == (1, 3, 3 * 3, 3)
    assert net.inputs.shape[:2] == (1, 4 + 1) and net.outputs.shape[:2] == (1, 4)  # everybody's; one before all events
    assert np.abs(net.own[:, 0] - net.own[:, 1]).max() > 0
    other = net.own.copy()
    other[:, 1] += RNG.normal(size=other[:, 1].shape)  # ben's
    before, after = (states_after(net, own, model.belief_.data.codes) for own in (net.own, other))
    changed = np.abs(after - before).max(axis=(0, 2)) > 1e-9
    assert changed.tolist() == [False, True, False]
