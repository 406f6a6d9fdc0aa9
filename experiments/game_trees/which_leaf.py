"""Which leaf should be rolled out next: by information, or by a policy of descents?

Trees of the model with branching 5 and depth 4. Leaves of the boundary by information about the root's value, about the
values of its moves jointly, and about which move is best; one by one, and about the best move in batches of 8; beside
descents by the policies and UCT. Regret of the chosen move, the share of trees in which it loses though another wins,
and random games until the best move is known with probability .95, and how often it is then not the best.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from adaptive import GameTreeSearch
from designs.games import EndsTree, random_tree
from experiments.game_trees.rivals import uct
from experiments.script import Script, command, panels

POLICIES = ("optimistic", "tesauro", "thompson", "uniform")
TARGETS = ("root", "moves", "best")
KNOWN = 0.95


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


def one_run(game: EndsTree, how: str, batch: int, marks: tuple[int, ...], seed: int) -> dict[str, Any]:
    """Return regret and loss at each mark, the roll-outs until the best move is known, and whether it then was."""
    rng = np.random.default_rng([seed, 7])
    model = GameTreeSearch(
        game, players=game.players, policy=how if how in POLICIES else "optimistic", random_state=seed
    )
    values = game.optimal_values()[1]
    n, known, err, rows = 0, marks[-1], np.nan, []
    start = time.process_time()
    for mark in marks:
        while n < mark:
            if how in POLICIES:
                model.search(min(5, mark - n))
                n += min(5, mark - n)
            else:
                pool = model.boundary()
                if pool:
                    size = min(batch, len(pool), mark - n)
                    chosen = [pool[int(k)] for k in model.select(pool, size, target=how, random_state=seed)]
                    model.partial_fit(chosen, outcomes(game, chosen, rng))
                n += size if pool else mark - n
            if np.isnan(err) and (n % 5 == 0 or batch > 1) and model.best_move_proba().max() >= KNOWN:
                known, err = n, float(values[model.best_move()] < values.max())
        best = model.best_move()
        rows.append((values.max() - values[best], float(values.max() > 0 and values[best] <= 0)))
    return {"rows": rows, "known": known, "err": err, "seconds": (time.process_time() - start) / marks[-1]}


def run(script: Script) -> None:
    """Measure, draw, judge."""
    marks, n_trees = ((10, 20), 2) if script.quick else ((20, 50, 100, 200), 8)
    ways = {**{name: (name, 1) for name in POLICIES}, **{f"information: {t}": (t, 1) for t in TARGETS}}
    ways["information: best, batches of 8"] = ("best", 8)
    table: dict[str, list[Any]] = {"trees": [], "searcher": []}
    shown: dict[str, dict[str, Any]] = {}
    for players in ("alternate", "max"):
        found: dict[str, list[Any]] = {name: [] for name in ways}
        rival = []
        for seed in range(n_trees):
            game = random_tree(5, 4, players=players, random_state=seed)
            values = game.optimal_values()[1]
            for name, (how, batch) in ways.items():
                found[name].append(one_run(game, how, batch, marks, seed))
            moves = uct(game, marks, 0.8, seed).move
            rival.append([(values.max() - values[k], float(values.max() > 0 and values[k] <= 0)) for k in moves])
        means = {name: np.mean([one["rows"] for one in runs], axis=0) for name, runs in found.items()}
        means["UCT, c = 0.8"] = np.mean(rival, axis=0)
        shown[players] = {"means": means, "found": found}
        for name, mean in means.items():
            runs = found.get(name, [])
            errs = [one["err"] for one in runs if not np.isnan(one["err"])]
            more = {
                **{f"regret after {mark}": round(float(mean[k, 0]), 3) for k, mark in enumerate(marks)},
                **{f"losing after {mark}": round(float(mean[k, 1]), 3) for k, mark in enumerate(marks)},
                "known after": round(float(np.mean([one["known"] for one in runs])), 1) if runs else "",
                "known in": len(errs) if runs else "",
                "then wrong": round(float(np.mean(errs)), 3) if errs else "",
                "ms a roll-out": round(1e3 * float(np.median([one["seconds"] for one in runs])), 2) if runs else "",
            }
            for key, value in {"trees": players, "searcher": name, **more}.items():
                table.setdefault(key, []).append(value)
    script.table(
        table, "trees-which-leaf", f"{n_trees} trees each, branching 5, depth 4, players alternate or one maximises."
    )
    figure, axes = panels(1, 2, 9.0, 3.6)
    for one, (players, what) in zip(axes[0], shown.items(), strict=True):
        for name, mean in what["means"].items():
            dashes = "-" if name.startswith("information") else "--"
            one.plot(marks, mean[:, 0], dashes, marker="o", markersize=3, linewidth=1.1, label=name)
        one.set(title=f"players: {players}", xlabel="random games", ylabel="regret of the move", xscale="log")
    axes[0, 0].legend(fontsize=6, frameon=False)
    script.figure(figure, "trees-which-leaf", f"{n_trees} trees each, branching 5, depth 4 (simulated from the model).")
    _judge(script, shown, marks, n_trees)


def _judge(script: Script, shown: dict[str, dict[str, Any]], marks: tuple[int, ...], n_trees: int) -> None:
    what = shown["alternate"]
    late = what["means"]
    paired = {}
    for name in ("information: root", "information: moves", "information: best"):
        gain = [
            np.mean([row[0] for row in a["rows"]]) - np.mean([row[0] for row in b["rows"]])
            for a, b in zip(what["found"]["optimistic"], what["found"][name], strict=True)
        ]
        mean, error = float(np.mean(gain)), 1.96 * float(np.std(gain) / np.sqrt(len(gain)))
        paired[name] = f"{mean:+.3f} +- {error:.3f}"
    lead = {name: float(text.split()[0]) - float(text.split()[-1]) for name, text in paired.items()}
    script.judge(
        "ours-trees-which-leaf", max(lead.values()) > 0,
        claim="Leaves by information find better moves than the optimistic policy, at equal numbers of random games.",
        target="mean regret over all looks lower, the paired 95% interval of one target above 0",
        value={
            "regret of optimistic less that of": paired,
            "last regret": {name: round(float(mean[-1, 0]), 3) for name, mean in late.items()},
        },
        reason=f"{n_trees} alternating trees, looks at {', '.join(map(str, marks))} games; for one player and for the "
        "time a choice takes see tables/trees-which-leaf.csv.", seed=f"0..{n_trees - 1}",
    )  # fmt: skip
    errs = {
        players: np.concatenate([[one["err"] for one in runs] for runs in each["found"].values()])
        for players, each in shown.items()
    }
    wrong = {
        players: float(np.mean(values[~np.isnan(values)])) if not np.isnan(values).all() else 0.0
        for players, values in errs.items()
    }
    script.judge(
        "ours-trees-best-move-known", max(wrong.values()) <= 0.05,
        claim="When a move is the best with probability .95, it is not the best in at most 5% of runs.",
        target="wrong in at most 5%", value={players: round(share, 3) for players, share in wrong.items()},
        reason="Over all searchers, looked at every 5 roll-outs; the first time counts, which selects. "
        + ", ".join(f"{players}: {int(np.sum(~np.isnan(v)))} of {len(v)} runs stopped" for players, v in errs.items()),
        seed=f"0..{n_trees - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
