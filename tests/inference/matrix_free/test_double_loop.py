"""The matrix-free double loop against the dense one, and its special cases."""

import pickle
import warnings

import numpy as np
import pytest
import pywt.data
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference import GLM, LargePosterior, map_estimate, variational_bounds
from adaptive.inference.matrix_free.double_loop import DoubleLoop
from adaptive.linalg import PrecisionOperator
from adaptive.operators import (
    Dense,
    Diagonal,
    FiniteDifference,
    FourierLines,
    FourierMask,
    Identity,
    Product,
    RealStacked,
    Wavelet,
)
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Logistic, Poisson, StudentT

SHARP = {"n_samples": 400, "sample_tol": 1e-4, "inner_steps": 30, "inner_tol": 1e-7, "reduction": 1e-3, "tol": 1e-3}


def photograph(n):
    step = 512 // n
    return pywt.data.camera().reshape(n, step, n, step).mean(axis=(1, 3)) / 255.0


def image_model(n=16, rate=8.0, noise=1e-2, lines=None, unknown="real", seed=0, potential=Laplace):
    """An n x n photograph, a quarter of its lines, wavelets and differences; a complex one with a smooth phase."""
    rng = np.random.default_rng(seed)
    image = photograph(n)
    lines = np.arange(n // 2 - n // 8, n // 2 + n // 8) if lines is None else np.asarray(lines)
    F = FourierLines((n, n), lines)
    groups = [Wavelet((n, n), "db2"), FiniteDifference((n, n))]
    scales = [potential(1 / rate), potential(1 / rate)]
    if unknown == "complex":
        image = image * np.exp(1j * np.add.outer(np.linspace(-1, 1, n) ** 2, np.linspace(0, 1, n)))
    grid = FourierLines((n, n), np.arange(n)).forward(image)
    grid = grid + noise * (rng.standard_normal(grid.shape) + 1j * rng.standard_normal(grid.shape))
    y = grid[lines]
    if unknown == "complex":
        F, groups = RealStacked(F, "complex"), [RealStacked(b, "complex") for b in groups]
        y = np.stack([y.real, y.imag])
    return GLM(F, y, noise**2, B=groups, potentials=scales, prior_covariance=1e4)


def quietly(function, *args, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*args, **keywords)


def fit(model, **keywords):
    return quietly(variational_bounds, model, **{"variances": "sampled", "random_state": 0, **keywords})


def distance(u, v):
    return np.linalg.norm(u - v) / np.linalg.norm(v)


# --------------------------------------------------------------------------------------------- against the dense loop


@pytest.mark.parametrize("unknown", ["real", "complex"])
@pytest.mark.parametrize("rate", [8.0, 60.0])
def test_many_samples_agree_with_exact_variances(unknown, rate):
    n = 16 if unknown == "real" else 8
    model = image_model(n, rate=rate, unknown=unknown)
    exact = variational_bounds(model, tol=1e-7)
    posterior = fit(model, **SHARP)
    assert isinstance(posterior, LargePosterior) and posterior.converged
    assert distance(posterior.mean, exact.mean) < 2e-3
    ratio = posterior.sites[0] / exact.sites[0]
    assert np.exp(np.median(np.abs(np.log(ratio)))) < 1.03
    variance, error = posterior.variances(return_error=True)
    assert np.mean(np.abs(variance - exact.variances()) < 3 * error + 0.02 * exact.variances()) > 0.97


def test_few_samples_are_enough_for_the_mean():
    model = image_model(32)
    reference = fit(model, n_samples=128, tol=1e-3, max_iter=30)
    few = fit(model, n_samples=8)
    assert distance(few.mean, reference.mean) < 0.01
    assert few.n_products < 300
    assert 0 <= few.share_clipped < 0.2


def test_other_potentials_and_dense_operators():
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((10, 6)), rng.standard_normal((9, 6))
    y, signs = rng.standard_normal(10), np.where(rng.standard_normal(9) > 0, 1, -1)
    cases = [
        [Logistic(0.7, rng.standard_normal(9))],
        [BernoulliLogit(signs)],
        [BernoulliProbit(signs)],
        [Laplace(0.3), Gaussian(0.5, 1.0)],
    ]
    for potentials in cases:
        model = GLM(X, y, 0.5, B=[B] * len(potentials), potentials=potentials, prior_covariance=2.0)
        exact = variational_bounds(model, tol=1e-10)
        posterior = fit(model, **{**SHARP, "n_samples": 2000})
        assert distance(posterior.mean, exact.mean) < 0.02
        np.testing.assert_allclose(posterior.variances(), exact.variances(), rtol=0.15)
    with pytest.raises(ValueError, match="variational_bounds refuses Poisson"):
        fit(GLM(X, y, 0.5, B=B, potentials=Poisson(np.ones(9)), prior_covariance=2.0))


@pytest.mark.parametrize("potential", [Laplace, lambda scale: StudentT(3.0, scale)])
def test_both_log_determinant_bounds_reach_the_same_minimum(potential):
    model = image_model(8, potential=potential)
    second, first = (fit(model, logdet_bound=bound, **{**SHARP, "tol": 1e-5, "max_iter": 200}) for bound in (2, 1))
    assert distance(first.mean, second.mean) < 1e-3
    np.testing.assert_allclose(first.sites[0], second.sites[0], rtol=0.02)


def test_lanczos_with_all_steps_is_exact_and_with_few_below():
    model = image_model(8)
    exact = variational_bounds(model, tol=1e-9)
    full = fit(model, variances="lanczos", n_steps=64, inner_steps=10, reduction=1e-3, tol=1e-5, max_iter=40)
    assert distance(full.mean, exact.mean) < 1e-4
    np.testing.assert_allclose(full.sites[0], exact.sites[0], rtol=1e-2)
    few = fit(model, variances="lanczos", n_steps=8, max_iter=10)
    assert np.median(few.sites[0] / exact.sites[0]) > 1.2  # stiffer, nearer to MAP
    assert np.isnan(few.share_clipped)


def test_the_objective_falls_and_the_evidence_is_that_of_the_dense_loop():
    model = image_model(16)
    exact = variational_bounds(model, tol=1e-8)
    posterior = fit(model, evidence=True, **SHARP)
    assert posterior.evidence_kind == "approximation"
    assert np.all(np.diff(posterior.objective_trace) <= 0)
    assert posterior.objective_trace[-1] == pytest.approx(-posterior.log_evidence)
    assert 0 < posterior.log_evidence_std < 5
    assert abs(posterior.log_evidence - exact.log_evidence) < 3 * posterior.log_evidence_std + 1
    assert fit(model).evidence_kind == "none"


# ------------------------------------------------------------------------------------------------------- special cases


def with_variances(model, z, **keywords):
    """The inner loop to its end, at given marginal variances."""
    loop = DoubleLoop(model, inner_steps=200, inner_tol=1e-7, reduction=1e-3, random_state=0, **keywords)
    loop.z = np.broadcast_to(z, loop.z.shape).copy()
    loop.measure_variances = lambda: None
    loop.step()
    return loop


@pytest.mark.parametrize("unknown", ["real", "complex"])
def test_no_variance_is_map(unknown):
    model = image_model(16 if unknown == "real" else 8, unknown=unknown)
    mode = map_estimate(model, smoothing=1e-3, tol=1e-9)
    loop = with_variances(model, 1e-3 / 8.0**2)  # the smoothing of the mode
    assert distance(loop.u.ravel(), mode.mean) < 1e-4
    by_weights = map_estimate(model, solver="reweighted", smoothing=1e-3, tol=3e-6, max_iter=300)
    assert distance(by_weights.mean, mode.mean) < 1e-3
    assert by_weights.objective_trace[-1] == pytest.approx(mode.objective_trace[-1], rel=1e-6)


def test_large_variance_is_least_squares():
    model = image_model(16)
    loop = with_variances(model, 1e18)
    data = (model.X, model.y, model.noise_variance)
    least = variational_bounds(GLM(*data, B=[], potentials=[], prior_covariance=1e4)).mean
    assert distance(loop.u.ravel(), least) < 1e-3
    np.testing.assert_allclose(loop.width, 1e9 / 8.0, rtol=1e-3)  # sqrt(z) times the scale


def test_constant_width_is_ridge():
    model = image_model(16)
    width = 0.05
    gaussian = GLM(
        model.X, model.y, model.noise_variance, B=[b for b, _ in model.groups],
        potentials=[Gaussian(width)] * 2, prior_covariance=1e4,
    )  # fmt: skip
    ridge = variational_bounds(gaussian).mean
    loop = DoubleLoop(gaussian, inner_steps=20, inner_tol=1e-10, reduction=1e-6, random_state=0)
    loop.step()
    assert distance(loop.u.ravel(), ridge) < 1e-8
    np.testing.assert_allclose(loop.width, width)


# ------------------------------------------------------------------------------------------------------- warm starts


def test_warm_is_cold_and_cheaper():
    lines = [0, 3, 6, 7, 8, 9]
    before, after = image_model(16, lines=lines[:-1]), image_model(16, lines=lines)
    options = {"n_samples": 32, "tol": 1e-4, "max_iter": 60, "inner_steps": 10, "reduction": 1e-2, "sample_tol": 1e-4}
    first = fit(before, **options)
    cold, warm = fit(after, **options), fit(after, warm_start=first, **options)
    assert warm.perturbations is first.perturbations
    assert distance(warm.mean, cold.mean) < 1e-3
    np.testing.assert_allclose(warm.sites[0], cold.sites[0], rtol=0.02)
    assert warm.n_products < cold.n_products
    again = fit(before, warm_start=first, **options)
    assert again.n_iter <= 2


def test_samples_that_are_solved_again_are_samples_of_the_new_posterior():
    model = image_model(16)
    posterior = fit(model, n_samples=16, sample_tol=1e-8)
    every = np.union1d(model.X.lines, [2, 13])
    after = posterior.given_measurements(FourierLines((16, 16), every))
    cold = LargePosterior(
        after.system, mean=posterior.mean, perturbations=posterior.perturbations, sample_tol=1e-8,
        sites=posterior.sites, group_lengths=posterior.group_lengths,
    )  # fmt: skip
    np.testing.assert_allclose(after.samples, cold.samples, atol=1e-6)


# ------------------------------------------------------------------------------------------------------- the posterior


def test_posterior_answers_as_the_dense_gaussian():
    model = image_model(16)
    posterior = fit(model, n_samples=64, sample_tol=1e-6)
    covariance = np.linalg.inv(posterior.system.to_dense())
    np.testing.assert_allclose(posterior.covariance(), covariance, atol=1e-12)
    probe = np.random.default_rng(1).standard_normal((256, 3))
    np.testing.assert_allclose(posterior.covariance_operator() @ probe, covariance @ probe, atol=1e-7)
    line = FourierLines((16, 16), [2])
    rows = RealStacked(line).to_dense()
    block = rows @ covariance @ rows.T
    np.testing.assert_allclose(posterior.projection_covariance(line), block, atol=1e-9)
    gain = 0.5 * np.linalg.slogdet(np.eye(32) + block / 1e-4)[1]
    assert posterior.information_gain(line, 1e-4) == pytest.approx(gain, abs=1e-6)
    assert posterior.information_gain(rows[3], 1e-4) == pytest.approx(0.5 * np.log1p(block[3, 3] / 1e-4), abs=1e-6)
    for B in (None, rows, FiniteDifference((16, 16)), [Wavelet((16, 16), "db2"), Identity((16, 16))]):
        matrix = np.eye(256) if B is None else rows if B is rows else np.vstack(
            [b.to_dense() for b in (B if isinstance(B, list) else [B])]
        )  # fmt: skip
        truth = np.einsum("ij,jk,ik->i", matrix, covariance, matrix)
        variance, error = posterior.variances(B, return_error=True)
        assert np.all(variance >= 0) and np.mean(np.abs(variance - truth) < 4 * error + 1e-3 * truth) > 0.97
    draws = posterior.sample(200, random_state=0)
    assert draws.shape == (200, 256)
    np.testing.assert_allclose(draws.var(axis=0).mean(), np.trace(covariance) / 256, rtol=0.1)
    mean, variance = posterior.projection_moments(rows)
    np.testing.assert_allclose(mean, rows @ posterior.mean, atol=1e-9)


def test_stochastic_gain_of_a_large_block_is_within_its_error(monkeypatch):
    posterior = fit(image_model(16), n_samples=8)
    block = FourierLines((16, 16), [0, 1, 2, 13])
    exact = posterior.information_gain(block, 1e-4)
    monkeypatch.setattr("adaptive.inference.matrix_free.large_posterior.LARGEST_BLOCK", 10)
    value, error = posterior.information_gain(block, 1e-4, return_error=True)
    assert 0 < error < 0.1 * exact and abs(value - exact) < 4 * error


def test_real_stacked_is_the_complex_problem():
    """A stacked unknown with one phase on everything has the mean of the problem without, turned by that phase."""
    n, turn = 8, np.exp(0.7j)
    model = image_model(n, unknown="complex", noise=1e-2)
    F = FourierLines((n, n), model.X.operator.lines)
    turned = GLM(
        RealStacked(Product(F, Diagonal(np.full((n, n), turn))), "complex"), model.y, model.noise_variance,
        B=[b for b, _ in model.groups], potentials=[Gaussian(0.1), Gaussian(0.1)], prior_covariance=1e4,
    )  # fmt: skip
    plain = GLM(
        model.X, model.y, model.noise_variance, B=[b for b, _ in model.groups],
        potentials=[Gaussian(0.1), Gaussian(0.1)], prior_covariance=1e4,
    )  # fmt: skip
    first, second = (
        fit(m, n_samples=2, inner_steps=10, inner_tol=1e-12, reduction=1e-8, max_iter=1).mean.reshape(2, n, n)
        for m in (plain, turned)
    )
    np.testing.assert_allclose(first[0] + 1j * first[1], turn * (second[0] + 1j * second[1]), atol=1e-8)
    dense = variational_bounds(plain).mean
    np.testing.assert_allclose(first.ravel(), dense, atol=1e-8)


def test_single_precision_agrees_with_double():
    model = image_model(32, rate=300.0, noise=1e-3)
    options = {"n_samples": 64, "max_iter": 5}  # the two precisions draw different numbers
    double, single = (fit(model, dtype=dtype, **options) for dtype in (np.float64, np.float32))
    assert single.samples.dtype == np.float32 and double.samples.dtype == np.float64
    assert distance(single.mean, double.mean) < 1e-3
    assert np.exp(np.mean(np.abs(np.log(single.sites[0] / double.sites[0])))) < 1.02


def test_products_are_counted(monkeypatch):
    counted = [0]
    apply = PrecisionOperator.apply

    def counting(self, u):
        counted[0] += len(u)
        return apply(self, u)

    monkeypatch.setattr(PrecisionOperator, "apply", counting)
    posterior = fit(image_model(16), n_samples=4)
    assert posterior.n_products == counted[0]


def test_the_same_seed_gives_the_same_bits_also_after_pickling():
    model = image_model(16)
    first, second = fit(model, n_samples=4), fit(model, n_samples=4)
    np.testing.assert_array_equal(first.samples, second.samples)
    before = pickle.dumps(first)
    first.variances()
    first.information_gain(FourierLines((16, 16), [1]))
    assert pickle.dumps(first) == before
    restored = LargePosterior.from_state(pickle.loads(pickle.dumps(first.state())), model)
    twin = pickle.loads(before)
    for other in (twin, restored):
        np.testing.assert_array_equal(other.variances(), first.variances())
        a, b = (fit(image_model(16, lines=[5, 6, 7, 8, 9]), warm_start=w, max_iter=1).mean for w in (first, other))
        np.testing.assert_array_equal(a, b)


# ------------------------------------------------------------------------------------------------------------ input


def test_bad_options_are_named():
    model = image_model(8)
    for keywords, message in [
        ({"variances": "guessed"}, "variances must be one of 'exact', 'sampled', 'lanczos'"),
        ({"variances": "exact", "n_samples": 3}, 'n_samples: these options go with variances="sampled"'),
        ({"logdet_bound": 3}, "logdet_bound must be 1, 2 or None"),
        ({"dtype": complex}, "dtype must be float32 or float64"),
        ({"n_samples": 1}, "n_samples must be at least 2"),
        ({"warm_start": fit(image_model(16), max_iter=0, n_samples=2)}, "warm_start must be a posterior over the same"),
    ]:
        with pytest.raises(ValueError, match=message):
            fit(model, **keywords)
    with pytest.warns(ConvergenceWarning, match="has not converged after 1 outer step"):
        variational_bounds(model, variances="sampled", max_iter=1, n_samples=2, random_state=0)
    assert fit(model, max_iter=0, n_samples=2).n_iter == 0


def test_masks_and_rows_are_measurements_like_lines():
    mask = np.zeros((8, 8), bool)
    mask[3:6] = True
    lines = image_model(8, lines=[3, 4, 5])
    masked = GLM(
        FourierMask((8, 8), mask), lines.y, lines.noise_variance, B=[b for b, _ in lines.groups],
        potentials=[p for _, p in lines.groups], prior_covariance=1e4,
    )  # fmt: skip
    rows = Dense(lines.X.to_dense().reshape(24, 64))
    flat = [Dense(b.to_dense()) for b, _ in lines.groups]
    dense = GLM(
        rows, lines.y, lines.noise_variance, B=flat, potentials=[p for _, p in lines.groups], prior_covariance=1e4
    )
    a, b, c = (fit(m, **{**SHARP, "n_samples": 100}) for m in (lines, masked, dense))
    assert distance(b.mean, a.mean) < 1e-4
    assert distance(c.mean, a.mean) < 0.02
