"""Tic-tac-toe, all positions reachable in five plies: after the search is exhausted the true value.

Each position is searched until its boundary is empty, and the root's value compared with that of minimax.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from adaptive import GameTreeSearch
from designs.games import TicTacToe
from experiments.script import Script, command

SEED = 0
EMPTY = TicTacToe()


@cache
def minimax(state: tuple[int, int]) -> float:
    """Return the value of a state under best play."""
    result = EMPTY.result(state)
    if result is not None:
        return result
    best = max if EMPTY.player(state) > 0 else min
    return best(minimax(EMPTY.play(state, move)) for move in EMPTY.moves(state))


def positions(plies: int) -> list[list[int]]:
    """Return one line of moves to each position after so many plies that is not over."""
    found: dict[tuple[int, int], list[int]] = {EMPTY.start: []}
    for _ in range(plies):
        found = {
            EMPTY.play(state, move): [*moves, move]
            for state, moves in found.items()
            for move in EMPTY.moves(state)
            if EMPTY.result(EMPTY.play(state, move)) is None
        }
    return list(found.values())


def searched(plies: int, every: int) -> dict[str, np.ndarray]:
    """Return whether each position's search ended, and whether with the true value; and its random games."""
    rows = []
    for moves in positions(plies)[::every]:
        game = TicTacToe(moves)
        model = GameTreeSearch(game, results="value", random_state=SEED).search(10**6)
        rows.append((model.boundary() == [], model.predict([()])[0] == minimax(game.start), model.n_rollouts_))
    return {"rows": np.array(rows, dtype=float)}


def run(script: Script) -> None:
    """All plies from the empty board to five."""
    found = {
        plies: script.kept("tic_tac_toe", searched, plies, 200 if script.quick else 1)["rows"]
        for plies in ((4, 5) if script.quick else range(6))
    }
    rows = np.concatenate(list(found.values()))
    script.judge(
        "ours-trees-tic-tac-toe", bool(rows[:, :2].all()), kind="must hold",
        claim="In tic-tac-toe an exhausted search gives the true value of every position reachable in five plies.",
        target="every position exhausted, every value exact",
        value=f"{int(rows[:, 0].sum())} exhausted and {int(rows[:, 1].sum())} exact of {len(rows)} positions "
        f"({({plies: len(one) for plies, one in found.items()})} by plies), {int(rows[:, 2].sum())} random games",
        seed=SEED,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
