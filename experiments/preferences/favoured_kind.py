"""A person who always prefers one kind: what is certain of its other items, and of the rest (Ko 2017, figure 3.7).

Items of three kinds, known by features that tell the kinds apart; people who like one of the kinds, drawn from the
model, train it. A new person prefers items of the first kind to items of others, comparison after comparison.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import ndtr
from sklearn.gaussian_process.kernels import RBF

from adaptive import CollaborativePreference
from adaptive.plots.style import GREY, PALETTE
from experiments.drawing import BAND, with_interval
from experiments.script import Script, command, panels

KINDS, EACH, STEPS = 3, 6, 20


def deviations(seed: int, n_people: int) -> dict[str, np.ndarray]:
    """Mean standard deviation, per step, of held-out pairs with the favoured kind and of pairs without."""
    rng = np.random.default_rng(seed)
    kind = np.repeat(np.arange(KINDS), EACH)
    features = np.eye(KINDS)[kind] + 0.1 * rng.standard_normal((len(kind), KINDS))
    prior = 2.0 * np.equal.outer(kind, kind) + 0.3 * np.eye(len(kind))
    liked = rng.multivariate_normal(np.zeros(len(kind)), prior, n_people)
    rows = np.array([(u, *rng.choice(len(kind), 2, replace=False)) for u in range(n_people) for _ in range(12)])
    gap = liked[rows[:, 0], rows[:, 1]] - liked[rows[:, 0], rows[:, 2]]
    y = np.where(rng.random(len(gap)) < ndtr(gap), 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CollaborativePreference(2, RBF(0.5), item_features=features, random_state=seed).fit(rows, y)
    person = model.user("new")
    first, others = np.flatnonzero(kind == 0), np.flatnonzero(kind > 0)
    kept, asked = first[:2], first[2:]  # two of the favoured kind are never asked about
    aside = others[::3]
    told = [item for item in others if item not in aside]
    held = [(int(a), int(b)) for a in kept for b in aside]
    rest = [(int(a), int(b)) for a in aside for b in aside if a < b and kind[a] == kind[b]]
    curves: dict[str, list[float]] = {"favoured": [], "unrelated": []}
    for step in range(STEPS + 1):
        for name, pairs in (("favoured", held), ("unrelated", rest)):
            curves[name].append(float(np.mean(np.sqrt(person.predictive(pairs).variance))))
        pair = (int(asked[step % len(asked)]), int(told[step % len(told)]))
        person.partial_fit([pair], [1])
    return {name: np.array(curve) for name, curve in curves.items()}


def run(script: Script) -> None:
    """Both curves and the verdict."""
    n_people = 60 if script.quick else 200
    found = [script.kept("favoured_kind", deviations, seed, n_people) for seed in range(1 if script.quick else 5)]
    curves = {name: np.mean([one[name] for one in found], axis=0) for name in ("favoured", "unrelated")}
    left = {name: round(float(curve[-1] / curve[0]), 3) for name, curve in curves.items()}
    script.judge(
        "ko-fig-3.7", left["favoured"] < 0.7 and left["unrelated"] > 0.9,
        claim="Comparisons in favour of one kind make its other items certain; what they do not touch stays uncertain.",
        target="the deviation of held-out pairs with the kind ends below 0.7 of its start, that of unrelated pairs "
        "above 0.9",
        value=left,
        reason=f"Synthetic data: three kinds of six items, {n_people} people with 12 comparisons each, {len(found)} "
        f"draws; a new person prefers the first kind {STEPS} times. Unrelated pairs are of one other kind and were "
        "never asked about.",
    )  # fmt: skip
    figure, axes = panels(1, 1, 5.5, 3.2)
    says = {"favoured": (PALETTE[0], "held-out pairs with the kind"), "unrelated": (GREY, "pairs of another kind")}
    for name, (colour, label) in says.items():
        each = np.array([one[name] for one in found])
        with_interval(axes[0, 0], np.arange(each.shape[1]), each.T, color=colour, label=label)
    axes[0, 0].set(
        xlabel="comparisons", ylabel="standard deviation of a difference", ylim=(0, None), xticks=range(0, STEPS + 1, 5)
    )
    axes[0, 0].legend(fontsize=8, frameon=False)
    script.figure(
        figure, "favoured-kind", "What is left unknown as somebody prefers one kind again and again. "
        f"{BAND} over {len(found)} simulated populations.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
