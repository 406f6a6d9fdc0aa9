"""The case that the first command shows: half of the lines at SNR 200, four scans each of three slices.

nibabel's head, 64 of 128 lines. The design is made as `adaptive kspace --snr 200 --lines 64` makes it: rule, centre and
exponent by simulated scans of the slice before, or the lines of largest information gain at that centre, chosen on the
slice itself, where they score better in the same scans. Judged on the slice itself and on the slice after the next.
The best simple rules - at the usual 16 central lines, and at the designed centre - and all reconstructions are tuned on
the slice before, for which no design is judged; random rules have 10 draws.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from adaptive.cli.kspace.tuning import SCANS, Designed, Expected, ahead, design_lines
from adaptive.cli.kspace.values import Subject
from adaptive.images import Slice, paired_interval
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of
from designs.kspace.from_images.tuned import trial_scans
from experiments.kspace.pays.shared import (
    DRAWS,
    RECONSTRUCTIONS,
    best_reconstruction,
    best_rule,
    centre_of,
    designed,
    error,
    image,
    rule_error,
    scan,
)
from experiments.runs import kept
from experiments.script import Script, command

SLICES, SEEDS, SNR, N_LINES = (8, 12, 14), 4, 200.0, 64
EXPONENTS = (0.5, 1.0, 2.0, 4.0, 6.0)  # of the command


def tuned(kind: str, k: int, n_lines: int) -> dict[str, np.ndarray]:
    """Return the design by slice k - 1, its centre, and the best rules at that centre and at the usual one."""
    training, quick = f"{kind} {k - 1}", kind == "small"
    subject = Subject(Slice(image(f"{kind} {k}"), f"{kind} {k}"), None, Slice(image(training), training), "", "")
    settings = {"lines": n_lines, "initial": None, "axis": 0, "snr": SNR, "phase": "central", "reference": None,
                "plane": None, "seed": 0}  # fmt: skip
    found, acquired = design_lines(subject, settings, 1), scan(training, SNR)
    rules = {
        place: best_rule(acquired, n_lines, centre, quick, exponents=EXPONENTS)
        for place, centre in (("usual", centre_of(training)), ("own", found.n_central))
    }
    how = best_reconstruction(acquired, [found.lines], 1 if quick else len(RECONSTRUCTIONS))[1]
    named = {
        f"{place} {what}": np.array(one[i]) for place, one in rules.items() for i, what in enumerate(("rule", "how"))
    }
    return named | {"lines": found.lines, "central": np.array(found.n_central), "rule": np.array(found.rule),
                    "errors": found.errors, "how": np.array(how)}  # fmt: skip


def judged(kind: str, k: int, seed: int, n_lines: int) -> dict[str, np.ndarray]:
    """Return the errors (usual rule, rule at the designed centre, command) on slices k and k + 2."""
    known: dict[str, Any] = _known(kind, k, n_lines)
    training, centre = f"{kind} {k - 1}", int(known["central"])
    names = (f"{kind} {k}", f"{kind} {k + 2}")
    here, there = (scan(name, SNR, seed) for name in names)
    gain = designed(here, n_lines, centre)
    trials = trial_scans(checked_images("images", image(training)), 0, SNR, SCANS, entropy_of(0))
    mask = np.isin(np.arange(len(here.image)), gain)
    simulated = errors_of(trials, {"gain": mask})["gain"]
    taken = bool(_taken(known, gain, simulated))
    lines, draws = gain if taken else known["lines"], 2 if kind == "small" else DRAWS
    errors = [
        [
            rule_error(one, str(known["usual rule"]), int(known["usual how"]), n_lines, centre_of(names[0]), draws),
            rule_error(one, str(known["own rule"]), int(known["own how"]), n_lines, centre, draws),
            error(one, lines, RECONSTRUCTIONS[int(known["how"])]),
        ]
        for one in (here, there)
    ]
    return {"errors": np.array(errors), "taken": np.array(taken)}


def _taken(known: dict[str, Any], gain: np.ndarray, simulated: np.ndarray) -> bool:
    """Tell by the command's own rule whether the lines of largest information gain are the design."""
    nothing = {"design": Expected(str(known["rule"]), 0.0, 0.0, 0.0)}
    before = Designed(known["lines"], int(known["central"]), str(known["rule"]), "", known["errors"], nothing, [])
    return ahead(before, {"information_gain": (gain, simulated)}).rule == "information_gain"


@cache
def _known(kind: str, k: int, n_lines: int) -> dict[str, Any]:
    """Return what was tuned, kept but for the quick mode."""
    return tuned(kind, k, n_lines) if kind == "small" else dict(kept("kspace-pays-first", tuned, kind, k, n_lines))


def run(script: Script) -> None:
    """Tune, design, judge."""
    kind, slices, seeds, n_lines = ("small", (12,), 2, 12) if script.quick else ("nibabel", SLICES, SEEDS, N_LINES)
    rows, by_slice, taken = [], [], 0
    for k in slices:
        known = _known(kind, k, n_lines)
        each = [script.kept("kspace-pays-first", judged, kind, k, seed, n_lines) for seed in range(seeds)]
        by_slice.append(np.array([one["errors"] for one in each]))
        taken += sum(int(one["taken"]) for one in each)
        rows += [
            (k, seed, str(known["rule"]), bool(one["taken"]), str(known["usual rule"]), str(known["own rule"]), where,
             *(float(x) for x in one["errors"][place]))
            for seed, one in enumerate(each)
            for place, where in enumerate(("same", "another"))
        ]  # fmt: skip
    columns = ("slice", "seed", "tuned", "information_gain_taken", "best_at_usual_centre", "best_at_designed_centre",
               "judged_on", "error_usual", "error_own_centre", "error_command")  # fmt: skip
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        "kspace-pays-first-command",
        f"Errors of MAP from {n_lines} lines. {(__doc__ or '').strip().split(chr(10) * 2)[1]}",
    )
    errors = np.array(by_slice)  # (slices, seeds, places, designs)
    for id, place, base, what in (
        ("first-command", 0, 0, "on the slice itself than the best tuned simple rule at the usual 16 central lines"),
        ("first-other", 1, 0, "on another slice than the best tuned simple rule at the usual 16 central lines"),
        ("first-own-centre", 0, 1, "on the slice itself than the best tuned simple rule at the designed centre"),
    ):
        found = errors[:, :, place, 2] / errors[:, :, place, base]
        limits = paired_interval(found.ravel(), np.ones(found.size))
        script.judge(
            f"ours-kspace-pays-{id}",
            bool(found.mean() <= 0.95 and limits.high < 1),
            claim=f"Half of the lines at SNR 200: what `adaptive kspace` designs has less error {what}.",
            target="mean ratio at most 0.95, and below 1 with 95% limits over scans",
            value={
                "mean ratio and limits": [round(float(x), 3) for x in limits[:3]],
                "by slice": {str(k): round(float(one.mean()), 3) for k, one in zip(slices, found, strict=True)},
                "largest": round(float(found.max()), 3),
                "information gain taken": f"{taken} of {found.size}",
            },
            reason="Limits are over scans of one head: three slices, each scan with its own phase and noise.",
        )


if __name__ == "__main__":
    command(run, __doc__, __file__)
