"""Prior scales integrated over nodes, and a committee with 15% random questions: accuracy, log loss and calibration.

The claim: on twelve public sets (`hyper_runs.py`) the defaults that win - hyper-parameters integrated,
`query_by_committee` on the mixture, 15% of the questions drawn at random - are on no set certainly worse than random
rows of the same belief by more than .005 in accuracy or .015 nats in log loss, with a mean accuracy at least .010
higher and a mean log loss no higher. Their calibration error stays, on average, within .010 of random rows' all along
the run. Beside them: margin sampling at the scale of the highest evidence, as it was, and
scikit-learn's LogisticRegression by margin. Areas are means over the run, every five labels from 10 to 70; intervals
are Student's over the splits.

Full mode: twenty splits a set, about six minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import plots
from adaptive.loop.comparison import interval
from experiments.active.shared.hyper_runs import EVERY, GROUP, NAMES, QUESTIONS, RECIPE, STRATEGIES
from experiments.active.shared.hyper_runs import run as one_run
from experiments.equivalence import all_of, inside
from experiments.script import Script, command, panels

REFERENCE = "integrated, random"
METRICS = {"accuracy": 1.0, "log loss": -1.0, "calibration error": -1.0}  # sign: larger is better
ALLOWED = {"accuracy": 0.005, "log loss": 0.015}
GAIN, RELIABLE = 0.010, 0.010

Areas = dict[tuple[str, str, str], np.ndarray]  # by metric, set and strategy: (seeds,)
Curves = dict[tuple[str, str], np.ndarray]  # calibration errors by set and strategy: (seeds, checkpoints)


def all_areas(script: Script, n_seeds: int) -> tuple[Areas, Curves, tuple[str, ...]]:
    """Return the mean heights of all curves, calibration errors along the runs, and the sets."""
    names = ("crabs",) if script.quick else NAMES
    questions = 2 * EVERY if script.quick else QUESTIONS
    areas: Areas = {}
    curves: Curves = {}
    for name in names:
        for strategy in STRATEGIES:
            runs = [script.kept(GROUP, one_run, name, strategy, seed, questions) for seed in range(n_seeds)]
            curves[name, strategy] = np.stack([one["calibration error"] for one in runs])
            for metric in METRICS:
                areas[metric, name, strategy] = np.array([float(np.mean(one[metric])) for one in runs])
        print(f"{name}: done", flush=True)
    return areas, curves, names


def difference(areas: Areas, metric: str, names: tuple[str, ...], strategy: str, reference: str) -> Any:
    """Return mean and 95% limits of the paired difference, averaged over sets."""
    apart = [areas[metric, name, strategy] - areas[metric, name, reference] for name in names]
    return tuple(round(float(one), 4) + 0.0 for one in interval(np.mean(apart, axis=0)))


def no_worse(areas: Areas, metric: str, names: tuple[str, ...]) -> dict[str, bool | None]:
    """Return of each set whether the whole interval lies within what is allowed; None: it cannot be told."""
    found = {}
    for name in names:
        _, low, high = difference(areas, metric, (name,), RECIPE, REFERENCE)
        found[name] = inside(*((low, high) if METRICS[metric] > 0 else (-high, -low)), least=-ALLOWED[metric])
    return found


def run(script: Script) -> None:
    """Run everything; write table, figure and verdicts."""
    n_seeds = 2 if script.quick else 20
    areas, curves, names = all_areas(script, n_seeds)
    rows: list[dict[str, Any]] = []
    for name in (*names, "all"):
        some = names if name == "all" else (name,)
        for strategy in STRATEGIES:
            row: dict[str, Any] = {"set": name, "strategy": strategy, "splits": n_seeds}
            for metric in METRICS:
                row[metric] = float(np.mean([areas[metric, one, strategy].mean() for one in some]))
                mean, low, high = difference(areas, metric, some, strategy, REFERENCE)
                row |= {f"{metric} minus random": mean, f"lower {metric}": low, f"upper {metric}": high}
            rows.append(row)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "hyper-defaults",
        f"Means over runs from 10 to {10 + QUESTIONS} labels, {n_seeds} splits a set, and paired differences to random "
        "rows of the integrated belief with 95% intervals over splits.",
    )
    draw(script, areas, names)
    judge(script, areas, names, n_seeds)
    judge_reliability(script, curves, names, n_seeds)


def draw(script: Script, areas: Areas, names: tuple[str, ...]) -> None:
    """Draw the differences to random rows, set by set: one panel per metric."""
    figure, axes = panels(1, len(METRICS), 12.0, 1.6 + 0.32 * len(names))
    shown = [one for one in STRATEGIES if not one.endswith("random") or one == RECIPE]
    for ax, metric in zip(axes[0], METRICS, strict=True):
        for k, strategy in enumerate(shown):
            limits = np.array([difference(areas, metric, (name,), strategy, REFERENCE) for name in names])
            at = np.arange(len(names)) + 0.18 * (k - (len(shown) - 1) / 2)
            ax.errorbar(
                limits[:, 0], at, xerr=np.abs(limits[:, 1:].T - limits[:, 0]), fmt="o", ms=3, lw=1,
                color=plots.PALETTE[k], label=strategy,
            )  # fmt: skip
        ax.axvline(0.0, color="0.6", lw=0.8)
        ax.set(
            xlabel=f"{metric} minus random", yticks=np.arange(len(names)), yticklabels=names if ax is axes[0][0] else []
        )
    axes[0][0].invert_yaxis()
    for ax in axes[0][1:]:
        ax.set_ylim(axes[0][0].get_ylim())
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(shown), frameon=False)
    script.figure(
        figure,
        "hyper-defaults",
        "Differences to random rows of the integrated belief, means over the run with 95% intervals over splits.",
    )


def judge(script: Script, areas: Areas, names: tuple[str, ...], n_seeds: int) -> None:
    """Record the verdicts."""
    size = f"{len(names)} sets, {n_seeds} splits each, 95% intervals"
    parts = {metric: no_worse(areas, metric, names) for metric in ALLOWED}
    script.judge(
        "ours-hyper-never-worse-than-random",
        all_of(part for of_sets in parts.values() for part in of_sets.values()),
        claim="Integrated scales, a committee and 15% random questions: on no set worse than random rows by more than "
        f"0.005 accuracy or 0.015 nats ({size}).",
        target="every interval within what is allowed, on every set",
        value={
            metric: {
                words: [name for name, part in of_sets.items() if part is verdict] or "none"
                for words, verdict in (("certainly worse", False), ("cannot be told", None))
            }
            for metric, of_sets in parts.items()
        },
        reason=f"{n_seeds} splits leave intervals wider than what is allowed; tables/hyper-defaults.csv has them all.",
    )
    gains = {metric: difference(areas, metric, names, RECIPE, REFERENCE) for metric in METRICS}
    script.judge(
        "ours-hyper-better-on-average",
        gains["accuracy"][0] >= GAIN and gains["log loss"][0] <= 0.0,
        claim="Integrated scales, a committee and 15% random questions: on average at least 0.010 more accurate than "
        f"random rows, log loss no higher ({size}).",
        target="accuracy >= +0.010, log loss <= 0",
        value=gains,
    )
    against = {metric: difference(areas, metric, names, RECIPE, "mode, margin") for metric in METRICS}
    before = {metric: difference(areas, metric, names, "mode, margin", "mode, random") for metric in METRICS}
    script.judge(
        "ours-hyper-beside-margin-at-the-mode",
        against["accuracy"][1] >= -GAIN and against["log loss"][2] < 0.0,
        claim="Beside margin sampling at the scale of the highest evidence: certainly lower log loss, accuracy not "
        f"certainly lower by 0.010 ({size}).",
        target="log loss certainly below, accuracy above -0.010",
        value={"recipe minus margin at the mode": against, "margin at the mode minus random at the mode": before},
    )
    peer = {metric: difference(areas, metric, names, RECIPE, "logistic, margin") for metric in METRICS}
    script.judge(
        "ours-hyper-beside-logistic-regression",
        peer["accuracy"][2] > 0.0 and peer["log loss"][2] < 0.0,
        claim=f"Beside scikit-learn's LogisticRegression by margin: log loss certainly lower ({size}).",
        target="log loss certainly below, accuracy not certainly lower",
        value=peer,
    )


def judge_reliability(script: Script, curves: Curves, names: tuple[str, ...], n_seeds: int) -> None:
    """Judge the calibration error along the run, a mean over the sets, beside random rows of the same belief."""
    found = {  # by strategy: (seeds, checkpoints)
        strategy: np.mean([curves[name, strategy] for name in names], axis=0)
        for strategy in (RECIPE, REFERENCE, "mode, margin", "mode, random")
    }
    limits = np.array(interval(found[RECIPE] - found[REFERENCE]))  # (mean and limits, checkpoints)
    labels = (10 + EVERY * np.arange(limits.shape[1])).tolist()
    columns: dict[str, list[Any]] = {"labels": labels}
    for strategy, values in found.items():
        columns[strategy] = [round(float(one), 4) for one in values.mean(axis=0)]
    for key, values in zip(("difference", "lower", "upper"), limits, strict=True):
        columns[key] = [round(float(one), 4) for one in values]
    script.table(
        columns,
        "hyper-reliability",
        f"Calibration error after so many labels, mean over {len(names)} sets and {n_seeds} splits; the difference of "
        "the first two with 95% limits over splits.",
    )
    parts = [inside(float(low), float(high), most=RELIABLE) for _, low, high in limits.T]
    script.judge(
        "ours-hyper-reliability",
        all_of(parts),
        claim="All along the run the calibration error of the defaults is at most 0.010 above that of random rows, "
        f"averaged over {len(names)} sets ({n_seeds} splits each, 95% intervals).",
        target="every interval below +0.010, from 10 to 70 labels",
        value={
            "largest difference": [round(float(one), 4) for one in limits[:, int(np.argmax(limits[0]))]],
            "at how many labels": labels[int(np.argmax(limits[0]))],
            "at the end": {strategy: round(float(values[:, -1].mean()), 4) for strategy, values in found.items()},
        },
        reason=f"{parts.count(False)} of {len(parts)} intervals lie above +0.010, {parts.count(None)} reach beyond it: "
        "rows near the boundary take the place of typical ones. The table has the same at the mode.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
