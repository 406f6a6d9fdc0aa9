"""Does asking pay? Active against random labelling of digits 3 against 5 and breast cancer; calibration along the run.

A claim of ours, after Nickisch (2010), section 3.7, where classifier uncertainty beats random querying and the error of
the full training set is the floor. `BayesianLogisticRegression` with its defaults (expectation propagation, prior scale
learnt by evidence from the answers alone) asks 100 of the pool's rows, by each scorer and at random; random querying
uses the very same model, splits and first questions (``labelling_runs.py``). margin, entropy and least_confident order
two classes as uncertainty does and are left out.

Judged: the area under the accuracy curve, paired difference to random choice, 95% interval over 20 seeds (log loss
beside it); the predictive probabilities' calibration at checkpoints (``calibration.py``).

Full mode: seeds 0 to 19, two processes, some minutes; it resumes (``runs.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import plots
from adaptive.loop.comparison import Comparison
from experiments.active.shared import calibration
from experiments.active.shared.labelling_runs import (
    DATASETS,
    INITIAL,
    SCORERS,
    TITLES,
    Runs,
    accuracy,
    all_runs,
    log_loss,
    of,
)
from experiments.script import Script, command, panels
from experiments.shown_by_tests import named

METRICS = {"accuracy": accuracy, "log_loss": log_loss}
PAIRED = ("difference", "difference_lower", "difference_upper")


def compared(runs: Runs, name: str, metric: str) -> Comparison:
    """Return the learning curves of one data set."""
    values = {
        scorer: np.array([METRICS[metric](run["probabilities"], run["labels"]) for run in of(runs, name, scorer)])
        for scorer in SCORERS
    }
    n_seeds, n_points = values["random"].shape
    return Comparison(metric, list(range(n_seeds)), list(SCORERS), INITIAL + np.arange(n_points), values, {})


def floor(runs: Runs, name: str, metric: str) -> float:
    """Return the mean over seeds for the model that was told all of the pool."""
    return float(np.mean([METRICS[metric](run["probabilities"][0], run["labels"]) for run in of(runs, name, "all")]))


def draw_curves(script: Script, runs: Runs, comparisons: dict[tuple[str, str], Comparison]) -> None:
    """Draw accuracy above and log loss below, one column per data set."""
    figure, axes = panels(2, 2, 10.0, 7.6)
    n_seeds = len(comparisons["digits", "accuracy"].seeds)
    for (name, metric), comparison in comparisons.items():
        percent = metric == "accuracy"
        ax = axes[0 if percent else 1, list(DATASETS).index(name)]
        ylabel = "accuracy on test rows (%)" if percent else "log loss on test rows (nats)"
        plots.learning_curve(comparison.curve(), ax=ax, ylabel=ylabel, percent=percent)
        told = floor(runs, name, metric) * (100 if percent else 1)
        ax.axhline(told, color="black", linewidth=1, linestyle=(0, (1, 2)), label="told all of the pool")
        ax.get_legend().remove()
        ax.set_title(TITLES[name])
        ax.set_ylim(*((80, None) if percent else (0, 0.5)))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    script.figure(
        figure,
        "active-against-random",
        "Accuracy and log loss on rows that are never asked, after each answer: mean and its 95% interval over "
        f"{n_seeds} random halvings into pool and test rows; dotted: the model that was told all labels of the pool.",
    )


def draw_differences(script: Script, comparisons: dict[tuple[str, str], Comparison]) -> None:
    """Draw the paired differences of the areas under the curves."""
    figure, axes = panels(1, 2, 10.0, 3.0)
    for ax, name in zip(axes[0], DATASETS, strict=True):
        area = comparisons[name, "accuracy"].area()
        rows = [k for k, scorer in enumerate(area["scorer"]) if scorer != "random"]
        columns = [[100 * area[key][k] for k in rows] for key in PAIRED]
        names = [area["scorer"][k] for k in rows]
        plots.differences(names, *columns, xlabel="accuracy - random's (percentage points)", ax=ax)
        ax.set_title(TITLES[name])
    axes[0, 1].set_yticklabels([])
    script.figure(
        figure,
        "active-against-random-differences",
        "Area under the accuracy curve (mean accuracy over the run) minus that of random choice, paired over "
        f"{len(comparisons['digits', 'accuracy'].seeds)} seeds, with 95% intervals.",
    )


def judge_learning(script: Script, comparisons: dict[tuple[str, str], Comparison]) -> None:
    """Judge every scorer on each data set, and write the areas."""
    rows: list[dict[str, Any]] = []
    for name in DATASETS:
        areas = {metric: comparisons[name, metric].area() for metric in METRICS}
        for k, scorer in enumerate(SCORERS):
            rows.append({"dataset": name, "scorer": scorer})
            for metric, area in areas.items():
                rows[-1] |= {f"{metric}_{key}": column[k] for key, column in area.items() if key != "scorer"}
            if scorer == "random":
                continue
            value = {metric: {key.split("_")[-1]: area[key][k] for key in PAIRED} for metric, area in areas.items()}
            better, sharper = value["accuracy"]["lower"] > 0, value["log_loss"]["upper"] < 0
            script.judge(
                f"ours-active-{name}-{scorer}",
                bool(better),
                claim=f"{scorer} learns {TITLES[name]} faster than random querying.",
                target="area under the accuracy curve minus random's: 95% interval over 20 paired seeds above 0",
                value=value,
                reason=""
                if better
                else "The accuracy's interval reaches 0"
                + ("; the log loss is lower all the same." if sharper else "."),
                seed=comparisons[name, "accuracy"].seeds,
            )
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "active-against-random",
        "Area under the learning curve (mean over 2 to 100 answers) of accuracy (share) and log loss (nats), with 95% "
        "intervals over seeds, and its paired difference to random querying.",
    )


def judge_floor(script: Script, runs: Runs, comparisons: dict[tuple[str, str], Comparison]) -> None:
    """Judge the random baseline, with the model told all of the pool as the floor."""
    value: dict[str, dict[str, float]] = {}
    for name in DATASETS:
        right, loss = (comparisons[name, metric].values["random"] for metric in METRICS)
        value[name] = {
            "error after 10": float(1 - right[:, 10 - INITIAL].mean()),
            "error at the end": float(1 - right[:, -1].mean()),
            "error, told all": 1 - floor(runs, name, "accuracy"),
            "log loss after 10": float(loss[:, 10 - INITIAL].mean()),
            "log loss at the end": float(loss[:, -1].mean()),
            "log loss, told all": floor(runs, name, "log_loss"),
        }
    falls = [tuple(one.values())[:3] for one in value.values()] + [tuple(one.values())[3:] for one in value.values()]
    script.judge(
        "nickisch-sys-score-random",
        all(early > late > least for early, late, least in falls),
        claim="Pool rows in random order, and the error of the full training set as floor.",
        target="mean error and log loss of random querying fall and stay above those of the model told all of the pool",
        value=value,
        reason=named("nickisch-sys-score-random"),
        seed=comparisons["digits", "accuracy"].seeds,
    )


def run(script: Script) -> None:
    """Run, draw, judge."""
    n_seeds, n_queries = (2, 10) if script.quick else (20, 100)
    runs = all_runs(n_seeds, n_queries, keep=not script.quick)
    comparisons = {(name, metric): compared(runs, name, metric) for name in DATASETS for metric in METRICS}
    draw_curves(script, runs, comparisons)
    draw_differences(script, comparisons)
    judge_learning(script, comparisons)
    judge_floor(script, runs, comparisons)
    calibration.judge(script, runs, [n for n in calibration.CHECKPOINTS if n <= n_queries])


if __name__ == "__main__":
    command(run, __doc__, __file__)
