"""Counts that scatter beyond Poisson's say less: a quasi-Poisson likelihood, its dispersion learnt."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from adaptive import PoissonFactorization


@pytest.fixture(scope="module")
def counts():
    """Pairs, Poisson counts, and counts about rates that scatter."""
    rng = np.random.default_rng(0)
    users, items = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    pairs = np.argwhere(rng.random((40, 30)) < 0.5)
    rate = np.exp(2.0 + 0.5 * np.sum(users[pairs[:, 0]] * items[pairs[:, 1]], axis=1))
    return pairs, rng.poisson(rate), rng.poisson(rate * rng.gamma(1.0, 1.0, len(rate)))


def test_counts_listed_twice_say_as_much_as_once_at_a_dispersion_of_two(counts):
    pairs, y, _ = counts
    once = PoissonFactorization(2, random_state=0, dispersion=1.0).fit(pairs, y)
    twice = PoissonFactorization(2, random_state=0, dispersion=2.0).fit(np.tile(pairs, (2, 1)), np.tile(y, 2))
    for one, other in zip(once.posterior_.sides, twice.posterior_.sides, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-6)
        np.testing.assert_allclose(one.spread, other.spread, atol=1e-6)
    assert once.log_evidence_ == pytest.approx(twice.log_evidence_, rel=1e-9)


def test_poisson_counts_are_left_alone_and_others_predict_better_by_what_is_learnt(counts):
    pairs, y, scattered = counts
    known = np.random.default_rng(1).random(len(pairs)) < 0.8
    plain = PoissonFactorization(2, random_state=0, dispersion=1.0)
    model = clone(plain).set_params(dispersion="auto").fit(pairs[known], y[known])
    assert model.dispersion_ == 1.0
    np.testing.assert_array_equal(model.predict(pairs), plain.fit(pairs[known], y[known]).predict(pairs))
    learnt = clone(model).fit(pairs[known], scattered[known])
    former = clone(plain).fit(pairs[known], scattered[known])
    assert learnt.dispersion_ > 1.5 > former.dispersion_ == 1.0
    assert learnt.score(pairs[~known], scattered[~known]) > former.score(pairs[~known], scattered[~known]) + 0.05
    error = [np.abs(one.predict(pairs[~known]) - scattered[~known]).mean() for one in (learnt, former)]
    assert error[0] < error[1]
    nothing = PoissonFactorization(2, random_state=0, zeros="observed").fit(pairs, scattered)
    assert nothing.dispersion_ == PoissonFactorization(2, inference="map").fit(pairs, scattered).dispersion_ == 1.0


def test_a_state_keeps_it_and_a_view_of_a_user_learns_by_it(counts):
    pairs, _, scattered = counts
    model = PoissonFactorization(2, random_state=0).fit(pairs[:-9], scattered[:-9])
    again = clone(model).restore(model.state())
    assert again.dispersion_ == model.dispersion_ > 1.0
    for one in (model, again):
        one.partial_fit(pairs[-9:], scattered[-9:])
    np.testing.assert_array_equal(model.predict(pairs), again.predict(pairs))
    at = np.random.default_rng(0).permutation(len(pairs))
    whole = PoissonFactorization(2, random_state=0).fit(pairs[at], scattered[at])
    grown = PoissonFactorization(2, random_state=0).fit(pairs[at[:-200]], scattered[at[:-200]])
    grown.partial_fit(pairs[at[-200:]], scattered[at[-200:]])  # a quarter more: begun as fit does
    assert grown.dispersion_ == pytest.approx(whole.dispersion_, rel=0.05)
    view = model.user(3)
    items = list(range(30))
    np.testing.assert_allclose(view.predict(items), model.predict([(3, item) for item in items]))
    little, much = (model.user(3) for _ in range(2))
    much.entries = much.entries.dispersed(1.0)
    for one in (little, much):
        one.partial_fit([5], [300])
    at_first = view.predict([5])[0]
    assert at_first < little.predict([5])[0] < much.predict([5])[0]  # one count says less where counts scatter
    given = model.predictive([(3, 5)]).given(0, 300)
    assert at_first < np.exp(given.mean[0] + 0.5 * given.variance[0])


def test_a_dispersion_is_positive():
    with pytest.raises(ValueError, match="dispersion must"):
        PoissonFactorization(dispersion=0.0).fit([("a", "b")], [1])
