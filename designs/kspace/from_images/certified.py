"""Lines of k-space and their certificate: what they tell of an image, and what any lines could under its model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import complex_numbers, integer, shape
from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
from adaptive.images import simulate_scan
from adaptive.selection import certificate
from designs.kspace.cartesian import LinePool
from designs.kspace.comparison import central
from designs.kspace.from_images.simulated import SCALES

if TYPE_CHECKING:
    from adaptive.selection import Certificate
    from adaptive.types import ArrayLike, RandomState

__all__ = ["line_certificate"]


def line_certificate(
    image: ArrayLike,
    lines: int | ArrayLike,
    n_central: int,
    *,
    axis: int = 0,
    coils: ArrayLike | None = None,
    snr: float = 100.0,
    random_state: RandomState = 0,
) -> tuple[np.ndarray, Certificate]:
    """Return lines, and how much more of the image any as many could tell.

    The image is scanned in simulation, its central lines teach the model, and the information is what the other lines
    tell then.  Where little of it is left to choose from, a design is near the best whatever its rule: read the share
    beside that of a simple rule.

    Parameters
    ----------
    image : (n0, n1) array
        Magnitudes, of a scan without a phase; or a complex image, whose phase the model is told.
    lines : (n,) array-like of int, or int
        Indices of a design, its central lines among them, in the order of the scan; or a number of lines, the others of
        which are chosen one after the other by information.
    n_central : int
        Central lines, measured in any case.
    axis : int, default 0
        Of the phase encodes.
    coils : array (coils, n0, n1), optional
        Sensitivities of the coils that receive the scan; a line is then the samples of all of them.  Default: one coil.
    snr : float, default 100
        Largest magnitude over the noise's standard deviation.
    random_state : None, int or Generator, default 0
        Of the noise, and of the posterior's samples.

    Returns
    -------
    lines : (n,) array of int
        The central ones first.
    certificate : Certificate
        Of the other lines; an estimate, for the posterior is known by samples.

    Raises
    ------
    ValueError
        If the central lines are not in the design, or it has no others; if coils are not of the image's shape.

    Notes
    -----
    The bound is the least of the greedy's prefixes and of the tangent.  Of one coil and an image without a phase lines
    at opposite frequencies tell the same, and the prefixes count what the second one adds to the first.  What several
    coils tell twice on neighbouring lines no bound knows: shares of them are lower, the designs as good.

    Examples
    --------
    >>> image = np.zeros((16, 16))
    >>> image[4:12, 5:11] = 1.0
    >>> lines, found = line_certificate(image, 8, 4)
    >>> lines[:4].tolist(), found.n, found.kind
    ([6, 7, 8, 9], 4, 'estimate')
    """
    picture = complex_numbers("image", image)
    maps = None if coils is None else complex_numbers("coils", coils)
    if maps is not None:
        shape("coils", maps, (None, *picture.shape))
    without = maps is None and not np.iscomplexobj(image)  # a phase
    scan = simulate_scan(
        picture if np.iscomplexobj(image) else np.abs(picture), snr=snr, coils=maps, random_state=random_state,
        largest_phase=0.0 if without else np.pi,
    )  # fmt: skip
    n = scan.image.shape[axis]
    first = central(n, integer("n_central", n_central, minimum=1))
    pool = LinePool(scan.image.shape, np.arange(n), axis)
    others: np.ndarray | None = None
    if np.ndim(lines):
        design = np.asarray(lines, dtype=np.intp)
        if not np.isin(first, design).all():
            raise ValueError(f"lines must hold the {n_central} central ones, {first[0]} to {first[-1]}.")
        others = design[~np.isin(design, first)]
    n_others = len(others) if others is not None else integer("lines", lines) - len(first)
    if n_others < 1:
        raise ValueError(f"lines must hold more than the {n_central} central ones: otherwise nothing is chosen.")
    model = ImageReconstructor(
        scan.image.shape, noise_variance=scan.noise_variance, prior_scales=SCALES, imaginary_prior="pixel",
        phase=None if without else scan.phase, coils=maps, check=False, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scales that are stated
        measured = pool.take(first)
        model.fit(measured, scan.measure(measured))
    chosen, reference = others, None
    if others is None or maps is not None:  # of several coils the tangent at lines that tell more is the lower one
        reference = np.asarray(model.select(pool, n_others, exclude=first, random_state=0))
    if chosen is None:
        chosen, reference = np.asarray(reference), None
    found = certificate(model, pool, chosen, exclude=first, random_state=0)
    if reference is not None:
        found = found.or_less(certificate(model, pool, reference, exclude=first, random_state=0))
    return np.concatenate([first, chosen]), found
