"""The runs behind `experiments.kspace.spiral_designs` and `spiral_step`: images, tuning, designs of angles, errors.

"full": heads of 128 x 128 (means of 2 x 2 pixels), Archimedean interleaves of 4 revolutions
and 1,608 samples, so that 16 equispaced ones reach the Nyquist rate as in the source. Trained on one sagittal slice;
unseen are other slices of that head in three orientations, two slices of other heads, and the magnitude of one more.
The phase map comes from a separate scan of 16 x 16 central samples (the source's way), the noise's variance is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adaptive import ImageReconstructor
from adaptive.images import SimulatedScan, l2_error, low_resolution, simulate_scan
from designs.kspace import TrajectoryPool, equispaced_angles, random_angles, spirals
from experiments.kspace.shared import kspace_runs
from experiments.runs import kept

SEED = 0
SNR = 50.0
N_ANGLES = {"full": 256, "quick": 32}
SIZES = {"full": 128, "quick": 32}
SHOTS = {"full": (3, 4, 5, 6, 7, 8, 9, 10), "quick": (2, 3)}
DRAWS = {"full": 5, "quick": 1}
TUNED_AT = {"full": (6, 7), "quick": (2,)}
PERIODS = {"circle": 2 * np.pi, "half circle": np.pi}  # settings 1 and 2 of the source
PLANES = {
    "full": ("sagittal", "sagittal", "axial", "coronal", "axial", "sagittal", "sagittal"),
    "quick": ("axial",) * 3,
}
# (wavelet, differences, imaginary part) that the reconstruction may have; None: the imaginary part as the real one
SCALES = (
    (0.1, 0.05, None),
    (0.1, 0.05, 0.01),
    (0.1, 0.05, 0.002),
    (0.2, 0.1, 0.002),
    (0.05, 0.025, 0.002),
    (0.1, 0.05, 5e-4),
)
# (noise standard deviation, scale) that the design may assume
ASSUMED = ((1e-3, 1 / 300), (5e-3, 1 / 60), (2e-2, 1 / 20))


def cell(run: Callable[..., dict[str, np.ndarray]], *arguments: Any) -> dict[str, np.ndarray]:
    """Return ``run(*arguments)``, from its file where it ran before."""
    return kept(f"spiral-{run.__name__}", run, *arguments)


def image(mode: str, k: int) -> np.ndarray:
    """Return image number ``k``, magnitudes in [0, 1]; 0 is the training slice."""
    if mode == "quick":
        return kspace_runs.image("quick", k)
    whole = kspace_runs.image("whole-head", k)
    n = SIZES[mode]
    return whole.reshape(n, 256 // n, n, 256 // n).mean(axis=(1, 3))


def names(mode: str) -> tuple[str, ...]:
    """Return what the images are called."""
    return kspace_runs.SETTINGS["quick" if mode == "quick" else "whole-head"].names


def scan(mode: str, k: int) -> SimulatedScan:
    """Return the simulated acquisition of image ``k``; every image has a phase and noise of its own."""
    return simulate_scan(image(mode, k), snr=SNR, random_state=SEED + k)


def phase_map(acquired: SimulatedScan) -> np.ndarray:
    """Return the phase of the image of low resolution: n/8 x n/8 central samples, with their noise."""
    return np.angle(low_resolution(acquired.kspace, len(acquired.image) // 8, None))


def shots(mode: str, angles: Any) -> TrajectoryPool:
    """Return interleaves at these angles."""
    n = SIZES[mode]
    return spirals((n, n), angles, revolutions=n / 32)


def reconstructor(
    mode: str, acquired: SimulatedScan, scales: Any, assumed: tuple[float, float] = ASSUMED[0]
) -> ImageReconstructor:
    """Return the estimator of one scan: with its phase map and noise, and the scales (wavelet, tv, imaginary)."""
    wavelet, tv, imaginary = (None if scale is None or np.isnan(scale) else float(scale) for scale in scales)
    prior = {"wavelet": wavelet, "tv": tv} | ({} if imaginary is None else {"imaginary": imaginary})
    return ImageReconstructor(
        acquired.image.shape,
        noise_variance=acquired.noise_variance,
        phase=phase_map(acquired),
        prior_scales=prior,
        imaginary_prior="transform" if imaginary is None else "pixel",
        design_noise_variance=assumed[0] ** 2,
        design_prior_scales=assumed[1],
        max_iter=5 if mode == "quick" else 40,
        tol=0.1 if mode == "quick" else 1e-3,
        random_state=SEED,
    )


def error(mode: str, model: ImageReconstructor, acquired: SimulatedScan, angles: Any) -> float:
    """Return the error of MAP from interleaves at these angles."""
    blocks = shots(mode, angles)
    return l2_error(acquired.image, model.reconstruct(blocks, acquired.measure(blocks)))


def candidates(mode: str, period: float) -> np.ndarray:
    """Return the angles to choose from, 0 the first of them."""
    return equispaced_angles(N_ANGLES[mode], period)


def compared(mode: str, setting: str, n: int) -> dict[str, list[np.ndarray]]:
    """Return the comparison designs of ``n`` interleaves: equispaced, and random ones."""
    period, rng = PERIODS[setting], np.random.default_rng([SEED, n])
    drawn = [random_angles(n, candidates(mode, period), random_state=rng) for _ in range(DRAWS[mode])]
    return {"equispaced": [equispaced_angles(n, period)], "random": drawn}


def simulated(mode: str) -> str:
    """Say what was simulated, and what the model was told."""
    n = SIZES[mode]
    return (
        f"{n} x {n} pixels; simulated: a smooth random phase (polynomial of order 2, up to pi) and complex noise, SNR "
        f"{SNR:g} (largest magnitude over the standard deviation of each part), one coil. The model was told the "
        f"noise's variance and a phase map from a separate scan of {n // 8} x {n // 8} central samples."
    )


# -------------------------------------------------------------------------------- tuning, on the training slice only
def tune_scales(mode: str) -> dict[str, np.ndarray]:
    """Try the scales with comparison designs of both settings; return the mean errors of MAP."""
    acquired = scan(mode, 0)
    used = [
        compared(mode, setting, n)[name][0]
        for setting in PERIODS
        for n in TUNED_AT[mode]
        for name in ("equispaced", "random")
    ]
    tried = SCALES[: 1 if mode == "quick" else None]
    errors = [
        np.mean([error(mode, reconstructor(mode, acquired, scales), acquired, angles) for angles in used])
        for scales in tried
    ]
    return {"scales": np.array(tried, float), "errors": np.array(errors)}


def best_scales(mode: str) -> np.ndarray:
    """Return the tuned scales of the reconstruction."""
    tried = cell(tune_scales, mode)
    return tried["scales"][tried["errors"].argmin()]


def design(mode: str, setting: str, k: int) -> dict[str, np.ndarray]:
    """Choose angle after angle on the training slice with ASSUMED[k]; return them, and MAP's errors on the way."""
    acquired = scan(mode, 0)
    model = reconstructor(mode, acquired, best_scales(mode), ASSUMED[k])
    grid = candidates(mode, PERIODS[setting])
    pool, chosen, errors = shots(mode, grid), [0], []
    model.fit(pool.take([0]), acquired.measure(pool.take([0])))
    while len(chosen) < max(SHOTS[mode]):
        chosen += model.select(pool, exclude=chosen).tolist()
        block = pool.take(chosen[-1:])
        model.partial_fit(block, acquired.measure(block))
        if len(chosen) in SHOTS[mode]:
            errors.append(l2_error(acquired.image, model.image_))
    return {"angles": grid[chosen], "errors": np.array(errors)}


