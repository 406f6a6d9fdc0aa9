"""The case that the first command shows: half of the lines at SNR 200, ten scans each of three slices.

nibabel's head, 64 of 128 lines, 16 of them central, chosen one by one on the slice itself, and the same lines on the
slice after the next. The best simple rule and the reconstructions are tuned on that slice's other neighbour, for which
no design is judged; random rules have 10 draws.
"""

from __future__ import annotations

import numpy as np

from adaptive.images import paired_interval
from experiments.kspace.pays.shared import (
    DRAWS,
    RECONSTRUCTIONS,
    best_reconstruction,
    best_rule,
    centre_of,
    designed,
    error,
    rule_error,
    scan,
)
from experiments.script import Script, command

SLICES, SEEDS, SNR, N_LINES = (8, 12, 14), 10, 200.0, 64


def tuned(kind: str, k: int, n_lines: int) -> dict[str, np.ndarray]:
    """Return the best rule on slice k - 1, its reconstruction, and that of the lines chosen there."""
    training = f"{kind} {k - 1}"
    acquired, quick = scan(training, SNR), kind == "small"
    rule, how = best_rule(acquired, n_lines, centre_of(training), quick)
    lines = designed(acquired, n_lines, centre_of(training))
    own = best_reconstruction(acquired, [lines], 1 if quick else len(RECONSTRUCTIONS))[1]
    return {"rule": np.array(rule), "how": np.array(how), "own": np.array(own)}


def judged(kind: str, k: int, seed: int, n_lines: int, rule: str, how: int, own: int) -> dict[str, np.ndarray]:
    """Return the errors (rule, chosen) on slice k and, with the same lines, on slice k + 2."""
    names = (f"{kind} {k}", f"{kind} {k + 2}")
    here, there = (scan(name, SNR, seed) for name in names)
    centre, draws = centre_of(names[0]), 2 if kind == "small" else DRAWS
    lines = designed(here, n_lines, centre)
    pairs = [
        (rule_error(one, rule, how, n_lines, centre, draws), error(one, lines, RECONSTRUCTIONS[own]))
        for one in (here, there)
    ]
    return {"errors": np.array(pairs)}


def run(script: Script) -> None:
    """Tune, design, judge."""
    kind, slices, seeds, n_lines = ("small", (12,), 2, 12) if script.quick else ("nibabel", SLICES, SEEDS, N_LINES)
    rows, by_slice = [], []
    for k in slices:
        known = script.kept("kspace-pays-first", tuned, kind, k, n_lines)
        told = str(known["rule"]), int(known["how"]), int(known["own"])
        errors = np.array(
            [script.kept("kspace-pays-first", judged, kind, k, s, n_lines, *told)["errors"] for s in range(seeds)]
        )
        by_slice.append(errors)
        rows += [
            (k, seed, told[0], where, *(float(x) for x in errors[seed, place]))
            for seed in range(seeds)
            for place, where in enumerate(("same", "another"))
        ]
    columns = ("slice", "seed", "best_rule", "judged_on", "error_rule", "error_chosen")
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        "kspace-pays-first-command",
        f"Errors of MAP from {n_lines} lines. {(__doc__ or '').strip().split(chr(10) * 2)[1]}",
    )
    ratios = np.array([each[..., 1] / each[..., 0] for each in by_slice])  # (slices, seeds, places)
    for place, (id, where) in enumerate(
        (("ours-kspace-pays-first-command", "the slice itself"), ("ours-kspace-pays-first-other", "another slice"))
    ):
        found = ratios[..., place]
        limits = paired_interval(found.ravel(), np.ones(found.size))
        script.judge(
            id,
            bool(found.mean() <= 0.95 and limits.high < 1),
            claim=f"Half of the lines at SNR 200: lines chosen on one slice have less error on {where} than the best "
            "tuned simple rule.",
            target="mean ratio at most .95, and below 1 with 95% limits over scans",
            value={
                "mean ratio and limits": [round(float(x), 3) for x in limits[:3]],
                "by slice": {str(k): round(float(one.mean()), 3) for k, one in zip(slices, found, strict=True)},
                "largest": round(float(found.max()), 3),
            },
            reason="Limits over scans of one head: three slices, phases and noises of their own.",
        )


if __name__ == "__main__":
    command(run, __doc__, __file__)
