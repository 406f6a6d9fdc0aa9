"""Go on a small board, compiled: area scoring, simple ko, no suicide; roll-outs by random moves that fill no own eye.

A game ends with two passes, or after ``depth`` moves; then the larger area wins, komi added to white's.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit

from adaptive import checks

__all__ = ["Go"]

State = tuple[bytes, int, int, int, int]  # board (1 black, 2 white), who moves, forbidden point, passes, moves so far


@njit(cache=True)
def _group(board: np.ndarray, size: int, at: int, stones: np.ndarray) -> tuple[int, int]:
    """Fill stones with the group at a point; return how many, and its liberties (counted up to 2)."""
    colour, n, liberty, liberties = board[at], 1, -1, 0
    seen = np.zeros(size * size, dtype=np.uint8)
    stones[0], seen[at] = at, 1
    k = 0
    while k < n:
        x, y = stones[k] % size, stones[k] // size
        k += 1
        for d in range(4):
            u, w = x + (d == 0) - (d == 1), y + (d == 2) - (d == 3)
            if u < 0 or w < 0 or u >= size or w >= size:
                continue
            p = w * size + u
            if board[p] == 0:
                if p != liberty and liberties < 2:
                    liberties += 1
                    liberty = p
            elif board[p] == colour and seen[p] == 0:
                seen[p] = 1
                stones[n] = p
                n += 1
    return n, liberties


@njit(cache=True)
def _put(board: np.ndarray, size: int, at: int, colour: int, ko: int, stones: np.ndarray) -> tuple[bool, int, int]:
    """Play at an empty point if that is legal; return (legal, the point that ko forbids then, stones captured)."""
    if board[at] != 0 or at == ko:
        return False, -1, 0
    board[at] = colour
    captured, last = 0, -1
    x, y = at % size, at // size
    for d in range(4):
        u, w = x + (d == 0) - (d == 1), y + (d == 2) - (d == 3)
        if u < 0 or w < 0 or u >= size or w >= size:
            continue
        p = w * size + u
        if board[p] == 3 - colour:
            n, liberties = _group(board, size, p, stones)
            if liberties == 0:
                for k in range(n):
                    board[stones[k]] = 0
                captured += n
                last = p
    n, liberties = _group(board, size, at, stones)
    if liberties == 0:
        board[at] = 0
        return False, -1, 0
    return True, last if captured == 1 and n == 1 and liberties == 1 else -1, captured


@njit(cache=True)
def _own_eye(board: np.ndarray, size: int, at: int, colour: int) -> bool:
    """All neighbours are own stones, and at most one diagonal (at the edge none) is the other's."""
    x, y = at % size, at // size
    others, edge = 0, 0
    for dx in range(-1, 2):
        for dy in range(-1, 2):
            if dx == 0 and dy == 0:
                continue
            u, w = x + dx, y + dy
            outside = u < 0 or w < 0 or u >= size or w >= size
            if dx == 0 or dy == 0:
                if not outside and board[w * size + u] != colour:
                    return False
            elif outside:
                edge = 1
            elif board[w * size + u] == 3 - colour:
                others += 1
    return others + edge < 2


@njit(cache=True)
def _legal(board: np.ndarray, size: int, colour: int, ko: int) -> np.ndarray:
    """Points that may be played, own eyes apart."""
    legal = np.zeros(size * size, dtype=np.bool_)
    stones = np.empty(size * size, dtype=np.int64)
    for p in range(size * size):
        if board[p] == 0 and not _own_eye(board, size, p, colour):
            legal[p] = _put(board.copy(), size, p, colour, ko, stones)[0]
    return legal


@njit(cache=True)
def _area(board: np.ndarray, size: int) -> int:
    """Black's points less white's: stones, and empty points that touch one colour only."""
    total, n_points = 0, size * size
    seen = np.zeros(n_points, dtype=np.uint8)
    stack = np.empty(n_points, dtype=np.int64)
    for start in range(n_points):
        if board[start] == 1:
            total += 1
        elif board[start] == 2:
            total -= 1
        elif seen[start] == 0:
            seen[start] = 1
            stack[0], top, count, touched = start, 1, 0, 0
            while top > 0:
                top -= 1
                p = stack[top]
                count += 1
                x, y = p % size, p // size
                for d in range(4):
                    u, w = x + (d == 0) - (d == 1), y + (d == 2) - (d == 3)
                    if u < 0 or w < 0 or u >= size or w >= size:
                        continue
                    q = w * size + u
                    if board[q] == 0:
                        if seen[q] == 0:
                            seen[q] = 1
                            stack[top] = q
                            top += 1
                    else:
                        touched |= board[q]
            if touched == 1:
                total += count
            elif touched == 2:
                total -= count
    return total


@njit(cache=True)
def _in_atari(board: np.ndarray, size: int, at: int, colour: int, stones: np.ndarray) -> bool:
    """True where a stone at this empty point takes something of the other colour."""
    x, y = at % size, at // size
    for d in range(4):
        u, w = x + (d == 0) - (d == 1), y + (d == 2) - (d == 3)
        if u < 0 or w < 0 or u >= size or w >= size:
            continue
        p = w * size + u
        if board[p] == 3 - colour and _group(board, size, p, stones)[1] == 1:
            return True
    return False


