"""Prior scales of images from counts of photons: by evidence alone, with the alarm of left-out counts, and given.

Photographs of 16 x 16 pixels, by 120 random masks that each let half of the pixels through, or by the blur of every
pixel; maximum intensities of 10 and 30. The default takes the scale of the highest evidence, or, where counts without
themselves are far further off than that says, the one that predicts them best. Rivals: evidence alone (the former
default), one scale for all, which half of the photographs choose, and for orientation the best scale by the truth.
Judges: sum |u - truth| / sum |truth|, and the share of pixels that 90% intervals hold.
"""

from __future__ import annotations

import time
import warnings
from typing import Any
from unittest import mock

import numpy as np

from adaptive import ImageReconstructor
from adaptive.estimators.imaging import photons
from adaptive.operators import Convolution
from experiments.counts.photons import BLUR
from experiments.images.shared.photographs import SHIPPED, TEST, photograph
from experiments.script import Script, command
from experiments.statistics import half_width

SIDE, MASKS, MAXIMA = 16, 120, (10, 30)
SHARES = (0.005, 0.02, 0.08, 0.32, 1.28)  # of the maximum: scales that are given
WAYS = ("masks", "blur")


def judged(name: str, way: str, largest: int, side: int) -> dict[str, np.ndarray]:
    """Error, share of pixels held and seconds, by how the scale comes about; the scales of the default."""
    truth = largest * photograph(name, side)
    rng = np.random.default_rng(0)
    if way == "blur":
        block: Any = Convolution((side, side), BLUR)
        y = rng.poisson(np.maximum(block.forward(truth), 0.0)).astype(float).ravel()
    else:
        block = (rng.random((MASKS * side**2 // SIDE**2, side**2)) < 0.5).astype(float)
        y = rng.poisson(block @ truth.ravel()).astype(float)
    given = {f"{share:g} of the maximum": {"prior_scales": share * largest} for share in SHARES}
    found = {}
    for arm, options in {"default": {}, "evidence alone": {}, **given}.items():
        alarm = np.inf if arm == "evidence alone" else photons.ALARM
        begun = time.process_time()
        with warnings.catch_warnings(), mock.patch.object(photons, "ALARM", alarm):
            warnings.simplefilter("ignore")
            model = ImageReconstructor((side, side), likelihood="poisson", prior="tv", largest=float(largest),
                                       check=False, **options).fit(block, y)  # fmt: skip
            took = time.process_time() - begun
            image, deviation = model.image_, model.image_std_
        held = np.mean(np.abs(image - truth) <= 1.645 * deviation)
        found[arm] = np.array([abs(np.maximum(image, 0.0) - truth).sum() / truth.sum(), held, took])
    return found


def run(script: Script) -> None:
    """All photographs; half of them choose the scale that is given to all."""
    names = SHIPPED[:2] if script.quick else TEST[:8]
    side, maxima, ways = (8, MAXIMA[:1], WAYS[:1]) if script.quick else (SIDE, MAXIMA, WAYS)
    cells = [(way, largest) for way in ways for largest in maxima]
    found = {
        (name, *cell): script.kept("default_photons", judged, name, *cell, side) for name in names for cell in cells
    }
    rows, behind, said = [], [], {}
    for cell in cells:
        arms = list(found[names[0], *cell])
        values = {arm: np.array([np.asarray(found[name, *cell][arm]) for name in names]) for arm in arms}
        given = [arm for arm in arms if arm.endswith("maximum")]
        fixed = min(given, key=lambda arm: values[arm][::2, 0].mean())
        best = np.min([values[arm][:, 0] for arm in given], axis=0)
        for arm in arms:
            apart = values[arm][1::2, 0] - values["default"][1::2, 0]
            rows.append({
                "measured by": cell[0], "maximum": cell[1], "scale": arm, "chosen by half": arm == fixed,
                "error": round(float(values[arm][:, 0].mean()), 4),
                "error, largest": round(float(values[arm][:, 0].max()), 4),
                "error less default's, other half": round(float(apart.mean()), 4),
                "half width": round(float(half_width(apart)), 4) if len(apart) > 1 else np.nan,
                "pixels held": round(float(values[arm][:, 1].mean()), 3),
                "pixels held, least": round(float(values[arm][:, 1].min()), 3),
                "seconds": round(float(values[arm][:, 2].mean()), 2),
            })  # fmt: skip
        for rival in ("evidence alone", fixed):
            apart = values["default"][1::2, 0] - values[rival][1::2, 0]
            held = values["default"][1::2, 1].mean() - values[rival][1::2, 1].mean()
            width = float(half_width(apart)) if len(apart) > 1 else np.inf
            label = "one for all" if rival == fixed else rival
            said[f"{cell[0]}, maximum {cell[1]}, {label}"] = f"{apart.mean():+.4f} +- {width:.4f}, held {held:+.3f}"
            if apart.mean() > width:
                behind.append(f"{label} ({cell[0]}, {cell[1]})")
        said[f"{cell[0]}, maximum {cell[1]}, best by the truth"] = f"{(values['default'][:, 0] - best).mean():+.4f}"
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-photons",
        f"{len(names)} photographs of {side} x {side}: error, share of pixels that 90% intervals hold, processor "
        "seconds, by how the prior scale comes about; differences to the default on the half that did not choose.",
    )  # fmt: skip
    script.judge(
        "ours-default-photons", not behind,
        claim="ImageReconstructor from counts of photons finds a prior scale with which it errs certainly more "
        "neither than by evidence alone nor than by the one scale that other photographs choose.",
        target="no paired 95% interval over the photographs that did not choose above 0",
        value={"error more than, and pixels held": said},
        reason=f"Behind {'; '.join(behind)}." if behind else "",
        seed="0",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
