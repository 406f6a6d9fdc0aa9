"""Which leaf should be rolled out next: by information, or by a policy of descents?

Trees of the model with branching 5 and depth 4: players alternate and see signs, one player maximises and sees signs,
players alternate and see the numbers at the ends. Leaves of the boundary by information about the root's value, about
the values of its moves jointly, and (of signs) about which move is best; one by one, and about the root's value in
batches of 8 of the 64 weightiest; beside descents by the policies and UCT. Regret of the chosen move, the share of
trees in which it loses though another wins, and random games until the best move is known with probability .95, and how
often it is then not the best.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from adaptive import GameTreeSearch
from designs.games import EndsTree, random_tree
from experiments.equivalence import all_of, inside
from experiments.game_trees.rivals import uct
from experiments.script import Script, command, panels
from experiments.statistics import half_width

KINDS = {"alternating": ("alternate", True), "one player": ("max", True), "real values": ("alternate", False)}
POLICIES = ("optimistic", "tesauro", "thompson", "uniform")
WAYS = {name: (name, 1) for name in POLICIES} | {
    "information: root": ("root", 1), "information: moves": ("moves", 1), "information: best": ("best", 1),
    "information: root, batches of 8": ("root", 8),
}  # fmt: skip
CONSTANTS = (0.2, 0.4, 0.8, 1.4, 2.0)
KNOWN = 0.95
SHORT = 64  # of the boundary, where a batch is chosen jointly
AT_ONCE = 4  # trees that are kept together
N_TREES = 60  # 200 were asked: 22 s of a processor each


def ways_of(kind: str) -> dict[str, tuple[str, int]]:
    """Return the searchers of a kind of trees: which move is best is a target for signs only."""
    return {name: way for name, way in WAYS.items() if KINDS[kind][1] or way[0] != "best"}


def tree_of(kind: str, seed: int) -> EndsTree:
    """Return tree number ``seed`` of a kind."""
    players, signs = KINDS[kind]
    return random_tree(5, 4, players=players, signs=signs, random_state=seed)


def scale_of(game: EndsTree) -> float:
    """Return the standard deviation of results: the constant of UCT is in its units."""
    return 1.0 if game.signs else float(np.sqrt(game.depth))


def outcomes(game: EndsTree, nodes: list[tuple[int, ...]], rng: np.random.Generator) -> list[tuple[float, int]]:
    """Roll each node out by random moves."""
    found = []
    for node in nodes:
        left = game.depth - len(node)
        path = (*node, *(int(k) for k in rng.integers(game.branching, size=left)))
        result = game.result(path)
        assert result is not None
        found.append((result, left))
    return found


def missed(values: np.ndarray, move: int) -> tuple[float, float]:
    """Return the regret of a move, and whether it loses though another one wins."""
    return float(values.max() - values[move]), float(values.max() > 0 and values[move] <= 0)


def one_run(game: EndsTree, how: str, batch: int, marks: tuple[int, ...], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (marks, 2) regret and loss, and (3,) roll-outs until the best move is known, whether wrongly, seconds."""
    rng = np.random.default_rng([seed, 7])
    model = GameTreeSearch(
        game, players=game.players, results="sign" if game.signs else "value",
        policy=how if how in POLICIES else "optimistic", random_state=seed,
    )  # fmt: skip
    values = game.optimal_values()[1]
    n, known, wrong, rows = 0, float(marks[-1]), np.nan, []
    start = time.process_time()
    for mark in marks:
        while n < mark:
            size = min(5, mark - n)
            if how in POLICIES:
                model.search(size)
            else:
                pool = model.boundary(256 if batch == 1 else SHORT)
                size = min(batch, len(pool), mark - n) or mark - n  # all is seen: nothing to ask
                if pool:
                    chosen = [pool[int(k)] for k in model.select(pool, size, target=how, random_state=seed)]
                    model.partial_fit(chosen, outcomes(game, chosen, rng))
            n += size
            if np.isnan(wrong) and (n % 5 == 0 or batch > 1) and (p := model.best_move_proba()).max() >= KNOWN:
                known, wrong = float(n), float(values[int(np.argmax(p))] < values.max())
        rows.append(missed(values, model.best_move()))
    return np.array(rows), np.array([known, wrong, (time.process_time() - start) / marks[-1]])


