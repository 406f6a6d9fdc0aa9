"""A raw scan of eight coils that was sampled at single points, replayed with a half and a third of them.

One plane of 230 x 180 points of two phase-encode directions, an eighth of them acquired, the centre completely; of that
the central 128 x 128. No full truth exists: what counts as true is the image from all points acquired there, which any
design is a part of. The plan is chosen in 24 rounds, points of largest information no two of which are neighbours, with
coil maps, phase and noise read from the scan. Rules ask for points, and get the nearest that were acquired; their
exponents are those with the least error on a simulated scan of another head, sampled at the same points (eight coils,
SNR 90). All images are MAP with one prior.
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
from adaptive.cli.kspace.trial import METRICS, Trial
from adaptive.cli.kspace.trial_designs import choose
from adaptive.cli.kspace.trial_rules import names, rules
from adaptive.cli.kspace.trial_setup import replayed
from adaptive.images import scaled, simulate_coils, simulate_scan
from adaptive.scanner import Scan, read_scan
from experiments.kspace.pays.shared import data_folder
from experiments.scanner.replayed_scan import scan as simulated
from experiments.script import Script, command

FILE = "mri-kspace/brain_8ch_cartesian.npz"
SIDE, N_CENTRAL = 128, 24
FRACTIONS = (2, 3)
SETTINGS = {"poisson_disc": (1.0, 3.0), "variable_density": (1.5, 3.0)}
DESIGNED = "designed"
WHY = (
    "One scan, one draw of each rule; the truth is the MAP image from all acquired points, with the same prior. The "
    "noise is read from the scan. Maps from 24 central points a side leave 3.8 times the noise of the centre "
    "unexplained; from 16, as in an earlier analysis (1.174 of the error of Poisson disc with a half, 1.02 with a "
    "third, exponents picked on the judged scan), 8.5 times. The head does not wrap around: two sets of maps leave "
    "5.3 of these 8.5. On a simulated scan of another head, whose maps are smooth, the same plan from 16 a side had "
    "0.93 of the error of the best Poisson disc with a half (tried once, by hand); what is left on this one was not "
    "explained."
)


@cache
def trial(which: str) -> Trial:
    """Return the "judged" scan, that of another head at its points ("other"), or a "small" one of 32 x 32 points."""
    if which == "small":
        whole = simulated("small")
        kept = np.random.default_rng(0).random(whole.shape) < 0.5
        kept[10:22, 10:22] = True
        part: Scan = replace(whole, data=whole.data * kept, mask=None)
        return replayed(part, trajectory="points", axis=None, initial=6)
    if which == "other":
        judged = trial("judged")
        kept = np.zeros(judged.shape, bool)
        kept[tuple(judged.pool.encodes.T)] = True
        with np.load(data_folder() / "mri-slices/deep_admm_net_brain.npz") as stored:
            whole = scaled(np.abs(stored[stored.files[0]]))
        picture = whole.reshape(SIDE, 2, SIDE, 2).mean(axis=(1, 3))
        coils = simulate_coils(picture.shape, 8, random_state=0)
        samples = simulate_scan(picture / picture.max(), snr=90, coils=coils, random_state=0).kspace * kept
        raw = Scan(samples.astype(np.complex64), "kspace", coils=0, source=which)
    else:
        raw = read_scan(data_folder() / FILE)
        middle = tuple(slice(side // 2 - SIDE // 2, side // 2 + SIDE // 2) for side in raw.shape)
        raw = replace(raw, data=raw.data[(slice(None), *middle)], mask=None)
    return replayed(raw, trajectory="points", axis=None, initial=N_CENTRAL)


def of_plan(which: str, fractions: str) -> dict[str, np.ndarray]:
    """Return the order of the plan, and the measures of the image at every fraction of the points."""
    one = trial(which)
    sizes = [len(one.pool) // int(part) for part in fractions.split()]
    with tempfile.TemporaryDirectory() as folder:
        chosen = choose(one, max(sizes), 0, Path(folder) / "log.jsonl", os.getpid())
    found = [one.judged(one.reconstruct(chosen.positions[:n])) for n in sizes]
    return {"positions": chosen.positions, "measures": np.array([[m[name] for name in METRICS] for m in found])}


def of_rule(which: str, rule: str, fraction: int, setting: float) -> dict[str, np.ndarray]:
    """Return the measures of one draw of a rule."""
    one = trial(which)
    (positions,) = rules(one, rule, len(one.pool) // fraction, draws=1, seed=0, exponent=setting)
    found = one.judged(one.reconstruct(positions))
    return {"measures": np.array([found[name] for name in METRICS])}


def run(script: Script) -> None:
    """Plan, measure out of what was acquired, reconstruct, compare."""
    fractions, quick = FRACTIONS[-1:] if script.quick else FRACTIONS, script.quick
    judged = "small" if quick else "judged"
    own = script.kept("scanner-points", of_plan, judged, " ".join(map(str, fractions)))
    first, rows = METRICS.index("nmse"), []
    for k, fraction in enumerate(fractions):
        table: list[tuple[str, float | None, np.ndarray]] = [(DESIGNED, None, own["measures"][k])]
        for rule in names("points")[: 2 if quick else None]:
            best = SETTINGS.get(rule, (3.0,))[0]
            if rule in SETTINGS and not quick:
                told = ("scanner-points", of_rule, "other", rule, fraction)
                tried = {one: script.kept(*told, one)["measures"][first] for one in SETTINGS[rule]}
                best = min(tried, key=lambda one: tried[one])
            found = script.kept("scanner-points", of_rule, judged, rule, fraction, best)["measures"]
            table.append((rule, best if rule in SETTINGS else None, found))
        rows += [(fraction, name, setting, *map(float, values)) for name, setting, values in table]
        rival, _, values = min(table[1:], key=lambda one: one[2][first])
        ratio = float(np.sqrt(table[0][2][first] / values[first]))
        measures: dict[str, Any] = {
            "error over that of the best rule": round(ratio, 3),
            "best rule": rival,
            "NMSE, PSNR, SSIM of the plan": [round(float(one), 5) for one in table[0][2]],
            "of the best rule": [round(float(one), 5) for one in values],
        }
        script.judge(
            f"ours-scanner-replay-points-{fraction}",
            ratio <= 1,
            claim=f"Raw samples of eight coils at single points, 1 of {fraction} of them measured again: the planned "
            "points give at most the error of the best of Poisson disc, variable density, uniform and low pass.",
            target="error over that of the best rule at most 1",
            value=measures,
            reason=WHY,
        )
    columns = ("one_of", "design", "setting", *METRICS)
    said = " ".join((__doc__ or "").strip().split("\n\n")[1].split())
    script.table(dict(zip(columns, zip(*rows, strict=True), strict=True)), "scanner-replay-points", said)
    figure, axes = plots.figure(6.0, 4.6)
    one = trial(judged)
    n = len(one.pool) // fractions[-1]
    plots.sampling_order(one.pool.take(own["positions"][:n]), len(one.first), ax=axes)
    script.figure(figure, "scanner-replay-points", f"The order of 1 of {fractions[-1]} of the points. {said}")


if __name__ == "__main__":
    command(run, __doc__, __file__)
