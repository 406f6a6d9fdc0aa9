"""Wavelets: PyWavelets' coefficients and its phase convention; the adjoint is the inverse; sizes and their depth."""

import warnings

import numpy as np
import pytest
import pywt
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.operators import Wavelet


def reference(u, name, level):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # filters longer than the image, which are what is to be tested
        return pywt.coeffs_to_array(pywt.wavedecn(u, name, mode="periodization", level=level))[0]


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_coefficients_are_those_of_pywavelets(data):
    name = data.draw(st.sampled_from(["haar", "db2", "db3", "db4", "db9", "sym4", "sym5", "coif1", "coif2"]))
    level = data.draw(st.integers(1, 3))
    shape = tuple(2**level * k for k in data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    u = np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal(shape)
    W = Wavelet(shape, name, level)
    coefficients = W.forward(u)
    np.testing.assert_allclose(coefficients, reference(u, name, level), atol=1e-12)
    np.testing.assert_allclose(W.adjoint(coefficients), u, atol=1e-9)  # tabulated filters: sym4 has 12 digits
    np.testing.assert_allclose(W.forward(W.adjoint(u)), u, atol=1e-9)
    weights = np.abs(u) + 0.1
    np.testing.assert_allclose(W.normal(u, weights), W.adjoint(weights * coefficients), atol=1e-12)


@pytest.mark.parametrize("name", ["haar", "db2", "db4", "coif3"])
def test_the_transform_is_orthonormal(name):
    matrix = Wavelet((16, 8), name, 2).to_dense()
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(128), atol=1e-10)


@pytest.mark.parametrize("code", "fdFD")
def test_complex_and_single_precision_are_the_parts(code):
    rng = np.random.default_rng(0)
    u = (rng.standard_normal((2, 32, 24)) + (1j * rng.standard_normal((2, 32, 24)) if code in "FD" else 0)).astype(code)
    W = Wavelet((32, 24), "db2", 3)
    coefficients = W.forward(u)
    assert coefficients.dtype == u.dtype
    wanted = [reference(part.real.astype(float), "db2", 3) for part in u]
    np.testing.assert_allclose(coefficients.real, wanted, atol=2e-6 if code in "fF" else 1e-13)


def test_the_default_level_keeps_every_split_axis_as_long_as_the_filter():
    assert Wavelet((64, 64), "db2").level == 5  # 64, 32, 16, 8, 4
    assert Wavelet((96, 128), "db4").level == 4  # 96, 48, 24, 12
    assert Wavelet((64, 6), "haar").level == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((30, 31), "db2"), "got 31 on axis 1"),
        (((12, 12), "db2", 3), "shape must have axes divisible by 2.3"),
        (((8, 2), "db4"), "even axes of at least 8 .* got 2 on axis 1"),
        (((8, 8), "bior2.2"), "orthonormal"),
        (((8, 8), "db99"), "name must be one of"),
        (((8, 8), "db2", 0), "level must be at least 1"),
        (((8, 8), "db2", 1.5), "level must be an integer"),
    ],
)
def test_sizes_without_depth_and_unknown_wavelets_end_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        Wavelet(*arguments)


def test_every_orthonormal_wavelet_of_pywavelets_is_accepted():
    for name in pywt.wavelist(kind="discrete"):
        wavelet = pywt.Wavelet(name)
        if wavelet.orthogonal and name != "dmey":  # dmey is cut off: orthogonal to three digits only
            Wavelet(4, name, 1)
