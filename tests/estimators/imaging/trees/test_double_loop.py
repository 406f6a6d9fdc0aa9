"""The double loop of tree-structured scale mixtures: a bound, that never falls, and what it believes."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.imaging.trees import TreeMixture, exact_denoising, tree_bounds, tree_mode
from adaptive.estimators.imaging.trees.coefficients import DirectCoefficients
from adaptive.operators import Dense, Diagonal, FourierMask, Identity, Reshaped, Scaled, Wavelet

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KINDS = [(components, factorial) for components in ("laplace", "student_t") for factorial in (False, True)]


def picture(side, random_state=0):
    """Flat regions, an edge, a little texture: grey values in [0, 1]."""
    rows, columns = np.mgrid[:side, :side] / side
    u = 0.2 + 0.5 * (rows + 0.4 * columns > 0.7) + 0.2 * ((rows - 0.3) ** 2 + (columns - 0.7) ** 2 < 0.04)
    return u + 0.02 * np.random.default_rng(random_state).standard_normal((side, side))


def denoising(side, noise=0.01):
    rng = np.random.default_rng(1)
    return Identity((side, side)), picture(side) + np.sqrt(noise) * rng.standard_normal((side, side)), noise


def inpainting(side, noise=1e-3):
    rng = np.random.default_rng(2)
    rows = np.eye(side**2)[np.sort(rng.permutation(side**2)[: side**2 // 3])]
    X = Reshaped(Dense(rows), (side, side))
    return X, rows @ picture(side).ravel() + np.sqrt(noise) * rng.standard_normal(len(rows)), noise


def prior_of(side, components="laplace", factorial=False, level=2):
    return TreeMixture.generic(Wavelet((side, side), "haar", level), 0.05, components, factorial)


@pytest.mark.parametrize("components, factorial", KINDS)
@pytest.mark.parametrize("task", [denoising, inpainting])
def test_the_bound_never_falls_with_exact_variances(task, components, factorial):
    X, y, noise = task(16)
    posterior = tree_bounds(X, y, noise, prior_of(16, components, factorial), max_iter=40, tol=0.0, variances="exact")
    trace = np.asarray(posterior.objective_trace)
    assert len(trace) == 40
    assert trace[0] - trace[-1] > 1e-3  # it does rise
    assert np.max(np.diff(trace)) < 1e-9 * abs(trace[-1])
    assert posterior.evidence_kind == "lower_bound"
    assert posterior.log_evidence == -trace[-1]


def touching(prior, pi, wide):
    """Where the bounds touch, by bisection: their expected precision falls with r."""
    low, high = np.full(len(pi), 1e-12), np.full(len(pi), 1e6)
    for _ in range(200):
        middle = np.sqrt(low * high)
        above = prior.precisions(middle, wide) > pi
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.sqrt(low * high)


@pytest.mark.parametrize("components, factorial", KINDS)
@pytest.mark.parametrize("task", [denoising, inpainting])
def test_the_bound_is_its_definition(task, components, factorial):
    """ln of the Gaussian integral under the bounds, from the covariance of y instead of the precision of u."""
    X, y, noise = task(8)
    posterior = tree_bounds(X, y, noise, prior_of(8, components, factorial), max_iter=3, tol=0.0, variances="exact")
    prior, pi = posterior.prior, posterior.sites[0]
    synthesis = np.stack([X.forward(prior.wavelet.adjoint(e.reshape(8, 8))).ravel() for e in np.eye(64)], axis=1)
    covariance = noise * np.eye(y.size) + synthesis / pi @ synthesis.T
    log_integral = -0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1] - 0.5 * y.ravel() @ np.linalg.solve(
        covariance, y.ravel()
    )
    log_integral += 0.5 * np.sum(np.log(2 * np.pi / pi))
    r = touching(prior, pi, posterior.beliefs.wide)
    weights = 1 - posterior.wide.ravel(), posterior.wide.ravel()
    heights = sum(q * t.height(t.tight_width(r)) for q, t in zip(weights, prior.potentials, strict=True) if q.any())
    bound = log_integral - 0.5 * heights.sum() - prior.divergence(posterior.beliefs)
    assert posterior.log_evidence == pytest.approx(bound, rel=1e-8)
    mean = np.linalg.solve(np.diag(pi) + synthesis.T @ synthesis / noise, synthesis.T @ y.ravel() / noise)
    np.testing.assert_allclose(prior.wavelet.forward(posterior.mean.reshape(8, 8)).ravel(), mean, atol=1e-9)


@pytest.mark.parametrize("components", ["laplace", "student_t"])
@pytest.mark.parametrize("learn", [False, True])
def test_the_bound_is_below_the_exact_evidence_of_denoising(components, learn):
    X, y, noise = denoising(32)
    posterior = tree_bounds(X, y, noise, prior_of(32, components, level=3), learn=learn)
    exact = exact_denoising(y, noise, posterior.prior)
    assert posterior.log_evidence <= exact.log_evidence + 1e-9
    # what it believes is close to what is true: states, image, and variances rather too small than too large
    assert np.mean(np.abs(posterior.wide - exact.wide)) < 0.25
    assert np.sqrt(np.mean((posterior.mean.reshape(32, 32) - exact.mean) ** 2)) < 0.35 * np.sqrt(noise)
    assert posterior.variances(posterior.prior.wavelet).mean() == pytest.approx(
        exact.coefficient_variances.mean(), rel=0.6
    )


def test_a_factorial_bound_is_below_its_exact_evidence():
    X, y, noise = denoising(16)
    for components in ("laplace", "student_t"):
        posterior = tree_bounds(X, y, noise, prior_of(16, components, factorial=True))
        assert posterior.log_evidence <= exact_denoising(y, noise, posterior.prior).log_evidence
        assert np.all(posterior.wide == 1)


def test_denoising_transforms_an_image_only_at_the_ends(monkeypatch):
    X, y, noise = denoising(64)
    calls = []
    for name in ("forward", "adjoint"):
        inner = getattr(Wavelet, name)
        monkeypatch.setattr(Wavelet, name, lambda self, u, inner=inner: calls.append(len(calls)) or inner(self, u))
    counts = []
    for steps in (2, 12):
        calls.clear()
        tree_bounds(X, y, noise, prior_of(64, level=4), max_iter=steps, tol=0.0)
        counts.append(len(calls))
    assert counts[0] == counts[1] <= 2 * 60


@pytest.mark.parametrize("components", ["laplace", "student_t"])
def test_sampled_variances_agree_with_exact_ones(components):
    X, y, noise = inpainting(32)
    settings = {"learn": False, "max_iter": 8, "tol": 0.0}
    exact = tree_bounds(X, y, noise, prior_of(32, components, level=3), variances="exact", **settings)
    sampled = tree_bounds(
        X, y, noise, prior_of(32, components, level=3), variances="sampled", random_state=0, n_samples=60, **settings
    )
    assert sampled.evidence_kind == "none" and np.isnan(sampled.log_evidence)
    gap = np.sqrt(np.mean((sampled.mean - exact.mean) ** 2))
    assert gap < 0.25 * np.sqrt(exact.variances().mean())
    ratio = sampled.variance_estimates / exact.variance_estimates
    assert np.median(ratio) == pytest.approx(1.0, abs=0.1)
    assert np.quantile(np.abs(np.log(ratio)), 0.9) < 0.5


def test_sampled_runs_repeat_bit_for_bit():
    X, y, noise = inpainting(16)
    first, second = (
        tree_bounds(X, y, noise, prior_of(16), variances="sampled", random_state=3, max_iter=3) for _ in range(2)
    )
    np.testing.assert_array_equal(first.mean, second.mean)


@pytest.mark.parametrize("components, factorial", KINDS)
@pytest.mark.parametrize("task", [denoising, inpainting])
def test_the_mode_is_stationary_and_its_objective_falls(task, components, factorial):
    X, y, noise = task(16)
    mode = tree_mode(X, y, noise, prior_of(16, components, factorial), max_iter=60, tol=1e-7)
    u = mode.mean.reshape(16, 16)
    wavelet = prior_of(16).wavelet
    residual = X.adjoint(X.forward(u) - y.reshape(X.output_shape)) / noise
    penalty = wavelet.adjoint((mode.sites[0] * wavelet.forward(u).ravel()).reshape(16, 16))
    assert np.linalg.norm(residual + penalty) < 1e-2 * np.linalg.norm(residual)
    trace = np.asarray(mode.objective_trace)
    assert np.max(np.diff(trace)) < 1e-6 * np.ptp(trace) + 1e-9 * abs(trace[-1])
    with pytest.raises(ValueError, match="point estimate"):
        mode.variances()


@pytest.mark.parametrize("components, factorial", KINDS)
def test_the_mode_is_the_double_loop_with_variances_set_to_zero(components, factorial, monkeypatch):
    """All four priors; to 1e-7 of the wide state's squared scale, which smooths the tip of a Laplace density."""
    X, y, noise = denoising(16)
    prior = prior_of(16, components, factorial)
    nothing = (1e-7 * prior.wide**2)[prior.forest.levels]
    steps = {"learn": False, "max_iter": 80, "tol": 1e-8}
    mode, mean = tree_mode(X, y, noise, prior, **steps).mean, tree_bounds(X, y, noise, prior, **steps).mean
    monkeypatch.setattr(DirectCoefficients, "variances", lambda self: nothing)
    monkeypatch.setattr(TreeMixture, "typical_squares", lambda self: nothing)
    without = tree_bounds(X, y, noise, prior, **steps).mean
    assert np.linalg.norm(without - mode) < 1e-2 * np.linalg.norm(mean - mode)


