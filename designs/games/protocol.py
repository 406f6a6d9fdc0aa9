"""Protocol of a game that is searched: four methods on states, which are plain values that are never changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["Game"]


class Game(Protocol):
    """A game of two players without chance.

    A game may say ``start``, the state at the root (else ``()``), ``branching`` and ``depth``, which stand in for the
    parameters of a search, and ``rollout(state, generator) -> (result, moves)``, its own way to play to the end.

    Examples
    --------
    >>> from designs.games import TicTacToe
    >>> game = TicTacToe()
    >>> game.moves(game.start)[:3], game.player(game.start), game.result(game.start)
    ([0, 1, 2], 1, None)
    """

    def moves(self, state: Any) -> Sequence[Any]:
        """Legal moves, plain data, always in the same order."""

    def play(self, state: Any, move: Any) -> Any:
        """The state after a move."""

    def result(self, state: Any) -> float | None:
        """Result of the game for the maximising player; None while it lasts."""

    def player(self, state: Any) -> int:
        """+1 where the maximising player moves, -1 where the other does."""
