"""Do scores of 9x9 Go walk as the model says? Children's scores around their parent's, along one random game.

Figures 3.6 and 3.7 of the source, with an engine of our own and scaled down: at every fifteenth ply of one random
game all legal moves are played and rolled out; a share p of wins in roll-outs of mean length l is the score Phi^-1(p)
sqrt(l). Scores are divided by the standard deviation of a step that the parent's children show; the noise of
counting, which is of the same size, is taken off its variance. Roll-outs uniform, and such that capture where they
can.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from designs.games import Go
from experiments.script import Script, command, panels


def scores(game: Go, state: Any, n: int, seed: int) -> tuple[float, float, float]:
    """Return the score of a state under random play, the variance of its estimate, and the mean length."""
    rng = np.random.default_rng(seed)
    wins, length = 0, 0
    for _ in range(n):
        result, route = game.rollout(state, rng)
        wins += result > 0
        length += len(route)
    p = (wins + 0.5) / (n + 1)
    z = stats.norm.ppf(p)
    mean = length / n
    return float(z * np.sqrt(mean)), float(mean * p * (1 - p) / n / stats.norm.pdf(z) ** 2), float(mean)


def along(policy: str, plies: tuple[int, ...], n: int) -> list[dict[str, Any]]:
    """Return, at these plies of one random game, the steps to all children and the variance of counting."""
    game = Go(policy=policy)
    rng = np.random.default_rng(1)
    state, found = game.start, []
    for ply in range(max(plies) + 1):
        moves = game.moves(state)[:-1]  # passes apart
        if not moves or game.result(state) is not None:
            break
        if ply in plies:
            children = [scores(game, game.play(state, move), n, 1000 * ply + move) for move in moves]
            g, noise, _ = (np.array(column) for column in zip(*children, strict=True))
            found.append({"ply": ply, "steps": g - g.mean(), "noise": float(noise.mean()), "mean": float(g.mean())})
        state = game.play(state, moves[int(rng.integers(len(moves)))])
    return found


def run(script: Script) -> None:
    """Measure, draw, judge."""
    plies, n = ((0, 10), 20) if script.quick else ((0, 15, 30, 45, 60), 200)
    found = {policy: along(policy, plies, n) for policy in ("uniform", "capturing")}
    figure, axes = panels(1, 3, 11.0, 3.6)
    distances: dict[str, float] = {}
    slopes: dict[str, list[float]] = {}
    for k, (policy, rows) in enumerate(found.items()):
        early = [row for row in rows if row["ply"] <= 40]
        pooled = np.concatenate([row["steps"] / row["steps"].std() for row in early])
        distances[policy] = float(stats.kstest(pooled, "norm").statistic)
        slopes[policy] = [float(np.sqrt(max(row["steps"].var() - row["noise"], 0.0))) for row in rows]
        z, ordered = stats.probplot(pooled, fit=False)
        axes[0, k].plot(z, ordered, ".", markersize=2, color="#0072B2")
        axes[0, k].plot([-3, 3], [-3, 3], color="#6E6E6E", linewidth=0.8)
        axes[0, k].set(title=f"{policy}, plies 0 to 40", xlabel="normal quantiles", ylabel="children's steps, scaled")
        axes[0, 2].plot([row["ply"] for row in rows], [row["mean"] for row in rows], marker="o", label=policy)
    axes[0, 2].set(title="mean score of children", xlabel="ply", ylabel="score")
    axes[0, 2].legend(fontsize=7, frameon=False)
    caption = f"9x9 Go, one random game, {n} roll-outs of all legal moves at every fifteenth ply (own engine)."
    script.figure(figure, "hennig-fig-3.6", caption)
    script.judge(
        "hennig-fig-3.6", distances["uniform"] <= 0.05 and distances["capturing"] >= distances["uniform"],
        claim="Children's scores around their parent's are close to normal for the random policy; the smart one has "
        "heavier tails.",
        target="KS distance at most 0.05 for uniform roll-outs, and no less for capturing ones",
        value={
            "KS": {name: round(one, 3) for name, one in distances.items()},
            "sd of a step, counting noise taken off": {name: np.round(one, 2).tolist() for name, one in slopes.items()},
        },
        reason=f"{caption} The source used every ply and 1,000 roll-outs. Steps are scaled by their own "
        "deviation.", seed=1,
    )  # fmt: skip
    means = {policy: np.array([row["mean"] for row in rows]) for policy, rows in found.items()}
    drift = {policy: float(np.abs(np.diff(mean)).max()) for policy, mean in means.items() if len(mean) > 1}
    script.judge(
        "hennig-fig-3.7", drift["capturing"] > drift["uniform"],
        claim="With random roll-outs mean scores do not drift along a game; a smart policy makes extreme steps.",
        target="the largest change over fifteen plies is larger for capturing than for uniform roll-outs",
        value={
            "largest change over fifteen plies": {name: round(one, 2) for name, one in drift.items()},
            "mean scores": {name: mean.round(2).tolist() for name, mean in means.items()},
        },
        reason=f"{caption} Our policy captures where it can; the source's knows patterns.", seed=1,
    )  # fmt: skip
    script.judge(
        "hennig-sys-go-engine", all(len(rows) == len(plies) for rows in found.values()),
        claim="9x9 Go with random and smart policies, roll-outs of every legal move along one game.",
        target="all plies rolled out; rules as in tests/designs/test_games.py",
        value={policy: f"{len(rows)} plies" for policy, rows in found.items()}, reason=caption, seed=1,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
