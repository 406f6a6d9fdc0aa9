"""Are 90% intervals of class probabilities honest after a designed run? Against runs at random.

A question of ours: a design asks where the model is unsure, so that the answers are no sample of the pool; intervals
that hold for a sample might not hold then. With simulated answers (``coverage_runs.py``) the truth is known: the share
of held-out rows whose 90% interval holds the true probability, after 100 answers, by expectation propagation with the
prior scale told and learnt, and by the variational bound. With real answers: the calibration error of the predictive
probabilities of held-out rows, which is what can be seen without a truth.

Full mode: ``DRAWS`` draws of the truth and as many splits of the real labels; it resumes (``runs.py``). 40 would take
an hour on one core.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import plots
from adaptive.loop.comparison import interval
from adaptive.loop.metrics import binned_gap
from experiments.active.shared.coverage_runs import GROUP, LEVEL, SCORERS, SETS, real, scale_ratio, simulated
from experiments.equivalence import all_of, inside
from experiments.runs import kept
from experiments.script import Script, command, panels

CASES = {  # engine, prior scale
    "EP, scale told": ("expectation_propagation", "told"),
    "EP, scale learnt": ("expectation_propagation", "learnt"),
    "variational bound, scale told": ("variational_bounds", "told"),
}
SUPERSEDED = " Superseded: ours-hyper-coverage integrates the scale."
DRAWS = 8  # of the truth, and splits of the real labels
DESIGNED = [scorer for scorer in SCORERS if scorer != "random"]
NEAR = 0.03  # coverage this far from nominal counts as honest
WORSE = 0.01  # a calibration error that may be higher by this much is as good


def coverage(script: Script, answers: int) -> dict[tuple[str, str, str], dict[str, np.ndarray]]:
    """Return for each set, case and scorer the coverage and width of all draws."""
    runs = {}
    for name in list(SETS)[:1] if script.quick else SETS:
        for case, (engine, scale) in CASES.items():
            for scorer in SCORERS:
                keys = [(name, scorer, engine, scale, seed, answers) for seed in range(2 if script.quick else DRAWS)]
                one = [script.kept(GROUP, simulated, *key) for key in keys]
                runs[name, case, scorer] = {key: np.array([float(run[key]) for run in one]) for key in one[0]}
    return runs


def limits(covered: np.ndarray) -> tuple[float, float, float]:
    """Return mean and 95% limits of a share, cut off at 0 and 1."""
    mean, low, high = interval(covered)
    return float(mean), max(float(low), 0.0), min(float(high), 1.0)


def draw(script: Script, runs: dict[tuple[str, str, str], dict[str, np.ndarray]], answers: int) -> None:
    """Draw coverage with its interval, and write the table."""
    names = list(dict.fromkeys(key[0] for key in runs))
    figure, axes = panels(1, len(names), 4.6 * len(names) + 0.6, 4.0)
    for ax, name in zip(axes[0], names, strict=True):
        for number, case in enumerate(CASES):
            for row, scorer in enumerate(SCORERS):
                mean, low, high = (100 * one for one in limits(runs[name, case, scorer]["covered"]))
                bar = [[mean - low], [high - mean]] if np.isfinite(low) else None
                ax.errorbar(
                    mean, row + 0.2 * (number - 1), xerr=bar, fmt="os^"[number], color=plots.PALETTE[number],
                    markersize=4.5, capsize=2, label=case if row == 0 else None,
                )  # fmt: skip
        ax.axvline(100 * LEVEL, color="black", linewidth=1, linestyle=(0, (1, 2)))
        ax.set_yticks(range(len(SCORERS)), [scorer.replace("_", " ") for scorer in SCORERS])
        ax.invert_yaxis()
        ax.set(title=name, xlabel=f"coverage of {LEVEL:.0%} intervals (%)")
        if name != names[0]:
            ax.set_yticklabels([])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    script.figure(
        figure,
        "active-coverage",
        f"Coverage of {LEVEL:.0%} intervals of class probabilities on rows never asked, after {answers} answers by "
        "design or at random: mean and its 95% interval over draws of the truth. Real rows; weights drawn from the "
        "model's prior and answers from the model, so that the model is told its form, and its scale where it says so.",
    )
    rows = [
        {"set": name, "inference": case, "scorer": scorer, "draws": len(run["covered"])}
        | dict(zip(("coverage", "lower", "upper"), limits(run["covered"]), strict=True))
        | {"width": float(run["width"].mean())}
        for (name, case, scorer), run in runs.items()
    ]
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "active-coverage",
        f"Coverage of {LEVEL:.0%} intervals of class probabilities and their mean width, after {answers} answers.",
    )


def judge_simulated(script: Script, runs: dict[tuple[str, str, str], dict[str, np.ndarray]]) -> None:
    """Judge each case: is coverage nominal, and no worse than at random?"""
    names = list(dict.fromkeys(key[0] for key in runs))
    for case in CASES:
        value: dict[str, dict[str, str]] = {}
        outside, behind, unsure = [], [], []
        parts: list[bool | None] = []
        for name in names:
            value[name] = {}
            at_random = runs[name, case, "random"]["covered"]
            for scorer in SCORERS:
                covered = runs[name, case, scorer]["covered"]
                mean, low, high = limits(covered)
                value[name][scorer] = f"{mean:.3f}" + (f" [{low:.3f}, {high:.3f}]" if np.isfinite(low) else "")
                nominal = inside(low, high, LEVEL - NEAR, LEVEL + NEAR)
                _, least, most = map(float, interval(covered - at_random))
                level = True if scorer == "random" else inside(least, most, least=-NEAR)
                for found, cases in ((nominal, outside), (level, behind)):
                    if found is False:
                        cases.append((scorer, name))
                if None in (nominal, level):
                    unsure.append((scorer, name))
                parts += [nominal, level]
        n_draws = len(runs[names[0], case, "random"]["covered"])
        holds = all_of(parts)
        script.judge(
            f"ours-coverage-{case.replace(',', '').replace(' ', '-').lower()}",
            holds,
            claim=f"90% intervals of class probabilities are honest after designed runs as after random ones ({case}).",
            target=f"the 95% interval of every scorer's coverage within {NEAR} of {LEVEL}, that of its paired "
            f"difference to random's above -{NEAR}",
            value=value,
            reason=_reason(outside, behind, unsure, case, n_draws)
            + (scales(script) + SUPERSEDED if "learnt" in case else ""),
            seed=list(range(n_draws)),
        )


def _reason(
    outside: list[tuple[str, str]],
    behind: list[tuple[str, str]],
    unsure: list[tuple[str, str]],
    case: str,
    n_draws: int,
) -> str:
    said = [f"{scorer} on {name}" for scorer, name in outside]
    text = f"Certainly off: {', '.join(said)}. " if said else ""
    if any(scorer == "random" for scorer, _ in outside):
        text += "Random runs are off as well: it is the posterior, not the design. "
    if behind:
        text += f"Certainly below random: {', '.join(f'{scorer} on {name}' for scorer, name in behind)}. "
    if text and "bound" in case:
        text += "The bound's posterior is narrower than the exact one. "
    if unsure:
        text += f"The interval cannot tell for: {', '.join(f'{scorer} on {name}' for scorer, name in unsure)}. "
    return text + f"{n_draws} draws of the truth, up to 200 rows each."


def scales(script: Script) -> str:
    """Say how well the prior scale is learnt from answers by design and at random."""
    if script.quick:
        return ""
    said = []
    for scorer in ("uncertainty", "random"):
        runs = [kept(f"{GROUP}_scales", scale_ratio, "german", scorer, seed, 100) for seed in range(DRAWS)]
        ratios = np.array([float(run["ratio"]) for run in runs])
        said.append(f"{ratios.min():.1f} to {ratios.max():.1f} (geometric mean {np.exp(np.log(ratios).mean()):.1f})")
    return (
        f" On german the learnt prior scale is {said[0]} times the true one after uncertainty, {said[1]} after "
        "random: rows near the boundary tell the direction of the weights and little of their length, so the broad "
        "prior of the scale decides. Give prior_scale, or ask by another score, if probabilities matter."
    )


def judge_real(script: Script, answers: int) -> None:
    """Judge the calibration of predictive probabilities with real labels."""
    rows: list[dict[str, Any]] = []
    value: dict[str, dict[str, float]] = {}
    parts: dict[str, bool | None] = {}
    for name in list(SETS)[:1] if script.quick else SETS:
        errors = {}
        for scorer in SCORERS:
            keys = [(name, scorer, seed, answers) for seed in range(2 if script.quick else DRAWS)]
            runs = [script.kept(GROUP, real, *key) for key in keys]
            errors[scorer] = np.array([binned_gap(run["probability"], run["happened"]) for run in runs])
        value[name] = {scorer: round(float(error.mean()), 4) for scorer, error in errors.items()}
        for scorer, error in errors.items():
            mean, low, high = map(float, interval(error - errors["random"]))
            rows.append({"set": name, "scorer": scorer, "calibration_error": float(error.mean())})
            rows[-1] |= {"difference": mean, "lower": low, "upper": high}
            if scorer != "random":
                parts[f"{scorer} on {name}"] = inside(low, high, most=WORSE)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "active-calibration-real",
        f"Calibration error (mean distance of probabilities and frequencies over ten bins) on rows never asked, after "
        f"{answers} real labels, and its paired difference to random querying with 95% intervals over splits.",
    )
    script.judge(
        "ours-calibration-designed-real-labels",
        all_of(parts.values()),
        claim="Predictive probabilities of rows never asked are as well calibrated after designed runs as after random "
        "ones.",
        target=f"the 95% interval of every paired difference of calibration errors to random's below {WORSE}",
        value=value,
        reason=_said(parts),
        seed=list(range(2 if script.quick else DRAWS)),
    )


def _said(parts: dict[str, bool | None]) -> str:
    """Say which comparisons fail, and which cannot tell; their intervals stand in the table."""
    worse = [name for name, part in parts.items() if part is False]
    unsure = [name for name, part in parts.items() if part is None]
    text = f"Certainly worse: {', '.join(worse)}: the answers of a design are the hard ones. " if worse else ""
    text += f"The interval reaches beyond {WORSE} for {', '.join(unsure)}. " if unsure else ""
    return f"{text}The intervals are in tables/active-calibration-real.csv." if text else ""


def run(script: Script) -> None:
    """Run, draw, judge."""
    answers = 4 if script.quick else 100
    runs = coverage(script, answers)
    draw(script, runs, answers)
    judge_simulated(script, runs)
    judge_real(script, answers)


if __name__ == "__main__":
    command(run, __doc__, __file__)
