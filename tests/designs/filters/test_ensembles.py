"""Ensembles of filters: rows of norm one, with the structure they promise."""

import numpy as np
import pytest
from scipy import linalg

from adaptive import pool as pools
from adaptive.operators import Wavelet, adjoint_error
from designs import filters

SHAPE = (16, 8)
ENSEMBLES = {
    "uniform": filters.uniform,
    "coloured": filters.coloured,
    "noiselets": filters.noiselets,
    "long noiselets": lambda shape, n, random_state=None: filters.noiselets(
        shape, n, product=False, random_state=random_state
    ),
    "hadamard": lambda shape, n, random_state=None: filters.hadamard(shape, n),
    "random hadamard": lambda shape, n, random_state=None: filters.hadamard(
        shape, n, order="random", random_state=random_state
    ),
    "wavelets": lambda shape, n, random_state=None: filters.wavelets(shape, n),
}
ORTHONORMAL = [name for name in ENSEMBLES if name not in ("uniform", "coloured")]


@pytest.mark.parametrize("name", ENSEMBLES)
def test_rows_have_norm_one_and_the_seed_decides(name):
    rows = np.asarray(ENSEMBLES[name](SHAPE, 40, random_state=3))
    assert rows.shape == (40, 128)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(rows, np.asarray(ENSEMBLES[name](SHAPE, 40, random_state=3)))


@pytest.mark.parametrize("name", ORTHONORMAL)
def test_transforms_give_an_orthonormal_basis_and_no_more(name):
    rows = np.asarray(ENSEMBLES[name](SHAPE, None, random_state=0))
    np.testing.assert_allclose(rows @ rows.T, np.eye(128), atol=1e-12)
    with pytest.raises(ValueError, match=r"n_filters must be at most 128, .* \(16, 8\), got 129\."):
        ENSEMBLES[name](SHAPE, 129, random_state=0)


@pytest.mark.parametrize("name", ORTHONORMAL)
def test_a_lazy_pool_gives_the_rows_it_stands_for(name):
    pool = ENSEMBLES[name](SHAPE, 50, random_state=1)
    rows = np.asarray(pool)
    image = np.random.default_rng(0).standard_normal((3, *SHAPE))
    np.testing.assert_allclose(pool.measure(image), image.reshape(3, -1) @ rows.T, atol=1e-12)
    np.testing.assert_array_equal(pools.take(pool, [7, 2]), rows[[7, 2]])
    np.testing.assert_array_equal(pool[5:9], rows[5:9])
    np.testing.assert_array_equal(pool[-1], rows[-1])
    assert len(set(pool.labels(range(50)))) == 50
    assert pools.fingerprint(pool) == pools.fingerprint(ENSEMBLES[name](SHAPE, 50, random_state=1))
    assert pools.fingerprint(pool) != pools.fingerprint(ENSEMBLES[name](SHAPE, 49, random_state=1))


def test_wavelets_of_another_name_are_another_pool():
    assert filters.wavelets(8, name="haar").fingerprint() != filters.wavelets(8, name="db2", level=1).fingerprint()


def test_uniform_rows_are_independent_gaussians_on_the_sphere():
    rows = filters.uniform((20, 20), 300, random_state=0)
    inner = rows @ rows.T - np.eye(300)
    assert abs(np.sqrt(np.mean(inner**2) * 300 / 299) * 20 - 1) < 0.02  # inner products have variance 1 / pixels
    assert filters.uniform(2, 9, random_state=0).shape == (9, 2)  # more than pixels


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_power_of_coloured_rows_falls_with_frequency_as_promised(power):
    rows = filters.coloured((32, 32), 400, power=power, random_state=0).reshape(-1, 32, 32)
    spectrum = np.mean(np.abs(np.fft.fft2(rows)) ** 2, axis=0)
    frequency = np.hypot(np.fft.fftfreq(32)[:, None], np.fft.fftfreq(32)[None])
    slope = np.polyfit(np.log(frequency.ravel()[1:]), np.log(spectrum.ravel()[1:]), 1)[0]
    assert abs(slope + power) < 0.08
    ratio = spectrum[0, 0] / np.mean([spectrum[0, 1], spectrum[1, 0]])
    assert 0.7 < ratio < 1.4  # the mean has the power of the lowest frequency


def complex_noiselets(n):
    """The definition: rows of W_2k from rows of W_k."""
    a, b = (1 - 1j) / 2, (1 + 1j) / 2
    W = np.ones((1, 1), complex)
    while len(W) < n:
        W = np.stack([np.hstack([a * W, b * W]), np.hstack([b * W, a * W])], axis=1).reshape(2 * len(W), -1)
    return W


@pytest.mark.parametrize("n", [1, 2, 4, 8, 16, 64, 512])
def test_the_fast_noiselet_transform_is_the_defined_one_and_its_own_inverse(n):
    W = complex_noiselets(n)
    np.testing.assert_allclose(W @ W.conj().T, np.eye(n), atol=1e-12)
    transform = filters.NoiseletTransform(n)
    R = transform.to_dense()
    np.testing.assert_allclose(R, W.real + W.imag, atol=1e-13)
    np.testing.assert_allclose(R @ R, np.eye(n), atol=1e-12)
    sizes = np.unique(np.abs(R).round(12))
    even = (n.bit_length() - 1) % 2 == 0
    np.testing.assert_allclose(sizes, [n**-0.5] if even else [0, np.sqrt(2 / n)], atol=1e-11)


