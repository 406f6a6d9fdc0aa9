"""A raw scan of eight coils replayed at accelerations of 2, 3 and 4: the plan against the rules that scanners have.

One axial slice, 168 lines of eight coils, all of the block acquired, of each the 64 central of 320 samples: what is
chosen is taken out of them, and the truth is the root of the sum of squares over coils, from all, without a prior. The
head is wider than the field of view, so that plan and images have two sets of coil maps. The plan is chosen line by
line, by the information about the image, with coil maps, phase and noise read from the scan. All designs have 16
central lines; every rule has the exponent with the least error on a simulated scan of another head that wraps around as
well (eight coils, the same number of lines, SNR 90). All images are MAP with one prior. The noise is taken once or ten
times, whichever explains better what each design measured and held out. Errors are inside the head.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adaptive import plots
from adaptive.cli.kspace.trial import METRICS, SLACKS, Trial
from adaptive.cli.kspace.trial_designs import choose
from adaptive.cli.kspace.trial_rules import names, rules
from adaptive.cli.kspace.trial_setup import replayed
from adaptive.images import fitted, foreground, head_scan, scaled, simulate_coils, simulate_scan
from adaptive.operators import FourierLines
from adaptive.scanner import Scan, read_scan
from experiments.kspace.pays.shared import data_folder
from experiments.script import Script, command

ACCELERATIONS = (2, 3, 4)
FILE = "mri-kspace/brain_8ch_undersampled.npz"
ACS = {168: 16, 32: 4}  # by the number of lines, how many central ones
READOUT = 64  # samples along each line: the central ones; lines are what is chosen
HEAD, FIELD = 192, 168  # columns of the other head, and of the field of view that it wraps around in
EXPONENTS = (1.5, 3.0)
DRAWS = 3
DESIGNED = "designed"
BEFORE = (  # of earlier results, which were the other way round
    " A first analysis with one set of coil maps said 'reproduced' at 2, 3 and 4 (errors 0.926, 0.703, 0.766 of the "
    "best rule's) and was distrusted; a second, with a factor of the noise picked on the judged truth, said 'not "
    "reproduced' (1.29, 1.33, 1.11; 96 samples of each line). Both were spoilt by the maps: see "
    "ours-scanner-wrapped-maps. The choice of ESPIRiT's own two sets, rather than maps continued beyond the border, "
    "was made after a look at rules on this scan."
)
ONE_MAP = (3.0, 10.0, 30.0)  # factors of the noise that one set of maps may take
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
            whole = scaled(np.abs(stored[stored.files[0]])).T
        there = np.flatnonzero(foreground(whole).any(axis=0))
        whole = np.roll(whole, whole.shape[1] // 2 - (there[0] + there[-1]) // 2, axis=1)[:, 26:-26]
        picture = np.abs(_images(fitted(_samples(whole), (READOUT, HEAD))))
    else:
        picture = fitted(head_scan()[12 if which == "small" else 10].image, (128, 96))[::4, ::3]
    coils = simulate_coils(picture.shape, 8 if which == "other" else 2, random_state=0)
    simulated = simulate_scan(picture / picture.max(), snr=90, coils=coils, random_state=0).kspace
    if which == "other":
        simulated = _samples(_wrapped(_images(simulated)))
    return Scan(simulated.astype(np.complex64), "kspace", coils=0, source=which)


def _samples(images: np.ndarray) -> np.ndarray:
    lines = FourierLines(images.shape[-2:], range(images.shape[-2]))
    return lines.forward(images).reshape(images.shape)


def _images(samples: np.ndarray) -> np.ndarray:
    return FourierLines(samples.shape[-2:], range(samples.shape[-2])).adjoint(samples)


def _wrapped(images: np.ndarray) -> np.ndarray:
    """Return what a field of view of fewer columns shows of images."""
    beyond = (HEAD - FIELD) // 2
    seen = images[..., beyond:-beyond].copy()
    seen[..., :beyond] += images[..., -beyond:]
    seen[..., -beyond:] += images[..., :beyond]
    return seen


@cache
def trial(which: str, n_central: int) -> Trial:
    """Return the scan to be replayed, with so many central lines."""
    return replayed(scan(which), trajectory="lines", axis=1, initial=n_central)


def slack_of(which: str, one: Trial, lines: np.ndarray) -> float:
    """Return the factor of the noise: of simulated scans one, of the judged one what explains lines held out."""
    return one.slack(lines, SLACKS if which == "judged" else SLACKS[:1])


def measures(which: str, one: Trial, draws: list[np.ndarray]) -> np.ndarray:
    """Return the measures of the images from draws of lines, (draws, measures)."""
    slack = slack_of(which, one, draws[0])
    found = [one.judged(one.reconstruct(lines, slack)) for lines in draws]
    return np.array([[judged[name] for name in METRICS] for judged in found])


def of_rule(
    which: str, rule: str, acceleration: int, n_central: int, exponent: float, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the measures of the draws of a rule, (draws, measures)."""
    one = trial(which, n_central)
    n = len(one.pool) // acceleration
    found = rules(one, rule, n, draws=draws, seed=seed, exponent=exponent)
    return {"measures": measures(which, one, found)}