def best_design(mode: str, setting: str) -> np.ndarray:
    """Return the angles chosen with what does best at the tuned numbers of interleaves."""
    tried = [cell(design, mode, setting, k) for k in range(1 if mode == "quick" else len(ASSUMED))]
    at = np.isin(SHOTS[mode], TUNED_AT[mode])
    return tried[int(np.argmin([one["errors"][at].mean() for one in tried]))]["angles"]


# ----------------------------------------------------------------------------------------------------------- evaluation
def evaluate(mode: str, setting: str, n: int, k: int) -> dict[str, np.ndarray]:
    """Return the errors of MAP on image ``k`` from ``n`` interleaves, by design, one per draw."""
    acquired = scan(mode, k)
    model = reconstructor(mode, acquired, best_scales(mode))
    every = {"designed": [best_design(mode, setting)[:n]], **compared(mode, setting, n)}
    return {name: np.array([error(mode, model, acquired, angles) for angles in draws]) for name, draws in every.items()}


def one_step(mode: str, n_measured: int, n_tried: int) -> dict[str, np.ndarray]:
    """Measure the first interleaves of the design, score all angles, and try some of them as the next one.

    Returns the angles measured, all scores, the positions tried, and MAP's error and image with each of them.
    """
    acquired = scan(mode, 0)
    assumed = ASSUMED[0]
    model = reconstructor(mode, acquired, best_scales(mode), assumed)
    measured = best_design(mode, "circle")[:n_measured]
    model.fit(shots(mode, measured), acquired.measure(shots(mode, measured)))
    grid = candidates(mode, 2 * np.pi)
    scores = 0.5 * model.predictive(shots(mode, grid)).log_determinant()[0]
    tried = np.unique(np.append(np.arange(0, len(grid), len(grid) // n_tried), [scores.argmax(), scores.argmin()]))
    images = []
    for k in tried:
        blocks = shots(mode, np.append(measured, grid[k]))
        images.append(model.reconstruct(blocks, acquired.measure(blocks)))
    errors = [l2_error(acquired.image, one) for one in images]
    return {
        "measured": measured,
        "scores": scores,
        "tried": tried,
        "errors": np.array(errors),
        "images": np.array(images, np.float32),
        "before": model.image_,
    }
