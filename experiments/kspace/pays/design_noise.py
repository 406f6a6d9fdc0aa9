"""What noise the model that designs should assume: little, whatever the data's is, or that of the data.

128 x 128, 16 central lines, SNR 50, three heads, one scan each; lines are chosen on the slice itself by the
default (a noise of 1e-6, scales of 1/300), with the data's noise and scales in proportion, and with the data's noise
and scales as they are. Errors of one reconstruction with a quarter and with half of the lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.images import paired_interval
from experiments.kspace.pays.shared import RECONSTRUCTIONS, centre_of, designed, error, scan
from experiments.script import Script, command

HEADS, SNRS, COUNTS = ("ppnp 1", "norm axial 120", "FLAIR axial 75"), (50.0,), (32, 64)
MODELS: dict[str, dict[str, Any]] = {
    "default": {},
    "data's noise": {"design_noise_variance": None},
    "data's noise, scales as they are": {"design_noise_variance": None, "design_prior_scales": 1 / 300},
}


def judged(name: str, snr: float, model: str, counts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return the errors over the numbers of lines."""
    acquired = scan(name, snr)
    lines = designed(acquired, counts[-1], centre_of(name), **MODELS[model])
    return {"errors": np.array([error(acquired, lines[:n], RECONSTRUCTIONS[0]) for n in counts])}


def run(script: Script) -> None:
    """Choose, compare."""
    heads, snrs, counts = (("small 12",), SNRS, (9,)) if script.quick else (HEADS, SNRS, COUNTS)
    errors = {
        (model, snr): np.array(
            [script.kept("kspace-pays-noise", judged, name, snr, model, counts)["errors"] for name in heads]
        )
        for model in MODELS
        for snr in snrs
    }
    rows = [
        (m, s, h, n, float(v[i, j]))
        for (m, s), v in errors.items()
        for i, h in enumerate(heads)
        for j, n in enumerate(counts)
    ]
    script.table(
        dict(zip(("model", "snr", "head", "lines", "error"), zip(*rows, strict=True), strict=True)),
        "kspace-pays-noise",
        f"Errors of MAP. {(__doc__ or '').strip().split(chr(10) * 2)[1]}",
    )
    if script.quick:
        return
    ratios = {
        model: {
            f"SNR {snr:g}, {n} lines": [
                round(float(x), 3) for x in paired_interval(errors[model, snr][:, k], errors["default", snr][:, k])[:3]
            ]
            for snr in snrs
            for k, n in enumerate(counts)
        }
        for model in MODELS
        if model != "default"
    }
    script.judge(
        "ours-kspace-pays-design-noise",
        all(ratios["data's noise"][f"SNR 50, {n} lines"][0] <= 0.97 for n in counts),
        claim="At SNR 50 a model that designs with the data's noise has at most 0.97 of the error of one that assumes "
        "much less: a design noise far below the data's loses 3%.",
        target="mean ratio at most 0.97 with 32 and with 64 of 128 lines",
        value=ratios,
        reason="Mean ratios with 95% limits over three heads, one scan each. The ratio of noise to scale matters "
        "more, as the data's noise with unchanged scales shows.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