def test_learning_helps_the_mean_and_hurts_the_mode_and_the_tree_helps_images_with_edges():
    X, y, noise = denoising(64)
    u = picture(64)

    def error(engine, factorial, learn):
        posterior = engine(X, y, noise, prior_of(64, factorial=factorial, level=4), learn=learn)
        return np.mean((posterior.mean.reshape(64, 64) - u) ** 2)

    learnt, initial = (error(tree_bounds, True, learn) for learn in (True, False))
    assert error(tree_bounds, False, True) < learnt < initial < 0.7 * noise
    assert error(tree_mode, True, True) > error(tree_mode, True, False)
    assert error(tree_mode, True, True) > learnt


@pytest.mark.parametrize("components", ["laplace", "student_t"])
def test_the_narrow_state_stays_the_narrow_one(components):
    X, y, noise = denoising(32)
    prior = tree_bounds(X, y, noise, prior_of(32, components, level=3), max_iter=25, tol=0.0).prior
    assert np.all(prior.narrow <= prior.wide)
    assert np.all((prior.chances >= 1e-3) & (prior.chances <= 1 - 1e-3))


def test_operators_that_are_multiples_of_the_identity_are_solved_directly():
    _, y, noise = denoising(16)
    plain = tree_bounds(Identity((16, 16)), y, noise, prior_of(16))
    for X, data, variance in (
        (Scaled(2.0, Identity((16, 16))), 2 * y, 4 * noise),
        (Diagonal(np.full((16, 16), -1.0)), -y, noise),
    ):
        other = tree_bounds(X, data, variance, prior_of(16))
        np.testing.assert_allclose(other.mean, plain.mean, atol=1e-12)
        assert other.n_products == 0
    # an operator that does not say so comes to the same by conjugate gradients
    eye = Reshaped(Dense(np.eye(256)), (16, 16))
    dense = tree_bounds(eye, y.ravel(), noise, prior_of(16), variances="exact", max_iter=100)
    np.testing.assert_allclose(dense.mean, plain.mean, atol=2e-3)
    assert dense.log_evidence == pytest.approx(plain.log_evidence, abs=0.5)


