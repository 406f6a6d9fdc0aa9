"""Fourier samples: the explicit sum, the centre, one-axis and half-spectrum short cuts, mirrored lines."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.operators import FourierLines, FourierMask


def explicit(length):
    position = np.arange(length) - length // 2
    return np.exp(-2j * np.pi * np.outer(position, position) / length) / np.sqrt(length)


def matrix(shape):
    result = np.ones((1, 1))
    for length in shape:
        result = np.kron(result, explicit(length))
    return result


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_samples_are_the_explicit_centred_sum(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    lines = rng.permutation(shape[axis])[: rng.integers(1, shape[axis] + 1)]
    F = FourierLines(shape, lines, axis)
    rows = np.moveaxis(np.arange(np.prod(shape)).reshape(shape), axis, 0)[lines]
    np.testing.assert_allclose(F.to_dense(), matrix(shape)[rows.ravel()], atol=1e-13)
    assert F.mask.sum() == F.shape[0]

    M = FourierMask(shape, F.mask)
    u = rng.standard_normal(shape)
    np.testing.assert_allclose(M.normal(u), F.normal(u), atol=1e-13)
    np.testing.assert_allclose(M.to_dense(), matrix(shape)[np.flatnonzero(F.mask)], atol=1e-13)
    for weights in (rng.random((len(lines), *[1] * (len(shape) - 1))), rng.random(F.output_shape)):
        wanted = F.adjoint(weights * F.forward(u)).real
        np.testing.assert_allclose(F.normal(u, weights), wanted, atol=1e-13)


def test_the_centre_of_both_domains():
    F = FourierLines((8, 8), range(8))
    centre = np.zeros((8, 8))
    centre[4, 4] = 1.0
    np.testing.assert_allclose(F.forward(centre), 1 / 8, atol=1e-15)  # a point in the middle has no phase
    constant = F.forward(np.ones((8, 8)))
    assert np.unravel_index(np.abs(constant).argmax(), (8, 8)) == (4, 4)


def test_all_lines_are_a_unitary_transform():
    F = FourierLines((6, 5), range(6))
    np.testing.assert_allclose(F.to_dense() @ F.to_dense().conj().T, np.eye(30), atol=1e-14)


def test_a_line_and_its_mirror_tell_the_same_about_a_real_image():
    rng = np.random.default_rng(0)
    u = rng.standard_normal((8, 6))
    one, mirror = FourierLines((8, 6), [2]), FourierLines((8, 6), [6])  # frequencies -2 and +2
    np.testing.assert_allclose(one.normal(u), mirror.normal(u), atol=1e-14)
    complex_image = u + 1j * rng.standard_normal((8, 6))
    assert np.abs(one.normal(complex_image) - mirror.normal(complex_image)).max() > 0.1


def test_lines_come_in_the_order_given():
    u = np.random.default_rng(0).standard_normal((8, 6))
    forwards, backwards = FourierLines((8, 6), [1, 5]).forward(u), FourierLines((8, 6), [5, 1]).forward(u)
    np.testing.assert_array_equal(forwards, backwards[::-1])
