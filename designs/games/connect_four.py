"""Connect Four: stones fall into columns, four in a line win; +1 for who begins, -1 for the other, 0 for a draw."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ConnectFour"]

State = tuple[int, int]


class ConnectFour:
    """A state is (first player's stones, the other's); bit (rows + 1) * column + row is a square, counted from below.

    Parameters
    ----------
    position : sequence of int
        Columns that were played already, from 0.
    columns, rows : int, default 7 and 6

    Raises
    ------
    ValueError
        If a move of the start is not legal.

    Examples
    --------
    >>> game = ConnectFour([3, 2, 3, 2, 3, 2])
    >>> game.result(game.play(game.start, 3))
    1.0
    """

    results = "value"  # a draw is neither +1 nor -1

    def __init__(self, position: Iterable[int] = (), columns: int = 7, rows: int = 6) -> None:
        self.columns, self.rows = columns, rows
        self.branching = columns
        self.start: State = (0, 0)
        for move in position:
            if self.result(self.start) is not None or move not in self.moves(self.start):
                raise ValueError(f"{move!r} is not a legal move of Connect Four here; columns are 0 to {columns - 1}.")
            self.start = self.play(self.start, move)
        self.depth = max(columns * rows - (self.start[0] | self.start[1]).bit_count(), 1)

    def moves(self, state: State) -> list[int]:
        """Columns that are not full, those of the middle first: ties go to them."""
        taken = state[0] | state[1]
        middle = (self.columns - 1) / 2
        free = [c for c in range(self.columns) if not taken >> ((self.rows + 1) * c + self.rows - 1) & 1]
        return sorted(free, key=lambda c: abs(c - middle))

    def play(self, state: State, move: int) -> State:
        """A stone falls on those that are there."""
        taken, base = state[0] | state[1], (self.rows + 1) * move
        height = (taken >> base & (1 << self.rows) - 1).bit_count()
        stone = 1 << (base + height)
        return (state[0] | stone, state[1]) if self.player(state) > 0 else (state[0], state[1] | stone)

    def result(self, state: State) -> float | None:
        """Four in a column, a row or a diagonal, or no square left."""
        for side, result in zip(state, (1.0, -1.0), strict=True):
            for shift in (1, self.rows, self.rows + 1, self.rows + 2):
                pairs = side & side >> shift
                if pairs & pairs >> 2 * shift:
                    return result
        return 0.0 if (state[0] | state[1]).bit_count() == self.columns * self.rows else None

    def player(self, state: State) -> int:
        """The players take turns."""
        return 1 if state[0].bit_count() == state[1].bit_count() else -1

    def show(self, state: State) -> str:
        """The board as text."""
        lines = []
        for row in range(self.rows - 1, -1, -1):
            bits = [(self.rows + 1) * c + row for c in range(self.columns)]
            lines.append(" ".join("X" if state[0] >> b & 1 else "O" if state[1] >> b & 1 else "." for b in bits))
        return "\n".join([*lines, " ".join(str(c) for c in range(self.columns))])
