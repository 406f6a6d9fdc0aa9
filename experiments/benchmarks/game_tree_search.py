"""What a descent costs beside UCT, the table of increments beside its normal integrals, and scores of all leaves.

100,000 descents of trees with branching 5 and depth 8, compiled UCT on the same trees; 200 x 200 increments beside
40,000 scalar normal integrals in Python; 256 boundary nodes of a stored tree of 10,000 nodes scored, beside 4,000
descents; our own time beside that of roll-outs on 9x9 Go; bytes a stored node. CPU seconds, one thread, medians of
five.

    python -m experiments.benchmarks.game_tree_search [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import GameTreeSearch
from adaptive.estimators.game_trees.nodes import NODE, ROLLOUT
from adaptive.potentials.optimal_increments import optimal_increments
from adaptive.scorers import information_gain
from designs.games import Go, random_tree
from experiments.benchmarks.cpu_seconds import median_seconds
from experiments.game_trees.rivals import uct
from experiments.script import Script, command


def seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median CPU seconds, after one run that compiles."""
    work()
    return median_seconds(work, repeats)


def integrals(n: int) -> float:
    """n normal integrals, one by one."""
    total = 0.0
    for k in range(n):
        total += 0.5 * math.erfc(-0.001 * k) + math.exp(-0.5e-6 * k * k)
    return total


def measured(quick: bool) -> dict[str, tuple[str, float, float]]:
    """Return for each claim what is compared, the ratio and the most it may be."""
    depth, n = (4, 300) if quick else (8, 100_000)
    repeats = 1 if quick else 5
    game = random_tree(5, depth, random_state=0)
    ours = seconds(lambda: GameTreeSearch(game, random_state=0).search(n), repeats)
    theirs = seconds(lambda: uct(game, [n]), repeats)
    half = seconds(lambda: GameTreeSearch(game, random_state=0).search(n // 10), repeats)
    table = seconds(lambda: optimal_increments(200, 200), repeats)
    scalar = seconds(lambda: integrals(40_000), repeats)
    stored = GameTreeSearch(game, random_state=0).search(min(10_000, n))
    score = seconds(lambda: information_gain(stored.predictive(stored.boundary())), repeats)
    board, games = Go(), 20 if quick else 1000
    whole = seconds(lambda: GameTreeSearch(board, random_state=0).search(games), 1 if quick else 3)
    alone = seconds(
        lambda: [board.rollout(board.start, np.random.default_rng([0, k])) for k in range(games)], 1 if quick else 3
    )
    size = NODE.itemsize + ROLLOUT.itemsize
    return {
        "descents": (f"{n} descents {ours:.3f} s, UCT {theirs:.3f} s", ours / theirs, 8.0),
        "flat": (f"the first tenth {half:.4f} s of {ours:.3f} s", ours / (10 * half), 2.0),
        "table": (f"200 x 200 increments {table:.4f} s, 40,000 integrals {scalar:.4f} s", table / scalar, 5.0),
        "leaves": (
            f"256 leaves of {stored.n_nodes_} nodes {score:.4f} s, 4,000 descents {4000 * ours / n:.4f} s",
            score / (4000 * ours / n), 1.0,
        ),
        "go": (f"{games} games of Go {whole:.3f} s, their roll-outs {alone:.3f} s", (whole - alone) / alone, 1.0),
        "bytes": (f"{NODE.itemsize} of a node, {ROLLOUT.itemsize} of a roll-out", float(size), 200.0),
    }  # fmt: skip


def run(script: Script) -> None:
    """Measure, write the verdict; in quick mode 300 descents, nothing written."""
    found = measured(script.quick)
    for name, (what, ratio, most) in found.items():
        print(f"{name}: {what}: {ratio:.2f} (at most {most:g})")
    if script.quick:
        return
    missed = [name for name, (_, ratio, most) in found.items() if ratio > most]
    script.judge(
        "ours-trees-speed",
        not missed,
        claim="A descent costs at most 8 times one of compiled UCT and does not grow with the tree. 200 x 200 "
        "increments cost at most 5 times 40,000 scalar normal integrals, and 256 leaves of 10,000 nodes at most "
        "4,000 descents. On 9x9 Go our own time is at most that of the roll-outs, and a stored node takes at most "
        "200 bytes.",
        kind="must hold",
        target={name: most for name, (_, _, most) in found.items()},
        value={name: f"{ratio:.2f}: {what}" for name, (what, ratio, _) in found.items()},
        reason=f"Missed: {', '.join(missed)}." if missed else "CPU seconds on a shared machine, medians of five.",
        seed=0,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
