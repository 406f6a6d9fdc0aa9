"""Defaults of `GameTreeSearch` on four games solved exactly: what becomes of roll-outs, and which policy.

Positions of random play where not every move is right. Judges: the share of positions where the chosen move is right,
and the log loss of what the search states, -log of the probability of all right moves. Tic-tac-toe and Connect Four
choose, Hex and Domineering confirm. Rivals: UCT with its constant tuned on the choosing games, flat Monte Carlo.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from adaptive import GameTreeSearch
from experiments.defaults.shared.small_games import GAMES, flat, positions, uct
from experiments.script import Script, command, panels
from experiments.statistics import half_width

MARKS = (25, 50, 100, 200, 400)
CHOOSE, CONFIRM = ("tic-tac-toe", "Connect Four"), ("Hex 4 x 4", "Domineering 4 x 5")
POLICIES = ("optimistic", "tesauro", "thompson", "uct")
ARMS = [f"{rollouts} {policy}" for rollouts, policy in product(("discard", "keep_path"), POLICIES)]
CONSTANTS = (0.35, 0.7, 1.4)
FORMER, FLOOR = "discard optimistic", 1e-3  # no probability counts as less: a log loss of 7 at most


def searched(name: str, n: int, marks: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return of each arm whether the move is right, and the probability stated for right moves: (n, marks)."""
    found: dict[str, list[Any]] = {}
    for seed, game, right in positions(name, n):
        for arm in ARMS:
            rollouts, policy = arm.split()
            model = GameTreeSearch(
                game, results=game.results, rollouts=rollouts, policy=policy, random_state=seed
            )  # fmt: skip
            hit, stated, done = [], [], 0
            for mark in marks:
                model.search(mark - done)
                done = mark
                hit.append(bool(right[game.moves(game.start).index(model.best_move())]))
                stated.append(float(model.best_move_proba()[right].sum()))
            found.setdefault(arm, []).append(hit)
            found.setdefault(f"{arm}: stated", []).append(stated)
        for constant in CONSTANTS:
            found.setdefault(f"UCT {constant}", []).append(right[uct(game, marks, seed, constant)])
        found.setdefault("flat", []).append(right[flat(game, marks, seed)])
        found.setdefault("chance", []).append(np.full(len(marks), right.mean()))
    return {arm: np.array(rows, dtype=float) for arm, rows in found.items()}


def loss(stated: np.ndarray) -> np.ndarray:
    """Return the log losses of probabilities that were stated for what is right."""
    return -np.log(np.clip(stated, FLOOR, 1.0))


def paired(difference: np.ndarray) -> tuple[float, float]:
    """Return the mean over looks and positions of a difference (positions, looks), and its 95% half-width."""
    each = difference.mean(axis=1)
    return float(each.mean()), float(half_width(each))


