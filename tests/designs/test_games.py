"""Games keep their rules: wins against a plain board, captures, ko, suicide and area; trees of ends."""

from itertools import pairwise

import numpy as np
import pytest

from designs.games import ConnectFour, EndsTree, Go, TicTacToe, p_game, random_tree
from experiments.game_trees.rivals import alpha_beta, flat, uct


def test_connect_four_against_a_plain_board():
    rng = np.random.default_rng(0)
    game = ConnectFour()
    for _ in range(60):
        state, board, sign = game.start, np.zeros((6, 7), dtype=int), 1
        while game.result(state) is None:
            assert game.player(state) == sign
            legal = [c for c in range(7) if board[5, c] == 0]
            assert sorted(game.moves(state)) == legal
            column = int(rng.choice(legal))
            state = game.play(state, column)
            board[int(np.argmin(board[:, column] != 0)), column] = sign
            sign = -sign
            lines = [board[r, c : c + 4] for r in range(6) for c in range(4)]
            lines += [board[r : r + 4, c] for r in range(3) for c in range(7)]
            for r in range(3):
                for c in range(4):
                    square = board[r : r + 4, c : c + 4]
                    lines += [square.diagonal(), square[::-1].diagonal()]
            won = [s for s in (1, -1) if any(np.all(line == s) for line in lines)]
            expected = float(won[0]) if won else 0.0 if np.all(board) else None
            assert game.result(state) == expected


def test_tic_tac_toe():
    game = TicTacToe([0, 3, 1, 4])
    assert game.result(game.play(game.start, 2)) == 1.0 and game.player(game.start) == 1
    assert game.depth == 5 and game.branching(3, 1) == 3
    assert game.show(game.start) == "X X 2\nO O 5\n6 7 8"
    with pytest.raises(ValueError, match="not a legal move of tic-tac-toe"):
        TicTacToe([0, 0])


def board_of(game, text):
    """A state from rows of . X O, black to move."""
    board = bytes(".XO".index(one) for one in "".join(text.split()))
    return (board, 1, -1, 0, 0)


def test_go_captures_ko_suicide_and_area():
    game = Go(size=5, komi=0.5)
    state = board_of(game, ".XO.. XO.O. .XO.. ..... .....")  # black takes at (1, 2), and white may not take back
    after = game.play(state, 7)
    assert after[0][6] == 0 and after[0][7] == 1
    assert 6 not in game.moves(after) and after[2] == 6
    elsewhere = game.play(after, 24)
    assert 6 in game.moves(game.play(elsewhere, 23))
    surrounded = board_of(game, ".O... O.... ..... ..... .....")
    assert 0 not in game.moves(surrounded)  # suicide
    with pytest.raises(ValueError, match="not a legal move"):
        game.play(surrounded, 0)
    two = board_of(game, "XXO.. OO... ..... ..... .....")
    white = (two[0], 2, -1, 0, 0)
    assert game.result(game.play(game.play(white, 25), 25)) == -1.0  # 2 black stones, 3 white, a shared rest
    walls = board_of(game, "..XO. ..XO. ..XO. ..XO. ..XO.")
    ended = game.play(game.play(walls, 25), 25)
    assert game.result(ended) == 1.0  # 15 to 10
    assert Go(size=5, komi=5.5).result(ended) == -1.0


def test_eyes_are_not_filled():
    game = Go(size=5)
    state = board_of(game, ".X.X. XXXXX .X... XX... .....")
    assert not {0, 2, 4} & set(game.moves(state))


@pytest.mark.parametrize("policy", ["uniform", "capturing"])
def test_go_rollouts_are_legal_games(policy):
    game = Go(size=6, policy=policy)
    for seed in range(10):
        result, route = game.rollout(game.start, np.random.default_rng(seed))
        state = game.start
        for move in route:
            assert game.result(state) is None and move in game.moves(state)
            state = game.play(state, move)
        assert game.result(state) == result


def test_trees_of_ends():
    tree = random_tree(3, 3, random_state=0)
    values = tree.optimal_values()
    assert values[0][0] == tree.ends.reshape(3, 3, 3).max(axis=2).min(axis=1).max()
    steps = np.concatenate([(b.reshape(-1, 3) - a[:, None]).ravel() for a, b in pairwise(tree.scores)])
    assert 0.5 < steps.var() < 1.6
    game = p_game(2, 4, random_state=0)
    assert np.all(np.diff([level.mean() for level in game.scores])[::2] > 0)
    with pytest.raises(ValueError, match="ends"):
        EndsTree([1.0, 2.0], 2, 2)


def test_rivals():
    """Alpha-beta is minimax and looks at fewer ends; UCT and flat sampling settle on what they sample."""
    for seed in range(20):
        game = random_tree(4, 4, random_state=seed)
        sign, seen = alpha_beta(game)
        assert sign == np.sign(game.optimal_values()[0][0]) and seen < 256
    won = EndsTree(np.repeat([-1.0, 1.0, -1.0], 9), 3, 3)
    assert uct(won, [50, 300]).move.tolist() == [1, 1] and flat(won, [30]).move[0] == 1
