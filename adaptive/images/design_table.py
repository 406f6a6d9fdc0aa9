"""The table that designs are judged by: one row per design and slice, random designs as means over their draws.

design, slice, lines, error, psnr, ssim, error_95          error = || |truth| - |reconstruction| ||_2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from adaptive.images.foreground import foreground
from adaptive.images.quality import l2_error, psnr, ssim
from adaptive.images.simulation import SimulatedScan

__all__ = ["COLUMNS", "best_parameter", "compare_designs"]

COLUMNS = ("design", "slice", "lines", "error", "psnr", "ssim", "error_95")

Reconstruct = Callable[[SimulatedScan, np.ndarray], np.ndarray]  # (scan, line indices) -> image


def compare_designs(
    designs: Mapping[str, Sequence[Any]],
    scans: Mapping[str, SimulatedScan],
    reconstruct: Reconstruct,
    *,
    inside: bool = False,
) -> list[dict[str, Any]]:
    """Reconstruct every scan from the lines of every design.

    Parameters
    ----------
    designs : mapping of name to designs
        Each a list of line arrays: one for a fixed design, several draws of a random one.
    scans : mapping of name to SimulatedScan
        As in {"same": ..., "neighbour": ...}.
    reconstruct : callable (scan, lines) -> image (h, w)
        Sees the samples of these lines only; its result may be complex.
    inside : bool, default False
        Whether psnr and ssim are of the object alone (`foreground` of the truth), not of the air around it.

    Returns
    -------
    list of dict
        With the keys ``COLUMNS``; error, psnr and ssim are means over the draws, and error_95 is half the 95% interval
        of the mean error by Student's t (0 for a single draw).

    Raises
    ------
    ValueError
        If a design has no draw, or draws of several sizes.

    Examples
    --------
    >>> from adaptive.images import head_scan, simulate_scan
    >>> def zero_filled(scan, lines):
    ...     from adaptive.operators import FourierLines
    ...     block = FourierLines(scan.image.shape, lines)
    ...     return block.adjoint(scan.samples(block))
    >>> scan = simulate_scan(head_scan()[12].image, snr=50, random_state=0)
    >>> rows = compare_designs({"few": [range(60, 68)], "many": [range(32, 96)]}, {"same": scan}, zero_filled)
    >>> [(row["design"], row["lines"], row["error"] < 5) for row in rows]
    [('few', 8, False), ('many', 64, True)]
    """
    rows = []
    for design, draws in designs.items():
        sizes = sorted({len(lines) for lines in draws})
        if len(sizes) != 1:
            raise ValueError(
                f"design {design!r} must have one draw at least, and draws of one size, got sizes {sizes}."
            )
        for name, scan in scans.items():
            found = [np.asarray(reconstruct(scan, np.asarray(lines))) for lines in draws]
            of: Any = foreground(scan.image) if inside else None
            measures = [
                (l2_error(scan.image, u), psnr(scan.image, u, inside=of), ssim(scan.image, u, inside=of)) for u in found
            ]
            means = (float(mean) for mean in np.mean(measures, axis=0))
            half = _half_width(np.array([error for error, _, _ in measures], dtype=float))
            rows.append(dict(zip(COLUMNS, (design, name, sizes[0], *means, half), strict=True)))
    return rows


def _half_width(errors: np.ndarray) -> float:
    """Half of the 95% interval of their mean; 0 where there is one."""
    n = len(errors)
    return float(stats.t.ppf(0.975, n - 1) * errors.std(ddof=1) / n**0.5) if n > 1 else 0.0


def best_parameter(
    values: Iterable[Any], designs: Callable[[Any], Sequence[Any]], scan: SimulatedScan, reconstruct: Reconstruct
) -> tuple[Any, dict[Any, float]]:
    """Tune a comparison design, or a reconstruction's scales, on the training slice.

    Parameters
    ----------
    values : iterable
        As in exponents 2, 3, ..., 6.
    designs : callable value -> list of line arrays (n_lines,)
        The design's draws at that value.
    scan : SimulatedScan
        The training slice, and no other.
    reconstruct : callable (scan, lines) -> image

    Returns
    -------
    value
        With the least mean error; the first of equals.
    errors : dict of value to mean error

    Raises
    ------
    ValueError
        If there is no parameter to try.

    Examples
    --------
    >>> from adaptive.images import simulate_scan
    >>> from designs.kspace import variable_density
    >>> scan = simulate_scan(np.eye(16), snr=50.0, random_state=0)
    >>> def reconstruct(scan, lines):  # the samples of the lines alone
    ...     kept = np.zeros_like(scan.kspace)
    ...     kept[lines] = scan.kspace[lines]
    ...     return np.abs(np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(kept), norm="ortho")))
    >>> def draws(exponent):
    ...     return [variable_density(16, 8, 4, exponent=exponent, random_state=seed) for seed in range(2)]
    >>> best, errors = best_parameter([2.0, 4.0], draws, scan, reconstruct)
    >>> sorted(errors), errors[best] == min(errors.values())
    ([2.0, 4.0], True)
    """
    errors = {
        value: float(np.mean([l2_error(scan.image, reconstruct(scan, np.asarray(lines))) for lines in designs(value)]))
        for value in values
    }
    if not errors:
        raise ValueError("values must hold at least one parameter to try, got none.")
    return min(errors, key=errors.__getitem__), errors
