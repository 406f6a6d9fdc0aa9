import numpy as np
import pytest

from adaptive.linalg import circulant_preconditioner, circulant_variances, controlled_variance
from adaptive.linalg.control_variates import regressed
from adaptive.operators import Dense, FourierLines, FourierMask, Identity


def test_closed_form_of_circulant_variances(model):
    inverse = circulant_preconditioner(model.system).inverse()
    matrix = inverse(np.eye(model.n).reshape(-1, *inverse.input_shape)).reshape(model.n, model.n)
    expected = np.einsum("ij,jk,ik->i", model.B, matrix, model.B)
    np.testing.assert_allclose(circulant_variances(inverse, model.system.groups), expected, rtol=1e-9)


def test_unknown_rows_are_nan(real_model):
    inverse = circulant_preconditioner(real_model.system).inverse()
    shape = real_model.system.input_shape

    class Unknown(Identity):
        def bands(self):
            return None

    known = circulant_variances(inverse, [Unknown(shape), Identity(shape)])
    assert np.isnan(known[: real_model.n]).all()
    assert np.isfinite(known[real_model.n :]).all()
    assert np.isnan(circulant_variances(inverse, [Dense(np.eye(3))])).all()


def correlated(rng, N, q, correlation, kind):
    def noise():
        real = rng.standard_normal((N, q))
        return real if kind == "real" else (real + 1j * rng.standard_normal((N, q))) / np.sqrt(2)

    s = noise()
    return s, 2 * (correlation * s + np.sqrt(1 - correlation**2) * noise())


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_unbiased_with_honest_errors_and_never_much_worse(kind, correlation):
    rng = np.random.default_rng(0)
    q = 20_000
    s, t = correlated(rng, 8, q, correlation, kind)
    plain, plain_error = controlled_variance(s)
    estimate, error = controlled_variance(s, t, np.full(q, 2 * correlation))
    assert abs(estimate.mean() - 1) < 5 * estimate.std() / np.sqrt(q)
    np.testing.assert_allclose(np.sqrt(np.mean(error**2)), estimate.std(), rtol=0.15)
    gain = estimate.std() / plain.std()
    assert gain < {0.0: 1.15, 0.5: 1.1, 0.95: 0.5}[correlation]


def test_plain_where_the_covariance_is_not_known():
    rng = np.random.default_rng(1)
    s, t = rng.standard_normal((2, 6, 4))
    known = np.array([0.0, np.nan, 0.0, np.nan])
    plain, error = controlled_variance(s)
    np.testing.assert_allclose(plain, (s**2).mean(axis=0))
    np.testing.assert_allclose(error, (s**2).std(axis=0, ddof=1) / np.sqrt(6))
    estimate, mixed = controlled_variance(s, t, known)
    np.testing.assert_allclose(estimate[1::2], plain[1::2])
    np.testing.assert_allclose(mixed[1::2], error[1::2])
    assert not np.allclose(estimate[::2], plain[::2])


def test_units_do_not_matter():
    rng = np.random.default_rng(2)
    s, t = correlated(rng, 8, 50, 0.9, "real")
    estimate, _ = controlled_variance(s, t, np.full(50, 1.8))
    for factor in (1e-6, 1e6):
        scaled, _ = controlled_variance(factor * s, t, np.full(50, 1.8 * factor))
        np.testing.assert_allclose(scaled, factor**2 * estimate, rtol=1e-9)
    single, _ = controlled_variance(s.astype(np.float32), t.astype(np.float32), np.full(50, 1.8))
    np.testing.assert_allclose(single, estimate, rtol=1e-3, atol=1e-4)


def test_regression_is_unbiased_and_takes_noise_away():
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((8, 20_000))
    values = 1 + 0.8 * noise + 0.2 * rng.standard_normal(noise.shape)
    left = regressed(values, noise).mean(axis=0)
    assert abs(left.mean() - 1) < 5 * left.std() / np.sqrt(left.size)
    assert left.std() < 0.5 * values.mean(axis=0).std()


def test_one_sample_is_refused():
    with pytest.raises(ValueError, match="two samples or more"):
        controlled_variance(np.ones((1, 3)))


def test_fourier_rows(real_model, complex_model):
    rng = np.random.default_rng(4)
    for model in (real_model, complex_model):
        covariance = circulant_preconditioner(model.system).inverse()
        shape = covariance.image_shape
        rows = [FourierLines(shape, [0, 2, 1], axis=1), FourierMask(shape, rng.random(shape) < 0.5)]
        matrix = covariance(np.eye(model.n).reshape(-1, *covariance.input_shape)).reshape(model.n, model.n)
        for group in rows:
            F = group.to_dense()
            F = np.hstack([F, 1j * F]) if covariance.stacked else F
            expected = np.einsum("ij,jk,ik->i", F, matrix, F.conj()).real
            if not covariance.stacked:
                np.testing.assert_allclose(circulant_variances(covariance, [group]), expected, rtol=1e-9)
            mask = group.mask if isinstance(group, FourierMask) else None
            if mask is not None:
                np.testing.assert_allclose(covariance.spectrum()[mask], expected, rtol=1e-9)