def run(script: Script) -> None:
    """Search, choose on one half of the games, confirm on the other."""
    n, marks = (2, (5, 10)) if script.quick else (200, MARKS)
    found = {name: script.kept("default_game_trees", searched, name, n, marks) for name in GAMES}
    chosen = _chosen(found)
    constant = max(CONSTANTS, key=lambda c: np.mean([found[name][f"UCT {c}"] for name in CHOOSE]))
    rows = [
        {
            "game": name,
            "half": "chooses" if name in CHOOSE else "confirms",
            "arm": arm,
            **{f"right at {mark}": round(float(one[arm][:, k].mean()), 3) for k, mark in enumerate(marks)},
            "log loss": round(float(loss(one[f"{arm}: stated"]).mean()), 3) if arm in ARMS else "",
            "stated for its move's rightness": round(float(one[f"{arm}: stated"].mean()), 3) if arm in ARMS else "",
        }
        for name, one in found.items()
        for arm in (*ARMS, f"UCT {constant}", "flat", "chance")
    ]
    table = {column: [row[column] for row in rows] for column in rows[0]}
    script.table(
        table, "default-game-trees",
        f"Share of {n} positions of random play where the chosen move is right, after so many roll-outs; log loss of "
        "the probability stated for all right moves, and its mean, over all looks.",
    )  # fmt: skip
    script.figure(
        _drawn(found, marks, chosen, constant), "default-game-trees",
        f"Right moves against roll-outs in four games solved exactly, {n} positions each, with 95% intervals: the "
        f"chosen default ({chosen}), the former one, UCT (constant {constant}) and flat Monte Carlo.",
    )  # fmt: skip
    against = {
        rival: {name: paired(found[name][chosen] - found[name][rival]) for name in GAMES}
        for rival in (FORMER, f"UCT {constant}", "flat")
    }
    losses = {
        name: paired(loss(found[name][f"{chosen}: stated"]) - loss(found[name][f"{FORMER}: stated"])) for name in GAMES
    }
    behind = [
        f"{rival} on {name}" for rival, of in against.items() for name in CONFIRM if of[name][0] + of[name][1] < 0
    ] + [f"log loss of the former default on {name}" for name in CONFIRM if losses[name][0] - losses[name][1] > 0]
    script.judge(
        "ours-default-game-trees", not behind,
        claim="GameTreeSearch by its defaults, chosen on two games, is certainly worse than its simplest rivals (UCT "
        "tuned, flat Monte Carlo, its former default) on none of two others, by moves or by log loss.",
        target="no paired 95% interval over positions on the wrong side of 0",
        value={
            "chosen": chosen,
            "right moves minus rival": {r: {g: _said(*pair) for g, pair in of.items()} for r, of in against.items()},
            "log loss minus former": {name: _said(*pair) for name, pair in losses.items()},
        },
        reason=f"Behind {'; '.join(behind)}." if behind else f"{n} positions a game, looks at {marks}.",
        seed=f"0..{n}",
    )  # fmt: skip


def _chosen(found: dict[str, dict[str, np.ndarray]]) -> str:
    """The best arm of the choosing games by both judges; the former policy, unless another is certainly better."""
    both = {arm: np.concatenate([_both(found[name], arm) for name in CHOOSE]) for arm in ARMS}
    usual = max((arm for arm in ARMS if arm.endswith("optimistic")), key=lambda arm: both[arm].mean())
    best = max(ARMS, key=lambda arm: both[arm].mean())
    mean, half = paired(both[best] - both[usual])
    return best if mean > half else usual


def _both(found: dict[str, np.ndarray], arm: str) -> np.ndarray:
    """Right moves, less a fifth of the log loss of what is stated: a guess among two costs as much either way."""
    return found[arm] - 0.2 * loss(found[f"{arm}: stated"])


def _said(mean: float, half: float) -> str:
    return f"{mean:+.3f} +- {half:.3f}"


def _drawn(found: dict[str, dict[str, np.ndarray]], marks: tuple[int, ...], chosen: str, constant: float) -> Any:
    figure, axes = panels(1, 4, 12.0, 3.2)
    shown = {chosen: "default", FORMER: "former default", f"UCT {constant}": "UCT", "flat": "flat Monte Carlo"}
    for ax, (name, one) in zip(axes[0], found.items(), strict=True):
        for k, (arm, label) in enumerate(shown.items()):
            mean, half = one[arm].mean(axis=0), half_width(one[arm])
            ax.errorbar(marks, mean, half, marker="o", markersize=3, capsize=2, color=f"C{k}", label=label)
        ax.axhline(float(one["chance"].mean()), color="0.5", linestyle=":", linewidth=1)
        ax.set(title=f"{name} ({'chooses' if name in CHOOSE else 'confirms'})", xscale="log", xlabel="roll-outs")
        ax.set_xticks(marks, [str(mark) for mark in marks])
        ax.minorticks_off()
    axes[0, 0].set_ylabel("positions with a right move")
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure


if __name__ == "__main__":
    command(run, __doc__, __file__)
