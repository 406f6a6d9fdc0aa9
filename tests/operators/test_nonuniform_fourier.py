"""Fourier samples anywhere: the explicit sum, the Cartesian grid, plans, precision, the Toeplitz normal operator."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.linalg import PrecisionOperator, least_squares
from adaptive.linalg.circulant import circulant_preconditioner
from adaptive.linalg.conjugate_gradients import conjugate_gradients
from adaptive.operators import (
    Diagonal,
    FiniteDifference,
    FourierMask,
    NonuniformFourier,
    Product,
    Toeplitz,
    adjoint_error,
)


def explicit(shape, samples):
    positions = np.stack(np.meshgrid(*[np.arange(n) - n // 2 for n in shape], indexing="ij"), -1)
    return np.exp(-1j * samples @ positions.reshape(-1, len(shape)).T) / np.sqrt(np.prod(shape))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_samples_are_the_explicit_centred_sum(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    samples = rng.uniform(-np.pi, np.pi, (rng.integers(1, 12), len(shape)))
    samples[0] = -np.pi
    F, matrix = NonuniformFourier(shape, samples), explicit(shape, samples)
    u = rng.standard_normal((2, *shape)) + 1j * rng.standard_normal((2, *shape))
    flat, size = u.reshape(2, -1), np.linalg.norm(u)
    assert np.abs(F.forward(u) - flat @ matrix.T).max() < 1e-6 * size
    assert np.abs(F.forward(u.astype(np.complex64)) - flat @ matrix.T).max() < 1e-4 * size
    v = F.forward(u)
    assert np.abs(F.adjoint(v).reshape(2, -1) - v @ matrix.conj()).max() < 1e-6 * np.linalg.norm(v)
    gram = matrix.conj().T @ matrix
    np.testing.assert_allclose(F.normal(u).reshape(2, -1), flat @ gram.T, atol=1e-10)
    np.testing.assert_allclose(F.normal(u.real).reshape(2, -1), flat.real @ gram.real.T, atol=1e-10)


@pytest.mark.parametrize("code", "fdFD")
def test_the_adjoint_is_exact_whatever_the_accuracy(code):
    samples = np.random.default_rng(0).uniform(-np.pi, np.pi, (300, 2))
    for accuracy in (1e-3, 1e-8):
        F = NonuniformFourier((16, 20), samples, accuracy=accuracy)
        assert adjoint_error(F, 1, code) < (1e-7 if code in "fF" else 1e-15)


@pytest.mark.parametrize("shape", [(7,), (6, 5), (4, 3, 2)])
def test_samples_on_the_grid_are_those_of_a_mask(shape):
    mask = np.random.default_rng(1).random(shape) < 0.5
    samples = np.stack([2 * np.pi * (k - n // 2) / n for k, n in zip(np.nonzero(mask), shape, strict=True)], 1)
    F, M = NonuniformFourier(shape, samples, accuracy=1e-14), FourierMask(shape, mask)
    np.testing.assert_allclose(F.to_dense(), M.to_dense(), atol=1e-13)
    u = np.random.default_rng(2).standard_normal(shape)
    np.testing.assert_allclose(F.normal(u), M.normal(u), atol=1e-13)
    weights = np.random.default_rng(3).random(M.output_shape)
    np.testing.assert_allclose(F.normal_spectrum(weights), M.normal_spectrum(weights), atol=1e-12)
    turned = Diagonal(np.exp(1j * u))
    np.testing.assert_allclose(
        Product(F, turned).normal_spectrum(weights), Product(M, turned).normal_spectrum(weights), atol=1e-12
    )


def test_least_squares_off_the_grid_is_the_pseudo_inverse():
    samples = np.random.default_rng(0).uniform(-np.pi, np.pi, (20, 2))
    F = NonuniformFourier((6, 5), samples, accuracy=1e-13)
    y = np.random.default_rng(1).standard_normal(20) + 1j * np.random.default_rng(2).standard_normal(20)
    matrix = explicit((6, 5), samples)
    np.testing.assert_allclose(least_squares(F, y, tol=1e-12).ravel(), np.linalg.pinv(matrix) @ y, atol=1e-7)
    real = np.concatenate([matrix.real, matrix.imag])  # more rows than a real image has pixels
    wanted = np.linalg.pinv(real) @ np.concatenate([y.real, y.imag])
    np.testing.assert_allclose(least_squares(F, y, tol=1e-12, real=True).ravel(), wanted, atol=1e-6)


def test_plans_and_kernels_are_kept_and_reused():
    F = NonuniformFourier((8, 8), np.random.default_rng(0).uniform(-3, 3, (20, 2)))
    made, new_plan = [], F._new_plan
    F._new_plan = lambda *given, **options: made.append(given) or new_plan(*given, **options)
    weights = np.linspace(0, 1, 20)
    for _ in range(3):
        F.forward(np.ones((5, 8, 8)))
        F.adjoint(np.ones((5, 20), complex))
        F.normal(np.ones((3, 8, 8)))
        F.normal(np.ones((4, 8, 8), np.complex64))
        F.normal(np.ones((8, 8)), weights)
    assert len(made) == 4  # forward, adjoint, two kernels
    for batch in range(1, 30):
        F.forward(np.ones((batch, 8, 8)))
    assert len(F._plans) <= 4
    other = F.normal(np.ones((8, 8)), 2 * weights)
    np.testing.assert_allclose(other, 2 * F.normal(np.ones((8, 8)), weights), atol=1e-12)


def test_a_copy_works_and_threads_do_not_disturb_each_other():
    from concurrent.futures import ThreadPoolExecutor

    F = NonuniformFourier((32, 32), np.random.default_rng(0).uniform(-3, 3, (500, 2)))
    u = np.random.default_rng(1).standard_normal((8, 32, 32))
    wanted = [F.forward(image) for image in u]
    with ThreadPoolExecutor(4) as pool:
        for value, right in zip(pool.map(F.forward, u), wanted, strict=True):
            np.testing.assert_array_equal(value, right)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(F)).forward(u[0]), wanted[0])


def test_samples_cannot_be_changed_behind_its_back():
    mine = np.zeros((3, 2))
    F = NonuniformFourier((4, 4), mine)
    mine[:] = 1.0
    assert not F.samples.any()
    with pytest.raises(ValueError, match="read-only"):
        F.samples[0] = 1.0


def test_single_precision_trajectories_may_start_at_minus_pi():
    samples = np.full((1, 1), -np.pi, np.float32)  # a little below -pi
    assert NonuniformFourier(4, samples).samples[0, 0] < -np.pi


def test_without_finufft_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "finufft", None)
    with pytest.raises(ImportError, match=r"needs finufft: pip install 'adaptive-designs\[mri\]'"):
        NonuniformFourier(4, [0.0])


def test_a_toeplitz_matrix_is_that_of_its_kernel():
    rng = np.random.default_rng(0)
    kernel = np.fft.ifft(rng.standard_normal(10))  # Hermitian
    matrix = Toeplitz(kernel).to_dense()
    for row in range(5):
        for column in range(5):
            assert abs(matrix[row, column] - kernel[row - column]) < 1e-15
    assert not np.array_equal(kernel[5], 0)  # what stands at lag -N has no say
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix), np.linalg.eigvalsh(matrix.conj().T))


def test_large_batches_are_cut_into_chunks(monkeypatch):
    from adaptive.operators import toeplitz

    T = NonuniformFourier((6, 5), np.random.default_rng(0).uniform(-3, 3, (9, 2))).toeplitz()
    u = np.random.default_rng(1).standard_normal((7, 6, 5))
    whole = T.forward(u)
    monkeypatch.setattr(toeplitz, "CHUNK_BYTES", 2**12)
    np.testing.assert_allclose(T.forward(u), whole, rtol=1e-14)


def test_the_circulant_of_the_point_spread_function_preconditions():
    shape = (24, 24)
    angles = np.arange(24) * np.pi / 24
    spokes = np.linspace(-np.pi, np.pi, 48, endpoint=False)
    samples = np.stack([np.outer(np.cos(angles), spokes), np.outer(np.sin(angles), spokes)], -1).reshape(-1, 2)
    F = NonuniformFourier(shape, samples)
    system = PrecisionOperator(F, 1e-2, B=FiniteDifference(shape), site_precision=10.0, prior_precision=1.0)
    b = F.adjoint(F.forward(np.random.default_rng(0).standard_normal(shape))).real[None] / 1e-2
    M = circulant_preconditioner(system)
    plain = conjugate_gradients(system, b, tol=1e-6, max_iter=3000)
    fast = conjugate_gradients(system, b, tol=1e-6, max_iter=3000, preconditioner=M.inverse())
    assert fast.n_iter.max() < 0.75 * plain.n_iter.max()
    np.testing.assert_allclose(fast.x, plain.x, atol=1e-4 * np.abs(plain.x).max())
