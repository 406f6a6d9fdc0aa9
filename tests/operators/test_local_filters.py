"""Differences against NumPy, convolutions against SciPy, and the stack that is the hot loop of image priors."""

import numpy as np
import scipy.ndimage
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.operators import Convolution, FiniteDifference, FourierMask, Product, Scaled, Stacked, Wavelet

SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)


@settings(max_examples=50, deadline=None)
@given(shape=SHAPES.filter(lambda shape: max(shape) > 1), seed=st.integers(0, 99), code=st.sampled_from("fdFD"))
def test_differences_are_those_of_numpy(shape, seed, code):
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((2, *shape)).astype(code)
    if code in "FD":
        u += 1j * rng.standard_normal((2, *shape))
    D = FiniteDifference(shape)
    wanted = [np.diff(u, axis=axis + 1).reshape(2, -1) for axis in range(len(shape))]
    result = D.forward(u)
    np.testing.assert_array_equal(result, np.concatenate(wanted, 1))
    for axis, rows in enumerate(D.axis_slices):
        np.testing.assert_array_equal(result[:, rows], wanted[axis])


@settings(max_examples=50, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 99), complex_kernel=st.booleans())
def test_convolutions_are_those_of_scipy(shape, seed, complex_kernel):
    rng = np.random.default_rng(seed)
    kernel = rng.standard_normal([rng.integers(1, length + 1) for length in shape])
    if complex_kernel:
        kernel = kernel + 1j * rng.standard_normal(kernel.shape)
    u = rng.standard_normal(shape)
    wanted = scipy.ndimage.convolve(u, kernel, mode="wrap")
    np.testing.assert_allclose(Convolution(shape, kernel).forward(u), wanted, atol=1e-12)


def test_convolution_and_fourier_masks_commute():
    rng = np.random.default_rng(0)
    u, mask = rng.standard_normal((6, 8)), rng.random((6, 8)) < 0.5
    K, F = Convolution((6, 8), rng.standard_normal((3, 3))), FourierMask((6, 8), mask)
    once = Product(F, K).forward(u)
    response = FourierMask((6, 8), mask).forward(K.forward(np.eye(48)[3 * 8 + 4].reshape(6, 8))) * np.sqrt(48)
    np.testing.assert_allclose(once, response * F.forward(u), atol=1e-13)


def test_the_hot_loop_adds_up_its_parts():
    rng = np.random.default_rng(0)
    W, D = Wavelet((32, 32), "db2", 3), FiniteDifference((32, 32))
    B = Stacked([Scaled(3.0, W), D])
    for u in (rng.standard_normal((4, 32, 32)), rng.standard_normal((4, 32, 32)).astype("f")):
        weights = rng.random(B.output_shape).astype(u.dtype)
        wanted = B.adjoint(weights * B.forward(u))
        assert B.normal(u, weights).dtype == u.dtype
        np.testing.assert_allclose(B.normal(u, weights), wanted, atol=1e-4 if u.dtype == "f" else 1e-12)