@njit(cache=True)
def _rollout(
    board: np.ndarray, size: int, colour: int, ko: int, passes: int, left: int, capture: bool, uniform: np.ndarray,
    route: np.ndarray,
) -> int:  # fmt: skip
    """Play on until two passes or no move is left; fill route and return its length."""
    n_points, n = size * size, 0
    stones = np.empty(n_points, dtype=np.int64)
    order = np.arange(n_points)
    while passes < 2 and n < left:
        played = False
        taking = -1
        if capture:
            offset = int(uniform[(2 * n) % len(uniform)] * n_points)
            for k in range(n_points):
                p = (offset + k) % n_points
                if board[p] == 0 and p != ko and _in_atari(board, size, p, colour, stones):
                    taking = p
                    break
        if taking >= 0:
            played, ko_next, _ = _put(board, size, taking, colour, ko, stones)
            if played:
                route[n] = taking
                ko = ko_next
        remaining = n_points
        step = 0
        while not played and remaining > 0:
            draw = uniform[(2 * n + 1 + 7 * step) % len(uniform)]
            step += 1
            k = int(draw * remaining)
            p = order[k]
            remaining -= 1
            order[k], order[remaining] = order[remaining], p
            if board[p] == 0 and not _own_eye(board, size, p, colour):
                played, ko_next, _ = _put(board, size, p, colour, ko, stones)
                if played:
                    route[n] = p
                    ko = ko_next
        if played:
            passes = 0
        else:
            route[n] = n_points
            passes += 1
            ko = -1
        n += 1
        colour = 3 - colour
    return n


class Go:
    """Go by area; moves are points 0 to size^2 - 1, row by row, and size^2 is a pass.

    Parameters
    ----------
    position : sequence of int
        Moves that were played already.
    size : int, default 9
    komi : float, default 6.5
        Not a whole number, so that there is no draw.
    policy : {"uniform", "capturing"}, default "uniform"
        Of roll-outs: any legal move that fills no own eye; or one that captures, where there is one.

    Raises
    ------
    ValueError
        If ``komi`` is a whole number, ``policy`` is unknown, ``size`` below 2, or a move of the start not legal.

    Examples
    --------
    >>> game = Go(size=5)
    >>> result, moves = game.rollout(game.start, np.random.default_rng(0))
    >>> abs(result), len(moves) > 20
    (1.0, True)
    """

    results = "sign"

    def __init__(self, position: Iterable[int] = (), size: int = 9, komi: float = 6.5, policy: str = "uniform") -> None:
        self.size, self.komi = checks.integer("size", size, minimum=2), float(komi)
        if self.komi == int(self.komi):
            raise ValueError(f"komi must not be a whole number, so that there is no draw; got {komi}.")
        self.policy = checks.choice("policy", policy, ("uniform", "capturing"))
        self.branching, self.depth = size * size, 4 * size * size
        self.start: State = (bytes(size * size), 1, -1, 0, 0)
        for move in position:
            if self.result(self.start) is not None or move not in self.moves(self.start):
                raise ValueError(f"{move!r} is not a legal move of Go here; points are 0 to {size * size - 1}.")
            self.start = self.play(self.start, move)
        self._most = self.start[4] + self.depth

    def moves(self, state: State) -> list[int]:
        """Legal points that fill no own eye, in their order, and the pass."""
        board = np.frombuffer(state[0], dtype=np.uint8)
        return [*np.flatnonzero(_legal(board, self.size, state[1], state[2])).tolist(), self.size**2]

    def play(self, state: State, move: int) -> State:
        """A stone, what it captures taken off; or a pass."""
        board, colour, ko, passes, count = state
        if move == self.size**2:
            return board, 3 - colour, -1, passes + 1, count + 1
        after = np.frombuffer(board, dtype=np.uint8).copy()
        legal, forbidden, _ = _put(after, self.size, move, colour, ko, np.empty(self.size**2, dtype=np.int64))
        if not legal:
            raise ValueError(f"{move} is not a legal move of Go here.")
        return after.tobytes(), 3 - colour, forbidden, 0, count + 1

    def result(self, state: State) -> float | None:
        """Who has the larger area after two passes, or when the moves are used up."""
        if state[3] < 2 and state[4] < getattr(self, "_most", 1 << 30):
            return None
        return self._winner(np.frombuffer(state[0], dtype=np.uint8))

    def player(self, state: State) -> int:
        """Black maximises and begins."""
        return 1 if state[1] == 1 else -1

    def rollout(self, state: State, generator: np.random.Generator) -> tuple[float, list[int]]:
        """Return the result of a game by the policy, and its moves."""
        board = np.frombuffer(state[0], dtype=np.uint8).copy()
        left = self._most - state[4]
        route = np.empty(max(left, 1), dtype=np.int64)
        n = _rollout(
            board, self.size, state[1], state[2], state[3], left, self.policy == "capturing", generator.random(4099),
            route,
        )  # fmt: skip
        return self._winner(board), [int(p) for p in route[:n]]

    def show(self, state: State) -> str:
        """The board as text."""
        signs = [".XO"[stone] for stone in state[0]]
        return "\n".join(" ".join(signs[k : k + self.size]) for k in range(0, self.size**2, self.size))

    def _winner(self, board: np.ndarray) -> float:
        return 1.0 if _area(board, self.size) > self.komi else -1.0
