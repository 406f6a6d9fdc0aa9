"""The heads that designs of 64 to 160 of 256 lines are judged on: how each is scanned, designed for, reconstructed.

One sagittal slice of a whole-head T1 volume trains, and all that is tuned is tuned on it. (Four more slices of that
head join where a design is learnt from several.) Unseen are other slices of that head, phase encodes along the other
axis, other heads, other brains (skull stripped), other contrasts. All are magnitudes in [0, 1], padded to 256 x 256;
each gets a smooth random phase and complex noise of its own, and the reconstruction estimates both from the samples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
from adaptive.images import (
    SimulatedScan,
    estimate_phase,
    fitted,
    head_scan,
    l2_error,
    padded,
    scaled,
    simulate_scan,
)
from adaptive.linalg import density_compensated, line_weights
from adaptive.operators import Diagonal, FourierLines, Product
from adaptive.scanner import read_images
from designs.kspace import central, comparison_designs, lines
from experiments.runs import kept

SEED = 0


@dataclass(frozen=True)
class Heads:
    """A set of images and the size of its designs.

    Attributes
    ----------
    shape : tuple of two int
    n_central : int
        Lines that every design has.
    counts : tuple of int
        Numbers of lines; the first one is where designs are compared on all images.
    training : tuple of str
        The first one is what is tuned on.
    groups : dict of tuples of str
        Unseen images by kind.
    """

    shape: tuple[int, int]
    n_central: int
    counts: tuple[int, ...]
    training: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]

    @property
    def unseen(self) -> tuple[str, ...]:
        """All unseen images."""
        return tuple(name for names in self.groups.values() for name in names)

    @property
    def whole(self) -> tuple[str, ...]:
        """Unseen images of whole heads."""
        return tuple(name for kind in list(self.groups)[:4] for name in self.groups[kind])


# an image is file, plane, slice; "t": phase encodes along the other axis
HEADS = {
    "heads": Heads(
        (256, 256), 32, (64, 80, 96, 112, 128, 144, 160),
        ("chris_t1 sagittal 94", "chris_t1 axial 90", "chris_t1 coronal 110", "chris_t1 sagittal 62",
         "chris_t1 coronal 150"),
        {
            "same head, sagittal": tuple(f"chris_t1 sagittal {k}" for k in (72, 82, 118)),
            "same head, other planes": (*(f"chris_t1 axial {k}" for k in (70, 110)),
                                        *(f"chris_t1 coronal {k}" for k in (130, 170))),
            "same head, other axis": ("chris_t1 sagittal 82 t", "chris_t1 axial 110 t", "chris_t1 coronal 130 t"),
            "other heads": ("admm 1", "admm 2", "admm 2 t", "ppnp"),
            "other brains": ("ch2 axial 90", "norm axial 120", "norm sagittal 110",
                             "mni_icbm152_t1_2009a coronal 110", "ants r16"),
            "other contrast": ("FLAIR axial 75", "FLAIR sagittal 50", "FLAIR coronal 80", "dwi_b0 axial 38"),
        },
    ),
    "quick": Heads((32, 32), 6, (10, 12), ("scan 12", "scan 8"), {"other slices": ("scan 10", "scan 14")}),
}  # fmt: skip
FILES = {"norm": "norm.mgz"}  # every other volume is NAME.nii.gz

RANDOM = ("variable_density", "half_plane_variable_density")
EXPONENTS = (2.0, 3.0, 4.0, 6.0, 8.0)
SCALES = ((1.6, 0.8), (0.8, 0.4), (0.4, 0.2), (0.2, 0.1), (0.1, 0.05))  # of the reconstruction: wavelet, differences
# wavelet, differences, imaginary part: where that part has a prior on its pixels
PIXEL_SCALES = ((0.4, 0.2, 0.01), (0.2, 0.1, 0.005), (0.2, 0.1, 0.002), (0.1, 0.05, 0.005), (0.1, 0.05, 0.002))
FINE, COARSE = 1e-3, 3e-3  # where MAP stops; ratios of errors differ by less than .01
# what the design may assume: noise standard deviation, scale
DESIGN_SETTINGS = ((1e-3, 1 / 300), (3e-4, 1 / 1000))


def cell(run: Callable[..., dict[str, np.ndarray]], *arguments: Any) -> dict[str, np.ndarray]:
    """Return ``run(*arguments)``, from its file where it ran before."""
    return kept(f"heads-{run.__name__}", run, *arguments)


# ---------------------------------------------------------------------------------------------------------- the images
def data_folder() -> Path:
    """Return where data beside the project lie."""
    return Path(os.environ.get("ADAPTIVE_DATA") or "~/adaptive_data").expanduser()


def heads_of(name: str) -> str:
    """Return the set that an image belongs to."""
    return "quick" if name.startswith("scan ") else "heads"


def image(name: str) -> np.ndarray:
    """Return an image by name: magnitudes in [0, 1]; phase encodes are along axis 0."""
    kind, *rest = name.removesuffix(" t").split()
    folder = data_folder() / "mri-slices"
    if kind == "scan":
        found = padded(head_scan()[int(rest[0])].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    elif kind in ("admm", "ppnp"):
        with np.load(folder / ("deep_admm_net_brain.npz" if kind == "admm" else "ppnp_brain_complex.npz")) as stored:
            found = scaled(np.abs(stored[stored.files[int(rest[0]) - 1 if rest else 0]]))
    elif kind == "ants":
        found = read_images(folder / "ants" / f"{rest[0]}slice.jpg")[0].image
    else:
        found = _volume(kind, rest[0])[int(rest[1])].image
    found = fitted(found, HEADS[heads_of(name)].shape)
    return found.T if name.endswith(" t") else found


@cache
def _volume(kind: str, plane: str) -> Any:
    return read_images(data_folder() / "mri-volumes" / FILES.get(kind, f"{kind}.nii.gz"), plane)


@cache
def scan(name: str, snr: float) -> SimulatedScan:
    """Return the simulated acquisition of an image."""
    return simulate_scan(image(name), snr=snr, random_state=seed_of(name))


# ----------------------------------------------------------------------------------------------------- reconstructions
def reconstructor(shape: tuple[int, int], scales: Sequence[float] | None = None, **settings: Any) -> ImageReconstructor:
    """Return the estimator; ``scales`` are (wavelet, differences), None learns them."""
    given = None if scales is None else {"wavelet": float(scales[0]), "tv": float(scales[1])}
    if max(shape) <= 32:
        settings |= {"tol": 0.1}
    return ImageReconstructor(shape, prior_scales=given, random_state=SEED, **settings)


def measured(acquired: SimulatedScan, design: np.ndarray) -> tuple[Any, list[np.ndarray]]:
    """Return the lines of a design as blocks, and their samples."""
    pool = lines(acquired.image.shape)
    blocks = pool.take(pool.positions(design))
    return blocks, acquired.measure(blocks)


def sparse(acquired: SimulatedScan, design: np.ndarray, scales: Sequence[float], tol: float = COARSE) -> np.ndarray:
    """Return the MAP image."""
    return reconstructor(acquired.image.shape, scales, tol=tol).reconstruct(*measured(acquired, design))


def pixel(acquired: SimulatedScan, design: np.ndarray, scales: Sequence[float]) -> np.ndarray:
    """Return the MAP image where the imaginary part has a prior on its pixels (the last of three scales)."""
    given = dict(zip(("wavelet", "tv", "imaginary"), map(float, scales), strict=True))
    model = ImageReconstructor(
        acquired.image.shape, prior_scales=given, imaginary_prior="pixel", tol=COARSE, random_state=SEED
    )
    return model.reconstruct(*measured(acquired, design))


def linear(acquired: SimulatedScan, design: np.ndarray, n_central: int) -> np.ndarray:
    """Return the zero-filled image, density compensated, conjugate samples appended after the phase was taken out.

    A line stands for what is nearer to it than to its neighbours; the outermost one reaches as far outwards as inwards.
    (Up to the end of k-space, as the source has it, one noisy line would stand for a third of all.)
    """
    design, shape = np.sort(design), acquired.image.shape
    n = shape[0]
    kspace = np.zeros(shape, complex)
    kspace[design] = np.concatenate(measured(acquired, design)[1])
    rotation = np.exp(1j * estimate_phase(kspace, n_central))
    weights, frequencies = line_weights(design, n, mirror=True), np.abs(design - n // 2)
    outer, inner = np.unique(frequencies)[[-1, -2]]
    weights = np.where(frequencies == outer, np.minimum(weights, outer - inner), weights)
    operator = Product(FourierLines(shape, design), Diagonal(rotation))
    return np.abs(density_compensated(operator, kspace[design], weights[:, None], mirror=True))


# ------------------------------------------------------------------------------------------------------------- designs
def magnitude(name: str) -> SimulatedScan:
    """Return what a design is trained on: the magnitude of a full scan of SNR 200, no phase."""
    return simulate_scan(image(name), snr=200.0, largest_phase=0.0, random_state=seed_of(name))


def designed(
    scans: Sequence[SimulatedScan], n_central: int, n_lines: int, sd: float, scale: float, **settings: Any
) -> np.ndarray:
    """Return the lines in the order chosen, the central ones first, by the information about all images together."""
    shape = scans[0].image.shape
    pool, chosen = lines(shape), list(central(shape[0], n_central))
    models = [
        reconstructor(shape, design_noise_variance=sd**2, design_prior_scales=scale, **settings).fit(
            *measured(one, np.array(chosen))
        )
        for one in scans
    ]
    while len(chosen) < n_lines:
        total = np.sum([model.predictive(pool).log_determinant()[0] for model in models], axis=0)
        total[chosen] = -np.inf
        chosen.append(int(np.argmax(total)))
        for one, model in zip(scans, models, strict=True):
            model.partial_fit(*measured(one, np.array(chosen[-1:])))
    return np.array(chosen)


def comparisons(
    dataset: str, n_lines: int, exponents: dict[str, float], n_draws: int, seed: int = SEED
) -> dict[str, list[np.ndarray]]:
    """Return the comparison designs, but for the uniform one, which the source does not show."""
    of = HEADS[dataset]
    found = comparison_designs(
        of.shape[0], n_lines, of.n_central, exponents=exponents, n_draws=n_draws, random_state=seed
    )
    return {name: draws for name, draws in found.items() if name != "uniform"}


# -------------------------------------------------------------------------------- tuning, on the training slice only
def first_of(dataset: str, tried: Sequence[Any]) -> Sequence[Any]:
    """Return all that is to be tried; in the quick mode one."""
    return tried[: 1 if dataset == "quick" else None]


def tune_scales(dataset: str, snr: float) -> dict[str, np.ndarray]:
    """Return the mean error of four comparison designs by pair of scales."""
    of = HEADS[dataset]
    acquired = scan(of.training[0], snr)
    found = comparisons(dataset, of.counts[0], dict(zip(RANDOM, (3.0, 6.0), strict=True)), 1)
    used = [found[name][0] for name in ("low_pass", "one_sided_low_pass", *RANDOM)]
    errors = [
        np.mean([l2_error(acquired.image, sparse(acquired, one, pair, FINE)) for one in used])
        for pair in first_of(dataset, SCALES)
    ]
    return {"errors": np.array(errors)}


def best_scales(dataset: str, snr: float) -> tuple[float, float]:
    """Return the scales of the reconstruction."""
    return SCALES[int(cell(tune_scales, dataset, snr)["errors"].argmin())]


def tune_pixel(dataset: str, snr: float) -> dict[str, np.ndarray]:
    """Return the error of a half-plane variable density design by triple of scales."""
    of = HEADS[dataset]
    acquired, exponents = scan(of.training[0], snr), best_exponents(dataset, snr, of.counts[0])
    used = comparisons(dataset, of.counts[0], exponents, 1 if dataset == "quick" else 2)[RANDOM[1]]
    errors = [
        np.mean([l2_error(acquired.image, pixel(acquired, one, triple)) for one in used])
        for triple in first_of(dataset, PIXEL_SCALES)
    ]
    return {"errors": np.array(errors)}


def tune_exponents(dataset: str, snr: float, n_lines: int) -> dict[str, np.ndarray]:
    """Return the mean error of the random designs by exponent, (exponents,) each."""
    acquired, scales = scan(HEADS[dataset].training[0], snr), best_scales(dataset, snr)
    errors: dict[str, list[float]] = {name: [] for name in RANDOM}
    for exponent in first_of(dataset, EXPONENTS):
        found = comparisons(dataset, n_lines, dict.fromkeys(RANDOM, exponent), 1 if dataset == "quick" else 2)
        for name in RANDOM:
            values = [l2_error(acquired.image, sparse(acquired, one, scales)) for one in found[name]]
            errors[name].append(float(np.mean(values)))
    return {name: np.array(values) for name, values in errors.items()}


def best_exponents(dataset: str, snr: float, n_lines: int) -> dict[str, float]:
    """Return the exponents of the random designs with so many lines."""
    tried = cell(tune_exponents, dataset, snr, n_lines)
    return {name: EXPONENTS[int(tried[name].argmin())] for name in RANDOM}


def tune_design(dataset: str, k: int) -> dict[str, np.ndarray]:
    """Design with setting ``k``; return the lines in order, and the errors on the training slice by number of lines."""
    of = HEADS[dataset]
    acquired, scales = scan(of.training[0], 200.0), best_scales(dataset, 200.0)
    chosen = designed([magnitude(of.training[0])], of.n_central, of.counts[-1], *DESIGN_SETTINGS[k], phase=None)
    errors = [l2_error(acquired.image, sparse(acquired, chosen[:n], scales)) for n in of.counts]
    return {"lines": chosen, "errors": np.array(errors)}


def best_setting(dataset: str) -> int:
    """Return which of DESIGN_SETTINGS does best, over the numbers of lines together."""
    tried = [cell(tune_design, dataset, k) for k in range(len(first_of(dataset, DESIGN_SETTINGS)))]
    return int(np.argmin([np.log(one["errors"]).sum() for one in tried]))


def optimised(dataset: str) -> np.ndarray:
    """Return the lines in the order chosen, the same for any noise that they are used with."""
    return cell(tune_design, dataset, best_setting(dataset))["lines"]


def all_designs(dataset: str, snr: float, n_lines: int, n_draws: int, seed: int = SEED) -> dict[str, list[np.ndarray]]:
    """Return the optimised design and the tuned comparison designs."""
    exponents = best_exponents(dataset, snr, n_lines)
    return {"optimised": [optimised(dataset)[:n_lines]]} | comparisons(dataset, n_lines, exponents, n_draws, seed)


# ---------------------------------------------------------------------------------------------------------- evaluation
def seed_of(name: str) -> int:
    """Return a number for each image: of its phase and noise, and of the random designs that it is tried with."""
    of = HEADS[heads_of(name)]
    return SEED + [*of.training, *of.unseen].index(name)


def evaluate(name: str, snr: float, n_lines: int, n_draws: int) -> dict[str, np.ndarray]:
    """Return the errors on an image by design, (draws, 2): of MAP and of the linear reconstruction."""
    dataset = heads_of(name)
    acquired, scales, centre = scan(name, snr), best_scales(dataset, snr), HEADS[dataset].n_central
    results = {}
    for design, draws in all_designs(dataset, snr, n_lines, n_draws, seed_of(name)).items():
        images = [(sparse(acquired, one, scales), linear(acquired, one, centre)) for one in draws]
        results[design] = np.array([[l2_error(acquired.image, u) for u in pair] for pair in images])
    return results


def evaluate_lines(name: str, snr: float, outside: str) -> dict[str, np.ndarray]:
    """Return the error of MAP on an image from the central lines and those given as text, "111 109 ..."."""
    acquired = scan(name, snr)
    found = sparse(acquired, from_text(name, outside), best_scales(heads_of(name), snr))
    return {"error": np.array(l2_error(acquired.image, found))}


def evaluate_pixel(name: str, snr: float, outside: str) -> dict[str, np.ndarray]:
    """Return the same with a prior on the pixels of the imaginary part, its scales tuned for it."""
    acquired, dataset = scan(name, snr), heads_of(name)
    scales = PIXEL_SCALES[int(cell(tune_pixel, dataset, snr)["errors"].argmin())]
    return {"error": np.array(l2_error(acquired.image, pixel(acquired, from_text(name, outside), scales)))}


def from_text(name: str, outside: str) -> np.ndarray:
    """Return the central lines of an image's set and those given as text."""
    of = HEADS[heads_of(name)]
    return np.concatenate([central(of.shape[0], of.n_central), np.array(outside.split(), int)])