def test_complex_measurements_of_a_real_image():
    u = picture(16)
    mask = np.random.default_rng(0).random((16, 16)) < 0.5
    mask[8, 8] = True
    X = FourierMask((16, 16), mask)
    posterior = tree_bounds(X, X.forward(u), 1e-4, prior_of(16))
    assert np.mean((posterior.mean.reshape(16, 16) - u) ** 2) < 0.25 * np.var(u)


# ---------------------------------------------------------------------------------------------------------- posterior


def test_the_posterior_answers_as_its_dense_covariance_does():
    X, y, noise = inpainting(8)
    posterior = tree_bounds(X, y, noise, prior_of(8), random_state=0, n_samples=400)
    covariance = np.linalg.inv(posterior.system.to_dense())
    np.testing.assert_allclose(posterior.projection_covariance(np.eye(64)), covariance, atol=1e-6 * covariance.max())
    np.testing.assert_allclose(posterior.variances(), np.diagonal(covariance), rtol=0.4)
    pixel = np.eye(64)[[5]]
    assert posterior.information_gain(pixel, noise) == pytest.approx(0.5 * np.log1p(covariance[5, 5] / noise), rel=1e-5)
    draws = posterior.sample(300, random_state=1)
    assert draws.std(axis=0).mean() == pytest.approx(np.sqrt(np.diagonal(covariance)).mean(), rel=0.1)
    after = posterior.given_measurements(Reshaped(Dense(np.vstack([X.to_dense(), pixel])), (8, 8)))
    assert after.projection_covariance(pixel)[0, 0] == pytest.approx(
        covariance[5, 5] / (1 + covariance[5, 5] / noise), rel=1e-5
    )
    assert after.prior is posterior.prior


