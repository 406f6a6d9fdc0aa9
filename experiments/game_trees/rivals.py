"""What a search is compared with, on trees whose ends are in an array: UCT, flat Monte Carlo, alpha-beta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from designs.games import EndsTree

__all__ = ["Found", "alpha_beta", "flat", "uct"]


class Found(NamedTuple):
    """After each number of descents: the root's value (its sign is the guess) and the move chosen."""

    root: np.ndarray
    move: np.ndarray


@njit(cache=True)
def _uct(
    ends: np.ndarray, branching: int, depth: int, marks: np.ndarray, constant: float, alternate: bool, signs: bool,
    seed: int, root: np.ndarray, move: np.ndarray,
) -> None:  # fmt: skip
    np.random.seed(seed)
    size = (branching ** (depth + 1) - 1) // (branching - 1)
    visits, total = np.zeros(size, dtype=np.int64), np.zeros(size)
    path = np.zeros(depth + 1, dtype=np.int64)
    mark = 0
    for n in range(1, marks[-1] + 1):
        k, node = 0, 0
        while visits[node] > 0 and k < depth:
            side = 1.0 if k % 2 == 0 or not alternate else -1.0
            best, top = -1, -math.inf
            for c in range(branching * node + 1, branching * node + 1 + branching):
                if visits[c] == 0:
                    score = 1e300 + np.random.random()
                else:
                    score = side * total[c] / visits[c] + constant * math.sqrt(math.log(visits[node]) / visits[c])
                if score > top:
                    best, top = c, score
            node = best
            k += 1
            path[k] = node
        end = node
        for _ in range(k, depth):
            end = branching * end + 1 + np.random.randint(branching)
        value = ends[end - (size - len(ends))]
        result = value if not signs else (1.0 if value > 0 else -1.0)
        for j in range(k + 1):
            visits[path[j]] += 1
            total[path[j]] += result
        while mark < len(marks) and marks[mark] == n:
            most = 1
            for c in range(1, branching + 1):
                if visits[c] > visits[most]:
                    most = c
            move[mark] = most - 1
            root[mark] = total[most] / max(visits[most], 1)
            mark += 1


def uct(game: EndsTree, marks: Sequence[int], constant: float = math.sqrt(2), seed: int = 0) -> Found:
    """UCB1 on results (signs, or where the game has none the values), the most visited move and its mean.

    L. Kocsis and C. Szepesvari (2006), Bandit based Monte-Carlo planning.
    """
    found = Found(np.zeros(len(marks)), np.zeros(len(marks), dtype=np.int64))
    alternate = game.players == "alternate"
    _uct(game.ends, game.branching, game.depth, np.asarray(marks), constant, alternate, game.signs, seed, *found)
    return found


def flat(game: EndsTree, marks: Sequence[int], seed: int = 0) -> Found:
    """Random games from each move in turn; the move of the best mean."""
    rng = np.random.default_rng(seed)
    width = len(game.ends) // game.branching
    moves = np.arange(marks[-1]) % game.branching
    results = np.where(game.ends[moves * width + rng.integers(width, size=len(moves))] > 0, 1.0, -1.0)
    root, move = np.zeros(len(marks)), np.zeros(len(marks), dtype=np.int64)
    for k, mark in enumerate(marks):
        counts = np.maximum(np.bincount(moves[:mark], minlength=game.branching), 1)
        means = np.bincount(moves[:mark], results[:mark], minlength=game.branching) / counts
        move[k] = int(np.argmax(means))
        root[k] = means[move[k]]
    return Found(root, move)


def alpha_beta(game: EndsTree) -> tuple[float, int]:
    """Return the root's sign and how many ends alpha-beta looks at before it is known; children in their order."""
    seen = 0

    def value(first: int, depth: int, alpha: float, beta: float) -> float:
        nonlocal seen
        if depth == game.depth:
            seen += 1
            return 1.0 if game.ends[first] > 0 else -1.0
        width = game.branching ** (game.depth - depth - 1)
        maximises = game.player((0,) * depth) > 0
        best = -math.inf if maximises else math.inf
        for child in range(game.branching):
            found = value(first + child * width, depth + 1, alpha, beta)
            if maximises:
                best = max(best, found)
                alpha = max(alpha, best)
            else:
                best = min(best, found)
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best

    return value(0, 0, -1.0, 1.0), seen
