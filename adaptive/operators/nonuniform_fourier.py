"""Fourier samples anywhere in k-space: y_j = sum_r u_r exp(-i k_j.r) / sqrt(n), r the index minus shape // 2.

The transform is centred and orthonormal as that of `FourierMask`, with which it agrees for samples on the Cartesian
grid, k = 2 pi (index - N // 2) / N. It is computed by finufft: interpolation on an oversampled grid with a kernel that
has the asked accuracy; forward and adjoint use the same kernel, so that each is the exact adjoint of the other. The
normal operator is a Toeplitz matrix, computed once for given weights.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import finite, positive
from adaptive.operators.base import Operator
from adaptive.operators.shapes import image_shape
from adaptive.operators.toeplitz import Toeplitz

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["NonuniformFourier"]

SINGLE_ACCURACY = 3e-5  # what single precision is asked for: below, rounding rules
FINE = 1e-9  # accuracies below it need the grid oversampled twice; above, 1.25 times is up to five times as fast
KERNEL_ACCURACY = 1e-13  # of point-spread functions: they are computed once and decide every product after
PLANS = 4  # kept, one for each size of batch, direction and precision
ENOUGH = 16  # samples from which on their largest coordinate tells the units


class NonuniformFourier(Operator):
    """Samples of the Fourier transform of an image at any frequencies.

    Parameters
    ----------
    shape : int or tuple of one to three ints
        Shape of an image.
    samples : array (m, d) of float
        Frequencies in radians per pixel, each in [-pi, pi), one column for every axis of the image; (m,) where the
        image has one axis.
    accuracy : float, default 1e-8
        Relative accuracy of transforms in double precision; in single precision 3e-5 if that is larger.

    Attributes
    ----------
    samples : array (m, d)
        The frequencies.

    Raises
    ------
    ImportError
        Without finufft.
    ValueError
        If samples are not finite, of the wrong shape, outside [-pi, pi), or look like other units.

    Notes
    -----
    Every transform runs in one thread: on two cores the barriers between threads took longer than the work did.

    References
    ----------
    Barnett, A., Magland, J., af Klinteberg, L. (2019), A parallel nonuniform fast Fourier transform library based on an
    "exponential of semicircle" kernel.

    Examples
    --------
    >>> F = NonuniformFourier(4, [0.0, np.pi / 4])
    >>> F.forward([1.0, 1.0, 1.0, 1.0]).round(6) + 0.0
    array([2.      +0.j , 1.207107+0.5j])
    >>> F.normal([0.0, 0.0, 1.0, 0.0]).round(6)  # the point-spread function, for a real unknown
    array([0.25    , 0.426777, 0.5     , 0.426777])
    """

    def __init__(self, shape: int | Sequence[int], samples: ArrayLike, *, accuracy: float = 1e-8):
        shape = image_shape("shape", shape)
        if len(shape) > 3:
            raise ValueError(f"shape must have one to three axes, got {shape}.")
        _finufft()
        self.samples = _checked_samples(samples, shape)
        self.accuracy = float(positive("accuracy", accuracy))
        self._reset()
        super().__init__(shape, (len(self.samples),), complex)

    def _reset(self) -> None:
        self._plans: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()  # a plan has one work space
        self._normals: dict[str, tuple[np.ndarray, Toeplitz]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Plans are made again; they cannot be written."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_plans", "_lock", "_normals")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self._transform(2, u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self._transform(1, v)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return self.toeplitz(weights).apply(u)

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray:
        return self.toeplitz(weights).circulant_between(np.ones(self.input_shape))

    def _embedding(self, weights: ArrayLike | None) -> np.ndarray:
        return self.toeplitz(weights).spectrum

    def toeplitz(self, weights: ArrayLike | None = None) -> Toeplitz:
        """The normal operator X^H diag(weights) X, computed once; the last weights are remembered.

        Parameters
        ----------
        weights : real array, optional
            Broadcasts to the samples; default all ones.

        Returns
        -------
        Toeplitz
        """
        which = "plain" if weights is None else "weighted"
        values = np.ones(self.shape[0]) if weights is None else self._weights(weights, float)
        known = self._normals.get(which)
        if known is None or (weights is not None and not np.array_equal(known[0], values)):
            doubled = tuple(2 * length for length in self.input_shape)
            plan = self._new_plan(1, doubled, 1, np.dtype(complex), KERNEL_ACCURACY, modeord=1)
            kernel = plan.execute(values.astype(complex)).reshape(doubled) / self.shape[1]
            known = self._normals[which] = (values.copy(), Toeplitz(kernel))
        return known[1]

    def _transform(self, kind: int, array: np.ndarray) -> np.ndarray:
        array = np.ascontiguousarray(array, np.result_type(array, np.complex64))
        accuracy = max(self.accuracy, SINGLE_ACCURACY) if array.dtype.char == "F" else self.accuracy
        key = (kind, len(array), array.dtype)
        with self._lock:
            plan = self._plans.pop(key, None)
            if plan is None:
                plan = self._new_plan(kind, self.input_shape, len(array), array.dtype, accuracy)
            self._plans[key] = plan
            if len(self._plans) > PLANS:
                self._plans.popitem(last=False)
            result = plan.execute(array if len(array) > 1 else array[0])
        result *= array.real.dtype.type(self.shape[1] ** -0.5)
        return result.reshape(len(array), *(self.output_shape if kind == 2 else self.input_shape))

    def _new_plan(
        self, kind: int, modes: tuple[int, ...], n: int, dtype: np.dtype, accuracy: float, **options: float
    ) -> Any:
        # The same oversampling for both directions: what finufft would choose for each is no pair of adjoints.
        options |= {"nthreads": 1, "upsampfac": 2.0 if accuracy < FINE else 1.25}
        plan = _finufft().Plan(kind, modes, n, accuracy, 1 if kind == 1 else -1, str(dtype), **options)
        plan.setpts(*np.ascontiguousarray(self.samples.T, dtype.type(0).real.dtype))
        return plan


def _finufft() -> Any:
    try:
        import finufft
    except ImportError:
        raise ImportError("NonuniformFourier needs finufft: pip install 'adaptive-designs[mri]'.") from None
    return finufft


def _checked_samples(samples: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    array = finite("samples", samples)
    if array.ndim == 1 and len(shape) == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != len(shape) or not len(array):
        raise ValueError(
            f"samples must have shape (m, {len(shape)}), one column for every axis of an image of shape {shape}, "
            f"got {np.shape(samples)}."
        )
    largest = float(np.abs(array).max())
    outside = (array < -np.pi - 1e-6) | (array >= np.pi)  # single precision rounds -pi to something below
    if outside.any():
        found = array[outside][0]
        if np.pi + 1e-6 < largest <= max(shape) / 2 * 1.01:
            hint = "they look like cycles per field of view (index units); multiply by 2 pi / shape"
        else:
            hint = "take them modulo 2 pi, k and k + 2 pi are the same frequency, if they are radians"
        raise ValueError(f"samples must lie in [-pi, pi), in radians per pixel, got {found:.6g}: {hint}.")
    if len(array) >= ENOUGH and 0.49 <= largest <= 0.5:
        raise ValueError(
            f"samples must be in radians per pixel, from -pi to pi, got {largest:.4g} as the largest: they look like "
            "cycles per pixel; multiply by 2 pi."
        )
    array = array.copy()
    array.flags.writeable = False
    return array
