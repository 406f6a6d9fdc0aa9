"""Games to search: whatever has moves(state), play(state, move), result(state) and player(state)."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from designs.games.connect_four import ConnectFour
    from designs.games.ends import EndsTree, p_game, random_tree
    from designs.games.go import Go
    from designs.games.protocol import Game
    from designs.games.tic_tac_toe import TicTacToe

__all__ = ["ConnectFour", "EndsTree", "Game", "Go", "TicTacToe", "p_game", "random_tree"]

__getattr__, __dir__ = _lazily(__name__)