def test_coefficients_have_exact_variances_where_all_pixels_were_measured():
    X, y, noise = denoising(16)
    posterior = tree_bounds(X, y, noise, prior_of(16))
    value, error = posterior.variances(posterior.prior.wavelet, return_error=True)
    np.testing.assert_allclose(value, 1 / (1 / noise + posterior.sites[0]), rtol=1e-12)
    assert np.all(error == 0)


def test_nothing_measured_is_the_prior():
    prior = prior_of(16)
    posterior = tree_bounds(None, None, 1.0, prior, max_iter=0, n_samples=200, random_state=0)
    assert np.all(posterior.mean == 0) and posterior.prior is prior
    assert posterior.log_evidence <= 0
    assert posterior.variances().mean() > 0


def test_a_warm_start_goes_on_from_what_was_believed():
    X, y, noise = inpainting(16)
    before = tree_bounds(X, y, noise, prior_of(16), variances="exact")
    after = tree_bounds(X, y, noise, prior_of(16), variances="exact", warm_start=before, max_iter=1)
    assert after.log_evidence >= before.log_evidence - 1e-9 * abs(before.log_evidence)
    assert np.linalg.norm(after.mean - before.mean) < 0.05 * np.linalg.norm(before.mean)


def test_a_posterior_becomes_plain_data_and_comes_back():
    X, y, noise = inpainting(16)
    posterior = tree_bounds(X, y, noise, prior_of(16), variances="sampled", random_state=0, max_iter=2)
    back = type(posterior).from_state(posterior.state(), posterior.system.with_sites(0.0), prior_of(16))
    for name in ("mean", "samples", "wide"):
        np.testing.assert_array_equal(getattr(back, name), getattr(posterior, name))
    np.testing.assert_array_equal(back.prior.wide, posterior.prior.wide)
    np.testing.assert_array_equal(back.variances(), posterior.variances())


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"X": None}, "X and y belong together"),
        ({"y": np.zeros(3)}, "y must have the shape"),
        ({"y": np.full((16, 16), np.nan)}, "y contains nan"),
        ({"X": Identity((8, 8))}, "X must measure images of shape"),
        ({"noise_variance": 0.0}, "noise_variance must be"),
        ({"variances": "lanczos"}, "variances must be"),
        ({"start": "zero"}, "start must be"),
        ({"rounds": 0}, "rounds must be"),
        ({"dtype": int}, "dtype must be"),
    ],
)
def test_bad_input_ends_in_one_sentence(change, sentence):
    X, y, noise = denoising(16)
    arguments = {"X": X, "y": y, "noise_variance": noise, "prior": prior_of(16), **change}
    with pytest.raises(ValueError, match=sentence):
        tree_bounds(**arguments)


def test_what_has_not_converged_says_so():
    X, y, noise = denoising(16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning, match="has not converged after 1 outer steps"):
            tree_bounds(X, y, noise, prior_of(16), max_iter=1, tol=1e-12)
