"""The figure of the guide's page: a certificate, efficiency beside random rows, and what is left, along a run.

Rows of scikit-learn's digits under the prior of `SparseLinearRegression`: the batch of each size, its bound, and random
batches; then a run one by one, and at most what its next ten answers can tell beside what they do tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from adaptive import SparseLinearRegression, certificate
from adaptive.plots import PALETTE
from adaptive.selection import most_to_learn
from experiments.equivalence import all_of, inside
from experiments.script import Script, command, panels
from experiments.statistics import limits

NEXT = 10


def run(script: Script) -> None:
    """Sizes of batches, then the run."""
    X = load_digits().data[: 200 if script.quick else None] / 16
    model = SparseLinearRegression()
    sizes = [2, 8] if script.quick else [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128]
    found = [certificate(model, X, model.select(X, n, random_state=0)) for n in sizes]
    rng = np.random.default_rng(0)
    chance = np.array([[_told(model, X, rng.choice(len(X), n, replace=False)) for _ in range(20)] for n in sizes])
    order = model.select(X, 12 if script.quick else 80, scorer=_one_by_one, random_state=0)
    steps = range(0, len(order) - NEXT, 2 if script.quick else 5)
    left = [_left(model, X, order, k) for k in steps]

    figure, axes = panels(1, 3, 11.0, 3.4)
    first, second, third = axes[0]
    first.fill_between(sizes, [one.information for one in found], [one.bound for one in found], color="#dddddd")
    first.plot(sizes, [one.bound for one in found], color="#888888", label="no set tells more")
    first.plot(sizes, [one.information for one in found], color=PALETTE[0], label="design")
    first.plot(sizes, chance.mean(axis=1), color=PALETTE[1], label="random rows")
    first.set(xlabel="rows", ylabel="nats", title="what they tell")
    first.legend(fontsize="small", frameon=False)
    second.plot(
        sizes, [100 * one.share for one in found], "o-", color=PALETTE[0], label="design, at least", markersize=3
    )
    best = np.array([one.bound for one in found])
    second.plot(
        sizes, 100 * chance.mean(axis=1) / best, "o-", color=PALETTE[1], label="random rows, at least", markersize=3
    )
    second.set(xlabel="rows", ylabel="% of the best", ylim=(0, 102), title="share of the information")
    second.legend(fontsize="small", frameon=False)
    third.plot(list(steps), [most for most, _ in left], color="#888888", label=f"at most, the next {NEXT}")
    third.plot(list(steps), [told for _, told in left], color=PALETTE[0], label=f"told by the next {NEXT}")
    third.set(xlabel="answers so far", ylabel="nats", ylim=(0, None), title="what is left")
    third.legend(fontsize="small", frameon=False)
    script.figure(
        figure, "ours-certificate-guide",
        "1,797 rows of digits under the prior of a linear regression: what batches tell and what no set can exceed; "
        "shares of that; and, along a run, at most what the next ten answers can tell beside what they do.",
    )  # fmt: skip
    held = {n: limits(random / one.information) for n, one, random in zip(sizes, found, chance, strict=True)}
    script.judge(
        "ours-certificate-guide", all_of(inside(*held[n][1:], 0.5, 0.9) for n in sizes if n >= 8),
        claim="Random batches of eight rows of digits or more hold 0.5 to 0.9 of what designed ones tell.",
        target="every size from 8 on, the whole 95% intervals over random batches",
        value={
            "random over design": {n: list(three) for n, three in held.items()},
            "share of the design, at least": {one.n: one.share for one in found},
            "told by the next ten over the bound": [float(told / most) for most, told in left],
        },
        seed=0,
    )  # fmt: skip


def _told(model: Any, X: np.ndarray, chosen: np.ndarray) -> float:
    return certificate(model, X, chosen, n_iter=0).information


def _one_by_one(predictive: Any, random_state: Any = None) -> np.ndarray:
    """The information gain under another name: the order in which a run asks, without exchanges."""
    from adaptive import scorers

    return scorers.information_gain(predictive, random_state)


def _left(model: Any, X: np.ndarray, order: np.ndarray, k: int) -> tuple[float, float]:
    """Return at most what the next ten answers can tell after k, and what they do tell."""
    pending = X[order[:k]] if k else None
    most, _ = most_to_learn(model, X, NEXT, exclude=order[:k], pending=pending, random_state=0)
    after, before = _told(model, X, order[: k + NEXT]), _told(model, X, order[:k]) if k else 0.0
    return most, after - before


if __name__ == "__main__":
    command(run, __doc__, __file__)