def of_plan(which: str, n_central: int, sets: int | None = None) -> dict[str, np.ndarray]:
    """Return the lines in the order chosen; one run serves all accelerations; ``sets`` of maps, default: as needed."""
    one = trial(which, n_central)
    one = one if sets is None else replace(one, sets=sets)
    sizes = [len(one.pool) // acceleration for acceleration in accelerations(which)]
    with tempfile.TemporaryDirectory() as folder:
        chosen = choose(one, max(sizes), 0, Path(folder) / "log.jsonl", os.getpid())
    return {"lines": one.pool.lines[chosen.positions]}


def of_planned(script: Script, which: str, n_central: int) -> np.ndarray:
    """Return the measures of the plan at every acceleration."""
    one, lines = trial(which, n_central), script.kept("scanner-replay", of_plan, which, n_central)["lines"]
    sizes = [len(one.pool) // acceleration for acceleration in accelerations(which)]
    return np.concatenate([measures(which, one, [one.pool.positions(lines[:n])]) for n in sizes])


def exponent_of(script: Script, which: str, rule: str, acceleration: int, n_central: int) -> float:
    """Return the exponent of a rule with the least error on another scan; of rules without one any."""
    if rule not in WITH_EXPONENT or script.quick:
        return EXPONENTS[-1]
    told = (which, rule, acceleration, n_central)
    tried = {one: script.kept("scanner-replay", of_rule, *told, one, 1, 1)["measures"] for one in EXPONENTS}
    return min(tried, key=lambda one: tried[one][:, METRICS.index("nmse")].mean())


def run(script: Script) -> None:
    """Tune on the other head, judge on the raw scan."""
    judged, other = ("small", "smaller") if script.quick else ("judged", "other")
    central, draws = ACS[32 if script.quick else 168], 1 if script.quick else DRAWS
    first = METRICS.index("nmse")
    planned = of_planned(script, judged, central)
    rows: list[dict[str, Any]] = []
    for own, acceleration in zip(planned, accelerations(judged), strict=True):
        found: dict[str, tuple[np.ndarray, float | None]] = {DESIGNED: (own[None], None)}
        for rule in names("lines")[: 1 if script.quick else None]:
            exponent = exponent_of(script, other, rule, acceleration, central)
            kept = script.kept("scanner-replay", of_rule, judged, rule, acceleration, central, exponent, draws, 0)
            found[rule] = (kept["measures"], exponent if rule in WITH_EXPONENT else None)
        for name, (values, exponent) in found.items():
            mean = dict(zip(METRICS, values.mean(axis=0), strict=True))
            rows.append(
                {
                    "acceleration": acceleration,
                    "design": name,
                    "exponent": exponent,
                    "draws": len(values),
                    **{one: float(mean[one]) for one in METRICS},
                    "error_over_designed": float(np.sqrt(mean["nmse"] / own[first])),
                    "least_draw": float(np.sqrt(values[:, first].min() / own[first])),
                    "largest_draw": float(np.sqrt(values[:, first].max() / own[first])),
                }
            )
        _verdict(script, acceleration, [row for row in rows if row["acceleration"] == acceleration])
    _by_ssim(script, rows)
    if not script.quick:
        _maps(script, judged, central, rows)
    said = (__doc__ or "").strip().split("\n\n")[1].replace("\n", " ")
    script.table({name: [row[name] for row in rows] for name in rows[0]}, "scanner-replay", said)
    if not script.quick:
        _pictures(script, judged, central, rows, said)


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
    script.judge(
        f"ours-scanner-replay-{acceleration}",
        bool(own["nmse"] <= best["nmse"]),
        claim=f"Raw samples of eight coils replayed at acceleration {acceleration}: the planned lines give the least "
        "error inside the head, compared with equispaced lines with ACS, variable density and half-plane rules tuned "
        "on another head.",
        target="error over that of the best tuned rule at most 1",
        value=ratios,
        reason="One scan of one head: no interval. Random rules are means over three draws." + BEFORE,
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
        reason="All were tuned by NMSE." + BEFORE,
    )


def misfit(one: Trial) -> dict[str, Any]:
    """Return what one and two sets of maps leave of all samples: mean square over that of the noise, pixel by pixel."""
    images = _images(np.asarray(one.source.data))
    assert one.maps is not None and one.noise_variance is not None
    inside = foreground(one.truth)
    twice = inside & one.maps[1].any(axis=0)
    left, found = images, {}
    for sets, maps in enumerate(one.maps, 1):
        left = left - maps * np.sum(maps.conj() * images, axis=0)
        power = np.sum(np.abs(left) ** 2, axis=0) / (len(images) - sets) / (2 * one.noise_variance)
        found[f"{sets} set{'s' if sets > 1 else ''}: where two places fall on one pixel, elsewhere in the head"] = [
            round(float(power[twice].mean()), 2),
            round(float(power[inside & ~twice].mean()), 2),
        ]
    return found | {"share of the head where two fall on one": round(float(twice.sum() / inside.sum()), 3)}


def same_lines(which: str, n_central: int) -> dict[str, np.ndarray]:
    """Return squared errors of equispaced lines, at every acceleration: (accelerations, sets of maps)."""
    one, found = trial(which, n_central), []
    for acceleration in accelerations(which):
        (lines,) = rules(one, "equispaced", len(one.pool) // acceleration, draws=1, seed=0)
        both = []
        for sets, slacks in ((1, ONE_MAP), (2, SLACKS)):
            own = replace(one, sets=sets)
            both.append(own.judged(own.reconstruct(lines, own.slack(lines, slacks)))["nmse"])
        found.append(both)
    return {"nmse": np.array(found)}


def _maps(script: Script, which: str, central: int, rows: list[dict[str, Any]]) -> None:
    """Record what two sets of maps mend: the misfit, the image from the same lines, and the plan."""
    value = misfit(trial(which, central))
    first, second = (value[name][0] for name in list(value)[:2])
    script.judge(
        "ours-scanner-wrapped-maps",
        bool(first > 3 and second < 1.5),
        claim="Where a head wider than the field of view wraps around, one set of coil maps leaves more than 3 times "
        "the noise of the samples, and two sets leave less than 1.5 times.",
        target={"one set leaves more than": 3.0, "two sets less than": 1.5},
        value=value,
        reason="All samples of the raw scan of eight coils, maps from 16 central lines; the noise is read from the "
        "outer samples. The misfit that earlier results took for noise lies where the head wraps around.",
    )
    nmse = script.kept("scanner-same-lines", same_lines, which, central)["nmse"]
    script.judge(
        "ours-scanner-wrapped-error",
        bool((nmse[:, 1] <= 0.25 * nmse[:, 0]).all()),
        claim="From equispaced lines of a head that wraps around, two sets of coil maps have at most half of the "
        "error of one.",
        target="error over that of one set at most 0.5 at accelerations 2, 3, 4",
        value={"error over that of one set": np.sqrt(nmse[:, 1] / nmse[:, 0]).round(3).tolist(),
               "NMSE with one set, with two": nmse.round(5).tolist()},
        reason="Factors of the noise (3, 10 or 30 with one set, 1 or 10 with two) by held-out lines. Picked on the "
        "truth, which favours one set (tried by hand, 96 samples of each line), it was NMSE 0.0131 against 0.00098 "
        "at acceleration 2.",
    )  # fmt: skip
    found = {}
    for acceleration in accelerations(which):
        one = trial(which, central)
        lines = script.kept("scanner-replay", of_plan, which, central, 1)["lines"]
        (nmse_of,) = measures(which, one, [one.pool.positions(lines[: len(one.pool) // acceleration])])
        own = next(row for row in rows if row["acceleration"] == acceleration and row["design"] == DESIGNED)
        found[acceleration] = round(float(np.sqrt(own["nmse"] / nmse_of[METRICS.index("nmse")])), 3)
    script.judge(
        "ours-scanner-wrapped-plan",
        all(one <= 1 for one in found.values()),
        claim="Lines that are chosen with two sets of maps have at most the error of those chosen with one; the images "
        "of both are from two sets.",
        target="error over that of lines chosen with one set at most 1 at accelerations 2, 3, 4",
        value={f"acceleration {name}": one for name, one in found.items()},
        reason="One scan of one head: no interval.",
    )


def _pictures(script: Script, judged: str, central: int, rows: list[dict[str, Any]], said: str) -> None:
    """Draw residuals at the highest acceleration, and errors at all of them."""
    from matplotlib.figure import Figure

    acceleration = rows[-1]["acceleration"]
    last = sorted((row for row in rows if row["acceleration"] == acceleration), key=lambda row: row["nmse"])
    shown = [DESIGNED, "equispaced", *(row["design"] for row in last if row["design"] not in (DESIGNED, "equispaced"))]
    images = {}
    for name in shown[:3]:
        told = next(row for row in last if row["design"] == name)
        one = trial(judged, central)
        n = len(one.pool) // acceleration
        if name == DESIGNED:
            kept = script.kept("scanner-replay", of_plan, judged, central)
            positions = one.pool.positions(kept["lines"][:n])
        else:
            positions = rules(one, name, n, draws=1, seed=0, exponent=told["exponent"] or 3.0)[0]
        images[name] = one.reconstruct(positions, slack_of(judged, one, positions))
    figure = Figure(figsize=(9.5, 9.0), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.5, 1])
    plots.residuals(one.truth, images, upright=lambda image: np.repeat(image, 2, axis=0), into=upper)  # voxels are long
    for ax, name in zip(upper.axes[len(images) + 2 :], images, strict=False):
        ax.set_title(f"error {np.sqrt(one.judged(images[name])['nmse']):.3f}", fontsize=10)
    table = {
        "design": [row["design"] for row in rows],
        "measured": [len(one.pool) // row["acceleration"] for row in rows],
        "error": [float(np.sqrt(row["nmse"])) for row in rows],
    }
    ax = plots.error_curves(table, ax=lower.subplots(), ylabel="relative error inside the head")
    ax.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
    script.figure(figure, "scanner-replay", f"Images and residuals at acceleration {acceleration}; errors. {said}")


if __name__ == "__main__":
    command(run, __doc__, __file__)
