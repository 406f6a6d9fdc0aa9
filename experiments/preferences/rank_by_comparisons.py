"""Language models ranked by comparisons made of real answers: pairs that are chosen, drawn, taken in turn, or Elo's.

Twelve models of twelve families (copies are dropped); a comparison is a random item of a benchmark: who answers it
rightly where the other does not wins, else it is a tie. The order of the best five by all items is to be found; these,
and the sixth, are at least two points apart, so that there is something to find. Random pairs and round robin are
judged by the same model as the chosen ones; a rating system with uncertainty (after Glickman, 1999) chooses its own
pairs, one by one, and orders by its own ratings.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from adaptive import BradleyTerry
from adaptive.datasets import data_folder
from experiments.drawing import BAND, with_interval
from experiments.script import Script, command, panels
from experiments.statistics import half_width

N, BEST, APART, BATCH, EVERY = 12, 5, 0.02, 10, 50
BUDGET, SEEDS = 1500, 12
SETS = ("gsm8k", "mmlu")
DESIGNS = ("chosen", "random", "round robin", "Elo with uncertainty")
STYLE = {"chosen": ("#0072B2", "-"), "random": ("#999999", "--"), "round robin": ("#E69F00", ":"),
         "Elo with uncertainty": ("#D55E00", "-.")}  # fmt: skip


def answers_of(name: str, rng: np.random.Generator, n: int, apart: float, best: int) -> np.ndarray:
    """Right answers (n, items) of models of different families, the best first: by at least ``apart`` up to a place."""
    with np.load(data_folder.file(f"llm-benchmarks/{name}.npz")) as stored:
        right, family = stored["responses"], stored["family"]
    _, different = np.unique(right, axis=0, return_index=True)
    right, family = right[np.sort(different)], family[np.sort(different)]
    families = np.unique(family)
    while True:
        chosen = [rng.choice(np.flatnonzero(family == one)) for one in rng.choice(families, n, replace=False)]
        found = right[chosen][np.argsort(-right[chosen].mean(axis=1), kind="stable")]
        score = found.mean(axis=1)
        if np.all(score[:best] - score[1 : best + 1] >= max(apart, 1e-9)):
            return np.asarray(found, dtype=int)


class Elo:
    """Ratings with deviations, updated after every comparison; the next pair is the one that moves them most.

    r_i += s_i g (y - p),  1 / s_i = 1 / v_i + g^2 p (1 - p),  p = sigma(g (r_i - r_j)),  g = (1 + 3 v_j / pi^2)^-.5
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.rating, self.variance = np.zeros(n), np.full(n, 4.0)  # in logits: 350 points of Elo's
        self.pairs = rng.permutation(np.array(list(itertools.combinations(range(n), 2))))

    def expected(self, i: Any, j: Any) -> tuple[Any, Any]:
        """What i is expected to get of 1 against j, and g."""
        g = 1.0 / np.sqrt(1.0 + 3.0 * self.variance[j] / np.pi**2)
        return 1.0 / (1.0 + np.exp(-g * (self.rating[i] - self.rating[j]))), g

    def next(self, best: int) -> np.ndarray:
        """The pair whose result is least known, of those of which one may be among the best."""
        i, j = self.pairs.T
        p, _ = self.expected(i, j)
        width = 2.0 * np.sqrt(self.variance)
        least = np.sort(self.rating - width)[::-1][best - 1]
        perhaps = self.rating + width >= least
        score = (self.variance[i] + self.variance[j]) * p * (1.0 - p) * (perhaps[i] | perhaps[j])
        return np.asarray(self.pairs[int(np.argmax(score))])

    def learn(self, i: int, j: int, y: int) -> None:
        """What came of i against j: +1, 0, -1."""
        moved = []
        for own, other, got in ((i, j, 0.5 * (1 + y)), (j, i, 0.5 * (1 - y))):
            p, g = self.expected(own, other)
            variance = 1.0 / (1.0 / self.variance[own] + g**2 * p * (1.0 - p))
            moved.append((own, self.rating[own] + variance * g * (got - p), variance))
        for own, rating, variance in moved:
            self.rating[own], self.variance[own] = rating, variance


