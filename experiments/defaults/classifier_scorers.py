"""Defaults of questions for labels: scorer and share at random, beside random rows and LogisticRegressionCV.

Twelve real sets of two to ten classes, at most 300 rows to ask from and 400 to test on: 5 random labels that all
arms share, then questions up to 60 labels, one by one of two classes, by fives of more. Judges, after 10, 30 and 60
labels: accuracy, log loss and calibration error, all as paired differences to random rows of the same model, with
95% intervals over sets (Student's) and, set by set, over splits. The sets of one half choose, those of the other
confirm. Rivals: scikit-learn's LogisticRegressionCV on random rows, and asked by margin; what it never saw it gives
1 / (labels + classes). Beside them the processor's time of a question at pools of up to 100,000 rows.

Full mode: some thirty minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adaptive.loop.comparison import interval
from experiments.defaults.shared.label_runs import ARMS, CHOOSE, CONFIRM, MARKS, METRICS, RIVALS, cost, one_run
from experiments.script import Script, command, panels

GROUP = "default_classifiers"
DEFAULT, REFERENCE = "committee, 15% random", "random"
JUDGES = ("accuracy", "log loss")
SIZES = (1_000, 10_000, 100_000)

Found = dict[tuple[str, str], dict[str, np.ndarray]]  # by set and arm: metric -> (splits, marks)


def differences(found: Found, metric: str, names: tuple[str, ...], arm: str, to: str) -> np.ndarray:
    """Return the mean differences (sets, splits) of an arm, over the marks."""
    return np.stack([(found[name, arm][metric] - found[name, to][metric]).mean(axis=1) for name in names])


def over_sets(found: Found, metric: str, names: tuple[str, ...], arm: str, to: str) -> list[float]:
    """Return the mean difference and its limits over sets."""
    return _limits(differences(found, metric, names, arm, to).mean(axis=1))


def worst_set(found: Found, metric: str, names: tuple[str, ...], arm: str, to: str) -> tuple[str, float]:
    """Return the set on which an arm is furthest behind, and by how much."""
    each = differences(found, metric, names, arm, to).mean(axis=1)
    at = int(np.argmin(METRICS[metric] * each))
    return names[at], round(float(each[at]), 4)


def certainly_worse(found: Found, names: tuple[str, ...], arm: str, to: str) -> list[str]:
    """Return the sets and judges by which an arm is behind another by its whole interval over splits."""
    behind = []
    for name in names:
        for metric in JUDGES:
            _, low, high = interval(differences(found, metric, (name,), arm, to)[0])
            if (high if METRICS[metric] > 0 else -low) < 0:
                behind.append(f"{name} ({metric})")
    return behind


def chosen(found: Found, names: tuple[str, ...]) -> str:
    """Return the arm that the choosing sets ask for: the former default, unless another is certainly better.

    That is better by one judge over sets and worse by no metric.
    """
    return next((arm for arm in ARMS if certainly_better(found, names, arm)), DEFAULT)


def certainly_better(found: Found, names: tuple[str, ...], arm: str) -> bool:
    """True where an arm is better than the default by one judge over sets, and worse by no metric."""
    signs = {}
    for metric, sign in METRICS.items():
        _, low, high = over_sets(found, metric, names, arm, DEFAULT)
        better, worse = (low > 0, high < 0) if sign > 0 else (high < 0, low > 0)
        signs[metric] = int(better) - int(worse)
    return max(signs[judge] for judge in JUDGES) > 0 and min(signs.values()) >= 0


def _spelled(limits: list[float]) -> str:
    mean, low, high = limits
    return f"{mean:+.3f} (95% interval {low:+.3f} to {high:+.3f})"


def run(script: Script) -> None:
    """Ask, choose on one half of the sets, confirm on the other."""
    n_seeds, most = (2, 10) if script.quick else (6, MARKS[-1])
    names = ("crabs", "thyroid") if script.quick else (*CHOOSE, *CONFIRM)
    halves = {
        "choose": tuple(name for name in names if name in CHOOSE),
        "confirm": tuple(name for name in names if name in CONFIRM),
        "all": names,
    }
    arms = (*ARMS, *RIVALS)
    found: Found = {}
    for name in names:
        for arm in arms:
            runs = [script.kept(GROUP, one_run, name, arm, seed, most) for seed in range(n_seeds)]
            found[name, arm] = {key: np.stack([one[key] for one in runs]) for key in runs[0]}
        print(f"{name}: done", flush=True)
    _tables(script, found, halves, arms, n_seeds)
    picked = chosen(found, halves["choose"])
    confirmed = picked != DEFAULT and certainly_better(found, halves["confirm"], picked)
    asks = picked if confirmed else DEFAULT
    behind = {to: certainly_worse(found, halves["confirm"], asks, to) for to in (REFERENCE, *RIVALS)}
    size = f"{len(halves['confirm'])} confirming sets, {n_seeds} splits each, 95% intervals over splits"
    shown = [arm for arm in arms if arm != REFERENCE]
    costs = _costs(script)
    value = {
        "chosen": picked,
        "confirmed, and so the default": asks,
        "minus random rows, all sets": {
            arm: {metric: over_sets(found, metric, names, arm, REFERENCE) for metric in METRICS} for arm in shown
        },
        "minus the former default, confirming sets": {
            arm: {metric: over_sets(found, metric, halves["confirm"], arm, DEFAULT) for metric in METRICS}
            for arm in ARMS
            if arm != DEFAULT
        },
        "worst set's log loss": {arm: worst_set(found, "log loss", names, arm, REFERENCE) for arm in shown},
        "milliseconds of a question": costs,
    }
    none = all(not some for some in behind.values())
    why = (
        "It stays: on the choosing sets no other is certainly better by accuracy or log loss without being worse by "
        "another measure; the one nearest to it, predictive information, takes "
        f"{_times(costs)} times its time for a question to {list(costs['margin'])[-1]} rows."
        if picked == DEFAULT
        else f"{picked} is certainly better on the choosing sets than {DEFAULT}, and on the confirming ones."
        if confirmed
        else f"{picked} is certainly better on the choosing sets than {DEFAULT}. On the confirming ones its log loss "
        f"differs by {_spelled(over_sets(found, 'log loss', halves['confirm'], picked, DEFAULT))} and its accuracy by "
        f"{_spelled(over_sets(found, 'accuracy', halves['confirm'], picked, DEFAULT))}, which cannot be told from 0, "
        f"and a question to {list(costs['margin'])[-1]} rows takes {_times(costs)} times the time. So {DEFAULT} stays."
    )
    lost = "; ".join(f"Behind {to}: {', '.join(some)}" for to, some in behind.items() if some)
    script.judge(
        "ours-default-classifiers", none,
        claim="BayesianLogisticRegression by its default questions is certainly worse than random rows and than "
        f"LogisticRegressionCV, on random rows or by margin, on none of {size}, by accuracy or log loss.",
        target="no paired interval on the wrong side of 0",
        value=value, reason=f"{why} {lost}".strip(), seed=f"0..{n_seeds - 1}",
    )  # fmt: skip
    pairs = {
        arm: {metric: over_sets(found, metric, names, f"{arm}, 15% random", arm) for metric in METRICS}
        for arm in ("committee", "predictive information", "margin")
    }
    _, low, high = pairs["committee"]["log loss"]
    costs_nothing = all(of["accuracy"][2] >= 0 for of in pairs.values())
    script.judge(
        "ours-default-exploration",
        costs_nothing and all(of["log loss"][1] <= 0 for of in pairs.values()),
        claim="15% of the questions at random make no scorer certainly less accurate nor its log loss certainly higher "
        f"({len(names)} sets, {n_seeds} splits each, intervals over sets).",
        target="accuracy's upper limits at least 0, log loss's lower limits at most 0",
        value={"with minus without": pairs, "after so many labels": _by_mark(found, names)},
        reason="It is kept for the worst set and where labels are few." if low <= 0 <= high else "",
        seed=f"0..{n_seeds - 1}",
    )  # fmt: skip


def _by_mark(found: Found, names: tuple[str, ...]) -> dict[str, Any]:
    """What 15% at random change for the committee at each mark, mean over sets with limits."""
    with_, without = (
        np.stack([found[name, arm]["log loss"].mean(axis=0) for name in names])
        for arm in (DEFAULT, DEFAULT.removesuffix(", 15% random"))
    )
    return {str(MARKS[k]): _limits((with_ - without)[:, k]) for k in range(with_.shape[1])}


def _limits(each: np.ndarray) -> list[float]:
    """Mean and limits; of a single set, in quick mode, its value."""
    return [round(float(one), 4) for one in (interval(each) if len(each) > 1 else each.repeat(3))]


def _costs(script: Script) -> dict[str, dict[str, float]]:
    sizes = SIZES[:1] if script.quick else SIZES
    return {
        scorer: {
            str(n): round(1e3 * float(np.median(script.kept(GROUP, cost, n, scorer)["seconds"])), 1) for n in sizes
        }
        for scorer in ("query_by_committee", "margin", "information_gain", "predictive_information_gain")
    }


def _times(costs: dict[str, dict[str, float]]) -> int:
    """How many times the committee's time a question by predictive information takes, of the largest pool."""
    dear, cheap = (list(costs[name].values())[-1] for name in ("predictive_information_gain", "query_by_committee"))
    return round(dear / cheap)


