"""Stopping by a bound: how often `AtMost` stops within 5% of the answers after which nothing changed.

A run labels the rows of a real table to the end.  The answers after which nothing changed are those from which on
accuracy on held-out rows stays within half a point of its last value.  Each rule stops the same run; it is right if it
stops within 5% of that number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from adaptive.loop import AtMost, InformationLeft, StablePredictions
from adaptive.plots import PALETTE
from experiments.script import Script, command, panels
from experiments.statistics import limits

N_SEEDS = 8
N_POOL, N_ANSWERS, EVERY = 150, 60, 2  # rules are looked at after every second answer
CALM = 0.005  # of accuracy
EARLY = 0.05
RULES = {
    "at most 2 nats in 20": lambda: AtMost(2.0),
    "at most 1 nat in 20": lambda: AtMost(1.0),
    "at most 0.5 nats in 20": lambda: AtMost(0.5),
    "information .05 left": lambda: InformationLeft(0.05),
    "stable predictions": lambda: StablePredictions(),
}


def run(script: Script) -> None:
    """All sets and seeds."""
    sets = ("digits", "breast cancer") if script.quick else ("digits", "usps", "breast cancer", "german")
    seeds = range(1 if script.quick else N_SEEDS)
    n = 12 if script.quick else N_ANSWERS
    found = [(name, script.kept("stop-at-most", one_run, name, seed, n)) for name in sets for seed in seeds]
    figure, axes = panels(1, len(sets), 3.0 * len(sets), 3.2)
    rows: dict[str, dict[str, Any]] = {}
    for rule in RULES:
        ratios = np.array([stop(one, rule) / one["calm"] for _, one in found])
        rows[rule] = {
            "earlier than that": float(np.mean(ratios < 1 - EARLY)),
            "within 5% on either side": float(np.mean(np.abs(ratios - 1) <= EARLY)),
            "median ratio": float(np.median(ratios)),
            "accuracy lost, mean": float(np.mean([lost(one, rule) for _, one in found])),
            "by set, 95% over seeds": {name: _of_set(found, name, rule) for name in sets},
        }
    for ax, name in zip(axes[0], sets, strict=True):
        for colour, (_, one) in zip(PALETTE, [pair for pair in found if pair[0] == name], strict=False):
            ax.plot(np.arange(1, n + 1), one["accuracy"], color=colour, linewidth=1)
            for mark, rule in zip("ov^sx", RULES, strict=True):
                at = stop(one, rule)
                ax.plot(at, one["accuracy"][at - 1], mark, color=colour, markersize=3)
        ax.set(xlabel="answers", title=name)
    axes[0, 0].set_ylabel("accuracy on held-out rows")
    script.figure(
        figure, "ours-certificate-at-most",
        "Accuracy along runs, and where rules stop them: circle, triangles at most 2, 1, .5 nats in the next 20 "
        "answers; square .05 nats left in the best; cross stable predictions.",
    )  # fmt: skip
    rested = [int(one["calm"]) for _, one in found]
    best = max(rows[rule]["within 5% on either side"] for rule in list(RULES)[:3])
    script.judge(
        "ours-certificate-at-most", best >= 0.5,
        claim="A run that stops when the next 20 answers together can tell at most 2 nats (or 1, or 0.5) stops within "
        "5% of the answers after which held-out accuracy did not change any more.",
        target="in half of the runs, by one of the three",
        value={**rows, "runs": len(found), "answers after which nothing changed": rested},
        reason="Held-out accuracy moves by half a point as long as labels come in, or settles by chance long before. "
        "The bound says what the model may still learn, and not which part of that changes a prediction.",
        seed=0,
    )  # fmt: skip


def one_run(name: str, seed: int, n: int) -> dict[str, Any]:
    """Accuracy after each answer, the number after which it rests, and where each rule stops."""
    X, y = _table(name)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    pool, held = order[: min(N_POOL, len(X) // 2)], order[len(X) // 2 :]
    model = BayesianLogisticRegression(classes=np.unique(y).tolist())
    design = SequentialDesign(model, X[pool], lambda query: y[pool][query.positions], random_state=seed)
    rules = {rule: make() for rule, make in RULES.items()}
    stops: dict[str, int] = {}
    accuracy = []
    for k in range(1, n + 1):
        design.run(1)
        accuracy.append(float(design.estimator_.score(X[held], y[held])))
        for rule, one in rules.items():
            one.update(design)
            if rule not in stops and k > 2 and k % EVERY == 0 and one(design):
                stops[rule] = k
    moved = np.flatnonzero(np.abs(np.array(accuracy) - accuracy[-1]) > CALM)
    calm = int(moved[-1]) + 2 if len(moved) else 1
    return {
        "accuracy": np.array(accuracy),
        "calm": np.array(calm),
        "stops": np.array([stops.get(rule, n) for rule in RULES]),
    }


def _of_set(found: list[tuple[str, dict[str, Any]]], name: str, rule: str) -> dict[str, list[float]]:
    """Return how late a rule stops runs on a set, as a ratio, and the accuracy lost by it: means with their limits."""
    runs = [one for own, one in found if own == name]
    ratios = [stop(one, rule) / float(one["calm"]) for one in runs]
    losses = [lost(one, rule) for one in runs]
    return {"ratio": list(limits(np.array(ratios))), "accuracy lost": list(limits(np.array(losses)))}


def lost(one: dict[str, Any], rule: str) -> float:
    """Return by how much held-out accuracy at the end is above that where a rule stopped a run."""
    return float(one["accuracy"][-1] - one["accuracy"][stop(one, rule) - 1])


def stop(one: dict[str, Any], rule: str) -> int:
    """Return after how many answers a rule stopped a run."""
    return int(one["stops"][list(RULES).index(rule)])


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.preprocessing import StandardScaler

    if name == "digits":
        X, y = datasets.digits_pair(3, 5)
    elif name == "usps":
        X, y = datasets.usps("train", (3, 5))
    elif name == "breast cancer":
        X, y = datasets.breast_cancer()
    else:
        X, y = datasets.raetsch("german")[:2]
    return StandardScaler().fit_transform(np.asarray(X, dtype=float)), np.asarray(y)


if __name__ == "__main__":
    command(run, __doc__, __file__)
