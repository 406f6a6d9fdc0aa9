"""Circulant matrices: M = F^H diag(symbol) F, the preconditioner that fits images.

The circulant matrix closest to A (in the Frobenius norm) has the symbol diag(F A F^H). For measured frequencies,
periodic convolutions, wavelets and differences that is known in closed form,

    symbol = mask / noise variance + sum over bands of (sum of the band's precisions) |F row|^2,

and with it come M^-1, M^-1/2, ln|M| and the variances diag(B M^-1 B^T) at the price of a transform. Real unknowns need
the real transform only. A real-stacked complex unknown (two parts, first axis) has one Hermitian 2x2 matrix
[[a, i c], [-i c, d]] per frequency: the even part of a spectrum enters a and d, the odd part c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.fft

from adaptive.checks import generator
from adaptive.linalg.linear_system import PrecisionOperator
from adaptive.operators import Operator, RealStacked

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["Circulant", "circulant_preconditioner", "estimated_spectrum"]

CHUNK_BYTES = 2**19
FLOOR = 1e-10  # of a symbol, relative to its largest value: rounding must not make M singular


class Circulant:
    """A positive definite circulant matrix on real images, or on pairs of them.

    Parameters
    ----------
    symbol : array (*shape), or tuple of three such arrays
        Eigenvalues in the order of ``numpy.fft``, even in the frequency; or (a, d, c) for real-stacked complex images
        of shape (2, *shape), c odd.

    References
    ----------
    Chan (1988), An optimal circulant preconditioner for Toeplitz systems.

    Examples
    --------
    >>> M = Circulant(np.array([1.0, 2.0, 4.0, 2.0]))
    >>> M.inverse()(M(np.eye(4))).round(12) + 0.0
    array([[1., 0., 0., 0.],
           [0., 1., 0., 0.],
           [0., 0., 1., 0.],
           [0., 0., 0., 1.]])
    >>> print(round(M.log_determinant() / np.log(2.0), 9))
    4.0
    """

    def __init__(self, symbol: ArrayLike | tuple[ArrayLike, ...]):
        parts = symbol if isinstance(symbol, tuple) else (symbol,)
        shape = np.shape(parts[0])
        half = [np.asarray(part, dtype=float)[..., : shape[-1] // 2 + 1] for part in parts]
        self._set(shape, half)

    def _set(self, shape: tuple[int, ...], half: list[np.ndarray]) -> None:
        self.image_shape = shape
        self.half = half  # over the frequencies of rfftn
        self.stacked = len(half) == 3
        self.input_shape = (2, *shape) if self.stacked else shape
        self._casts: dict[np.dtype, list[np.ndarray]] = {}

    @property
    def n(self) -> int:
        return int(np.prod(self.input_shape))

    @property
    def _multiplicity(self) -> np.ndarray:
        """Number of times that each stored frequency stands in the full transform."""
        last = self.image_shape[-1]
        count = np.full(last // 2 + 1, 2.0)
        count[0] = 1.0
        if last % 2 == 0:
            count[-1] = 1.0
        return count

    def eigenvalues(self) -> tuple[np.ndarray, ...]:
        """One array per eigenvalue of each stored frequency's block."""
        if not self.stacked:
            return (self.half[0],)
        a, d, c = self.half
        middle, radius = (a + d) / 2, np.hypot((a - d) / 2, c)
        large = middle + radius
        return large, np.where(large > 0, (a * d - c * c) / np.where(large > 0, large, 1.0), middle - radius)

    def function(self, f: Callable[[np.ndarray], np.ndarray]) -> Circulant:
        """f(M), by the eigenvalues of every block."""
        values = [f(v) for v in self.eigenvalues()]
        if self.stacked:
            a, d, c = self.half
            delta = (a - d) / 2
            radius = np.hypot(delta, c)
            slope = np.divide(values[0] - values[1], 2 * radius, out=np.zeros_like(radius), where=radius > 0)
            middle = (values[0] + values[1]) / 2
            values = [middle + slope * delta, middle - slope * delta, slope * c]
        other = object.__new__(Circulant)
        other._set(self.image_shape, values)
        return other

    def inverse(self) -> Circulant:
        return self.function(lambda v: 1 / v)

    def inverse_root(self) -> Circulant:
        """M^-1/2, symmetric."""
        return self.function(lambda v: 1 / np.sqrt(v))

    def log_determinant(self) -> float:
        return float(sum((np.log(v) * self._multiplicity).sum() for v in self.eigenvalues()))

    def quadratic_form(self, power: np.ndarray, part: int = 0) -> float:
        """b^T M b for a real row b with |F b|^2 = ``power`` (full order); ``part`` 1: b acts on the imaginary part."""
        half = power[..., : self.image_shape[-1] // 2 + 1]
        return float((half * self.half[part] * self._multiplicity).sum())

    def spectrum(self) -> np.ndarray:
        """diag(F M F^H), F the centred orthonormal transform: E |F u|^2 if M is the covariance of u.

        For pairs, F transforms the complex images that they stand for.
        """
        frequencies = np.zeros(self.image_shape)
        half = self.half[0].shape[-1]
        parts = []
        for part, sign in zip(self.half, (1, 1, -1), strict=False):  # c is odd
            frequencies[..., :half] = part
            mirrored = sign * _mirrored(frequencies)
            frequencies[..., half:] = mirrored[..., half:]
            parts.append(frequencies.copy())
        whole = parts[0] if not self.stacked else parts[0] + parts[1] + 2 * parts[2]
        return scipy.fft.fftshift(whole)

    def __call__(self, u: np.ndarray) -> np.ndarray:
        """M u for ``u`` of shape (b, *input_shape), in the precision of ``u``."""
        from adaptive.linalg import compiled

        u = np.asarray(u)
        u = u if u.dtype.char in "fd" else u.astype(float)
        if u.dtype not in self._casts:
            self._casts[u.dtype] = [np.ascontiguousarray(part, u.dtype).reshape(-1) for part in self.half]
        symbol = self._casts[u.dtype]
        result = np.empty_like(u)
        axes = tuple(range(-len(self.image_shape), 0))
        step = max(1, CHUNK_BYTES // max(1, u[:1].nbytes))  # few enough images to stay in the cache
        for first in range(0, len(u), step):
            part = slice(first, first + step)
            frequencies = scipy.fft.rfftn(u[part], axes=axes)
            if self.stacked:
                compiled.multiply_pairs(frequencies.reshape(len(frequencies), 2, -1), *symbol)
            else:
                compiled.multiply(frequencies.reshape(len(frequencies), -1), *symbol)
            result[part] = scipy.fft.irfftn(frequencies, s=self.image_shape, axes=axes, overwrite_x=True)
        return result


def circulant_preconditioner(
    system: PrecisionOperator, *, n_probes: int = 0, random_state: RandomState = 0
) -> Circulant | None:
    """The circulant matrix closest to a precision.

    Parameters
    ----------
    system : PrecisionOperator
        Its operators say their spectrum by `Operator.normal_spectrum`.
    n_probes : int, default 0
        Products spent on estimating the spectrum of every operator that does not know its own; 0: give up there.
    random_state : int, default 0
        Seed of those probes.

    Returns
    -------
    Circulant or None
        None if an operator has no known spectrum; use its ``inverse()`` as the preconditioner.

    References
    ----------
    Chan (1988), An optimal circulant preconditioner for Toeplitz systems.

    Examples
    --------
    >>> from adaptive.operators import Identity
    >>> M = circulant_preconditioner(PrecisionOperator(Identity((4, 4)), 0.5, prior_precision=1.0))
    >>> M.inverse()(3 * np.ones((1, 4, 4))).round(9)[0, 0]
    array([1., 1., 1., 1.])
    """
    probes = {"n_probes": n_probes, "random_state": random_state}
    stacked = any(_is_pair(operator) for operator in (system.X, *system.groups))
    blocks = [np.zeros(system.input_shape[1:] if stacked else system.input_shape) for _ in range(3 if stacked else 1)]

    def add(operator: Operator, weights: np.ndarray | None, factor: float) -> bool:
        symbol = (_pair_symbol if stacked else _symbol)(operator, weights, probes)
        if symbol is None:
            return False
        for block, part in zip(blocks, symbol, strict=True):
            block += factor * part
        return True

    known = system.X is None or add(system.X, None, 1 / system.noise_variance)
    for group, rows in zip(system.groups, system.slices, strict=True):
        known = known and add(group, system.site_precision[rows].reshape(group.output_shape), 1.0)
    if not known:
        return None
    if system.prior_precision is not None:
        prior = system.prior_precision
        if prior.shape == (system.n, system.n) != system.input_shape:
            prior = np.diag(prior).reshape(system.input_shape)
        prior = np.broadcast_to(prior, system.input_shape)
        for part in range(2 if stacked else 1):
            blocks[part] += prior[part].mean() if stacked else prior.mean()
    M = Circulant(tuple(blocks))
    largest = max(float(v.max()) for v in M.eigenvalues())
    return M.function(lambda v: np.maximum(v, FLOOR * largest))


def estimated_spectrum(
    operator: Operator, weights: ArrayLike | None = None, *, n_probes: int = 8, random_state: RandomState = 0
) -> np.ndarray:
    """diag(F A^H diag(weights) A F^H) from products with images of flat random spectrum; exact for circulant matrices.

    Parameters
    ----------
    operator : Operator
        The map A.
    weights : array, optional
        Weights on its outputs.
    n_probes : int, default 8
        Products spent.
    random_state : int, default 0
        Seed of the probes.

    Returns
    -------
    array (*input_shape)
        Estimated eigenvalues, in the order of ``numpy.fft``.
    """
    noise = generator(random_state).standard_normal((n_probes, *operator.input_shape))
    axes = tuple(range(1, noise.ndim))
    before = scipy.fft.fftn(noise, axes=axes, norm="ortho")
    before /= np.abs(before)
    images = scipy.fft.ifftn(before, axes=axes, norm="ortho")
    if operator.dtype.kind != "c":  # complex columns keep the odd part of the spectrum of a complex operator
        images = images.real
    after = scipy.fft.fftn(operator.normal(images, weights), axes=axes, norm="ortho")
    return np.maximum(np.mean(before.conj() * after, axis=0).real, 0.0)


def _symbol(operator: Operator, weights: np.ndarray | None, probes: dict[str, Any]) -> tuple[np.ndarray, ...] | None:
    """The even part of the spectrum: what a real unknown sees."""
    spectrum = _spectrum(operator, weights, probes)
    return None if spectrum is None else _parity(spectrum)[:1]


def _pair_symbol(
    operator: Operator, weights: np.ndarray | None, probes: dict[str, Any]
) -> tuple[np.ndarray, ...] | None:
    """(a, d, c) of an operator on real-stacked images."""
    if not isinstance(operator, RealStacked):
        return None
    inner = operator.operator
    if inner.dtype.kind == "c":  # mixes the parts; its rows Re and Im are weighted alike, on average
        spectrum = _spectrum(inner, None if weights is None else np.mean(weights, axis=0), probes)
        if spectrum is None:
            return None
        even, odd = _parity(spectrum)
        return even, even, odd
    spectra = [_spectrum(inner, part, probes) for part in ((None, None) if weights is None else weights)]
    if spectra[0] is None or spectra[1] is None:
        return None
    return _parity(spectra[0])[0], _parity(spectra[1])[0], np.zeros_like(spectra[0])


def _spectrum(operator: Operator, weights: np.ndarray | None, probes: dict[str, Any]) -> np.ndarray | None:
    spectrum = operator.normal_spectrum(weights)
    return estimated_spectrum(operator, weights, **probes) if spectrum is None and probes["n_probes"] else spectrum


def _is_pair(operator: Operator | None) -> bool:
    return isinstance(operator, RealStacked) and operator.unknown == "complex"


def _parity(spectrum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Even and odd part under k -> -k."""
    mirrored = _mirrored(spectrum)
    return (spectrum + mirrored) / 2, (spectrum - mirrored) / 2


def _mirrored(spectrum: np.ndarray) -> np.ndarray:
    return np.roll(np.flip(spectrum), 1, range(spectrum.ndim))
