"""Noise read without a noise scan: how far off its covariance is, and what that costs the image.

Five heads of 128 x 128 in eight simulated coils, SNR 20 and 50, whose noise has the covariance of a real receiver (the
empty corners of a raw scan of eight coils, scaled). It is estimated from a noise scan of 4,096 samples, from 16 central
lines measured twice, from the outer samples of a full scan, and from those of a scan with a third of the lines (16
central ones, others equispaced). The image is MAP from that third, with true coil maps, a prior that is tuned on none
of these heads, and the covariance that was estimated: errors over the one with the true covariance, and over that of a
model that takes the coils' noise for independent and alike.

    python -m experiments.scanner.noise_estimates [--quick]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import ImageReconstructor
from adaptive.images import coil_covariance, noise_covariance, paired_interval, simulate_coils, simulate_scan
from adaptive.operators import FourierLines
from designs.kspace import central, lines
from experiments.equivalence import inside
from experiments.kspace.pays.shared import JUDGED, data_folder, image
from experiments.script import Script, command

COILS, SAMPLES, N_CENTRAL = 8, 4096, 16
METHODS = ("noise scan", "repeats", "outer samples, full", "outer samples, a third")
SNRS, SEEDS = (20.0, 50.0), (0, 1)
THIRD = METHODS.index("outer samples, a third")
SCALE = 0.1  # of differences, wavelets twice that: as in the comparison of designs
MOST_ERROR, MOST_VARIANCE, MOST_COST = 0.3, 0.15, 0.02


def corners() -> np.ndarray:
    """Return the covariance of the noise in the empty corners of the raw scan, the highest frequencies of both axes."""
    with np.load(data_folder() / "mri-kspace" / "brain_8ch_undersampled.npz") as stored:
        raw = stored["ksp"]
    block = raw[:, :24, :60]
    return noise_covariance(block[:, :, (block != 0).any(axis=(0, 1))])


def one(name: str, snr: float, seed: int) -> dict[str, np.ndarray]:
    """Return errors of the covariance by method; and of the image: with the true one, independent noise, by method."""
    head = image(name)
    n, n_central = len(head), N_CENTRAL if len(head) >= 64 else 8
    rng = np.random.default_rng([seed, sum(map(ord, name)), int(snr)])
    maps = simulate_coils(head.shape, COILS, random_state=seed)
    scan = simulate_scan(head, snr=snr, coils=maps, coil_covariance=corners(), random_state=rng)
    truth = scan.noise_variance * scan.coil_covariance

    def noise(*shape: int) -> np.ndarray:
        drawn = rng.standard_normal((2, COILS, *shape))
        return np.tensordot(np.linalg.cholesky(truth), drawn[0] + 1j * drawn[1], 1)

    third = np.union1d(central(n, n_central), np.arange(0, n, 4))
    mask = np.zeros(head.shape, bool)
    mask[third] = True
    clean = FourierLines(head.shape, central(n, n_central)).forward(maps * head * np.exp(1j * scan.phase))
    again = clean + noise(*clean.shape[1:])
    found = {
        "noise scan": coil_covariance(noise=noise(SAMPLES)),
        "repeats": coil_covariance(repeats=np.stack([scan.kspace[:, central(n, n_central)], again])),
        "outer samples, full": coil_covariance(scan.kspace),
        "outer samples, a third": coil_covariance(np.where(mask, scan.kspace, 0), mask),
    }
    assert tuple(found) == METHODS
    told = [truth, np.eye(COILS) * scan.noise_variance, *(estimate.matrix for estimate in found.values())]
    off = [np.linalg.norm(estimate.matrix - truth) / np.linalg.norm(truth) for estimate in found.values()]
    return {
        "covariance": np.array(off),
        "variance": np.array([estimate.variance / scan.noise_variance for estimate in found.values()]),
        "image": np.array([_error(scan, maps, third, covariance) for covariance in told]),
    }


def _error(scan: Any, maps: np.ndarray, chosen: np.ndarray, covariance: np.ndarray) -> float:
    """Return the normalised squared error of the image from some lines."""
    block = lines(scan.image.shape).take(chosen)
    model = ImageReconstructor(
        scan.image.shape,
        coils=maps,
        coil_covariance=covariance,
        noise_variance=float(np.trace(covariance).real / COILS),
        prior_scales={"wavelet": 2 * SCALE, "tv": SCALE, "imaginary": SCALE / 10},
        imaginary_prior="pixel",
        check=False,
        max_iter=40,
        tol=1e-3,
    )
    image_ = model.reconstruct(block, scan.measure(block))
    return float(np.sum((image_ - scan.image) ** 2) / np.sum(scan.image**2))


def real() -> dict[str, float]:
    """Return, of the raw scan, the estimate from outer samples over what its empty corners hold."""
    with np.load(data_folder() / "mri-kspace" / "brain_8ch_undersampled.npz") as stored:
        estimate, truth = coil_covariance(stored["ksp"].astype(complex)).matrix, corners()
    return {
        "variance ratio": float(np.trace(estimate).real / np.trace(truth).real),
        "covariance error": float(np.linalg.norm(estimate - truth) / np.linalg.norm(truth)),
    }


def run(script: Script) -> None:
    """Estimate, reconstruct, judge."""
    heads = ["small 12"] if script.quick else [name for names in JUDGED.values() for name in names]
    cells = [(name, snr, seed) for name in heads for snr in SNRS for seed in SEEDS][: 1 if script.quick else None]
    found = [script.kept("scanner-noise", one, *cell) for cell in cells]
    columns: dict[str, list[Any]] = {"head": [], "snr": [], "seed": [], "method": []}
    columns |= {"covariance_error": [], "variance_ratio": [], "nmse_over_true": []}
    for cell, kept in zip(cells, found, strict=True):
        costs = kept["image"] / kept["image"][0]
        for k, method in enumerate((*METHODS, "independent")):
            of_it = (
                (None, None, costs[1])
                if k == len(METHODS)
                else (kept["covariance"][k], kept["variance"][k], costs[2 + k])
            )
            for name, value in zip(columns, (*cell, method, *of_it), strict=True):
                columns[name].append(value if value is None or isinstance(value, str) else float(value))
    script.table(columns, "scanner-noise", (__doc__ or "").strip().split("\n\n")[1].replace("\n", " "))
    _judge(script, columns, real())


def _judge(script: Script, columns: dict[str, list[Any]], raw: dict[str, float]) -> None:
    method = np.array(columns["method"])

    def of(name: str, which: str) -> np.ndarray:
        return np.array(columns[name], object)[method == which].astype(float)

    errors = {one: float(np.median(of("covariance_error", one))) for one in METHODS}
    ratios = {one: [float(f(of("variance_ratio", one))) for f in (np.min, np.median, np.max)] for one in METHODS}
    own = of("covariance_error", METHODS[THIRD])
    size = f"{len(own)} scans: five heads of 128 x 128, eight coils, SNR 20 and 50, two seeds"
    script.judge(
        "ours-scanner-noise-covariance",
        bool(own.max() <= MOST_ERROR and np.abs(of("variance_ratio", METHODS[THIRD]) - 1).max() <= MOST_VARIANCE),
        claim="Outer samples of a third of the lines give the noise covariance of eight coils within 30% (Frobenius), "
        "and its mean variance within 15%, in every scan.",
        target={"covariance error at most": MOST_ERROR, "variance off by at most": MOST_VARIANCE},
        value={"median covariance error": errors, "variance ratio: least, median, largest": ratios, "size": size},
        reason="Edges add to the outer samples, so the estimate is too large, most of all where SNR is high.",
    )
    costs = {one: np.array(of("nmse_over_true", one)) for one in (*METHODS, "independent")}
    said = {}
    for name, values in costs.items():
        interval = paired_interval(values, np.ones_like(values)) if len(values) > 1 else None
        said[name] = [float(values.mean() - 1), *(() if interval is None else _limits(interval))]
    worst = said[METHODS[THIRD]]
    script.judge(
        "ours-scanner-noise-cost",
        None if len(worst) < 3 else inside(worst[1], worst[2], most=MOST_COST),
        claim="An image from a third of the lines with the covariance from their outer samples has at most 2% more "
        "squared error than with the true one.",
        target={"95% interval of the relative cost below": MOST_COST},
        value={"cost: mean, interval": said, "size": size},
        reason="Relative squared error over that with the true covariance; maps are known to all.",
    )
    low = said["independent"]
    script.judge(
        "ours-scanner-noise-ignored",
        None if len(low) < 3 else inside(low[1], low[2], least=0.0),
        claim="Taking the noise of the coils for independent and alike costs squared error.",
        target={"95% interval of the relative cost above": 0.0},
        value={"cost: mean, interval": low, "size": size},
        reason="The covariance is that of a real receiver of eight coils.",
    )
    script.judge(
        "ours-scanner-noise-raw",
        bool(abs(raw["variance ratio"] - 1) <= MOST_ERROR),
        claim="In the raw scan of eight coils the variance from outer samples is within 30% of that in its corners.",
        target={"variance ratio off by at most": MOST_ERROR},
        value=raw,
        reason="No noise scan came with the data; corners of both highest frequencies stand in for it.",
    )


def _limits(interval: Any) -> tuple[float, float]:
    """Return the ends of the interval of a ratio as a cost."""
    return float(interval.low) - 1, float(interval.high) - 1


if __name__ == "__main__":
    command(run, __doc__, __file__)