def _tables(
    script: Script, found: Found, halves: Mapping[str, tuple[str, ...]], arms: tuple[str, ...], n_seeds: int
) -> None:
    rows: list[dict[str, Any]] = []
    for half, names in halves.items():
        for name in (*(names if half != "all" else ()), "mean"):
            some = names if name == "mean" else (name,)
            for arm in arms:
                row: dict[str, Any] = {"half": half, "set": name, "arm": arm}
                for metric in METRICS:
                    row[metric] = round(float(np.mean([found[one, arm][metric].mean() for one in some])), 4)
                    apart = differences(found, metric, some, arm, REFERENCE)
                    limits = _limits(apart.mean(axis=1) if name == "mean" else apart[0])
                    keys = (f"{metric} minus random", f"lower {metric}", f"upper {metric}")
                    row |= dict(zip(keys, limits, strict=True))
                for k, mark in enumerate(MARKS[: found[some[0], arm]["log loss"].shape[1]]):
                    for metric in METRICS:
                        each = [found[one, arm][metric][:, k].mean() for one in some]
                        row[f"{metric} at {mark}"] = round(float(np.mean(each)), 4)
                row["ms a label"] = round(1e3 * float(np.mean([found[one, arm]["seconds"].mean() for one in some])), 1)
                rows.append(row)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]}, "default-classifiers",
        f"Means over looks at 10, 30 and 60 labels, {n_seeds} splits a set, and paired differences to random rows of "
        "BayesianLogisticRegression with 95% intervals over splits (of means: over sets).",
    )  # fmt: skip
    figure, axes = panels(1, len(METRICS), 12.0, 4.2)
    shown = [arm for arm in arms if arm != REFERENCE]
    for ax, metric in zip(axes[0], METRICS, strict=True):
        for half, colour, up in (("choose", "C0", -0.15), ("confirm", "C1", 0.15)):
            limits = np.array([over_sets(found, metric, halves[half], arm, REFERENCE) for arm in shown])
            ax.errorbar(
                limits[:, 0], np.arange(len(shown)) + up, xerr=np.abs(limits[:, 1:].T - limits[:, 0]), fmt="o", ms=3,
                lw=1, color=colour, label=f"sets that {half}",
            )  # fmt: skip
        ax.axvline(0.0, color="0.6", lw=0.8)
        ax.set(
            xlabel=f"{metric} minus random rows", yticks=np.arange(len(shown)),
            yticklabels=shown if ax is axes[0][0] else [],
        )  # fmt: skip
        ax.invert_yaxis()
    axes[0][2].legend(frameon=False, fontsize="small")
    script.figure(
        figure, "default-classifiers",
        f"Differences to random rows of the same model, means over 10, 30 and 60 labels, with 95% intervals over sets; "
        f"{n_seeds} splits a set.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
