"""Rows that are vectors of an encoder: 30, 100 and 300 labels, chosen, at random, and by margin of a tuned rival.

Three pairs of newsgroups (truncated SVD of TF-IDF weights, 200 numbers) and three sets of handwritten digits (a frozen
layer of 200 random features) stand in for vectors of networks. Rivals: random rows of the same model, scikit-learn's
LogisticRegressionCV on random rows and asked by margin, five rows at a time.

Full mode: twenty minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.loop.comparison import interval
from adaptive.plots.style import style
from experiments.active.shared.embedded_runs import ARMS, MARKS, SETS, one_run
from experiments.drawing import BARS, with_interval
from experiments.script import Script, command, panels

GROUP = "embedded"
JUDGES = {"accuracy": 1.0, "log loss": -1.0}  # sign: larger is better


def run(script: Script) -> None:
    """Label, and compare over sets."""
    n_seeds, names, most = (1, SETS[3:5], MARKS[0]) if script.quick else (20, SETS, MARKS[-1])
    found: dict[str, dict[str, np.ndarray]] = {}
    for arm in ARMS:
        runs = [[script.kept(GROUP, one_run, name, arm, seed, most) for seed in range(n_seeds)] for name in names]
        found[arm] = {key: np.array([[one[key] for one in of_set] for of_set in runs]) for key in runs[0][0]}
        print(f"{arm}: done", flush=True)
    marks = [mark for mark in MARKS if mark <= most]
    rows: list[dict[str, Any]] = []
    for arm in ARMS:
        row: dict[str, Any] = {"asked": arm}
        for k, mark in enumerate(marks):
            row |= {f"{metric} at {mark}": round(float(found[arm][metric][:, :, k].mean()), 4) for metric in found[arm]}
        rows.append(row)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]}, "embedded",
        f"Vectors of encoders: means over {len(names)} sets and {n_seeds} splits.",
    )  # fmt: skip
    apart = {
        arm: {
            metric: {
                str(mark): [
                    round(float(one), 4)
                    for one in interval((found[ARMS[0]][metric] - found[arm][metric])[:, :, k].mean(axis=1))
                ]
                for k, mark in enumerate(marks)
            }
            for metric in JUDGES
        }
        for arm in ARMS[1:]
    }
    behind = [
        f"{arm} ({metric} at {mark})"
        for arm, of_arm in apart.items()
        for metric, sign in JUDGES.items()
        for mark, (_, low, high) in of_arm[metric].items()
        if (high if sign > 0 else -low) < 0
    ]
    script.judge(
        "ours-embedded-labels", not behind,
        claim="Where rows are vectors of an encoder, the default design is certainly behind none of random rows, "
        "LogisticRegressionCV on random rows, and LogisticRegressionCV by margin, by accuracy or log loss, at 30, 100 "
        f"or 300 labels (paired 95% intervals over {len(names)} sets).",
        target="no interval on the wrong side of 0", value=apart,
        reason=f"Certainly behind: {', '.join(behind)}." if behind else "Vectors of a truncated SVD and of random "
        "features stand in for those of networks.",
        seed=f"0..{n_seeds - 1}",
    )  # fmt: skip
    figure, axes = panels(2, 2, 9.0, 6.6)
    for (upper, lower), (metric, unit) in zip(axes.T, (("accuracy", "%"), ("log loss", "nats")), strict=True):
        factor = 100.0 if unit == "%" else 1.0
        for k, arm in enumerate(ARMS):
            look, at = style(arm, k), np.array(marks) * 1.05 ** (k - 2)  # beside each other: no bar hides another
            upper.plot(marks, factor * found[arm][metric].mean(axis=(0, 1)), label=arm, **look)
            if k:
                less = factor * (found[ARMS[0]][metric] - found[arm][metric]).mean(axis=1)
                with_interval(lower, at, less.T, bars=True, **look)
        upper.set_ylabel(f"{metric} on other rows ({unit})")
        lower.axhline(0, color="black", linewidth=0.8)
        lower.set(xlabel="labels", ylabel=f"chosen less rival ({'points' if unit == '%' else unit})")
        for ax in (upper, lower):
            ax.set_xscale("log")
            ax.set_xticks(marks, [str(mark) for mark in marks])
            ax.minorticks_off()
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    script.figure(
        figure, "embedded", f"Above: means over {len(names)} sets and {n_seeds} splits. Below: the rows that the "
        "design chose less each rival, paired (better: accuracy above 0, log loss below 0). "
        f"{BARS} over the {len(names)} sets.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
