"""Games to search: whatever has moves(state), play(state, move), result(state) and player(state)."""

from designs.games.connect_four import ConnectFour
from designs.games.ends import EndsTree, p_game, random_tree
from designs.games.go import Go
from designs.games.protocol import Game
from designs.games.tic_tac_toe import TicTacToe

__all__ = ["ConnectFour", "EndsTree", "Game", "Go", "TicTacToe", "p_game", "random_tree"]
