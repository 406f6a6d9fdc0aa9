import numpy as np
import pytest

from adaptive.linalg import Perturbations, PrecisionOperator, circulant_preconditioner, variances
from adaptive.operators import FourierLines, Identity, RealStacked


def pixels(model):
    shape = model.system.input_shape
    stacked = any(isinstance(group, RealStacked) for group in model.system.groups)
    return RealStacked(Identity(shape[1:]), "complex") if stacked else Identity(shape)


def test_exact_is_the_dense_diagonal(model):
    result = variances.exact(model.system)
    np.testing.assert_allclose(result.estimate, model.z, rtol=1e-9)
    assert not result.standard_error.any()
    np.testing.assert_allclose(variances.exact(model.system, rows=pixels(model)).estimate, np.diag(model.covariance))


def test_marginal_variances_obey_their_bound(model):
    assert (model.z >= 0).all()
    assert (model.z <= 1 / model.system.site_precision).all()


ESTIMATORS = {
    "sampled": lambda model, M, seed: variances.sampled(model.system, 6, circulant=M, tol=1e-5, random_state=seed),
    "probing": lambda model, M, seed: variances.probing(
        model.system, 6, circulant=M, tol=1e-5, random_state=seed, rows=pixels(model)
    ),
}


@pytest.mark.parametrize("name", list(ESTIMATORS))
@pytest.mark.parametrize("controlled", [False, True], ids=["plain", "controlled"])
def test_unbiased_within_the_standard_error(model, name, controlled):
    M = circulant_preconditioner(model.system) if controlled else None
    truth = model.z if name == "sampled" else np.diag(model.covariance)
    runs = [ESTIMATORS[name](model, M, seed) for seed in range(40)]
    raw = np.array([run.info["raw"] for run in runs])
    scores = (raw.mean(axis=0) - truth) / (raw.std(axis=0, ddof=1) / np.sqrt(len(raw)))
    # 40 runs: Student t with 39 degrees of freedom, and estimates of one run are correlated.
    assert np.abs(scores).max() < 6
    assert np.sqrt(np.mean(scores**2)) < 1.5
    claimed = np.sqrt(np.mean([run.standard_error**2 for run in runs]))
    actual = np.sqrt(np.mean((raw - truth) ** 2))
    assert 0.75 < claimed / actual < 1.25


def test_control_variate_more_than_halves_the_error(real_model):
    def error(M):
        estimates = [variances.sampled(real_model.system, 8, circulant=M, random_state=s).estimate for s in range(5)]
        return np.linalg.norm(estimates - real_model.z)

    assert error(circulant_preconditioner(real_model.system)) < 0.5 * error(None)


@pytest.mark.parametrize("name", ["sampled", "probing"])
def test_estimates_are_clipped_to_the_bound_and_say_so(real_model, name):
    system = real_model.system.with_sites(50.0)  # strong sites: variances near their bound
    result = getattr(variances, name)(system, 4, random_state=0)
    assert (result.estimate >= 0).all()
    assert (result.estimate <= 1 / system.site_precision).all()
    outside = (result.info["raw"] < 0) | (result.info["raw"] > 1 / system.site_precision)
    assert result.info["share_clipped"] == outside.mean() > 0
    np.testing.assert_array_equal(result.estimate[~outside], result.info["raw"][~outside])


def test_samples_are_draws_from_the_posterior(complex_model):
    N = 4000
    u = variances.sampled(complex_model.system, N, tol=1e-6, random_state=0).info["samples"].reshape(N, -1)
    variance = np.diag(complex_model.covariance)
    scores = (u.T @ u / N - complex_model.covariance) / np.sqrt(
        (np.outer(variance, variance) + complex_model.covariance**2) / N
    )
    assert np.abs(scores).max() < 6


def test_common_random_numbers_and_warm_starts(real_model):
    M = circulant_preconditioner(real_model.system)
    fixed = Perturbations(8, 3)
    first = variances.sampled(real_model.system, fixed, circulant=M)
    again = variances.sampled(real_model.system, fixed, circulant=M)
    np.testing.assert_array_equal(first.estimate, again.estimate)
    nearby = real_model.system.with_sites(real_model.system.site_precision * 1.01)
    cold = variances.sampled(nearby, fixed, circulant=circulant_preconditioner(nearby))
    warm = variances.sampled(nearby, fixed, circulant=circulant_preconditioner(nearby), start=first.info["samples"])
    assert warm.info["n_products"] <= 0.5 * cold.info["n_products"]
    # What changes between the two is the precision, not the noise.
    step = np.linalg.norm(warm.estimate - first.estimate) / np.linalg.norm(first.estimate)
    fresh = variances.sampled(nearby, 8, circulant=M, random_state=4)
    assert step < 0.03
    assert np.linalg.norm(fresh.estimate - first.estimate) / np.linalg.norm(first.estimate) > 2 * step


def test_loose_tolerance_is_nearly_unbiased(real_model):
    M = circulant_preconditioner(real_model.system)
    fixed = Perturbations(32, 0)
    loose, tight = (variances.sampled(real_model.system, fixed, circulant=M, tol=t).info["raw"] for t in (1e-2, 1e-8))
    assert abs(loose.sum() / tight.sum() - 1) < 0.005


def test_sampled_within_thirty_percent_at_64_by_64_for_150_products(photograph):
    system = photograph(64)
    truth = variances.exact(system).estimate
    M = circulant_preconditioner(system)
    for n_samples, dtype, limit in ((32, np.float64, 0.12), (32, np.float32, 0.12), (8, np.float64, 0.25)):
        result = variances.sampled(system, Perturbations(n_samples, 0, dtype), circulant=M)
        assert result.info["n_products"] <= 150
        assert np.linalg.norm(result.estimate - truth) <= limit * np.linalg.norm(truth)
    plain = variances.sampled(system, Perturbations(32, 0), preconditioner=M.inverse())  # without the control variate
    assert plain.info["n_products"] <= 150
    assert 0.2 < np.linalg.norm(plain.info["raw"] - truth) / np.linalg.norm(truth) < 0.30
    lanczos = variances.lanczos(system, 150, random_state=0)
    assert (lanczos.estimate <= truth * (1 + 1e-9)).all()
    assert np.linalg.norm(lanczos.estimate - truth) > 0.8 * np.linalg.norm(truth)


def test_bad_input_is_named(real_model):
    with pytest.raises(ValueError, match="rows must be given"):
        variances.exact(PrecisionOperator(np.eye(2)))
    with pytest.raises(ValueError, match="rows must act on unknowns of shape"):
        variances.exact(real_model.system, rows=np.eye(3))
    with pytest.raises(ValueError, match="n_probes must be at least 3"):
        variances.probing(real_model.system, 2)
    with pytest.raises(ValueError, match="rows must be real for probing"):
        variances.probing(real_model.system, 4, rows=FourierLines(real_model.system.input_shape, [0]))
    with pytest.raises(ValueError, match="positive definite"):
        variances.exact(PrecisionOperator(np.ones((1, 2)), B=np.ones((1, 2)), site_precision=0.0))
