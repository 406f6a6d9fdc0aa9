"""Is this k-space what the model takes it for? Centred, orthonormal, of an image of magnitudes up to one.

What goes wrong in practice, and what shows it (no image needed):

    DC in the corner (a forgotten fftshift)      the energy sits elsewhere than around index n // 2
    not orthonormal (norm="backward")            the zero-filled image is sqrt(n) too bright: Parseval is off by n
    image halves swapped                         the middle of the zero-filled image is empty
    rows and columns swapped                     the samples have the other side's length

With the image at hand (simulations, calibration) also flips, transposition and small errors of scale are named. A
problem is only reported on positive evidence: white noise, or a texture without any DC, passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import complex_numbers, finite, positive
from adaptive.operators import FourierLines, FourierMask, Operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["check_coils", "check_kspace", "gridded", "kspace_problem"]

_BRIGHTER = 4.0  # energy per sample elsewhere over that around DC; a head has far below 0.01, white noise 1
_BRIGHTEST = 10.0  # zero-filled image over the largest magnitude expected
_DARKEST = 0.05
_FLAT = (
    8.0  # energy per sample around DC over that elsewhere; 60 and more for heads and photographs, 6 for shifted ones
)
_EMPTY = 0.1  # share of energy in the central half of an axis; 0.5 for a flat image, 0.34 at least in photographs


def gridded(blocks: Sequence[Any], samples: Sequence[Any], n_coils: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Put the samples of line or mask blocks onto the Cartesian grid.

    Parameters
    ----------
    blocks : sequence of operators
        Each with ``.mask`` (boolean, shape of the image), as the candidates of ``designs.kspace.lines`` have.
    samples : sequence of arrays
        One per block, of its ``output_shape``; of several coils (coils, *output_shape).
    n_coils : int, optional
        How many there are; None: samples have no axis of coils.

    Returns
    -------
    kspace : ndarray of the image's shape, complex
        In the precision of the samples; zero where nothing was measured; with coils their axis first.
    measured : ndarray of bool, of the image's shape

    Raises
    ------
    ValueError
        If samples are of the wrong length (rows and columns swapped) or not finite, a position is measured twice, or DC
        is not measured at all.

    Examples
    --------
    >>> from designs.kspace import lines
    >>> pool = lines((8, 6), 0).take([4, 3])
    >>> kspace, measured = gridded(pool, [np.ones((1, 6)), np.full((1, 6), 2.0)])
    >>> kspace[3:5, 0], int(measured.sum())
    (array([2.+0.j, 1.+0.j]), 12)
    """
    if len(blocks) != len(samples) or not len(blocks):
        raise ValueError(f"each block needs its samples: got {len(blocks)} blocks and {len(samples)} samples.")
    shape = tuple(blocks[0].input_shape)
    coils = () if n_coils is None else (n_coils,)
    measured = np.zeros(shape, bool)
    given = [
        complex_numbers(f"the samples of {block!r}", values) for block, values in zip(blocks, samples, strict=True)
    ]
    kspace = np.zeros((*coils, *shape), np.result_type(*given))
    for block, values in zip(blocks, given, strict=True):
        wanted = (*coils, *block.output_shape)
        if values.shape != wanted:
            size = values.size // (n_coils or 1)
            swapped = size in {np.prod(shape) // side for side in shape} and size != block.shape[0]
            hint = (
                "; rows and columns of k-space seem to be swapped (transpose, or use the other axis)" if swapped else ""
            )
            raise ValueError(f"the samples of {block!r} must have shape {wanted}, got {values.shape}{hint}.")
        mask = block.mask
        if (measured & mask).any():
            raise ValueError(f"{block!r} is measured twice; average repeated samples before.")
        measured |= mask
        _place(kspace, block, mask, values)
    centre = tuple(side // 2 for side in shape)
    if not measured[centre]:
        raise ValueError(
            f"no central lines: the sample at DC, index {centre}, is not among the measured ones, and without it an "
            "image has no scale."
        )
    return kspace, measured


def _place(kspace: np.ndarray, block: Operator, mask: np.ndarray, values: np.ndarray) -> None:
    """Write the samples of one block where they belong."""
    if isinstance(block, FourierLines):
        lines = np.moveaxis(kspace, block.axis - mask.ndim, 0)
        lines[block.lines] = values if kspace.ndim == mask.ndim else np.moveaxis(values, 1, 0)
    elif isinstance(block, FourierMask):
        kspace[..., mask] = values
    else:  # in whatever order: its adjoint knows
        forward = FourierLines(mask.shape, range(len(mask))).forward
        kspace[..., mask] = forward(block.adjoint(values))[..., mask]


def check_kspace(kspace: ArrayLike, measured: ArrayLike | None = None, **keywords: Any) -> None:
    """Raise ``ValueError`` with the sentence of ``kspace_problem``, if there is one; the arguments are the same.

    Parameters
    ----------
    kspace, measured, **keywords
        As of `kspace_problem`.

    Raises
    ------
    ValueError
        If k-space does not fit what it is to be reconstructed with.

    Examples
    --------
    >>> check_kspace(np.fft.fft2(np.pad(np.ones((8, 8)), 4), norm="ortho"))
    Traceback (most recent call last):
    ValueError: kspace is not centred along axes 0 and 1: its largest samples are at index (0, 0) instead of (8, 8);
    apply np.fft.fftshift.
    """
    problem = kspace_problem(kspace, measured, **keywords)
    if problem:
        raise ValueError(problem)


def check_coils(kspace: np.ndarray, measured: np.ndarray, largest: float = 1.0) -> None:
    """Raise ``ValueError`` where k-space of several coils, or of a volume, is not centred or not of the expected scale.

    Parameters
    ----------
    kspace : array (coils, *shape) or (*shape), complex
        Samples on the Cartesian grid, zero where nothing was measured.
    measured : array (*shape) of bool
    largest : float, default 1
        Largest magnitude that the images of all coils, as a root of the sum of squares, are supposed to have.

    Raises
    ------
    ValueError
        If k-space is zero wherever it was measured, or the maps do not fit it.

    Examples
    --------
    >>> kspace = np.zeros((2, 16, 16, 16), complex)
    >>> kspace[:, 0, 8, 8] = 64.0
    >>> check_coils(kspace, np.ones((16, 16, 16), bool))
    Traceback (most recent call last):
    ValueError: kspace is not centred along axis 0: its largest samples are at index (0, 8, 8) instead of (8, 8, 8);
    apply np.fft.fftshift along axis 0.
    """
    taken, each = np.asarray(measured, bool), kspace.reshape(-1, *np.shape(measured))
    if not np.any(kspace):
        raise ValueError("kspace is zero wherever it was measured.")
    problem = _off_centre(np.sqrt(np.sum(np.abs(each) ** 2, axis=0)), taken)
    if problem is None and taken[tuple(side // 2 for side in taken.shape)]:
        images = FourierLines(taken.shape, range(len(taken))).adjoint(each)
        problem = _bad_scale(np.sqrt(np.sum(np.abs(images) ** 2, axis=0)), largest)
    if problem:
        raise ValueError(problem)


def kspace_problem(
    kspace: ArrayLike,
    measured: ArrayLike | None = None,
    *,
    image: ArrayLike | None = None,
    largest: float = 1.0,
    natural: bool = False,
) -> str | None:
    """Say what is wrong with the orientation or scaling of k-space, or None.

    Parameters
    ----------
    kspace : array (h, w), complex
        Samples on the Cartesian grid, zero where nothing was measured.
    measured : array (h, w) of bool, optional
        Where something was; default: where ``kspace`` is not zero.
    image : array (h, w), optional
        The image that was measured, if it is known.
    largest : float, default 1
        Largest magnitude that the image is supposed to have.
    natural : bool, default False
        The image is known to be a head, a photograph or the like, and no white noise: then a k-space without any centre
        is a problem too. That is what a forgotten shift looks like when only central lines were measured.

    Returns
    -------
    str or None
        One sentence: what is wrong, what shows it, what to do.

    Examples
    --------
    >>> y, x = np.mgrid[-1:1:32j, -1:1:32j]
    >>> disc = (x**2 + y**2 < 0.4).astype(float)
    >>> print(kspace_problem(np.fft.fft2(disc)))
    kspace is not centred along axes 0 and 1: its largest samples are at index (0, 0) instead of (16, 16); apply
    np.fft.fftshift.
    >>> print(kspace_problem(np.fft.fftshift(np.fft.fft2(np.fft.ifftshift(disc)))))
    kspace is not scaled as expected: the zero-filled image reaches 32 instead of about 1, as after an FFT that is not
    orthonormal; use norm="ortho", or divide by 32.
    """
    kspace = finite("kspace", kspace, dtype=complex)
    largest = float(positive("largest", largest))
    if kspace.ndim != 2:
        return f"kspace must be two-dimensional, got shape {kspace.shape}."
    taken = kspace != 0 if measured is None else np.asarray(measured, bool)
    if taken.shape != kspace.shape:
        return f"measured must have the shape of kspace, {kspace.shape}, got {taken.shape}."
    if not np.any(kspace[taken]):
        return "kspace is zero wherever it was measured."
    if image is not None and np.shape(image) != kspace.shape:
        turned = " (transpose one of them)" if np.shape(image) == kspace.shape[::-1] else ""
        return f"kspace of shape {kspace.shape} cannot belong to an image of shape {np.shape(image)}{turned}."
    problem = _off_centre(kspace, taken) or (_without_centre(kspace, taken) if natural else None)
    if problem is None and image is not None:
        return _unlike(kspace * taken, taken, finite("image", image, dtype=complex))
    return problem or _off_scale(kspace * taken, taken, largest)


def _off_centre(kspace: np.ndarray, taken: np.ndarray) -> str | None:
    """Look for energy per sample that is larger somewhere else than around DC, along each axis."""
    energy = np.where(taken, np.abs(kspace) ** 2, 0.0)
    middle = tuple(side // 2 for side in kspace.shape)
    peak, wrong = list(middle), []
    for axis, side in enumerate(kspace.shape):
        others = tuple(other for other in range(kspace.ndim) if other != axis)
        total, count = energy.sum(axis=others), taken.sum(axis=others)
        reach = max(1, side // 16)
        # Means over windows that wrap around: the neighbours of index 0 are on both ends.
        window = np.arange(-reach, reach + 1)
        sums, counts = (np.array([a[(k + window) % side].sum() for k in range(side)]) for a in (total, count))
        density = np.where(counts > 0, sums / np.maximum(counts, 1), 0.0)
        best = int(np.argmax(density))
        if (
            abs(best - middle[axis]) > 2 * reach
            and counts[middle[axis]]
            and density[best] > _BRIGHTER * density[middle[axis]]
        ):
            near = (best + window) % side
            peak[axis] = int(near[np.argmax(total[near])])
            wrong.append(axis)
    if not wrong:
        return None
    axes = f"axis {wrong[0]}" if len(wrong) == 1 else f"axes {' and '.join(map(str, wrong))}"
    corner = all(min(peak[axis], kspace.shape[axis] - peak[axis]) <= 2 for axis in wrong)
    cure = "apply np.fft.fftshift" + (f" along {axes}" if len(wrong) == 1 else "") if corner else "move DC there"
    found = f"its largest samples are at index {tuple(peak)} instead of {middle}"
    return f"kspace is not centred along {axes}: {found}; {cure}."


def _without_centre(kspace: np.ndarray, taken: np.ndarray) -> str | None:
    near = np.zeros(kspace.shape, bool)
    near[tuple(slice(side // 2 - max(1, side // 16), side // 2 + max(1, side // 16) + 1) for side in kspace.shape)] = (
        True
    )
    energy = np.abs(kspace) ** 2
    inside, outside = taken & near, taken & ~near
    if not inside.any() or not outside.any():
        return None
    contrast = energy[inside].mean() / max(energy[outside].mean(), 1e-300)
    if contrast >= _FLAT:
        return None
    return (
        f"kspace has no centre: per sample, the energy around DC is {contrast:.2g} times that of the other measured "
        "samples, and for an image it is 50 times or more; is it shifted (np.fft.fftshift), or are the lines not the "
        "ones they are said to be?"
    )


def _off_scale(kspace: np.ndarray, taken: np.ndarray, largest: float) -> str | None:
    if not taken[tuple(side // 2 for side in kspace.shape)]:
        return None  # without DC an image has no scale
    magnitude = np.abs(FourierLines(kspace.shape, range(len(kspace))).adjoint(kspace))
    return _bad_scale(magnitude, largest)


def _bad_scale(magnitude: np.ndarray, largest: float) -> str | None:
    """Judge the magnitudes of a zero-filled image: how large they are, and whether any are in the middle."""
    reached = float(magnitude.max()) / largest
    if not _DARKEST <= reached <= _BRIGHTEST:
        return (
            f"kspace is not scaled as expected: the zero-filled image reaches {reached * largest:.3g} instead of about "
            f"{largest:g}{_factor(reached, magnitude.size, f'divide by {reached:.3g}')}."
        )
    for axis, side in enumerate(magnitude.shape):
        along = np.sum(magnitude**2, axis=tuple(other for other in range(magnitude.ndim) if other != axis))
        if along[side // 4 : side - side // 4].sum() < _EMPTY * along.sum():
            return (
                f"kspace belongs to an image whose halves are swapped along axis {axis} (its middle is empty): apply "
                "np.fft.ifftshift to the image before its transform, or flip the sign of every other line of kspace."
            )
    return None


def _unlike(kspace: np.ndarray, taken: np.ndarray, image: np.ndarray) -> str | None:
    """Compare with the samples that the image should have given."""
    transform = FourierLines(kspace.shape, range(len(kspace))).forward
    half = tuple(side // 2 for side in image.shape)
    changes: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "flipped along axis 0": lambda u: u[::-1],
        "flipped along axis 1": lambda u: u[:, ::-1],
        "turned by 180 degrees": lambda u: u[::-1, ::-1],
        "conjugated": np.conj,
        "with halves swapped along axis 0": lambda u: np.roll(u, half[0], 0),
        "with halves swapped along axis 1": lambda u: np.roll(u, half[1], 1),
        "with halves swapped along both axes": lambda u: np.roll(u, half, (0, 1)),
    }
    if image.shape[0] == image.shape[1]:
        changes["transposed"] = np.transpose

    def likeness(u: np.ndarray) -> float:
        expected = transform(u) * taken
        return float(abs(np.sum(kspace.conj() * expected)) / (_norm(kspace) * _norm(expected) + 1e-300))

    own, others = likeness(image), {name: likeness(change(image)) for name, change in changes.items()}
    best = max(others, key=others.__getitem__)
    if others[best] > max(0.7, own + 0.1):
        return f"kspace does not show the image but the image {best} (likeness {others[best]:.2f}, not {own:.2f})."
    ratio = _norm(kspace) / max(_norm(transform(image) * taken), 1e-300)
    if not 0.75 <= ratio <= 1.33:
        cure = _factor(ratio, kspace.size, f"divide by {ratio:.3g}")
        return f"kspace has {ratio:.3g} times the norm that the image gives{cure}."
    return None


def _norm(samples: np.ndarray) -> float:
    return float(np.sqrt(np.sum(np.abs(samples) ** 2)))


def _factor(ratio: float, n: int, otherwise: str) -> str:
    root = np.sqrt(n)
    if 0.2 < ratio / root < 5:
        return f', as after an FFT that is not orthonormal; use norm="ortho", or divide by {root:.3g}'
    if 0.2 < ratio * root < 5:
        return f', as after an FFT with norm="forward"; use norm="ortho", or multiply by {root:.3g}'
    return f"; {otherwise}"
