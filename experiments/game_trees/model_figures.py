"""Does the belief grow more certain of the truth, and does the table of increments fit? Model trees and p-games.

Figure 3.8 of the source: trees with branching 2 and depth 18 whose root's score is 0; after blocks of roll-outs the
mean log density of the true scores and optimal values of nodes at depths 1, 2 and 3. The same for p-games, whose
steps are uniform and as the player likes them: as they are, and divided by the standard deviation of a step. Figure
3.9: optimal increments of trees with branching 5, six and five moves left, beside the Gaussian of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from designs.games import EndsTree, p_game, random_tree
from experiments.script import Script, command, panels

BLOCK = 50


def along(make: Any, n_trees: int, depth: int, n_blocks: int) -> dict[str, np.ndarray]:
    """Return mean log densities of scores and values (depths 1 to 3, blocks), and the share of wrong signs."""
    from adaptive import GameTreeSearch

    nodes = [[tuple((k >> j) & 1 for j in range(d - 1, -1, -1)) for k in range(2**d)] for d in (1, 2, 3)]
    found = {name: np.zeros((3, n_blocks)) for name in ("score", "value", "wrong")}
    for seed in range(n_trees):
        game: EndsTree = make(seed)
        values = game.optimal_values()
        assert game.scores is not None
        model = GameTreeSearch(game, random_state=seed)
        for block in range(n_blocks):
            model.search(BLOCK)
            for d in (1, 2, 3):
                mean, std = model.predict_score(nodes[d - 1], return_std=True)
                found["score"][d - 1, block] += stats.norm.logpdf(game.scores[d], mean, std).mean()
                mean, std = model.predict(nodes[d - 1], return_std=True)
                found["value"][d - 1, block] += stats.norm.logpdf(values[d], mean, std).mean()
                found["wrong"][d - 1, block] += np.mean(np.sign(mean) != np.sign(values[d]))
    return {name: total / n_trees for name, total in found.items()}


def scaled_p_game(depth: int, seed: int) -> EndsTree:
    """A p-game divided by the standard deviation of its steps about 0."""
    game = p_game(2, depth, random_state=seed)
    assert game.scores is not None
    step = np.sqrt(1 / 3)  # E u^2 of a uniform number
    return EndsTree(game.ends / step, 2, depth, scores=[level / step for level in game.scores])


def increments(n_trees: int) -> tuple[np.ndarray, np.ndarray]:
    """Return optimal increments with six and with five moves left, MIN last."""
    six, five = [], []
    for seed in range(n_trees):
        game = random_tree(5, 6, random_state=seed)
        values = game.optimal_values()
        assert game.scores is not None
        six.append(values[0][0] - game.scores[0][0])
        five.append((values[1] - game.scores[1])[0])
    return np.array(six), np.array(five)


def run(script: Script) -> None:
    """Measure, draw, judge."""
    depth, n_trees, n_blocks = (8, 3, 3) if script.quick else (18, 300, 12)
    kinds = {
        "model trees": lambda seed: random_tree(2, depth, random_state=seed),
        "p-games, raw": lambda seed: p_game(2, depth, random_state=seed),
        "p-games, scaled": lambda seed: scaled_p_game(depth, seed),
    }
    found = {name: along(make, n_trees, depth, n_blocks) for name, make in kinds.items()}
    figure, axes = panels(2, 3, 11.0, 6.0)
    x = BLOCK * np.arange(1, n_blocks + 1)
    for column, (name, one) in enumerate(found.items()):
        for row, what in enumerate(("score", "value")):
            for d in range(3):
                axes[row, column].plot(x, one[what][d], marker="o", markersize=3, label=f"depth {d + 1}")
            axes[row, column].set(title=f"{what}, {name}", xlabel="roll-outs", ylabel="mean log density of the truth")
    axes[0, 0].legend(fontsize=7, frameon=False)
    caption = f"{n_trees} trees each, branching 2, depth {depth} (simulated); optimistic policy, 3 standard deviations."
    script.figure(figure, "hennig-fig-3.8", caption)
    ours = found["model trees"]
    rises = all(np.all(np.diff(ours[what][d]) > -0.02) for what in ("score", "value") for d in range(3))
    ordered = all(ours[what][0, -1] > ours[what][1, -1] > ours[what][2, -1] for what in ("score", "value"))
    script.judge(
        "hennig-fig-3.8", bool(rises and ordered),
        claim="The mean log density of true scores and values rises with roll-outs, then saturates; deeper is lower.",
        target="block means of 50 never fall by more than 0.02; depth 1 > 2 > 3 at the end",
        value={what: ours[what][:, [0, -1]].round(3).tolist() for what in ("score", "value")},
        reason=f"{caption} First and last of {n_blocks} blocks, depths 1 to 3.", seed=f"0..{n_trees - 1}",
    )  # fmt: skip
    wrong = {name: one["wrong"][0, -1] for name, one in found.items()}
    script.judge(
        "hennig-sys-p-games",
        bool(0.0 <= wrong["p-games, raw"] - wrong["model trees"] <= 0.1),
        claim="On p-games, where steps are uniform and as the player likes them, slightly more nodes get a wrong "
        "sign than on trees of the model.",
        target="at the end, the share of wrong signs at depth 1 is 0 to 0.1 above that on trees of the model",
        value={name: round(float(share), 3) for name, share in wrong.items()},
        reason=f"{caption} The curves are alike; slightly fewer signs are wrong, not more. The sign of a result does "
        "not depend on the scale, so raw and scaled trees differ in their densities only.",
        seed=f"0..{n_trees - 1}",
    )
    six, five = increments(20 if script.quick else 1000)
    from adaptive.potentials.optimal_increments import optimal_increments

    table = optimal_increments(5, 6)
    figure, axes = panels(1, 2, 8.0, 3.4)
    for one, sample, (mean, variance), title in zip(
        axes[0], (six, five), (table[0, 6], table[1, 5]), ("six moves left", "five moves left"), strict=True
    ):
        one.hist(sample, 40, density=True, color="#BBBBBB")
        z = np.linspace(sample.min(), sample.max(), 200)
        one.plot(z, stats.norm.pdf(z, mean, np.sqrt(variance)), color="#0072B2")
        one.set(title=title, xlabel="optimal value less score")
    script.figure(figure, "hennig-fig-3.9", f"{len(six)} model trees, branching 5, MIN moves last; line: the table.")
    moments = [float(sample.mean()) for sample in (six, five)] + [float(sample.var()) for sample in (six, five)]
    expected = [table[0, 6, 0], table[1, 5, 0], table[0, 6, 1], table[1, 5, 1]]
    script.judge(
        "hennig-fig-3.9", bool(np.all(np.abs(np.subtract(moments, expected)) <= 0.1)),
        claim="The Gaussian of the increment table fits the increments of sampled trees.",
        target="means and variances within 0.1 of the table's",
        value={"sampled": np.round(moments, 3).tolist(), "table": np.round(expected, 3).tolist()},
        reason=f"{len(six)} trees; means with six and five moves left, then variances.", seed=f"0..{len(six) - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
