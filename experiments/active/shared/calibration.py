"""How honest predicted probabilities are along a labelling run: reliability in bins, and what chance alone would show.

expected calibration error = sum over bins of (share of forecasts in the bin) |mean probability - observed frequency|

It is positive by chance alone, the more the fewer forecasts; ``by_chance`` gives its distribution for a forecaster
whose probabilities are right: outcomes are drawn with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from adaptive import BayesianLogisticRegression, plots
from experiments.active.shared.labelling_runs import (
    DATASETS,
    SCORERS,
    TITLES,
    Runs,
    accuracy,
    log_loss,
    of,
    pooled,
    split,
)
from experiments.script import Script, panels

N_BINS = 10
CHECKPOINTS = (5, 10, 20, 50, 100)
RELIABILITY_AT = 20
MOST, EARLY = 0.05, 10
DESIGNED = "information_gain"
SHOWN = (DESIGNED, "uncertainty", "random")


def expected_calibration_error(probabilities: np.ndarray, happened: np.ndarray) -> float:
    """Return the expected calibration error over ten bins of equal width.

    Examples
    --------
    >>> expected_calibration_error(np.array([0.25, 0.25, 0.75, 0.75]), np.array([0, 1, 1, 1]))
    0.25
    """
    return float(_errors(probabilities, happened[None])[0])


def by_chance(probabilities: np.ndarray, n_draws: int, random_state: int = 0) -> np.ndarray:
    """Return the error at outcomes drawn with the very probabilities, (n_draws,)."""
    drawn = np.random.default_rng(random_state).random((n_draws, len(probabilities))) < probabilities
    return _errors(probabilities, drawn)


def _errors(probabilities: np.ndarray, happened: np.ndarray) -> np.ndarray:
    bins = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    excess = (probabilities - happened) @ np.eye(N_BINS)[bins]
    return np.abs(excess).sum(axis=1) / len(probabilities)


def measured(runs: Runs, checkpoints: list[int], n_draws: int) -> list[dict[str, Any]]:
    """Return one row per data set, scorer and checkpoint, seeds pooled."""
    rows = []
    for name in DATASETS:
        for scorer in SCORERS:
            for n_labelled in checkpoints:
                p, y = pooled(runs, name, scorer, n_labelled)
                rows.append(
                    {
                        "dataset": name,
                        "scorer": scorer,
                        "n_labelled": n_labelled,
                        "calibration_error": expected_calibration_error(p, y),
                        "by_chance_upper": float(np.quantile(by_chance(p, n_draws), 0.975)),
                        "log_loss": float(log_loss(p, y)),
                        "mean_confidence": float(np.maximum(p, 1 - p).mean()),
                        "accuracy": float(accuracy(p, y)),
                    }
                )
    return rows


def draw(script: Script, runs: Runs, rows: list[dict[str, Any]]) -> None:
    """Draw reliability at one checkpoint above, calibration errors along the run below."""
    figure, axes = panels(2, 2, 9.0, 8.4)
    checkpoints = sorted({row["n_labelled"] for row in rows})
    after = min(RELIABILITY_AT, checkpoints[-1])
    n_seeds = len(of(runs, "digits", "random"))
    for column, name in enumerate(DATASETS):
        above, below = axes[:, column]
        for k, scorer in enumerate(SHOWN):
            p, y = pooled(runs, name, scorer, after)
            plots.calibration(p, y == 1, label=scorer.replace("_", " "), ax=above)
            own = [row for row in rows if (row["dataset"], row["scorer"]) == (name, scorer)]
            colour = "#6E6E6E" if scorer == "random" else plots.PALETTE[k]
            below.plot(checkpoints, [row["calibration_error"] for row in own], color=colour, marker="osx"[k],
                       linestyle=("-", (0, (5, 1.5)), "--")[k], label=scorer.replace("_", " "))  # fmt: skip
        chance = [row["by_chance_upper"] for row in rows if (row["dataset"], row["scorer"]) == (name, DESIGNED)]
        dots: dict[str, Any] = {"color": "black", "linewidth": 1, "linestyle": (0, (1, 2))}
        below.plot(checkpoints, chance, label="97.5% quantile by chance", **dots)
        above.set_title(f"{TITLES[name]}, after {after} answers")
        below.set(xlabel="answers used", ylabel="expected calibration error", xscale="log", ylim=(0, None))
        below.set_title(TITLES[name])
        below.set_xticks(checkpoints, [str(one) for one in checkpoints])
        below.minorticks_off()
        below.legend(frameon=False)
    script.figure(
        figure,
        "calibration-along-the-run",
        f"Above: reliability of the test rows' probabilities after {after} answers, {n_seeds} seeds pooled, with 95% "
        "Wilson intervals (too short: seeds share rows). Below: expected calibration error along the run; dotted: what "
        f"a calibrated forecaster with the probabilities of {SHOWN[0]} stays below in 97.5% of cases.",
    )


def judge(script: Script, runs: Runs, checkpoints: list[int]) -> None:
    """Tabulate, draw and judge calibration at the checkpoints."""
    rows = measured(runs, checkpoints, 20 if script.quick else 500)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "calibration-along-the-run",
        "Calibration of the test rows' probabilities, seeds pooled: expected calibration error over ten bins, the "
        "97.5% quantile of what a calibrated forecaster shows by chance, log loss in nats, mean confidence, accuracy.",
    )
    draw(script, runs, rows)
    for name in DATASETS:
        of_set = [row for row in rows if row["dataset"] == name]
        designed = [row for row in of_set if row["scorer"] == DESIGNED]
        off = [row for row in designed if row["calibration_error"] > MOST and row["n_labelled"] >= EARLY]
        script.judge(
            f"ours-calibration-{name}",
            not off,
            claim=f"The predictive probabilities stay calibrated along a designed run ({TITLES[name]}).",
            target=f"expected calibration error at most {MOST} from {EARLY} answers on ({DESIGNED}, seeds pooled)",
            value={
                "error by answers": {
                    scorer: {
                        str(row["n_labelled"]): row["calibration_error"] for row in of_set if row["scorer"] == scorer
                    }
                    for scorer in (DESIGNED, "random")
                },
                "confidence - accuracy": {
                    str(row["n_labelled"]): row["mean_confidence"] - row["accuracy"] for row in designed
                },
                f"error after {EARLY} if": causes(runs, name),
            },
            reason=_why(off),
            seed=list(range(len(of(runs, name, "random")))),
        )


def causes(runs: Runs, name: str) -> dict[str, float]:
    """Return the error early in the designed run had the scale been known, or the weights been the posterior's mean."""
    known, plugged, labels = [], [], []
    for seed, run in enumerate(of(runs, name, DESIGNED)):
        X, y, X_test, y_test = split(name, seed)
        asked = run["positions"][:EARLY]
        scale = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode").fit(X, y).prior_scale_
        model = BayesianLogisticRegression(prior_scale=scale, classes=[0, 1]).fit(X[asked], y[asked])
        known.append(model.predict_proba(X_test)[:, 1])
        model = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode").fit(X[asked], y[asked])
        plugged.append(expit(X_test @ model.coef_[0] + model.intercept_[0]))
        labels.append(y_test)
    happened = np.concatenate(labels)
    return {
        "the prior scale were the whole pool's": expected_calibration_error(np.concatenate(known), happened),
        "the weights were their posterior mean": expected_calibration_error(np.concatenate(plugged), happened),
    }


def _why(off: list[dict[str, Any]]) -> str:
    """Say in which direction forecasts are off, and what was found to bear on it."""
    if not off:
        return ""
    gaps = [row["mean_confidence"] - row["accuracy"] for row in off]
    kind = (
        "less sure than it is right"
        if max(gaps) < 0
        else "surer than it is right"
        if min(gaps) > 0
        else "off in both directions"
    )
    return (
        f"After {' and '.join(str(row['n_labelled']) for row in off)} answers the model is {kind} (second value). A "
        "prior scale learnt from few answers explains a part of it, and averaging over the weights that they leave "
        "open explains the larger part (third value): an isotropic prior does not know that few directions of the "
        "rows matter."
    )
