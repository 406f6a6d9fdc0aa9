"""Labellers who differ: labels to a given accuracy where skills are learnt and row and person are chosen.

Five sets whose rows five people of skill .55 to .95 label (drawn), beside a random person for the chosen row, random
pairs, answers taken as independent noisy ones, majorities of three, and Dawid and Skene's EM followed by scikit-learn's
LogisticRegressionCV; the same with prices 1, 1, 1, 2, 6; and the answers of 176 paid workers about pairs of products
(real). Judges: accuracy and log loss on rows that nobody labels, error and coverage of the skills. crowd-kit's MACE, an
ActiveLab-like score and scikit-activeml's interval estimation are not run: their packages are not in this environment.

Full mode: a quarter of an hour on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.loop.comparison import interval
from adaptive.plots.style import style
from experiments.active.shared.skill_runs import (
    ARMS,
    CROWD,
    CROWD_MARKS,
    DEAR,
    MARKS,
    PRICED,
    SETS,
    crowd_run,
    for_the_money,
    one_run,
)
from experiments.drawing import BARS, with_interval
from experiments.equivalence import all_of, inside
from experiments.script import Script, command, panels
from experiments.statistics import limits

GROUP = "skills"
OURS = ARMS[0]

Found = dict[str, dict[str, np.ndarray]]  # by arm: metric -> (sets, seeds, marks)


def run(script: Script) -> None:
    """Label, with people drawn and with the real ones."""
    n_seeds, most = (2, MARKS[0]) if script.quick else (6, MARKS[-1])
    names = SETS[:1] if script.quick else SETS
    found: Found = {}
    for arm in ARMS:
        runs = [
            [script.kept(GROUP, one_run, name, arm, seed, False, most) for seed in range(n_seeds)] for name in names
        ]
        found[arm] = {key: np.array([[one[key] for one in of_set] for of_set in runs]) for key in runs[0][0]}
        print(f"{arm}: done", flush=True)
    _labels(script, found, names, n_seeds)
    _skills(script, found, names, n_seeds)
    _prices(script, n_seeds, most)
    _crowd(script, n_seeds)


def _labels(script: Script, found: Found, names: tuple[str, ...], n_seeds: int) -> None:
    rows = []
    for arm in ARMS:
        row: dict[str, Any] = {"asked": arm}
        for k, mark in enumerate(MARKS[: found[arm]["accuracy"].shape[2]]):
            for metric in ("accuracy", "log loss"):
                row[f"{metric} at {mark}"] = round(float(found[arm][metric][:, :, k].mean()), 3)
        rows.append(row)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]}, "skills",
        f"Five people of skill .55 to 0.95, means over {len(names)} sets and {n_seeds} draws of people, after so many "
        "labels.",
    )  # fmt: skip
    apart = {
        arm: {
            metric: [round(v, 4) for v in _limits((found[OURS][metric] - found[arm][metric]).mean(axis=(1, 2)))]
            for metric in ("accuracy", "log loss")
        }
        for arm in ARMS[1:]
    }
    behind = [arm for arm, of in apart.items() if not (of["accuracy"][1] > 0 and of["log loss"][2] < 0)]
    script.judge(
        "ours-skills-labels", not behind,
        claim="Choosing row and person with learnt skills is ahead, by accuracy and by log loss, of each other way to "
        f"spend the labels (means over {MARKS[0]} to {MARKS[-1]} labels, intervals over {len(names)} sets).",
        target="paired 95% intervals on the right side of 0", value=apart,
        reason=f"It is not certainly ahead of: {', '.join(behind)}." if behind else "", seed=f"0..{n_seeds - 1}",
    )  # fmt: skip
    _draw(script, found, f"{len(names)} sets and {n_seeds} draws of five people of skill 0.55 to 0.95")


def _draw(script: Script, found: Found, repeated: str) -> None:
    """Means of every arm, and below how far the one of both choices is ahead of each."""
    figure, axes = panels(2, 2, 10.0, 7.4)
    for (upper, lower), (metric, unit) in zip(axes.T, (("accuracy", "%"), ("log loss", "nats")), strict=True):
        factor = 100.0 if unit == "%" else 1.0
        for k, arm in enumerate(ARMS):
            each = factor * found[arm][metric].mean(axis=1)
            marks, look = np.array(MARKS[: each.shape[1]]), {"markersize": 4} | style(arm, k)
            upper.plot(marks, each.mean(axis=0), label=arm, **look)
            if k:
                less = factor * found[OURS][metric].mean(axis=1) - each
                look["linestyle"] = ""  # beside each other, so that no bar hides another
                with_interval(lower, marks + 2 * (k - 3.5), less.T, bars=True, **look)
        upper.set(ylabel=f"{metric} on rows nobody labelled ({unit})", xticks=marks)
        lower.axhline(0, color="black", linewidth=0.8)
        lower.set(xlabel="labels", ylabel=f"both chosen less other ({'points' if unit == '%' else unit})", xticks=marks)
    axes[0, 1].set_ylim(0.0, 1.0)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    script.figure(
        figure, "skills", f"Above: means over {repeated}. Below: row and person chosen less each other way, paired "
        f"(better: accuracy above 0, log loss below 0). {BARS} over the sets.",
    )  # fmt: skip


def _skills(script: Script, found: Found, names: tuple[str, ...], n_seeds: int) -> None:
    value = {
        arm: {
            str(mark): {key: round(float(found[arm][key][:, :, k].mean()), 3) for key in ("skill error", "covered")}
            for k, mark in enumerate(MARKS[: found[arm]["covered"].shape[2]])
        }
        for arm in ARMS[:3]
    }
    last = [of[max(of, key=int)]["covered"] for of in value.values()]
    script.judge(
        "ours-skills-coverage", all(0.85 <= one <= 0.95 for one in last),
        claim=f"90% intervals of people's skills cover 0.85 to 0.95 of them after {MARKS[-1]} labels, row and person "
        f"chosen or not ({len(names)} sets, {n_seeds} draws of five people).",
        target="0.85 to 0.95", value=value,
        reason="" if all(0.85 <= one <= 0.95 for one in last) else "Intervals treat true labels as being as certain "
        "as they are believed to be, and rows as equally difficult.",
        seed=f"0..{n_seeds - 1}",
    )  # fmt: skip


def _prices(script: Script, n_seeds: int, most: int) -> None:
    names = PRICED[:1] if script.quick else PRICED
    budgets = (30.0,) if script.quick else (60.0, 120.0)
    runs = {
        arm: [script.kept(GROUP, one_run, name, arm, seed, True, most) for name in names for seed in range(n_seeds)]
        for arm in DEAR
    }
    value: dict[str, Any] = {arm: for_the_money(of_arm, budgets) for arm, of_arm in runs.items()}
    loss = {arm: np.array([[np.interp(budget, one["spent"], one["log loss"]) for budget in budgets] for one in of_arm])
            for arm, of_arm in runs.items()}  # fmt: skip
    less = {
        arm: {f"{budget:.0f}": list(limits(loss[DEAR[0]][:, k] - loss[arm][:, k])) for k, budget in enumerate(budgets)}
        for arm in DEAR[1:]
    }
    value["log loss of gain per cost, less"] = less
    ahead = all_of(inside(*three[1:], most=0.0) for of_arm in less.values() for three in of_arm.values())
    script.judge(
        "ours-skills-prices", ahead,
        claim="Where people cost 1, 1, 1, 2 and 6, gain per cost has the lowest log loss for the money, beside gain "
        "alone and random pairs.",
        target="lowest at each sum: whole paired 95% intervals over draws of people", value=value,
        reason="" if ahead else "It buys many labels from people who each say little; where prices differ sixfold, "
        "leave cost= out or choose by gain.",
        seed=f"0..{n_seeds - 1}",
    )  # fmt: skip


def _crowd(script: Script, n_seeds: int) -> None:
    seeds, most = (1, CROWD_MARKS[0]) if script.quick else (min(n_seeds, 4), CROWD_MARKS[-1])
    runs = {arm: [script.kept(GROUP, crowd_run, arm, seed, most) for seed in range(seeds)] for arm in CROWD}
    value = {
        arm: {
            str(mark): {
                metric: round(float(np.mean([one[metric][k] for one in of_arm])), 4)
                for metric in ("accuracy", "log loss")
            }
            for k, mark in enumerate(CROWD_MARKS[: len(of_arm[0]["accuracy"])])
        }
        for arm, of_arm in runs.items()
    }
    loss = {arm: np.array([one["log loss"].mean() for one in of_arm]) for arm, of_arm in runs.items()}
    apart = {arm: [round(v, 4) for v in _limits(loss[CROWD[0]] - loss[arm])] for arm in CROWD[1:]}
    script.judge(
        "ours-skills-crowd", all(of[2] < 0 for of in apart.values()),
        claim="On answers of 176 paid workers (pairs of products, some workers always wrong), choosing among "
        f"recorded answers with learnt skills has the lowest log loss over {CROWD_MARKS[0]} to {CROWD_MARKS[-1]} "
        "answers.",
        target="paired intervals of log loss over halves of the pairs below 0", value={"after": value, "apart": apart},
        reason=" ".join(f"It is not certainly ahead of {arm}." for arm, of in apart.items() if not of[2] < 0),
        seed=f"0..{seeds - 1}",
    )  # fmt: skip


def _limits(each: np.ndarray) -> list[float]:
    return [float(one) for one in (interval(each) if len(each) > 1 else each.repeat(3))]


if __name__ == "__main__":
    command(run, __doc__, __file__)
