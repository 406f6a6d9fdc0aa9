import numpy as np
import pytest

from adaptive.linalg import Circulant, PrecisionOperator, circulant_preconditioner
from adaptive.linalg.circulant import estimated_spectrum
from adaptive.operators import Convolution, FiniteDifference, FourierLines, Identity, RealStacked, Wavelet


def dense(M):
    return M(np.eye(M.n).reshape(-1, *M.input_shape)).reshape(M.n, M.n)


def shift_average(A, input_shape, stacked):
    """The closest circulant matrix by definition: the mean of A over all common shifts of rows and columns."""
    image = input_shape[1:] if stacked else input_shape
    blocks = A.reshape(A.shape[0] // np.prod(image), *image, A.shape[0] // np.prod(image), *image)
    total = np.zeros_like(blocks)
    axes = range(1, 1 + len(image))
    for shift in np.ndindex(*image):
        total += np.roll(np.roll(blocks, shift, axes), shift, [axis + 1 + len(image) for axis in axes])
    return total.reshape(A.shape) / np.prod(image)


def test_is_the_closest_circulant_matrix(model):
    M = circulant_preconditioner(model.system)
    expected = shift_average(model.A, model.system.input_shape, M.stacked)
    np.testing.assert_allclose(dense(M), expected, atol=1e-10 * np.abs(expected).max())


def test_functions_of_the_matrix(model):
    M = circulant_preconditioner(model.system)
    matrix = dense(M)
    np.testing.assert_allclose(dense(M.inverse()) @ matrix, np.eye(M.n), atol=1e-10)
    root = dense(M.inverse_root())
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    np.testing.assert_allclose(root @ root, dense(M.inverse()), atol=1e-12)
    np.testing.assert_allclose(M.log_determinant(), np.linalg.slogdet(matrix)[1], rtol=1e-12)


def test_preconditioned_spectrum_is_narrower(model):
    M = dense(circulant_preconditioner(model.system).inverse_root())
    assert np.linalg.cond(M @ model.A @ M) < 0.95 * np.linalg.cond(model.A)


def test_exact_where_the_model_is_circulant():
    """Equal weights, periodic operators: M is A, and its inverse solves in one go."""
    B = [Wavelet((8, 8), "haar", 2), Convolution((8, 8), [[1.0, -1.0, 0.0]])]
    system = PrecisionOperator(
        FourierLines((8, 8), [4, 5, 6]), 0.1, B=B, site_precision=[2.0] * 64 + [5.0] * 64, prior_precision=0.3
    )
    np.testing.assert_allclose(dense(circulant_preconditioner(system)), system.to_dense(), atol=1e-12)


def test_single_precision_and_batches(model):
    inverse = circulant_preconditioner(model.system).inverse()
    u = np.random.default_rng(0).standard_normal((5, *model.system.input_shape))
    single = inverse(u.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, inverse(u), rtol=1e-4, atol=1e-6)


def test_spectra_that_nobody_knows_are_estimated():
    class Opaque(Convolution):
        def normal_spectrum(self, weights=None):
            return None

    kernel = np.random.default_rng(0).standard_normal((3, 3))
    system = PrecisionOperator(Opaque((8, 8), kernel), prior_precision=0.1)
    assert circulant_preconditioner(system) is None
    found = dense(circulant_preconditioner(system, n_probes=2))  # exact: the normal operator is circulant
    np.testing.assert_allclose(found, system.to_dense(), atol=1e-10)
    F = FourierLines((6, 6), [0, 3, 4])
    np.testing.assert_allclose(estimated_spectrum(F, n_probes=1), F.normal_spectrum(), atol=1e-12)


def test_a_complex_operator_on_pairs_is_estimated_with_its_odd_part():
    class Opaque(FourierLines):
        def normal_spectrum(self, weights=None):
            return None

    lines = [3, 4, 5, 6]
    B = [RealStacked(FiniteDifference((8, 8)), "complex")]
    known = PrecisionOperator(RealStacked(FourierLines((8, 8), lines), "complex"), B=B)
    opaque = PrecisionOperator(RealStacked(Opaque((8, 8), lines), "complex"), B=B)
    assert circulant_preconditioner(opaque) is None
    np.testing.assert_allclose(
        dense(circulant_preconditioner(opaque, n_probes=2)), dense(circulant_preconditioner(known)), atol=1e-10
    )


def test_singular_models_get_a_floor():
    system = PrecisionOperator(FourierLines((8, 8), [4]), prior_precision=0.0)
    assert np.isfinite(circulant_preconditioner(system).inverse()(np.ones((1, 8, 8)))).all()


@pytest.mark.parametrize("shape", [(5,), (6,), (5, 7), (4, 6), (3, 4, 5)])
def test_odd_and_even_lengths(shape):
    axes = range(len(shape))
    symbol = np.random.default_rng(0).random(shape) + 0.5
    symbol = symbol + np.roll(np.flip(symbol), 1, axes)
    M = Circulant(symbol)
    u = np.random.default_rng(1).standard_normal((2, *shape))
    axes = tuple(range(1, 1 + len(shape)))
    np.testing.assert_allclose(M(u), np.fft.ifftn(symbol * np.fft.fftn(u, axes=axes), axes=axes).real, atol=1e-12)
    np.testing.assert_allclose(M.log_determinant(), np.log(symbol).sum())


def test_models_that_are_no_images_have_none():
    assert circulant_preconditioner(PrecisionOperator(np.eye(3), B=Identity(3))) is None
