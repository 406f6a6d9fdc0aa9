import numpy as np
import pytest

from adaptive.linalg import PrecisionOperator
from adaptive.operators import FourierLines, Identity, RealStacked


def real_matrix(X):
    matrix = X.to_dense()
    return np.vstack([matrix.real, matrix.imag]) if matrix.dtype.kind == "c" else matrix


def test_agrees_with_the_dense_sum(model):
    X = real_matrix(model.system.X)
    expected = X.T @ X / 0.05 + model.B.T @ (model.system.site_precision[:, None] * model.B)
    np.testing.assert_allclose(model.A, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_of_the_columns_is_kept_and_batches_agree(model, dtype):
    u = np.random.default_rng(1).standard_normal((3, *model.system.input_shape)).astype(dtype)
    batch = model.system.apply(u)
    assert batch.dtype == dtype
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    for column, image in zip(batch, u, strict=True):
        np.testing.assert_allclose(column, model.system.apply(image[None])[0], rtol=tolerance, atol=tolerance * 100)
    np.testing.assert_allclose(batch.reshape(3, -1), u.reshape(3, -1) @ model.A, atol=tolerance * 1e3)


def test_projections_are_the_rows_and_their_transpose(model):
    rng = np.random.default_rng(2)
    u, s = rng.standard_normal((2, *model.system.input_shape)), rng.standard_normal((2, len(model.B)))
    np.testing.assert_allclose(model.system.project(u), u.reshape(2, -1) @ model.B.T, atol=1e-12)
    np.testing.assert_allclose(model.system.back_project(s).reshape(2, -1), s @ model.B, atol=1e-12)


@pytest.mark.parametrize("prior", ["scalar", "diagonal", "matrix"])
def test_prior_precision(prior):
    rng = np.random.default_rng(3)
    root = rng.standard_normal((4, 4))
    value = {"scalar": 2.0, "diagonal": np.arange(1.0, 5.0), "matrix": root @ root.T}[prior]
    dense = np.broadcast_to(value, (4,)) * np.eye(4) if prior != "matrix" else value
    system = PrecisionOperator(np.ones((1, 4)), 0.5, prior_precision=value)
    np.testing.assert_allclose(system.to_dense(), 2 * np.ones((4, 4)) + dense)
    columns = system.prior_root(np.eye(4))
    np.testing.assert_allclose(columns.T @ columns, dense, atol=1e-12)


def test_products_are_counted_across_site_updates(real_model):
    system = real_model.system
    before = system.n_products
    other = system.with_sites(2.0)
    other.apply(np.zeros((3, *system.input_shape)))
    assert system.n_products == other.n_products == before + 3
    np.testing.assert_allclose(other.to_dense(), system.with_sites(np.full(len(real_model.B), 2.0)).to_dense())
    assert system.n_products == before + 3  # a dense matrix is for checks and not counted


def test_further_measurements_add_their_information(real_model):
    system, shape = real_model.system, real_model.system.input_shape
    more = system.with_measurements(FourierLines(shape, [3, 4, 5, 1, 7]))
    line = real_matrix(FourierLines(shape, [7]))
    np.testing.assert_allclose(more.to_dense() - real_model.A, line.T @ line / 0.05, atol=1e-10)
    before = system.n_products
    more.apply(np.zeros((1, *shape)))
    assert system.n_products == before + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs X, B or shape"),
        ({"X": np.eye(2), "B": np.eye(3)}, "one shape"),
        ({"X": np.eye(2), "noise_variance": 0.0}, "noise_variance must be > 0"),
        ({"X": np.eye(2), "noise_variance": np.nan}, "noise_variance contains nan"),
        ({"B": np.eye(2), "site_precision": [1.0, -1.0]}, "site_precision must be >= 0"),
        ({"B": np.eye(2), "site_precision": [1.0]}, r"site_precision must have shape \(2,\)"),
        ({"X": np.eye(2), "prior_precision": [1.0, 2.0, 3.0]}, "prior_precision must be a scalar"),
        ({"X": np.eye(2), "B": FourierLines(2, [0])}, "must be real"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        PrecisionOperator(**arguments)


def test_too_large_for_a_dense_matrix():
    with pytest.raises(ValueError, match=r"16384 unknowns needs 2.1 GB"):
        PrecisionOperator(Identity((128, 128))).to_dense()


def test_a_complex_unknown_is_its_real_stack():
    F = FourierLines((4, 4), [1, 2])
    dense = F.to_dense()
    gram = dense.conj().T @ dense
    stacked = np.block([[gram.real, -gram.imag], [gram.imag, gram.real]])
    np.testing.assert_allclose(PrecisionOperator(RealStacked(F, "complex")).to_dense(), stacked, atol=1e-14)
