"""Scripts on game trees: every step at a small size, and the helpers that judge."""

import numpy as np
import pytest

from designs.games import ConnectFour, random_tree
from experiments.game_trees import connect_four, settings_tree, value_bands, which_leaf
from experiments.game_trees.rivals import uct
from experiments.script import Script


@pytest.mark.parametrize("script", [connect_four, settings_tree, value_bands, which_leaf])
def test_quick_modes(tmp_path, script):
    script.run(Script(script.__name__, tmp_path, quick=True))
    assert list((tmp_path / "figures").glob("*.png"))


def test_solved_positions_agree_with_a_win_in_one_and_a_threat():
    game = ConnectFour([0, 1, 0, 1, 0], columns=4, rows=4)  # the other player must stop column 0
    values = dict(zip(game.moves(game.start), connect_four.solved(game), strict=True))
    assert values[2] == values[3] == 1.0
    won = ConnectFour([0, 1, 0, 1, 0, 2], columns=4, rows=4)
    assert connect_four.solved(won)[won.moves(won.start).index(0)] == 1.0


def test_regret_and_uct_on_values():
    assert which_leaf.missed(np.array([1.0, -2.0]), 1) == (3.0, 1.0)
    assert which_leaf.missed(np.array([-1.0, -2.0]), 1) == (1.0, 0.0)
    game = random_tree(3, 3, signs=False, random_state=0)
    found = uct(game, [3000], 2.0, 0)
    assert game.optimal_values()[1][found.move[0]] == game.optimal_values()[0][0]
    assert which_leaf.scale_of(game) == pytest.approx(np.sqrt(3))
