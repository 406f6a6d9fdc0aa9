"""The number of components by held-out comparisons: none of what everybody likes alike, some of kinds of people."""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from adaptive import CollaborativePreference
from adaptive.estimators.preferences.belief import PreferenceBelief
from adaptive.loop.log.snapshots import pack, unpack

ITEMS = 8


def compared(seed, n_people, n_each, *, kinds, liked=1.5, own=0.1):
    """Comparisons of people of two kinds that like the opposite, or of people who like the same."""
    rng = np.random.default_rng(seed)
    taste = liked * rng.standard_normal(ITEMS)
    side = np.where(np.arange(n_people) % 2, -1.0, 1.0) if kinds else np.ones(n_people)
    utilities = side[:, None] * taste + own * rng.standard_normal((n_people, ITEMS))
    user = np.repeat(np.arange(n_people), n_each)
    first = rng.integers(0, ITEMS, len(user))
    second = (first + rng.integers(1, ITEMS, len(user))) % ITEMS
    won = rng.random(len(user)) < ndtr(utilities[user, first] - utilities[user, second])
    return np.column_stack([user, first, second]), np.where(won, 1, -1)


def test_kinds_of_people_need_components_and_are_predicted_better():
    rows, y = compared(0, 80, 8, kinds=True)
    model = CollaborativePreference(random_state=0).fit(rows, y)
    dimension = model.dimension_
    assert dimension.n_components >= 1 and model.posterior_.loadings.shape[1] == dimension.n_components
    assert dimension.gain > 2 * dimension.gain_std and not dimension.in_vain
    alone = CollaborativePreference(0, random_state=0).fit(rows, y)
    test, won = compared(0, 80, 20, kinds=True)
    assert model.log_predictive(test, won).mean() > alone.log_predictive(test, won).mean()


def test_people_who_are_alike_need_none_and_it_is_said():
    rows, y = compared(1, 60, 6, kinds=False, liked=1.0, own=0.0)
    with pytest.warns(UserWarning, match="no better by their own utilities than by one ranking for everybody"):
        model = CollaborativePreference(random_state=0).fit(rows, y)
    assert model.dimension_.n_components == 0 and model.dimension_.in_vain


def test_few_comparisons_are_not_held_out_and_a_given_number_is_not_chosen():
    rows, y = compared(0, 4, 8, kinds=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = CollaborativePreference(random_state=0).fit(rows, y)
    assert model.dimension_.n_components == 0 and not model.dimension_.log_scores
    given = CollaborativePreference(2, random_state=0).fit(rows, y)
    assert given.dimension_ is None and given.posterior_.loadings.shape[1] == 2
    start = 0.1 * np.ones((ITEMS, 3))
    begun = CollaborativePreference(init=start, max_iter=1, tol=0.0).fit(rows, y)
    assert begun.posterior_.loadings.shape[1] == 3


def test_the_choice_is_the_same_for_a_seed_and_after_a_copy_and_found_again_when_due():
    rows, y = compared(0, 40, 4, kinds=True)
    models = [CollaborativePreference(random_state=3, max_iter=5, tol=0.1).fit(rows[:100], y[:100]) for _ in range(2)]
    first = models[0].dimension_
    assert first == models[1].dimension_
    later = [copy.deepcopy(models[0]), models[1]]
    for model in later:
        model.partial_fit(rows[100:], y[100:])  # more than a quarter more
    assert later[0].dimension_ == later[1].dimension_
    assert later[0].dimension_.log_scores != first.log_scores


def test_a_choice_is_kept_in_the_state():
    rows, y = compared(0, 40, 4, kinds=True)
    belief = CollaborativePreference(random_state=0, max_iter=20, tol=1e-3).fit(rows, y).belief_
    before = replace(belief.settings, n_components="auto")
    again = PreferenceBelief.from_state(before, belief.data, unpack(pack(belief.state())))
    assert again.dimension == belief.dimension and again.settings.n_components == belief.dimension.n_components
    np.testing.assert_array_equal(again.posterior.mean, belief.posterior.mean)


@pytest.mark.parametrize("wrong", ["all", -1, 1.5])
def test_a_wrong_number_is_refused(wrong):
    rows, y = compared(0, 4, 8, kinds=True)
    with pytest.raises(ValueError, match="n_components"):
        CollaborativePreference(wrong).fit(rows, y)
