"""Games small enough to be solved exactly, positions of them, and the rivals that a user would take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from designs.games import ConnectFour, TicTacToe
from experiments.game_trees.connect_four import solved

__all__ = ["GAMES", "Domineering", "Hex", "flat", "positions", "solved", "uct"]


class Hex:
    """Hex on a rhombus: +1 joins top and bottom, -1 left and right; there is no draw. A state is (own, other) bits."""

    results = "sign"

    def __init__(self, position: Iterable[int] = (), size: int = 4) -> None:
        self.size = size
        self.start = (0, 0)
        for move in position:
            self.start = self.play(self.start, move)
        self.depth = size * size - (self.start[0] | self.start[1]).bit_count()

    def branching(self, left: int, player: int) -> int:
        """Free cells."""
        return left

    def moves(self, state: tuple[int, int]) -> list[int]:
        """Free cells."""
        return [k for k in range(self.size**2) if not (state[0] | state[1]) >> k & 1]

    def play(self, state: tuple[int, int], move: int) -> tuple[int, int]:
        """Who moves takes the cell."""
        own, other = state
        return (own | 1 << move, other) if self.player(state) > 0 else (own, other | 1 << move)

    def result(self, state: tuple[int, int]) -> float | None:
        """A chain from side to side."""
        if self._joined(state[0], down=True):
            return 1.0
        return -1.0 if self._joined(state[1], down=False) else None

    def player(self, state: tuple[int, int]) -> int:
        """The players take turns."""
        return 1 if state[0].bit_count() == state[1].bit_count() else -1

    def _joined(self, stones: int, down: bool) -> bool:
        n = self.size
        place = (lambda r, c: r * n + c) if down else (lambda r, c: c * n + r)
        reached = {(0, c) for c in range(n) if stones >> place(0, c) & 1}
        edge = list(reached)
        while edge:
            r, c = edge.pop()
            if r == n - 1:
                return True
            for near in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1), (r - 1, c + 1), (r + 1, c - 1)):
                inside = 0 <= near[0] < n and 0 <= near[1] < n
                if inside and near not in reached and stones >> place(*near) & 1:
                    reached.add(near)
                    edge.append(near)
        return False


class Domineering:
    """Dominoes on a board, upright by +1, lying by -1; who cannot move loses. A state is (taken squares, player)."""

    results = "sign"

    def __init__(self, position: Iterable[int] = (), rows: int = 4, columns: int = 5) -> None:
        self.rows, self.columns = rows, columns
        self.branching = (rows - 1) * columns
        self.start = (0, 1)
        for move in position:
            self.start = self.play(self.start, move)
        self.depth = rows * columns // 2

    def moves(self, state: tuple[int, int]) -> list[int]:
        """Upper or left squares of the dominoes that fit."""
        taken, player = state
        step = self.columns if player > 0 else 1
        last = self.columns if player > 0 else self.columns - 1
        free = range(self.rows * self.columns - step)
        return [k for k in free if k % self.columns < last and not (taken >> k | taken >> (k + step)) & 1]

    def play(self, state: tuple[int, int], move: int) -> tuple[int, int]:
        """The domino covers two squares."""
        step = self.columns if state[1] > 0 else 1
        return state[0] | 1 << move | 1 << (move + step), -state[1]

    def result(self, state: tuple[int, int]) -> float | None:
        """Lost by who cannot move."""
        return None if self.moves(state) else -float(state[1])

    def player(self, state: tuple[int, int]) -> int:
        """Who is to move."""
        return state[1]


# Of each: how it is made from the moves that were played, and how many random ones come first.
GAMES: dict[str, tuple[Callable[..., Any], int]] = {
    "tic-tac-toe": (TicTacToe, 2),
    "Connect Four": (ConnectFour, 25),
    "Hex 4 x 4": (Hex, 5),
    "Domineering 4 x 5": (Domineering, 2),
}


def positions(name: str, n: int) -> Iterable[tuple[int, Any, np.ndarray]]:
    """Yield (seed, game, which moves are right) of n positions of random play where not every move is right."""
    make, first = GAMES[name]
    seed = -1
    while n > 0:
        seed += 1
        rng, game, played = np.random.default_rng([seed, 4]), make(), []
        state = game.start
        while len(played) < first and game.result(state) is None:
            played.append(int(rng.choice(game.moves(state))))
            state = game.play(state, played[-1])
        if game.result(state) is not None:
            continue
        game = make(played)
        values = game.player(game.start) * solved(game)
        if np.ptp(values) > 0:
            n -= 1
            yield seed, game, values == values.max()


def _rolled(game: Any, state: Any, rng: np.random.Generator) -> float:
    while (result := game.result(state)) is None:
        moves = game.moves(state)
        state = game.play(state, moves[int(rng.integers(len(moves)))])
    return result


def flat(game: Any, marks: tuple[int, ...], seed: int) -> list[int]:
    """Return the place of the move with the best mean of random games, as many from each, at each mark."""
    rng, moves = np.random.default_rng([seed, 5]), game.moves(game.start)
    total, count, found = np.zeros(len(moves)), np.zeros(len(moves)), []
    for k in range(marks[-1]):
        total[k % len(moves)] += _rolled(game, game.play(game.start, moves[k % len(moves)]), rng)
        count[k % len(moves)] += 1
        if k + 1 in marks:
            means = game.player(game.start) * total / np.maximum(count, 1)
            found.append(int(np.argmax(np.where(count > 0, means, -np.inf))))
    return found


def uct(game: Any, marks: tuple[int, ...], seed: int, constant: float) -> list[int]:
    """Return the place of the most visited move at each mark, by UCB1 on trees (Kocsis and Szepesvari, 2006)."""
    rng = np.random.default_rng([seed, 6])
    seen: dict[Any, list[float]] = {}  # visits and total by path
    found = []
    for k in range(marks[-1]):
        path: tuple[Any, ...] = ()
        state, line = game.start, [()]
        while path in seen and game.result(state) is None:
            side, visits = game.player(state), seen[path][0]
            best, top = None, -math.inf
            for move in game.moves(state):
                below = seen.get((*path, move))
                score = math.inf if below is None else (
                    side * below[1] / below[0] + constant * math.sqrt(math.log(visits) / below[0])
                )  # fmt: skip
                if score > top or (score == top == math.inf and rng.random() < 0.5):
                    best, top = move, score
            path, state = (*path, best), game.play(state, best)
            line.append(path)
        result = _rolled(game, state, rng)
        for one in line:
            row = seen.setdefault(one, [0, 0.0])
            row[0] += 1
            row[1] += result
        if k + 1 in marks:
            visits = [seen.get((move,), [0])[0] for move in game.moves(game.start)]
            found.append(int(np.argmax(visits)))
    return found
