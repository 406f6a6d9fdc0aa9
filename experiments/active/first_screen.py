"""The first picture of the README: labels that choosing saves on the table that ships, beside rows at random.

What `adaptive classify` compares by default, with more splits: handwritten digits, 3 against 5, half of the rows held
out, the default estimator and its default scorer, 60 labels.
"""

from __future__ import annotations

import numpy as np

from adaptive import BayesianLogisticRegression, compare_with_random
from adaptive.datasets import digits_pair
from adaptive.loop import Comparison
from adaptive.plots.style import GREY, PALETTE
from experiments.equivalence import inside
from experiments.script import Script, command, panels
from experiments.statistics import limits

LABELS = 60


def run(script: Script) -> None:
    """Compare on many splits, draw, judge how many labels are saved."""
    X, y = digits_pair(3, 5)
    splits = 2 if script.quick else 40
    found = compare_with_random(
        BayesianLogisticRegression(), X, y, n_queries=12 if script.quick else LABELS, seeds=splits, n_jobs=-1
    )
    (chosen,) = [name for name in found.scorers if name != "random"]
    end = found.values["random"][:, -1]
    needed = found.n_labelled[int(np.argmax(found.values[chosen].mean(axis=0) >= end.mean()))]
    third = int(np.argmin(abs(found.n_labelled - LABELS // 3)))
    ahead = list(limits(found.values[chosen][:, third] - end))  # paired by split
    _draw(script, found, chosen, int(needed))
    script.judge(
        "ours-first-screen-labels",
        inside(*ahead[1:], least=-0.01),
        claim="On the table that ships (digits, 3 against 5) a third of the labels, if chosen, gives the accuracy of "
        "random ones.",
        target=f"after {LABELS // 3} chosen labels the paired 95% interval of the accuracy less that after {LABELS} "
        "random ones lies above -0.01",
        value={
            "difference": ahead,
            "accuracy of random ones at the end": float(end.mean()),
            "chosen labels that reach it": int(needed),
            "splits": splits,
        },
        seed=list(range(splits)),
    )


def _draw(script: Script, found: Comparison, chosen: str, needed: int) -> None:
    figure, axes = panels(1, 1, 6.4, 3.4)
    ax, curve = axes[0, 0], found.curve()
    names = {chosen: "rows that the toolkit chose", "random": "rows at random"}
    for name, colour, height in ((chosen, PALETTE[0], 0.6), ("random", GREY, -1.6)):
        rows = [k for k, one in enumerate(curve["scorer"]) if one == name]
        n, mean, low, high = (100 * np.array(curve[key])[rows] for key in ("n_labelled", "mean", "lower", "upper"))
        n = n / 100
        ax.plot(n, mean, color=colour, lw=2)
        ax.fill_between(n, low, high, color=colour, alpha=0.2, lw=0)
        ax.annotate(names[name], (34, mean[np.argmin(abs(n - 34))] + height), color=colour, va="center")
    end = 100 * float(found.values["random"][:, -1].mean())
    ax.plot([needed, needed, LABELS], [0, end, end], color="black", lw=1, ls=(0, (4, 3)))
    ax.annotate(f"{needed} chosen labels do what {LABELS} random ones do", (needed + 0.7, 81), fontsize="small")
    ax.set(
        xlabel="labels",
        ylabel="accuracy on held-out rows (%)",
        xlim=(2, LABELS),
        ylim=(80, 100.5),
        yticks=range(80, 101, 5),
    )
    script.figure(
        figure, "first-screen-labels",
        "Handwritten digits, 3 against 5: accuracy on held-out rows against the number of labels, mean and 95% "
        "interval over 40 splits.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
