"""Distances of a reconstruction from the truth. All four compare magnitudes, so that a phase left over does not count.

l2_error = || |truth| - |estimate| ||_2                  nmse = l2_error^2 / || truth ||^2
psnr     = 10 log10(n range^2 / l2_error^2)              ssim: structural similarity (scikit-image)

Where only some pixels count - those of the head, not the air around it - ``inside`` says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from adaptive.checks import choice, finite, share

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Interval", "l2_error", "nmse", "paired_interval", "psnr", "ssim"]


def l2_error(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Euclidean distance of the magnitudes, not normalised: the error of the source's tables.

    Parameters
    ----------
    truth, estimate : array-like of equal shape
        Real or complex; one image.

    Returns
    -------
    float

    Examples
    --------
    >>> l2_error([[3.0, 0.0]], [[0.0, 4.0j]])
    5.0
    """
    truth, estimate = _magnitudes(truth, estimate)
    return float(np.linalg.norm(truth - estimate))


def nmse(truth: ArrayLike, estimate: ArrayLike, *, inside: ArrayLike | None = None) -> float:
    """Squared error divided by the energy of the truth.

    Parameters
    ----------
    truth, estimate : array-like of equal shape
    inside : array of bool, of the images' shape, optional
        Pixels that count, as `foreground` finds them; default all.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the truth is zero everywhere.

    Examples
    --------
    >>> nmse([[3.0, 4.0]], [[3.0, 3.0]])
    0.04
    """
    known, found = _magnitudes(truth, estimate)
    known, found = known[_inside(inside, known)], found[_inside(inside, found)]
    energy = np.sum(known**2)
    if energy == 0:
        raise ValueError("truth is zero everywhere: an error relative to it is not defined.")
    return float(np.sum((known - found) ** 2) / energy)


def psnr(
    truth: ArrayLike, estimate: ArrayLike, data_range: float | None = None, *, inside: ArrayLike | None = None
) -> float:
    """Peak signal-to-noise ratio in decibels; infinite for a perfect estimate.

    Parameters
    ----------
    truth, estimate : array-like of equal shape
    data_range : float, optional
        Default: the largest magnitude of the truth, 1 for a scaled image.
    inside : array of bool, of the images' shape, optional
        As of ``nmse``.

    Returns
    -------
    float
        Decibels.

    Examples
    --------
    >>> round(psnr([[1.0, 1.0]], [[0.9, 1.1]]), 6)
    20.0
    """
    truth, estimate = _magnitudes(truth, estimate)
    error = np.mean((truth - estimate)[_inside(inside, truth)] ** 2)
    peak = _data_range(truth, data_range)
    return float("inf") if error == 0 else float(10 * np.log10(peak**2 / error))


def ssim(
    truth: ArrayLike, estimate: ArrayLike, data_range: float | None = None, *, inside: ArrayLike | None = None
) -> float:
    """Mean structural similarity, by scikit-image with its 7 x 7 windows; 1 for a perfect estimate.

    The images need at least 7 pixels on each side.

    Parameters
    ----------
    truth, estimate : array-like of equal shape
    data_range : float, optional
        Default: the largest magnitude of the truth, 1 for a scaled image.
    inside : array of bool, of the images' shape, optional
        As of ``nmse``: of these pixels the windows around them are compared, whatever is in these.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the images are smaller than 7 by 7 pixels.
    ImportError
        If scikit-image is not installed (the extra ``mri`` brings it).

    References
    ----------
    Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli (2004), "Image quality assessment".

    Examples
    --------
    >>> truth = np.eye(8)
    >>> ssim(truth, truth)
    1.0
    """
    truth, estimate = _magnitudes(truth, estimate)
    if truth.ndim != 2 or min(truth.shape) < 7:
        raise ValueError(f"ssim compares images of at least 7 x 7 pixels, got shape {truth.shape}.")
    try:
        from skimage.metrics import structural_similarity
    except ImportError:
        raise ImportError("ssim needs scikit-image: pip install 'adaptive-designs[mri]'.") from None
    mean, each = structural_similarity(truth, estimate, data_range=_data_range(truth, data_range), full=True)
    return float(mean) if inside is None else float(each[_inside(inside, truth)].mean())


class Interval(NamedTuple):
    """Result of `paired_interval`.

    Attributes
    ----------
    mean, low, high : float
        The mean over pairs, and the ends of its confidence interval.
    n : int
        Number of pairs.

    Examples
    --------
    >>> from adaptive.images import paired_interval
    >>> found = paired_interval([1.0, 2.0, 3.0], [0.5, 1.0, 2.5], of="difference")
    >>> round(found.mean, 3), found.low < found.mean < found.high, found.n
    (0.667, True, 3)
    """

    mean: float
    low: float
    high: float
    n: int


def paired_interval(values: ArrayLike, others: ArrayLike, *, of: str = "ratio", level: float = 0.95) -> Interval:
    """Mean ratio or difference of paired values (one pair per image) with its Student-t interval.

    Parameters
    ----------
    values, others : array-like (n,), n >= 2
        As in the errors of two designs on the same images; ratio means values / others.
    of : "ratio" or "difference", default "ratio"
    level : float in (0, 1), default 0.95

    Returns
    -------
    Interval
        The design with the smaller errors wins where ``high`` of the ratio is below 1 (of the difference: below 0).

    Raises
    ------
    ValueError
        If there are fewer than two pairs, ``level`` is not between 0 and 1, or a ratio would divide by 0.

    Examples
    --------
    >>> mean, low, high, n = paired_interval([8.0, 9.0, 10.0], [10.0, 10.0, 10.0])
    >>> round(mean, 3), round(low, 3), round(high, 3), n
    (0.9, 0.652, 1.148, 3)
    """
    first, second = finite("values", values), finite("others", others)
    if first.ndim != 1 or first.shape != second.shape or len(first) < 2:
        raise ValueError(f"values and others must be pairs, two at least, got shapes {first.shape} and {second.shape}.")
    share("level", level)
    if choice("of", of, ("ratio", "difference")) == "ratio":
        if (second == 0).any():
            raise ValueError("others holds 0: a ratio is not defined; use of='difference'.")
        compared = first / second
    else:
        compared = first - second
    n, mean = len(compared), float(compared.mean())
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * compared.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n)


def _magnitudes(truth: ArrayLike, estimate: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    first = np.abs(finite("truth", truth, dtype=None)).astype(float)
    second = np.abs(finite("estimate", estimate, dtype=None)).astype(float)
    if first.shape != second.shape:
        raise ValueError(f"truth and estimate must have one shape, got {first.shape} and {second.shape}.")
    return first, second


def _inside(given: ArrayLike | None, like: np.ndarray) -> np.ndarray:
    if given is None:
        return np.ones(like.shape, bool)
    mask = np.asarray(given)
    if mask.dtype != bool or mask.shape != like.shape or not mask.any():
        raise ValueError(f"inside must be True somewhere, of shape {like.shape}, got {mask.dtype} of {mask.shape}.")
    return mask


def _data_range(truth: np.ndarray, given: float | None) -> float:
    peak = float(truth.max()) if given is None else float(given)
    if not peak > 0:
        raise ValueError(f"data_range must be > 0, got {peak!r}.")
    return peak
