"""The runs behind `experiments.kspace.kspace_designs`: images, tuning on the training slice, reconstructions.

Two sets of images. "default": nibabel's head scan (128 x 96, 40 of 128 lines, 16 of them central), trained on its
middle slice, ten other slices unseen. "whole-head": 256 x 256 (64 of 256 lines, 32 central), trained on one sagittal
slice of a whole-head T1 volume; unseen are other slices of it in three orientations, two slices of other heads and the
magnitude of one more (of $ADAPTIVE_DATA). Every image gets a smooth random phase and complex noise; the reconstruction
estimates phase and noise from the samples. What is tuned - exponents of the random designs, scales of the
reconstruction, noise and scale that the design assumes - is tuned on the training slice only.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
from adaptive.images import SimulatedScan, head_scan, l2_error, padded, psnr, scaled, simulate_scan, ssim
from adaptive.scanner import read_images
from designs.kspace import central, comparison_designs, lines
from experiments.runs import kept

SEED = 0
EXPONENTS = (2.0, 3.0, 4.0, 5.0, 6.0)
RANDOM = ("variable_density", "half_plane_variable_density")
# (noise standard deviation, scale) that the design may assume; the images are in [0, 1]
DESIGN_SETTINGS = ((1e-3, 1 / 300), (1e-3, 1 / 80), (5e-3, 1 / 60), (5e-3, 1 / 20))
# scales (wavelet, differences) that the reconstruction may have, beside those of the evidence
SCALES = ((0.8, 0.4), (0.4, 0.2), (0.2, 0.1), (0.1, 0.1), (0.1, 0.05), (0.05, 0.025), (0.025, 0.0125))
MEASURES = {"error": l2_error, "psnr": psnr, "ssim": ssim}


@dataclass(frozen=True)
class Setting:
    """A set of images, the first one for training, and the size of the designs."""

    shape: tuple[int, int]
    n_lines: int
    n_central: int
    n_draws: int
    names: tuple[str, ...]


SETTINGS = {
    "default": Setting((128, 96), 40, 16, 5, tuple(f"slice {k}" for k in (12, 11, 13, 4, 6, 8, 10, 14, 16, 18, 20))),
    "whole-head": Setting(
        (256, 256), 64, 32, 2,
        ("sagittal 94", "sagittal 80", "axial 90", "coronal 110", "admm 1", "admm 2", "ppnp"),
    ),
    "quick": Setting((32, 32), 10, 6, 1, ("slice 12", "slice 11", "slice 13")),
}  # fmt: skip


def cell(run: Callable[..., dict[str, np.ndarray]], *arguments: Any) -> dict[str, np.ndarray]:
    """Return ``run(*arguments)``, from its file where it ran before."""
    return kept(f"kspace-{run.__name__}", run, *arguments)


def data_folder() -> Path:
    """Return where data beside the project lie."""
    return Path(os.environ.get("ADAPTIVE_DATA") or "~/adaptive_data").expanduser()


def image(dataset: str, k: int) -> np.ndarray:
    """Return image number ``k``: magnitudes in [0, 1], padded to the set's shape."""
    setting = SETTINGS[dataset]
    kind, _, number = setting.names[k].partition(" ")
    if kind == "slice":
        found = head_scan()[int(number)].image
        if dataset == "quick":
            found = padded(found, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    elif kind in ("admm", "ppnp"):
        name = "deep_admm_net_brain.npz" if kind == "admm" else "ppnp_brain_complex.npz"
        with np.load(data_folder() / "mri-slices" / name) as stored:
            found = scaled(np.abs(stored[stored.files[int(number or 1) - 1]]))
    else:
        found = _volume(kind)[int(number)].fitted(setting.shape).image
    assert found.shape == setting.shape
    return found


@cache
def _volume(plane: str) -> Any:
    return read_images(data_folder() / "mri-volumes" / "chris_t1.nii.gz", plane)


def scan(dataset: str, snr: float, k: int) -> SimulatedScan:
    """Return the simulated acquisition of image ``k``; every image has a phase and noise of its own."""
    return simulate_scan(image(dataset, k), snr=snr, random_state=SEED + k)


def reconstructor(dataset: str, scales: Any = None, **settings: Any) -> ImageReconstructor:
    """Return the estimator; ``scales`` are (wavelet, differences)."""
    given = None if scales is None else {"wavelet": float(scales[0]), "tv": float(scales[1])}
    if dataset == "quick":
        settings |= {"tol": 0.1}
    return ImageReconstructor(SETTINGS[dataset].shape, prior_scales=given, random_state=SEED, **settings)


def reconstruct(model: ImageReconstructor, acquired: SimulatedScan, design: np.ndarray) -> np.ndarray:
    """Return the image from the lines of a design."""
    pool = lines(acquired.image.shape)
    blocks = pool.take(pool.positions(design))
    return model.reconstruct(blocks, acquired.measure(blocks))


def design_lines(dataset: str, acquired: SimulatedScan, sd: float, scale: float, n_lines: int) -> np.ndarray:
    """Return the lines in the order chosen, the central ones first; measured one by one."""
    setting = SETTINGS[dataset]
    pool = lines(setting.shape)
    model = reconstructor(dataset, design_noise_variance=sd**2, design_prior_scales=scale)
    first = pool.take(pool.positions(central(setting.shape[0], setting.n_central)))
    model.fit(first, acquired.measure(first))
    chosen = list(first.lines)
    while len(chosen) < n_lines:
        block = pool.take(model.select(pool, mask=~np.isin(pool.lines, chosen)))
        model.partial_fit(block, acquired.measure(block))
        chosen += list(block.lines)
    return np.array(chosen)


def comparisons(dataset: str, exponents: dict[str, float] | None = None, n_draws: int | None = None) -> dict[str, Any]:
    """Return the comparison designs of the set's size."""
    setting = SETTINGS[dataset]
    return comparison_designs(
        setting.shape[0],
        setting.n_lines,
        setting.n_central,
        exponents=exponents,
        n_draws=n_draws or setting.n_draws,
        random_state=SEED,
    )


# -------------------------------------------------------------------------------- tuning, on the training slice only
def tune_reconstruction(dataset: str, snr: float) -> dict[str, np.ndarray]:
    """Try the scales with four comparison designs; return those tried, evidence first, and the mean errors of MAP."""
    acquired = scan(dataset, snr, 0)
    found = comparisons(dataset, n_draws=1)
    used = [found[name][0] for name in ("low_pass", "one_sided_low_pass", *RANDOM)]
    pool = lines(acquired.image.shape)
    blocks = pool.take(pool.positions(used[1]))
    learnt = reconstructor(dataset).fit(blocks, acquired.measure(blocks)).prior_scales_
    tried = np.array([(learnt["wavelet"], learnt["tv"]), *SCALES[: 1 if dataset == "quick" else None]])
    errors = [
        np.mean([l2_error(acquired.image, reconstruct(reconstructor(dataset, pair), acquired, one)) for one in used])
        for pair in tried
    ]
    return {"scales": tried, "errors": np.array(errors)}


def tune_exponents(dataset: str, snr: float) -> dict[str, np.ndarray]:
    """Try the exponents of the random designs; return the mean errors of MAP over the draws."""
    acquired, model = scan(dataset, snr, 0), reconstructor(dataset, best_scales(dataset, snr))
    errors: dict[str, list[float]] = {name: [] for name in RANDOM}
    for exponent in EXPONENTS[: 2 if dataset == "quick" else None]:
        found = comparisons(dataset, dict.fromkeys(RANDOM, exponent), min(2, SETTINGS[dataset].n_draws))
        for name in RANDOM:
            values = [l2_error(acquired.image, reconstruct(model, acquired, one)) for one in found[name]]
            errors[name].append(float(np.mean(values)))
    return {name: np.array(values) for name, values in errors.items()}


def tune_design(dataset: str, snr: float, k: int) -> dict[str, np.ndarray]:
    """Design with setting ``k`` of DESIGN_SETTINGS; return the lines and the error of MAP."""
    acquired = scan(dataset, snr, 0)
    chosen = design_lines(dataset, acquired, *DESIGN_SETTINGS[k], SETTINGS[dataset].n_lines)
    model = reconstructor(dataset, best_scales(dataset, snr))
    return {"lines": chosen, "error": np.array(l2_error(acquired.image, reconstruct(model, acquired, chosen)))}


def best_scales(dataset: str, snr: float) -> tuple[float, float]:
    """Return the tuned scales of the reconstruction."""
    tried = cell(tune_reconstruction, dataset, snr)
    return tuple(tried["scales"][tried["errors"].argmin()])


def best_exponents(dataset: str, snr: float) -> dict[str, float]:
    """Return the tuned exponents."""
    tried = cell(tune_exponents, dataset, snr)
    return {name: EXPONENTS[int(tried[name].argmin())] for name in RANDOM}


def design_errors(dataset: str, snr: float) -> list[float]:
    """Return the error of MAP with the lines that each of DESIGN_SETTINGS chooses."""
    tried = DESIGN_SETTINGS[: 1 if dataset == "quick" else None]
    return [float(cell(tune_design, dataset, snr, k)["error"]) for k in range(len(tried))]


def best_setting(dataset: str, snr: float) -> int:
    """Return which of DESIGN_SETTINGS does best."""
    return int(np.argmin(design_errors(dataset, snr)))


def all_designs(dataset: str, snr: float) -> dict[str, list[np.ndarray]]:
    """Return the designed lines and the tuned comparison designs."""
    chosen = cell(tune_design, dataset, snr, best_setting(dataset, snr))["lines"]
    return {"designed": [chosen]} | comparisons(dataset, best_exponents(dataset, snr))


# ----------------------------------------------------------------------------------------------------------- evaluation
def evaluate(dataset: str, snr: float, k: int) -> dict[str, np.ndarray]:
    """Return error, PSNR and SSIM of MAP on image ``k`` by design, (3,) each: means over the draws."""
    acquired, model = scan(dataset, snr, k), reconstructor(dataset, best_scales(dataset, snr))
    results = {}
    for name, draws in all_designs(dataset, snr).items():
        found = [reconstruct(model, acquired, one) for one in draws]
        results[name] = np.mean([[f(acquired.image, u) for f in MEASURES.values()] for u in found], axis=0)
    return results


def estimators(dataset: str, snr: float, k: int) -> dict[str, np.ndarray]:
    """Return the errors on image ``k`` by design: (MAP, mean) with tuned scales, (MAP, mean) with its own evidence's.

    The last two values are the learnt scales.
    """
    acquired, tuned = scan(dataset, snr, k), best_scales(dataset, snr)
    pool = lines(acquired.image.shape)
    results = {}
    for name, draws in all_designs(dataset, snr).items():
        if name not in ("designed", "one_sided_low_pass", "variable_density")[: 2 if dataset == "quick" else None]:
            continue
        blocks = pool.take(pool.positions(draws[0]))
        samples = acquired.measure(blocks)
        own = reconstructor(dataset).fit(blocks, samples)
        learnt = (own.prior_scales_["wavelet"], own.prior_scales_["tv"])
        mean = np.abs(own.posterior_.mean.reshape(2, *acquired.image.shape))
        images = [
            reconstructor(dataset, tuned).reconstruct(blocks, samples),
            reconstructor(dataset, tuned, reconstruction="mean").reconstruct(blocks, samples),
            own.image_,
            np.hypot(*mean),
        ]
        results[name] = np.array([*(l2_error(acquired.image, u) for u in images), *learnt])
    return results
