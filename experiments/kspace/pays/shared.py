"""Heads of 128 x 128, what simple rules and designs are tuned on, and errors that are compared.

Tuned on a slice of a head that nothing is judged on: for every rule its setting, and for every rule and design the
reconstruction, MAP with a prior on the pixels or the transforms of the imaginary part, at two scales. The best rule of
all is what ratios are to. Phases are estimated from the central lines.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adaptive import ImageReconstructor
from adaptive.images import SimulatedScan, fitted, head_scan, l2_error, padded, scaled, simulate_scan
from adaptive.scanner import read_images
from designs.kspace import central, lines, simple_rules

N, N_CENTRAL = 128, 16
TRAINING = ("chris_t1 sagittal 94", "chris_t1 axial 90")
JUDGED = {  # by head; the last two without skull
    "nibabel": ("nibabel 12",),
    "admm": ("admm 1",),
    "ppnp": ("ppnp 1",),
    "norm": ("norm axial 120",),
    "FLAIR": ("FLAIR axial 75",),
}
FILES = {"norm": "norm.mgz"}
RECONSTRUCTIONS = tuple((prior, scale) for prior in ("pixel", "transform") for scale in (0.1, 0.2))
EXPONENTS = (1.5, 2.0, 3.0, 4.0, 6.0)
DRAWS, TUNED_DRAWS = 10, 1


def data_folder() -> Path:
    """Return where data beside the project lie."""
    return Path(os.environ.get("ADAPTIVE_DATA") or "~/adaptive_data").expanduser()


@cache
def image(name: str, wanted: int = N) -> np.ndarray:
    """Return an image by name: magnitudes, the largest one 1, of this side; "small" ones of the quick mode 32 x 32."""
    kind, *rest = name.split()
    folder = data_folder()
    if kind in ("nibabel", "small"):
        found = padded(head_scan()[int(rest[0])].image, N)
    elif kind in ("admm", "ppnp"):
        file = "deep_admm_net_brain.npz" if kind == "admm" else "ppnp_brain_complex.npz"
        with np.load(folder / "mri-slices" / file) as stored:
            found = scaled(np.abs(stored[stored.files[int(rest[0]) - 1]]))
    else:
        file = FILES.get(kind, f"{kind}.nii.gz")
        found = read_images(folder / "mri-volumes" / file, rest[0])[int(rest[1])].image
    side = N if kind == "nibabel" else 4 * 32 if kind == "small" else 2 * N
    factor = side // (32 if kind == "small" else wanted)
    small = fitted(found, (side, side)).reshape(side // factor, factor, side // factor, factor).mean(axis=(1, 3))
    return small / small.max()


def scan(name: str, snr: float, seed: int = 0, side: int = N) -> SimulatedScan:
    """Return a simulated acquisition of an image, with a phase and noise of its own."""
    entropy = sum(map(ord, name)) + 1000 * seed
    return simulate_scan(image(name, side), snr=snr, random_state=entropy)


def centre_of(name: str) -> int:
    """Return the number of central lines."""
    return N_CENTRAL if image(name).shape[0] == N else 6


def error(acquired: SimulatedScan, design: np.ndarray, reconstruction: tuple[str, float], **told: Any) -> float:
    """Return the error of MAP from these lines; ``told``: of the phase."""
    prior, scale = reconstruction
    scales = {"wavelet": 2 * scale, "tv": scale} | ({"imaginary": scale / 10} if prior == "pixel" else {})
    model = ImageReconstructor(
        acquired.image.shape, prior_scales=scales, imaginary_prior=prior, check=False, max_iter=40, tol=2e-3, **told
    )
    block = lines(acquired.image.shape).take(np.sort(design))
    return l2_error(acquired.image, model.reconstruct(block, acquired.measure(block)))


def designed(acquired: SimulatedScan, n_lines: int, n_central: int, **settings: Any) -> np.ndarray:
    """Return the lines in the order chosen by information gain, the central ones first."""
    pool, chosen = lines(acquired.image.shape), list(central(acquired.image.shape[0], n_central))
    model = ImageReconstructor(acquired.image.shape, check=False, **settings)
    model.fit(pool.take(chosen), acquired.measure(pool.take(chosen)))
    while len(chosen) < n_lines:
        further = model.select(pool, exclude=chosen)
        chosen += further.tolist()
        model.partial_fit(pool.take(further), acquired.measure(pool.take(further)))
    return np.array(chosen)


def best_reconstruction(acquired: SimulatedScan, draws: list[np.ndarray], tried: int) -> tuple[float, int]:
    """Return the least mean error of some draws and which reconstruction has it; ``tried``: of how many."""
    errors = [np.mean([error(acquired, one, how) for one in draws]) for how in RECONSTRUCTIONS[:tried]]
    return float(min(errors)), int(np.argmin(errors))


def best_rule(
    acquired: SimulatedScan,
    n_lines: int,
    n_central: int,
    quick: bool = False,
    tried: int = len(RECONSTRUCTIONS),
    exponents: tuple[float, ...] = EXPONENTS,
) -> tuple[str, int]:
    """Return the simple rule with the least error on a training scan, and which of ``tried`` reconstructions has it."""
    exponents = exponents[: 1 if quick else None]
    rules = simple_rules(
        len(acquired.image), n_lines, n_central, exponents=exponents, n_draws=TUNED_DRAWS, random_state=1
    )
    found = {name: best_reconstruction(acquired, draws, 1 if quick else tried) for name, draws in rules.items()}
    name = min(found, key=lambda one: found[one][0])
    return name, found[name][1]


def rule_error(acquired: SimulatedScan, rule: str, how: int, n_lines: int, n_central: int, n_draws: int) -> float:
    """Return the mean error of the draws of a rule."""
    exponents = [float(rule.split("exponent ")[1])] if "exponent" in rule else EXPONENTS[:1]
    drawn = simple_rules(len(acquired.image), n_lines, n_central, exponents=exponents, n_draws=n_draws, random_state=7)[
        rule
    ]
    return float(np.mean([error(acquired, one, RECONSTRUCTIONS[how]) for one in drawn]))
