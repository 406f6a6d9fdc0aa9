"""Where lines of largest information gain are worth their time as a member of the portfolio.

64 x 64 and 128 x 128, a quarter, three eighths and half of the lines, SNR 50 and 200, one coil. A design is tuned by
four simulated scans of the slice (`designs.kspace.tuned_lines`); behind as many central lines the others are chosen one
by one on another scan of it, as `adaptive kspace` does, tried on the same four scans and taken where they score better.
Judged on ten scans with another noise and phase: their error, and that of what is taken, over the pick's; cost:
processor seconds of choosing and trying them over those of the pick.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from designs.kspace import tuned_lines
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of, scores
from designs.kspace.from_images.tuned import trial_scans
from experiments.kspace.pays.portfolio_runs import DRAWS, JUDGED, JUDGING, TUNING, seed_of
from experiments.kspace.pays.shared import designed, image, scan
from experiments.script import Script, command, processor_seconds
from experiments.statistics import standard_error

SHARES = dict.fromkeys((64, 128), (0.25, 0.375, 0.5))
SNRS = (50.0, 200.0)
WORTH, HARM = 0.98, 1.01  # mean ratios
QUICK: dict[str, Any] = {"heads": ("small 12", "small 16"), "shares": {32: (0.375,)}, "snrs": (200.0,)}


def judged(name: str, side: int, snr: float, share: float, quick: bool) -> dict[str, np.ndarray]:
    """Return the errors of both designs on fresh scans, whether the later one is taken, and what each has cost."""
    picture = image(name, side)
    n, n_lines, seed = len(picture), round(share * len(picture)), seed_of(name, TUNING)
    told: dict[str, Any] = {"snr": snr, "n_scans": 2 if quick else 4}
    start = processor_seconds()
    found = tuned_lines(picture, n_lines, random_state=seed, **told)
    middle = processor_seconds()
    gain = designed(scan(name, snr, TUNING, n), n_lines, found.n_central)
    given, mask = checked_images("image", picture), np.isin(np.arange(n), gain)
    simulated = errors_of(trial_scans(given, 0, entropy=entropy_of(seed), **told), {"gain": mask})["gain"]
    end = processor_seconds()
    fresh = trial_scans(given, 0, snr, 2 if quick else DRAWS, seed_of(name, JUDGING))
    errors = errors_of(fresh, {"pick": np.isin(np.arange(n), found.lines), "gain": mask})
    best = next(iter(scores({"pick": found.errors[found.rule], "gain": simulated})))
    mean = {kind: np.array(np.exp(np.mean(np.log(one)))) for kind, one in errors.items()}
    return mean | {
        "rule": np.array(found.rule), "taken": np.array(best == "gain"),
        "seconds": np.array([middle - start, end - middle]),
    }  # fmt: skip


def run(script: Script) -> None:
    """Design, try, judge."""
    quick = script.quick
    heads, shares, snrs = (QUICK[key] for key in ("heads", "shares", "snrs")) if quick else (JUDGED, SHARES, SNRS)
    rows: list[tuple[Any, ...]] = []
    value: dict[int, dict[str, Any]] = {side: {} for side in shares}
    for side, parts in shares.items():
        for snr in snrs:
            for share in parts:
                found = [script.kept("kspace-information", judged, name, side, snr, share, quick) for name in heads]
                alone = np.array([float(one["gain"] / one["pick"]) for one in found])
                taken = np.array([bool(one["taken"]) for one in found])
                member = np.where(taken, alone, 1.0)
                cost = [float(one["seconds"][1] / one["seconds"][0]) for one in found]
                rows += [
                    (side, snr, round(share * side), name, str(one["rule"]), float(one["pick"]), *about)
                    for name, one, *about in zip(heads, found, alone.tolist(), taken.tolist(), cost, strict=True)
                ]
                value[side][f"{round(share * side)} of {side}, SNR {snr:g}"] = {
                    "alone, over the pick": round(float(alone.mean()), 3),
                    "standard error": round(float(standard_error(alone[:, None])[0]), 3),
                    "as a member": round(float(member.mean()), 3), "largest": round(float(member.max()), 3),
                    "taken": f"{int(taken.sum())} of {len(taken)}",
                    "cost of the pick's": round(float(np.median(cost)), 2),
                }  # fmt: skip
    columns = ("side", "snr", "lines", "slice", "pick", "error_of_pick", "information_over_pick", "taken", "cost_ratio")
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        "kspace-information-member",
        f"Errors of MAP magnitudes as shares of the image's length. {(__doc__ or '').strip().split(chr(10) * 2)[1]}",
    )
    for side, cells in value.items():
        members = [one["as a member"] for one in cells.values()]
        script.judge(
            f"ours-tuned-lines-information{'-128' if side == 128 else ''}",
            min(members) <= WORTH and max(members) <= HARM,
            claim="Lines of largest information gain are tried on the scans that tune, and taken where they score "
            "better. They lower the error of a tuned design by 2% or more in some cell of lines and SNR, and raise "
            f"it by 1% in none. {side} x {side}, {len(heads)} heads.",
            target=f"mean over heads of the ratio to the pick: at most {WORTH} in some cell, at most {HARM} in all",
            value=cells,
            reason=f"{DRAWS} fresh scans of each slice; a head is a unit.",
        )


if __name__ == "__main__":
    command(run, __doc__, __file__)