def raced(name: str, seed: int, budget: int, design: str) -> dict[str, Any]:
    """By checkpoint whether the order of the best is right, how many of its places are, and what is stated."""
    rng = np.random.default_rng([seed, 0])
    right = answers_of(name, rng, N, APART, BEST)
    rng = np.random.default_rng([seed, 1 + DESIGNS.index(design)])
    shown = rng.permutation(N)  # models have no place of their own
    right = right[shown]
    truth = np.argsort(shown)[:BEST]
    model, elo, learnt = BradleyTerry(np.arange(N)), Elo(N, rng), 0
    pairs = np.array(list(itertools.permutations(range(N), 2)))
    turn = rng.permutation(np.array(list(itertools.combinations(range(N), 2))))
    asked: list[Any] = []
    outcomes: list[int] = []
    found: dict[str, list[float]] = {"right": [], "places": [], "stated": []}
    for step in range(budget // BATCH):
        if design == "chosen":
            batch = pairs[model.select(pairs, BATCH, target=BEST, joint=False, random_state=step)]
        elif design == "random":
            batch = pairs[rng.choice(len(pairs), BATCH, replace=False)]
        elif design == "round robin":
            batch = turn[np.arange(step * BATCH, (step + 1) * BATCH) % len(turn)]
            batch = batch if (step * BATCH // len(turn)) % 2 == 0 else batch[:, ::-1]
        else:
            batch = np.zeros((BATCH, 2), dtype=int)
        items = rng.integers(right.shape[1], size=BATCH)
        got = []
        for k, item in enumerate(items):
            if design.startswith("Elo"):
                batch[k] = elo.next(BEST)
            i, j = batch[k].tolist()
            got.append(int(right[i, item] - right[j, item]))
            elo.learn(i, j, got[-1])
        asked, outcomes = asked + batch.tolist(), outcomes + got
        checkpoint = len(asked) % EVERY == 0
        if not design.startswith("Elo") and (design == "chosen" or checkpoint):
            model.partial_fit(np.array(asked[learnt:]), outcomes[learnt:])
            learnt = len(asked)
        if checkpoint:
            strength = elo.rating if design.startswith("Elo") else model.strengths()[0]
            order = np.argsort(-strength, kind="stable")[:BEST]
            found["right"].append(float(np.array_equal(order, truth)))
            found["places"].append(float(np.mean(order == truth)))
            found["stated"].append(0.0 if design.startswith("Elo") else model.order(BEST)[1])
    return {name: np.array(values) for name, values in found.items()}


def comparisons_to(right: np.ndarray) -> float:
    """Comparisons after which the order is right and stays so; one checkpoint beyond the budget where it never is."""
    wrong = np.flatnonzero(right == 0)
    return float(EVERY * (1 if not len(wrong) else wrong[-1] + 2))


def run(script: Script) -> None:
    """Races on a benchmark, a figure, verdicts."""
    seeds, budget = (2, 100) if script.quick else (SEEDS, BUDGET)
    sets = SETS[:1] if script.quick else SETS
    figure, axes = panels(1, len(sets), 5.0 * len(sets), 3.6)
    for column, name in enumerate(sets):
        found = {
            design: [script.kept("rank_raced", raced, name, seed, budget, design) for seed in range(seeds)]
            for design in DESIGNS
        }
        to = {design: np.array([comparisons_to(np.asarray(one["right"])) for one in runs])
              for design, runs in found.items()}  # fmt: skip
        places = {design: np.mean([one["places"] for one in runs], axis=0) for design, runs in found.items()}
        for design in DESIGNS[1:]:
            fewer = to[design] - to["chosen"]
            half = half_width(fewer, 2.201)
            ahead = np.mean([one["places"] for one in found["chosen"]], axis=1)
            ahead = ahead - np.mean([one["places"] for one in found[design]], axis=1)
            spread = half_width(ahead, 2.201)
            share = {one: round(float(np.mean([part["right"][-1] for part in found[one]])), 2)
                     for one in ("chosen", design)}  # fmt: skip
            script.judge(
                f"ours-rank-{name}-{design.split()[0].lower()}", bool(fewer.mean() - half > 0),
                claim=f"Chosen comparisons come to the right order of the best five of {N} language models sooner than "
                f"{design} ({name}).",
                target="paired 95% interval of comparisons saved above 0",
                value={"comparisons": {one: round(float(to[one].mean())) for one in ("chosen", design)},
                       "saved": [round(float(fewer.mean() - half)), round(float(fewer.mean() + half))],
                       "right at the end": share,
                       "places right, on average": {one: round(float(places[one].mean()), 3)
                                                    for one in ("chosen", design)},
                       "places more": [round(float(ahead.mean() + end * spread), 3) for end in (-1, 1)]},
                reason=f"{seeds} draws of models, at most {budget} comparisons each; an order that is never right "
                f"counts as {budget + EVERY}. Draws differ by how close their models are, more than designs do: "
                "the intervals are wide, also that of the share of places right, over all checkpoints.",
            )  # fmt: skip
        for design in DESIGNS:
            shares = 100 * np.array([one["places"] for one in found[design]])
            with_interval(axes[0, column], EVERY * np.arange(1, shares.shape[1] + 1), shares.T, label=design,
                          color=STYLE[design][0], linestyle=STYLE[design][1])  # fmt: skip
        axes[0, column].set(title=name, xlabel="comparisons", ylim=(0, 100),
                            ylabel="places of the first five that are right (%)" if not column else "")  # fmt: skip
    axes[0, 0].legend(fontsize=8, frameon=False)
    script.figure(figure, "rank-by-comparisons", f"The order of the best five of {N} language models, compared by "
                  "random items that one of the two answers rightly, or none or both: share of the five places "
                  f"that are right. {BAND} over {seeds} draws of models.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
