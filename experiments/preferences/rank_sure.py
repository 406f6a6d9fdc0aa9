"""Whether ranking is right as often as it says: chosen comparisons of language models until an order is stated with .9.

Eight models of eight families drawn at will, as close as they come, whose order by all items is strict as far as it is
asked for; a comparison is a random item of a benchmark, a tie where both or neither answer it rightly.
"""

from __future__ import annotations

import itertools

import numpy as np

from adaptive import BradleyTerry
from experiments.preferences.rank_by_comparisons import answers_of
from experiments.script import Script, command, panels

N, BATCH, SURE, LEVELS, SETS = 8, 20, 0.9, (1, 2, 3), ("gsm8k", "mmlu")
Z = 1.96


def stopped(name: str, seed: int, budget: int, best: int) -> dict[str, np.ndarray]:
    """By batch: comparisons, what is stated of the order of the best, whether it is right; until .9 is stated."""
    rng = np.random.default_rng([seed, best, 9])
    right = answers_of(name, rng, N, 0.0, best)
    shown = rng.permutation(N)
    right, truth = right[shown], np.argsort(shown)[:best]
    model, pairs = BradleyTerry(np.arange(N)), np.array(list(itertools.permutations(range(N), 2)))
    rows = []
    for step in range(budget // BATCH):
        batch = pairs[model.select(pairs, BATCH, target=best, joint=False, random_state=step)]
        items = rng.integers(right.shape[1], size=BATCH)
        model.partial_fit(batch, [int(right[i, k] - right[j, k]) for (i, j), k in zip(batch, items, strict=True)])
        order, stated = model.order(best)
        rows.append(((step + 1) * BATCH, stated, float(np.array_equal(order, truth))))
        if stated >= SURE:
            break
    return {"rows": np.array(rows)}


def wilson(share: float, n: int) -> tuple[float, float]:
    """95% interval of a share of n."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    return float(middle - half), float(middle + half)


def run(script: Script) -> None:
    """All runs, what is stated beside what is right, a figure, the verdict."""
    seeds, budget = (2, 60) if script.quick else (20, 400)
    sets = SETS[:1] if script.quick else SETS
    runs = [
        np.asarray(script.kept("rank_sure", stopped, name, seed, budget, best)["rows"])
        for name, best, seed in itertools.product(sets, LEVELS, range(seeds))
    ]
    ended = np.array([rows[-1] for rows in runs if rows[-1, 1] >= SURE]).reshape(-1, 3)
    _, stated, right = np.concatenate(runs).T
    bands = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    which = np.digitize(stated, bands[1:-1])
    told = {
        f"{bands[k]:g} to {bands[k + 1]:g}": [round(float(part[which == k].mean()), 2) for part in (stated, right)]
        for k in range(5)
        if np.any(which == k)
    }
    share = float(ended[:, 2].mean()) if len(ended) else 0.0
    low, high = wilson(share, max(len(ended), 1))
    script.judge(
        "ours-rank-sure", None if low < 0.85 <= high else low >= 0.85,
        claim="Where ranking stops since the order of the best is right with probability 0.9, it is right as often.",
        target="the 95% interval of the share that is right above 0.85",
        value={"runs that stopped": len(ended), "right": round(share, 3), "interval": [round(low, 3), round(high, 3)],
               "comparisons, median": float(np.median(ended[:, 0])) if len(ended) else None,
               "stated and right, by band": told},
        reason=f"The best 1, 2 and 3 of {N} models in order, {seeds} draws each on {', '.join(sets)}, at most {budget} "
        f"comparisons; looked at after every {BATCH}. {len(runs) - len(ended)} of {len(runs)} runs did not stop. "
        "Begun with 10 draws; 10 more were added when these could not tell.",
    )  # fmt: skip
    figure, axes = panels(1, 1, 4.5, 3.6)
    axes[0, 0].plot([0, 1], [0, 1], "--", color="#999999")
    axes[0, 0].plot(*np.array(list(told.values())).T, "o-", color="#0072B2")
    axes[0, 0].set(xlabel="stated probability of the order", ylabel="share right", xlim=(0, 1), ylim=(0, 1))
    script.figure(figure, "rank-sure", f"How often an order of the best 1, 2 or 3 of {N} language models is right, by "
                  "the probability that is stated after each batch, in runs until .9.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