def tuned(kind: str, marks: tuple[int, ...], n_trees: int) -> float:
    """Return the constant of UCT with the least regret over all looks, on trees of other seeds."""
    regret = dict.fromkeys(CONSTANTS, 0.0)
    for seed in range(100_000, 100_000 + n_trees):
        game = tree_of(kind, seed)
        values = game.optimal_values()[1]
        for constant in CONSTANTS:
            moves = uct(game, marks, constant * scale_of(game), seed).move
            regret[constant] += sum(missed(values, int(k))[0] for k in moves)
    return min(CONSTANTS, key=lambda constant: regret[constant])


def compared(kind: str, first: int, n_trees: int, marks: tuple[int, ...], constant: float) -> dict[str, np.ndarray]:
    """Return for each searcher (trees, marks, 2) regret and loss, and for ours (trees, 3) how it ended."""
    found: dict[str, list[np.ndarray]] = {}
    for seed in range(first, first + n_trees):
        game = tree_of(kind, seed)
        values = game.optimal_values()[1]
        for name, (how, batch) in ways_of(kind).items():
            rows, end = one_run(game, how, batch, marks, seed)
            found.setdefault(name, []).append(rows)
            found.setdefault(f"{name}, end", []).append(end)
        moves = uct(game, marks, constant * scale_of(game), seed).move
        found.setdefault("UCT, tuned", []).append(np.array([missed(values, int(k)) for k in moves]))
    return {name: np.array(runs) for name, runs in found.items()}


def run(script: Script) -> None:
    """Measure, draw, judge."""
    marks, n_trees = ((5, 10), 1) if script.quick else ((20, 50, 100, 200), N_TREES)
    shown, constants = {}, {}
    for kind in KINDS:
        constants[kind] = tuned(kind, marks, 1 if script.quick else 100)
        parts = [
            script.kept("which_leaf", compared, kind, first, min(AT_ONCE, n_trees), marks, constants[kind])
            for first in range(0, n_trees, AT_ONCE)
        ]
        shown[kind] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    size = f"{n_trees} trees of each kind, branching 5, depth 4 (simulated from the model)"
    script.table(table_of(shown, marks), "trees-which-leaf", f"{size}; constants of UCT, tuned: {constants}.")
    figure, axes = panels(1, 3, 10.5, 3.6)
    for ax, (kind, found) in zip(axes[0], shown.items(), strict=True):
        for name in [*ways_of(kind), "UCT, tuned"]:
            dashes = "-" if name.startswith("information") else "--"
            colour = f"C{[*WAYS, 'UCT, tuned'].index(name)}"  # the same where a way is left out
            mean = found[name][:, :, 0].mean(axis=0)
            ax.plot(marks, mean, dashes, color=colour, marker="o", markersize=3, label=name)
        ax.set(title=kind, xlabel="random games", xscale="log")
        ax.set_xticks(marks, [str(mark) for mark in marks])
        ax.minorticks_off()
    axes[0, 0].set_ylabel("regret of the move")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=7)
    script.figure(figure, "trees-which-leaf", f"Mean regret of the chosen move; {size}.")
    if not script.quick:
        judge(script, shown, marks, n_trees)


def table_of(shown: dict[str, dict[str, np.ndarray]], marks: tuple[int, ...]) -> dict[str, list[Any]]:
    """Return the columns of the table: one row for a kind of trees and a searcher."""
    table: dict[str, list[Any]] = {}
    for kind, found in shown.items():
        for name in [*ways_of(kind), "UCT, tuned"]:
            mean, end = found[name].mean(axis=0), found.get(f"{name}, end", np.full((1, 3), np.nan))
            stopped = ~np.isnan(end[:, 1])
            row = {
                "trees": kind, "searcher": name,
                **{f"regret after {mark}": round(float(mean[k, 0]), 3) for k, mark in enumerate(marks)},
                **{f"losing after {mark}": round(float(mean[k, 1]), 3) for k, mark in enumerate(marks)},
                "known after": round(float(end[:, 0].mean()), 1), "known in": int(stopped.sum()),
                "then wrong": int(end[stopped, 1].sum()), "ms a roll-out": round(1e3 * float(np.median(end[:, 2])), 2),
            }  # fmt: skip
            for key, value in row.items():
                table.setdefault(key, []).append("" if value != value else value)
    return table


