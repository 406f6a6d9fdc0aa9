"""Figure 3.7 of Nickisch (2010), its late part: does the sparse prior overtake the Gaussian one on a9a, and when?

The source sees the Laplace prior win beyond some 2,800 labels on a9a. The same runs as those of figure 3.7
(``inclusion_runs.py``: 16,000 candidates, 100 labels to start with, one outer step after every third inclusion) go on
to 5,100 labels here, by uncertainty and at random, from the same initial sets under both priors. The Gaussian scale is
the source's; the Laplace scale, which the source tuned on the full set and does not print, is the evidence's choice
after the initial 100 labels. The error of models told all rows, by prior scale, says how much there is to win.

Full mode: ``SETS`` initial sets, seven minutes each on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, plots
from adaptive.loop.comparison import interval
from experiments.active.shared.inclusion_runs import GROUP, INITIAL, TAU_LAPLACE, problem, quality
from experiments.active.shared.inclusion_runs import run as one_run
from experiments.script import Script, command, panels

SETS = 3
INCLUSIONS = 5000
LATE = 2800  # labels beyond which the source sees the sparse prior win
PRIORS = ("Gaussian", "Laplace")
ASKED = ("uncertainty", "random")
SCALES = {  # of the weights
    "Gaussian": (0.3, 1.0, 3.0, 10.0),
    "Laplace": tuple(1 / tau for tau in reversed(TAU_LAPLACE)),
}

Curves = dict[tuple[str, str], np.ndarray]  # by prior and scorer: errors (initial sets, moments)


def curves(script: Script) -> tuple[np.ndarray, Curves, dict[str, list[float]]]:
    """Return the numbers of labels, the errors, and the prior scales by prior."""
    seeds, most = range(2 if script.quick else SETS), 10 if script.quick else INCLUSIONS
    labels, found, scales = np.zeros(0), {}, {}
    for prior in PRIORS:
        for scorer in ASKED:
            keys = [(f"a9a, {prior}", scorer, seed, most) for seed in seeds]
            runs = [script.kept(GROUP, one_run, *key) for key in keys]
            labels, found[prior, scorer] = runs[0]["n"], np.array([one["error"] for one in runs])
            scales[prior] = [round(float(one["scale"]), 2) for one in runs]
    return labels, found, scales


def told_all_at(prior: str, scale: float) -> dict[str, np.ndarray]:
    """Return error, balanced error and log loss, and the evidence, of the model that was told all 16,000 rows."""
    of = problem("a9a, Gaussian", 0)
    with threadpool_limits(1):
        model = BayesianLogisticRegression(
            prior.lower(), prior_scale=scale, classes=[-1, 1], inference="variational_bounds"
        ).fit(of.X, of.y)
        return {
            "quality": np.array(quality(model, of.X_test, of.y_test)),
            "log_evidence": np.array(model.log_evidence_),
        }


def draw(script: Script, labels: np.ndarray, found: Curves, floor: float) -> None:
    """Draw the errors, and the difference between the priors."""
    figure, axes = panels(1, 2, 10.0, 4.2)
    left, right = axes[0]
    for colour, scorer in zip(plots.PALETTE, ASKED, strict=False):
        for prior, dashes in zip(PRIORS, ("-", (0, (4, 2))), strict=True):
            mean = 100 * found[prior, scorer].mean(axis=0)
            left.plot(labels, mean, color=colour, linestyle=dashes, label=f"{scorer}, {prior}")
        mean, low, high = interval(100 * (found["Laplace", scorer] - found["Gaussian", scorer]))
        right.plot(labels, mean, color=colour, label=scorer)
        right.fill_between(labels, low, high, color=colour, alpha=0.2, linewidth=0)
    left.axhline(100 * floor, color="black", linewidth=1, linestyle=(0, (1, 2)), label="told all, Gaussian")
    left.set(xlabel="labels", ylabel="error (%)", xscale="log")
    right.axhline(0, color="black", linewidth=1)
    right.axvline(LATE, color="#6E6E6E", linewidth=1, linestyle=(0, (1, 2)))
    right.annotate("the source's crossing", (LATE, 0.97), xycoords=("data", "axes fraction"), rotation=90, va="top",
                   ha="right", fontsize=8, color="#6E6E6E")  # fmt: skip
    right.set(xlabel="labels", ylabel="error with Laplace minus Gaussian prior (points)", ylim=(-1.2, 1.2))
    for ax in (left, right):
        ax.legend(frameon=False, fontsize=8)
    script.figure(
        figure,
        "active-priors",
        f"a9a to {labels[-1]:,} labels, the initial {INITIAL} included. Left: error on the rows that are never asked, "
        f"mean over {len(found[PRIORS[0], ASKED[0]])} initial sets. Right: what the Laplace prior adds to it (below 0: "
        "the sparse prior is better), mean and 95% interval over the initial sets, cut off at 1.2 points.",
    )


def told_all(script: Script) -> tuple[dict[str, dict[float, float]], dict[str, float]]:
    """Return the errors of models told all rows, by prior and scale, and the scale of the highest evidence."""
    errors, chosen = {}, {}
    for prior in PRIORS:
        scales = SCALES[prior][1:2] if script.quick else SCALES[prior]
        told = {round(scale, 2): script.kept(GROUP, told_all_at, prior, scale) for scale in scales}
        errors[prior] = {scale: round(float(one["quality"][0]), 4) for scale, one in told.items()}
        chosen[prior] = max(told, key=lambda scale: float(told[scale]["log_evidence"]))
    return errors, chosen


def run(script: Script) -> None:
    """Run, draw, judge."""
    labels, found, scales = curves(script)
    floors, chosen = told_all(script)
    draw(script, labels, found, floors["Gaussian"][1.0])
    late = labels > (np.median(labels) if script.quick else LATE)
    value: dict[str, Any] = {}
    for scorer in ASKED:
        gap = 100 * (found["Laplace", scorer] - found["Gaussian", scorer])
        value[scorer] = {
            "Laplace minus Gaussian (points) [mean, 95% limits]": {
                span: [round(float(one), 3) for one in interval(gap[:, which].mean(axis=1))]
                for span, which in ((f"up to {LATE:,} labels", ~late), ("beyond", late))
            },
            "error at the end": {prior: round(float(found[prior, scorer][:, -1].mean()), 4) for prior in PRIORS},
        }
    first, beyond = value["uncertainty"]["Laplace minus Gaussian (points) [mean, 95% limits]"].values()
    value |= {"prior scales": scales, "error told all, by prior scale": floors, "scale of the highest evidence": chosen}
    holds = first[0] > 0 > beyond[2]
    best = {prior: 100 * min(floors[prior].values()) for prior in PRIORS}
    script.judge(
        "ours-inclusion-late-prior",
        holds,
        claim=f"On a9a the sparse prior is behind the Gaussian one up to some {LATE:,} labels and ahead beyond.",
        target="by uncertainty: Laplace's error above the Gaussian prior's on average before, certainly below beyond",
        value=value,
        reason=("" if holds else "The priors do not change places so. ")
        + f"Told all 16,000 rows, the best Laplace prior errs by only {best['Gaussian'] - best['Laplace']:.2f} points "
        "less than the best Gaussian one: there is little to gain. The source tuned its Laplace scale on the full "
        "set and does not print it.",
        seed=list(range(2 if script.quick else SETS)),
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
