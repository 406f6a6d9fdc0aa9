"""Tic-tac-toe: three in a row on nine squares; +1 for crosses, who begin, -1 for noughts, 0 for a draw."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["TicTacToe"]

LINES = [sum(1 << k for k in line) for line in (
    (0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)
)]  # fmt: skip

State = tuple[int, int]


class TicTacToe:
    """A state is (crosses, noughts), each a number whose bits are squares 0 to 8, row by row.

    Parameters
    ----------
    position : sequence of int
        Moves that were played already.

    Raises
    ------
    ValueError
        If a move of the start is not legal.

    Examples
    --------
    >>> game = TicTacToe([0, 4])
    >>> list(game.moves(game.start)), game.player(game.start)
    ([1, 2, 3, 5, 6, 7, 8], 1)
    """

    results = "value"  # a draw is neither +1 nor -1

    def __init__(self, position: Iterable[int] = ()) -> None:
        self.start: State = (0, 0)
        for move in position:
            if self.result(self.start) is not None or move not in self.moves(self.start):
                raise ValueError(f"{move!r} is not a legal move of tic-tac-toe here; squares are 0 to 8.")
            self.start = self.play(self.start, move)
        self.depth = max(9 - (self.start[0] | self.start[1]).bit_count(), 1)

    def branching(self, left: int, player: int) -> int:
        """Free squares."""
        return left

    def moves(self, state: State) -> list[int]:
        """Free squares."""
        taken = state[0] | state[1]
        return [k for k in range(9) if not taken >> k & 1]

    def play(self, state: State, move: int) -> State:
        """Who moves takes the square."""
        crosses, noughts = state
        return (crosses | 1 << move, noughts) if self.player(state) > 0 else (crosses, noughts | 1 << move)

    def result(self, state: State) -> float | None:
        """Three in a row, or no square left."""
        for side, result in zip(state, (1.0, -1.0), strict=True):
            if any(side & line == line for line in LINES):
                return result
        return 0.0 if state[0] | state[1] == 511 else None

    def player(self, state: State) -> int:
        """Crosses begin."""
        return 1 if state[0].bit_count() == state[1].bit_count() else -1

    def show(self, state: State) -> str:
        """The board as text."""
        signs = ["X" if state[0] >> k & 1 else "O" if state[1] >> k & 1 else str(k) for k in range(9)]
        return "\n".join(" ".join(signs[k : k + 3]) for k in (0, 3, 6))
