"""Factor of values' variances from solved endgames: 1 where the model holds, never in means, moves, proved nodes."""

import gc
import warnings
from functools import cache

import numpy as np
import pytest

from adaptive import GameTreeSearch
from adaptive.estimators.game_trees import endgames
from adaptive.estimators.game_trees.endgames import Endgame, factor_of, met
from adaptive.estimators.game_trees.predictive import Joint
from adaptive.estimators.game_trees.settings import TreeSettings
from adaptive.loop.log.snapshots import pack, unpack
from designs.games import ConnectFour, EndsTree, TicTacToe, random_tree

LATE = [3, 2, 3, 2, 3, 6, 0, 0, 0, 1, 1, 6, 6, 4, 4, 5, 5, 1, 2, 5]


@cache
def connect_four():
    return ConnectFour(LATE)


def searched(game, n=40, **options):
    return GameTreeSearch(game, results="value", random_state=0, **options).search(n)


def quietly(call, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return call(*arguments, **options)


def of_sizes(times, results="value"):
    """Endgames whose values are off by ``times`` what a table says, and the table's own settings."""
    settings = TreeSettings(branching=3, depth=6, results=results)
    rng, table = np.random.default_rng(0), settings.increments(1.0)
    found = []
    for k in range(200):
        left, mover = 1 + k % 6, k % 2
        mean, variance = table[mover, left]
        score = 0.5 * rng.standard_normal()
        played = score + np.sqrt(left) * rng.standard_normal(64)
        value = score + mean + np.sqrt(times * variance) * rng.standard_normal()
        if results == "sign":
            played, value = np.where(played > 0, 1.0, -1.0), 1.0 if value > 0 else -1.0
        found.append(Endgame(float(value), played, left, mover))
    return settings, found


@pytest.mark.parametrize("results", ["value", "sign"])
def test_the_factor_is_one_on_the_model_and_grows_with_what_is_wrong(results):
    values = [factor_of(*of_sizes(times, results), 1.0) for times in (1.0, 4.0, 16.0)]
    assert abs(np.log(values[0].value)) < 2.5 * values[0].error
    assert 1.0 <= values[0].value < values[1].value < values[2].value
    if results == "value":
        assert [np.log(one.value / times) for one, times in zip(values, (1.0, 4.0, 16.0), strict=True)] == (
            pytest.approx([0.0, 0.0, 0.0], abs=0.4)
        )


def test_endgames_in_another_order_have_the_same_factor():
    settings, found = of_sizes(4.0)
    assert factor_of(settings, found[::-1], 1.0) == factor_of(settings, found, 1.0)


@pytest.mark.parametrize("results", ["value", "sign"])
def test_trees_of_the_model_keep_their_bands(results):
    game = random_tree(3, 9, signs=results == "sign", random_state=1)
    factor = GameTreeSearch(game, results=results, random_state=0).search(5).variance_factor_
    assert factor.n > 20 and factor.value < np.exp(2 * factor.error)


def test_endgames_have_the_values_of_the_whole_tree():
    game = random_tree(2, 8, signs=False, random_state=3)
    levels = game.optimal_values()
    found, step = met(TreeSettings(game=game, results="value"))
    assert found and step > 0
    for one in found:
        assert one.left <= 4 and one.value in levels[8 - one.left] and one.mover == (8 - one.left) % 2
    assert len({(one.value, one.left) for one in found}) == len(found)  # each position once


def test_means_moves_and_scores_of_candidates_stay_what_they_were(monkeypatch):
    model = searched(connect_four())
    nodes = model.boundary(20)

    def said():
        joint = Joint(model.belief_.tree, nodes)
        return (
            model.predict(nodes), model.best_move_proba(), model.best_move(), model.descend(),
            joint.with_value_of(0)[1], model.select(nodes, 5, return_scores=True),
        )  # fmt: skip

    before = said()
    with monkeypatch.context() as patch:
        patch.setattr(endgames, "factor_of", lambda *_: endgames.VarianceFactor(9.0, 0.1, 1.0, 20))
        endgames._KNOWN.clear()
        wide = quietly(model.interval, nodes)
        after = said()
    endgames._KNOWN.clear()
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(np.ravel(other), np.ravel(one))
    narrow = Joint(model.belief_.tree, nodes)
    std = np.sqrt(narrow.values()[1][narrow.at])
    np.testing.assert_allclose(wide[:, 1] - wide[:, 0], 3.0 * 2 * 1.6448536269514722 * std, rtol=1e-9)


def test_what_is_proved_or_closed_is_not_widened():
    game = random_tree(2, 3, signs=True, random_state=0)
    model = GameTreeSearch(game, random_state=0).search(9)
    joint = Joint(model.belief_.tree, [])
    done = (joint.tree.nodes["closed"] == 1) | (joint.tree.nodes["sign"] != 0)
    assert 0 < done.sum() < len(done)
    narrow, wide = joint.values()[1], joint.wide_variances(9.0)
    np.testing.assert_array_equal(wide[done], narrow[done])
    np.testing.assert_allclose(wide[~done], 9.0 * narrow[~done])


def test_the_factor_is_learnt_once_for_a_game_and_found_again_after_a_save():
    game = ConnectFour(LATE)
    model = searched(game)
    found = model.variance_factor_
    assert found is searched(game, 3).variance_factor_  # learnt once
    again = GameTreeSearch(ConnectFour(LATE), results="value").restore(unpack(pack(model.state())))
    assert again.variance_factor_ == found
    nodes = [(move,) for move in model.root_moves()]
    np.testing.assert_array_equal(quietly(again.interval, nodes), quietly(model.interval, nodes))
    n = len(endgames._KNOWN)
    del game, model, again
    gc.collect()
    assert len(endgames._KNOWN) < n  # and forgotten with it


def test_a_large_factor_is_an_alarm_once_in_a_call(monkeypatch):
    monkeypatch.setattr(endgames, "factor_of", lambda *_: endgames.VarianceFactor(4.5, 0.1, 1.0, 20))
    model = searched(TicTacToe(), 5)
    with pytest.warns(UserWarning, match="4.5 times as large") as said:
        model.interval([(), (0,)])
    assert len([one for one in said if "times as large" in str(one.message)]) == 1


class Endless:
    """Random play never ends."""

    branching, depth, start = 2, 5, 0

    def moves(self, state):
        return [0, 1]

    def play(self, state, move):
        return 2 * state + move + 1

    def result(self, state):
        return None

    def player(self, state):
        return 1


@pytest.mark.parametrize(
    "model",
    [
        GameTreeSearch(branching=3, depth=4).fit([(0,)], [1.0]),
        GameTreeSearch(Endless()).fit([(0,)], [1.0]),
        GameTreeSearch(EndsTree([1.0, -1.0], 2, 1)).fit([(0,)], [1.0]),
    ],
    ids=["no game", "no end", "two ends"],
)
def test_without_endgames_there_is_no_factor(model):
    assert model.variance_factor_ is None
    joint = Joint(model.belief_.tree, [()])
    assert model.predict([()], return_std=True)[1][0] == np.sqrt(joint.values()[1][0])


def test_states_that_cannot_be_hashed_are_solved_too():
    class Lists:
        __hash__ = None
        branching, depth, start = 9, 9, [[], []]

        def moves(self, state):
            return [k for k in range(9) if k not in state[0] and k not in state[1]]

        def play(self, state, move):
            own = [list(side) for side in state]
            own[len(own[0]) > len(own[1])].append(move)
            return own

        def result(self, state):
            lines = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
            for side, won in zip(state, (1.0, -1.0), strict=True):
                if any(line <= set(side) for line in lines):
                    return won
            return None if len(state[0]) + len(state[1]) < 9 else 0.0

        def player(self, state):
            return 1 if len(state[0]) == len(state[1]) else -1

    model = searched(Lists(), 2)
    assert model.variance_factor_.n > 5


def test_games_of_few_values_say_that_bands_miss_and_others_do_not(recwarn):
    tree = searched(TicTacToe(), 20)
    with pytest.warns(UserWarning, match=r"values of this game are few \(-1, 0, 1\).*ours-bands-trees"):
        tree.interval([(0,)])
    won_or_lost = GameTreeSearch(random_tree(3, 9, signs=True, random_state=1), results="sign", random_state=0)
    recwarn.clear()
    won_or_lost.search(20).interval([(0,)])
    assert not [one for one in recwarn if "are few" in str(one.message)]