def paired(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return the mean over trees of (regret of one - of the other), looks averaged, and its 95% half-width."""
    gain = one[:, :, 0].mean(axis=1) - other[:, :, 0].mean(axis=1)
    return float(gain.mean()), float(half_width(gain))


def judge(script: Script, shown: dict[str, dict[str, np.ndarray]], marks: tuple[int, ...], n_trees: int) -> None:
    """Information beside policies and UCT, batches beside one by one, time, and how often what is known is wrong."""
    size = f"{n_trees} trees of each kind, looks after {', '.join(map(str, marks))} games"
    seeds = f"0..{n_trees - 1}"
    gains: dict[str, dict[str, str]] = {}
    leads = []
    for kind, found in shown.items():
        for name in (one for one in ways_of(kind) if one.startswith("information") and "batches" not in one):
            for rival in ("optimistic", "UCT, tuned"):
                mean, width = paired(found[rival], found[name])
                gains.setdefault(kind, {})[f"{rival} - {name}"] = f"{mean:+.3f} +- {width:.3f}"
                if kind == "alternating" and rival == "optimistic":
                    leads.append(mean - width)
    script.judge(
        "ours-trees-which-leaf", max(leads) > 0,
        claim="Leaves by information find better moves than the optimistic policy, at equal numbers of random games.",
        target="alternating trees: mean regret over all looks lower, the paired 95% interval of one target above 0",
        value=gains, reason=f"{size}; losses, roll-outs and time: tables/trees-which-leaf.csv.", seed=seeds,
    )  # fmt: skip
    batches = {
        kind: paired(found["information: root, batches of 8"], found["information: root"])
        for kind, found in shown.items()
    }
    lost = all_of(inside(mean - width, mean + width, most=0.05) for mean, width in batches.values())
    script.judge(
        "ours-trees-batches", lost,
        claim="Leaves rolled out in joint batches of 8 lose at most 0.05 of a step in regret compared with one by one.",
        target="the paired 95% interval of the loss lies below 0.05, on every kind of trees",
        value={kind: f"{mean:+.3f} +- {width:.3f}" for kind, (mean, width) in batches.items()},
        reason=("" if lost is not None else "The intervals reach beyond what is allowed, because there are too few "
        "trees. ")
        + f"{size}; batches of the {SHORT} weightiest leaves, about the root's value.", seed=seeds,
    )  # fmt: skip
    cost = {}
    for kind, found in shown.items():
        level = found["optimistic"][:, -1, 0].mean()
        reached = np.flatnonzero(found["information: root"][:, :, 0].mean(axis=0) <= level)
        more = np.median(found["information: root, end"][:, 2]) - np.median(found["optimistic, end"][:, 2])
        cost[kind] = {
            "roll-outs to the regret of optimistic at the last look": int(marks[reached[0]]) if len(reached) else None,
            "more ms a roll-out": round(1e3 * float(more), 2),
        }
    pays = [row for row in cost.values() if (next(iter(row.values())) or marks[-1]) < marks[-1]]
    script.judge(
        "ours-trees-information-time", bool(pays),
        claim="Where roll-outs are expensive, two-pass information pays: fewer of them reach the policy's regret.",
        target=f"fewer than {marks[-1]} roll-outs on one kind of trees", value=cost,
        reason=f"{size}; it pays where a roll-out costs more than what is added to it.", seed=seeds,
    )  # fmt: skip
    wrong = {}
    for kind, found in shown.items():
        ends = np.concatenate([found[f"{name}, end"] for name in ways_of(kind)])
        stopped = ends[~np.isnan(ends[:, 1])]
        wrong[kind] = (int(stopped[:, 1].sum()), len(stopped), len(ends))
    script.judge(
        "ours-trees-best-move-known", all(w <= 0.05 * max(n, 1) for w, n, _ in wrong.values()),
        claim="When a move is the best with probability 0.95, it is not the best in at most 5% of runs.",
        target="wrong in at most 5%",
        value={kind: f"wrong in {w} of {n} runs that stopped, of {m}" for kind, (w, n, m) in wrong.items()},
        reason="All searchers together, looked at every 5 roll-outs; the first time counts, which is a "
        "selection.", seed=seeds,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