@pytest.mark.parametrize("n", [4, 16, 64])
def test_noiselets_are_incoherent_with_haar(n):
    haar = Wavelet(n, "haar", n.bit_length() - 1).to_dense()
    products = np.abs(complex_noiselets(n) @ haar.T) * np.sqrt(n)
    np.testing.assert_allclose(products, 1, atol=1e-12)
    real = np.abs(filters.NoiseletTransform(n).to_dense() @ haar.T) * np.sqrt(n)
    np.testing.assert_allclose(real.max(), np.sqrt(2), atol=1e-12)


def test_the_two_dimensional_noiselets_are_the_product():
    R, S = filters.NoiseletTransform(8).to_dense(), filters.NoiseletTransform(4).to_dense()
    np.testing.assert_allclose(filters.NoiseletTransform((8, 4)).to_dense(), np.kron(R, S), atol=1e-13)
    long = filters.NoiseletTransform((8, 4), product=False).to_dense()
    np.testing.assert_allclose(long, filters.NoiseletTransform(32).to_dense(), atol=1e-13)


def test_hadamard_rows_are_the_known_ones_by_sequency():
    for n in (2, 8, 16):
        np.testing.assert_allclose(filters.HadamardTransform(n).to_dense() * np.sqrt(n), linalg.hadamard(n), atol=1e-12)
        rows = np.asarray(filters.hadamard(n))
        np.testing.assert_array_equal(np.count_nonzero(np.diff(np.sign(rows)), axis=1), np.arange(n))
    rows = np.asarray(filters.hadamard((4, 8))).reshape(-1, 4, 8)
    changes = [
        np.count_nonzero(np.diff(np.sign(row[:, 0]))) + np.count_nonzero(np.diff(np.sign(row[0]))) for row in rows
    ]
    assert changes == sorted(changes)


@pytest.mark.parametrize("transform", [filters.NoiseletTransform((4, 8)), filters.HadamardTransform((4, 8))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_transforms_know_their_adjoints(transform, dtype):
    assert adjoint_error(transform, dtype=dtype) < (1e-6 if dtype == np.float32 else 1e-14)
    assert transform.forward(np.zeros((2, 4, 8), dtype)).dtype == dtype


def test_wavelets_come_coarse_to_fine_horizontal_vertical_diagonal():
    pool = filters.wavelets((16, 16))
    W = pool.transform
    order = np.array(pool.labels(range(256)))
    assert set(order[:16]) == set(np.arange(256).reshape(16, 16)[:4, :4].ravel())  # approximation, then one block each
    corner = order[16:].reshape(-1, 4) if W.level == 1 else None
    assert corner is None and W.level == 3
    # an image of horizontal edges has its details among the horizontal ones, those that come first at every scale
    stripes = np.tile(np.random.default_rng(0).standard_normal(16)[:, None], (1, 16))
    energy = W.forward(stripes).ravel()[order] ** 2
    at = 4
    for scale in range(W.level, 0, -1):
        n = (16 // 2**scale) ** 2
        horizontal, vertical, diagonal = (energy[at + k * n : at + (k + 1) * n].sum() for k in range(3))
        assert horizontal > 0.01
        assert max(vertical, diagonal) < 1e-20
        at += 3 * n
    assert at == 256


def test_any_matrix_becomes_filters():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5, 3, 4)) * 10.0 ** np.arange(-300, 200, 100)[:, None, None]
    filters_ = filters.as_filters(rows, (3, 4))
    np.testing.assert_allclose(np.linalg.norm(filters_, axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(np.sign(filters_), np.sign(rows.reshape(5, 12)))
    np.testing.assert_array_equal(filters.as_filters(np.arange(1, 5).reshape(2, 2)).shape, (2, 2))
    np.testing.assert_array_equal(filters.as_filters(np.empty((0, 4))).shape, (0, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: filters.as_filters([[1.0, 2.0], [0.0, 0.0]]), "row 1 measures nothing"),
        (lambda: filters.as_filters([[1.0, np.nan]]), r"rows contains nan at position \(0, 1\)"),
        (
            lambda: filters.as_filters([1.0, 2.0]),
            r"rows must be real filters \(m, pixels\), got float64 of shape \(2,\)",
        ),
        (lambda: filters.as_filters([[1j]]), "real filters"),
        (lambda: filters.as_filters(np.ones((2, 5)), (2, 2)), "one entry per pixel, 4, got 5"),
        (lambda: filters.noiselets((8, 6), 3), "powers of two for noiselets, got 6 on axis 1"),
        (lambda: filters.noiselets((8, 7), 3, product=False), "powers of two for noiselets, got 7 on axis 1"),
        (lambda: filters.hadamard((12, 8), 3), "powers of two for Hadamard patterns, got 12 on axis 0"),
        (lambda: filters.hadamard((8, 8), 3, order="best"), "order must be one of"),
        (lambda: filters.wavelets((9, 8), 3), "even axes of at least 4 .* got 9 on axis 0"),
        (lambda: filters.uniform((8, 8), -1), "n_filters must be at least 0"),
        (lambda: filters.uniform((8, 0), 1), "shape must be a positive integer"),
        (lambda: filters.coloured((8, 8), 2, power=-1.0), "power must be >= 0"),
        (lambda: filters.signs([[0.0, 0.0]]), "row 0 measures nothing"),
    ],
)
def test_bad_input_ends_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ENSEMBLES)
def test_no_filters_are_an_empty_table(name):
    assert np.asarray(ENSEMBLES[name](SHAPE, 0, random_state=0)).shape == (0, 128)
