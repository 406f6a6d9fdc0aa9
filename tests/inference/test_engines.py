"""What all engines share: representations, warm starts, extremes, flags; and the two ways of doing EP."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaptive.gaussians import CovarianceForm
from adaptive.inference import (
    GLM,
    Posterior,
    compatible,
    evidence_gradient,
    evidence_sensitivity,
    expectation_propagation,
    laplace_approximation,
    map_estimate,
    mean_field,
    variational_bounds,
    variational_gaussian,
)
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Logistic, Poisson, Step, StudentT

DENSE = [laplace_approximation, expectation_propagation, variational_bounds, variational_gaussian]
TIGHT = {
    "laplace_approximation": 1e-13,
    "expectation_propagation": 1e-10,
    "variational_bounds": 1e-14,
    "variational_gaussian": 1e-10,
}


def fit(engine, model, **options):
    return engine(model, **{"tol": TIGHT[engine.__name__], "max_iter": 2000, **options})


def agree(a, b, atol=1e-6):
    np.testing.assert_allclose(a.mean, b.mean, atol=atol)
    np.testing.assert_allclose(a.variances(), b.variances(), rtol=10 * atol, atol=atol)
    assert a.log_evidence == pytest.approx(b.log_evidence, abs=atol)


def classification(n=4, q=9, seed=0, prior=1.5):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(q, n))
    y = np.where(B @ rng.normal(size=n) + rng.normal(size=q) > 0, 1, -1)
    return B, y, prior


# ---------------------------------------------------------------------- representations
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", DENSE)
@pytest.mark.parametrize("prior", [0.7, np.linspace(0.5, 2, 4), "full"], ids=["number", "diagonal", "full"])
@pytest.mark.parametrize("family", [BernoulliLogit, BernoulliProbit, StudentT])
def test_precision_form_equals_covariance_form(engine, prior, family):
    B, y, _ = classification()
    if isinstance(prior, str):
        root = np.random.default_rng(1).normal(size=(4, 4))
        prior = root @ root.T
    potential = StudentT(2.0, 0.5, 3.0 * y) if family is StudentT else family(y)
    if not compatible(potential, engine.__name__):
        return
    model = GLM(B[:2], [0.3, -1.0], 0.2, B=B, potentials=potential, prior_mean=0.3, prior_covariance=prior)
    agree(fit(engine, model, form="precision"), fit(engine, model, form="covariance"), atol=1e-7)


# ---------------------------------------------------------------------- warm starts
@pytest.mark.parametrize("engine", DENSE)
@pytest.mark.parametrize("form", ["precision", "covariance"])
def test_warm_equals_cold_and_is_faster(engine, form):
    B, y, prior = classification(q=30)

    def model(q):
        groups = [BernoulliLogit(y[:q]), Logistic(0.5), Gaussian(0.3, np.ones(4))]
        return GLM(B=[B[:q], None, None], potentials=groups, prior_covariance=prior)

    short = fit(engine, model(28), form=form)
    cold = fit(engine, model(30), form=form)
    warm = fit(engine, model(30), warm_start=short, form=form)
    agree(warm, cold)
    assert warm.n_iter <= cold.n_iter
    again = fit(engine, model(30), warm_start=warm, form=form, tol=1e-5)
    assert again.n_iter <= 1
    agree(again, cold, atol=1e-4)
    # another prior over the same rows is a legal start too
    moved = GLM(B=[B, None], potentials=[BernoulliLogit(y), Logistic(0.5)], prior_covariance=7.0)
    start = fit(engine, GLM(B=[B, None], potentials=[BernoulliLogit(y), Logistic(0.5)], prior_covariance=0.1))
    agree(fit(engine, moved, warm_start=start, form=form), fit(engine, moved, form=form))


def test_warm_start_that_does_not_fit_is_refused():
    B, y, prior = classification()
    long = laplace_approximation(GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=prior))
    short = GLM(B=B[:3], potentials=BernoulliLogit(y[:3]), prior_covariance=prior)
    with pytest.raises(
        ValueError, match=r"warm_start must be a posterior over the same 4 unknowns.* groups of \[9\] rows"
    ):
        laplace_approximation(short, warm_start=long)
    with pytest.raises(ValueError, match="warm_start must be a Posterior, got dict"):
        expectation_propagation(short, warm_start={})
    with pytest.raises(ValueError, match="model must be a GLM, got ndarray"):
        variational_bounds(B)


def test_engines_start_from_one_another():
    B, y, prior = classification()
    model = GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=prior)
    mode = map_estimate(model)
    for start in (mode, *(engine(model) for engine in DENSE)):
        assert isinstance(start, Posterior)
        for engine in DENSE:
            agree(fit(engine, model, warm_start=start), fit(engine, model))


# ---------------------------------------------------------------------- exactness
@pytest.mark.parametrize("potential", [BernoulliLogit([1]), BernoulliProbit([-1]), Laplace(0.7), Step(0.4)])
def test_ep_with_one_site_is_exact(potential):
    """In 200 dimensions as in one: the only projection's moments are those of the tilted distribution."""
    rng = np.random.default_rng(0)
    b = rng.normal(size=(1, 200))
    mean, variance = 0.3, 1.3
    model = GLM(B=b, potentials=potential, prior_mean=mean, prior_covariance=variance)
    s_mean, s_variance = mean * b.sum(), variance * (b**2).sum()
    log_normaliser, tilted_mean, tilted_variance = potential.tilted_moments([s_mean], [s_variance])
    for update in ("parallel", "sequential"):
        posterior = expectation_propagation(model, update=update, tol=1e-10)
        assert posterior.log_evidence == pytest.approx(log_normaliser[0], abs=1e-9)
        got_mean, got_variance = posterior.projection_moments(b)
        assert got_mean[0] == pytest.approx(tilted_mean[0], abs=1e-8)
        assert got_variance[0] == pytest.approx(tilted_variance[0], rel=1e-8)


def test_ep_without_any_gaussian_part_is_exact_where_sites_do_not_interact():
    """B = I, no data, no prior: the cavity is flat and the site must match the potential alone."""
    posterior = expectation_propagation(GLM(potentials=Laplace([0.5, 1.0, 3.0])))
    assert posterior.log_evidence == pytest.approx(0, abs=1e-8)
    np.testing.assert_allclose(posterior.variances(), 2 * np.array([0.5, 1.0, 3.0]) ** 2, rtol=1e-6)


@pytest.mark.parametrize("width", [1.0, 60.0])
def test_sweeps_in_single_precision_leave_the_fixed_point_alone(width, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    squares = np.square(X[:, None] - X).sum(axis=2)
    kernel = width * np.exp(-0.5 * squares) + 1e-6 * width * np.eye(300)
    model = GLM(potentials=BernoulliLogit(np.sign(X[:, 0] + rng.logistic(size=300))), prior_covariance=kernel)
    rough = []
    plain = CovarianceForm.refit_roughly

    def counted(form, pi, nu):
        rough.append(plain(form, pi, nu).rough)
        return form

    monkeypatch.setattr(CovarianceForm, "refit_roughly", counted)
    quick = expectation_propagation(model)
    stopped = expectation_propagation(model, max_iter=1, tol=10.0)
    monkeypatch.setattr(CovarianceForm, "refit_roughly", CovarianceForm.refit)
    exact = expectation_propagation(model)
    assert sum(rough) >= 2
    assert not quick.gaussian.rough and not stopped.gaussian.rough
    assert quick.n_iter <= exact.n_iter + 1
    np.testing.assert_allclose(quick.mean, exact.mean, atol=1e-4 * np.sqrt(width))
    np.testing.assert_allclose(quick.log_evidence, exact.log_evidence, atol=1e-6)


def test_gaussian_models_are_exact_in_every_engine():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 3)), rng.normal(size=6)
    model = GLM(X, y, 0.4, B=[], potentials=[], prior_covariance=2.0)
    total = 2.0 * X @ X.T + 0.4 * np.eye(6)
    expected = -0.5 * y @ np.linalg.solve(total, y) - 0.5 * np.linalg.slogdet(2 * np.pi * total)[1]
    for engine in DENSE:
        posterior = engine(model)
        assert posterior.evidence_kind == "exact"
        assert posterior.converged
        assert posterior.log_evidence == pytest.approx(expected)
        assert posterior.jensen_evidence == pytest.approx(expected)
    np.testing.assert_allclose(map_estimate(model, tol=1e-10).mean, posterior.mean, atol=1e-8)


# ---------------------------------------------------------------------- EP: two orders, one fixed point
@pytest.mark.parametrize("fraction", [1.0, 0.6])
@pytest.mark.parametrize("form", ["precision", "covariance"])
def test_sequential_equals_parallel(fraction, form):
    B, y, prior = classification(q=12)
    for potentials, rows in ((BernoulliLogit(y), B), ([BernoulliProbit(y), Laplace(0.4)], [B, None])):
        model = GLM(B=rows, potentials=potentials, prior_covariance=prior)
        runs = [
            fit(expectation_propagation, model, update=update, fraction=fraction, form=form, **more)
            for update, more in (
                ("parallel", {}),
                ("sequential", {}),
                ("sequential", {"random_state": 0}),
                ("parallel", {"damping": 0.5}),
            )
        ]
        assert all(run.converged for run in runs)
        for other in runs[1:]:
            agree(runs[0], other, atol=1e-7)


def test_ep_of_many_copies_of_one_row_converges():
    """Fourteen copies of three rows under a wide prior: plain parallel updates creep."""
    rng = np.random.default_rng(1)
    B, y = np.vstack([rng.normal(size=(3, 5))] * 14), rng.choice([-1, 1], 42)
    model = GLM(B=B, potentials=BernoulliProbit(y), prior_covariance=1e6)
    posterior = expectation_propagation(model)
    assert posterior.converged
    assert posterior.n_iter <= 40
    agree(posterior, expectation_propagation(model, update="sequential"), atol=2e-3)


# ---------------------------------------------------------------------- gradient of the evidence
@pytest.mark.parametrize("engine", DENSE)
@pytest.mark.parametrize("form", ["precision", "covariance"])
def test_evidence_gradient_against_finite_differences(engine, form):
    B, y, _ = classification(q=6)
    rng = np.random.default_rng(3)
    root, change = rng.normal(size=(2, 4, 4))
    full, change = root @ root.T + 0.3 * np.eye(4), change + change.T
    cases = [
        (lambda t: 1.7 * np.exp(2 * t), None),
        (lambda t: 1.7 + t, 1.0),
        (lambda t: np.linspace(0.5, 2, 4) * np.exp(2 * t), None),
        (
            lambda t: np.array([0.5, 1.0, 2.0, 50.0]) + t * np.array([1.0, 2.0, 4.0, 0.0]),
            np.array([1.0, 2.0, 4.0, 0.0]),
        ),
        (lambda t: full * np.exp(2 * t), None),
        (lambda t: full + t * change, change),
    ]
    for covariance, derivative in cases:

        def at(t, covariance=covariance):
            model = GLM(
                B[:1], [0.4], 0.3, B=B, potentials=BernoulliLogit(y), prior_mean=0.5, prior_covariance=covariance(t)
            )
            return model, fit(engine, model, form=form)

        slope = (at(1e-4)[1].log_evidence - at(-1e-4)[1].log_evidence) / 2e-4
        assert evidence_gradient(*at(0.0), derivative) == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_evidence_gradient_needs_a_prior_and_a_shape():
    B, y, prior = classification()
    bare = GLM(B, np.ones(9), B=B, potentials=BernoulliLogit(y))
    with pytest.raises(ValueError, match="needs a model with a prior_covariance"):
        evidence_gradient(bare, laplace_approximation(bare))
    model = GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=prior)
    with pytest.raises(ValueError, match=r"shape \(4,\) or \(4, 4\), got \(3,\)"):
        evidence_gradient(model, laplace_approximation(model), np.ones(3))
    with pytest.raises(ValueError, match="not a point estimate"):
        evidence_gradient(model, map_estimate(model))


# ---------------------------------------------------------------------- flags and messages
@pytest.mark.parametrize("engine", [*DENSE, map_estimate])
def test_running_out_of_iterations_warns(engine):
    B, y, prior = classification()
    model = GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=prior)
    for count in (0, 1):
        with pytest.warns(ConvergenceWarning, match=f"{engine.__name__} has not converged after {count} iterations"):
            posterior = engine(model, max_iter=count, tol=1e-14)
        assert not posterior.converged
        assert posterior.n_iter == count == len(posterior.objective_trace)
        assert np.isfinite(posterior.mean).all()


@pytest.mark.parametrize("engine", [*DENSE, map_estimate])
def test_convergence_is_silent_and_recorded(engine):
    B, y, prior = classification()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior = engine(GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=prior))
    assert posterior.converged
    assert 0 < posterior.n_iter == len(posterior.objective_trace)
    assert posterior.engine == engine.__name__
    if engine is not expectation_propagation:
        assert np.diff(posterior.objective_trace).max(initial=0) <= 0


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        (laplace_approximation, {"max_iter": -1}, "max_iter must be at least 0, got -1"),
        (laplace_approximation, {"max_iter": 2.5}, "max_iter must be an integer"),
        (variational_bounds, {"tol": -1.0}, "tol must be >= 0"),
        (variational_bounds, {"logdet_bound": 3}, "logdet_bound must be 1, 2 or None, got 3"),
        (variational_bounds, {"variances": "lanzcos"}, "variances must be one of 'exact'"),
        (expectation_propagation, {"update": "serial"}, "update must be one of 'auto', 'parallel', 'sequential'"),
        (expectation_propagation, {"fraction": 0.0}, r"fraction and damping must be in \(0, 1\]"),
        (expectation_propagation, {"damping": 1.5}, r"fraction and damping must be in \(0, 1\]"),
        (map_estimate, {"solver": "bfgs"}, "solver must be one of .*Did you mean 'lbfgs'"),
        (map_estimate, {"smoothing": 0.0}, "smoothing must be > 0"),
    ],
)
def test_bad_options_end_in_one_sentence(engine, options, message):
    B, y, prior = classification()
    with pytest.raises(ValueError, match=message):
        engine(GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=prior), **options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_mode_without_curvature_is_refused():
    """Stopped half-way between two far Student t factors, where the density has a minimum."""
    model = GLM(B=[[1.0], [1.0]], potentials=StudentT(1.0, 0.01, [-1.0, 1.0]), prior_covariance=1e8)
    with pytest.raises(ValueError, match="curvature at the mode is not positive definite"):
        laplace_approximation(model, max_iter=0)


# ---------------------------------------------------------------------- extremes
@pytest.mark.parametrize("engine", DENSE)
@pytest.mark.parametrize("form", ["precision", "covariance"])
@pytest.mark.parametrize("family", [BernoulliLogit, BernoulliProbit, Laplace])
def test_rows_of_zeros_say_nothing(engine, form, family):
    """Their projection is known to be 0: the posterior stays, the evidence gains ln T(0)."""
    if not compatible(family(1.0), engine.__name__):
        return
    B, y, prior = classification()
    more = np.vstack([B, np.zeros((2, 4))])
    potential = (lambda q: Laplace(0.5)) if family is Laplace else lambda q: family(np.r_[y, 1, -1][:q])
    short = fit(engine, GLM(B=B, potentials=potential(9), prior_covariance=prior), form=form)
    long = fit(engine, GLM(B=more, potentials=potential(11), prior_covariance=prior), form=form)
    assert long.converged
    np.testing.assert_allclose(long.mean, short.mean, atol=1e-7)
    np.testing.assert_allclose(long.variances(), short.variances(), rtol=1e-6)
    gain = 0.0 if family is Laplace else 2 * np.log(0.5)
    assert long.log_evidence - short.log_evidence == pytest.approx(gain, abs=1e-7)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([1e-6, 1.0, 1e6]),
    st.sampled_from([1e-8, 1.0, 1e8]),
    st.sampled_from(["logit", "probit", "laplace", "student", "poisson", "duplicates"]),
    st.booleans(),
)
def test_extremes_are_finite(seed, scale, prior, kind, kernel):
    rng = np.random.default_rng(seed)
    q, n = 5, 3
    B = scale * rng.normal(size=(q, n))
    y = rng.choice([-1, 1], q)
    if kind == "duplicates":
        B = np.repeat(B[:1], q, axis=0)
    potential = {
        "probit": BernoulliProbit(y),
        "laplace": Laplace(float(np.exp(rng.uniform(-8, 8)))),
        "student": StudentT(3.0, float(np.exp(rng.uniform(-8, 8)))),
        "poisson": Poisson(rng.poisson(3.0, q), "softplus"),
    }.get(kind, BernoulliLogit(y))
    if kernel:
        model = GLM(potentials=potential, prior_covariance=prior * (B @ B.T / scale**2 + 1e-9 * np.eye(q)))
    else:
        model = GLM(B=B, potentials=potential, prior_covariance=prior)
    for engine in (*DENSE, map_estimate):
        if not compatible(potential, engine.__name__) or (kind == "student" and engine is laplace_approximation):
            continue
        posterior = engine(model)
        assert np.isfinite(posterior.mean).all()
        if engine is not map_estimate:
            assert np.isfinite(posterior.log_evidence)
            variance = posterior.variances()
            assert np.isfinite(variance).all()
            assert np.all(variance >= 0)
            assert np.all(variance <= np.diag(model.prior_covariance) * (1 + 1e-6) if kernel else prior * (1 + 1e-6))


@pytest.mark.parametrize("engine", [*DENSE, mean_field])
@pytest.mark.parametrize("family", [BernoulliLogit, BernoulliProbit, Poisson, Gaussian])
def test_evidence_sensitivity_is_every_derivative_at_once(engine, family):
    rng = np.random.default_rng(0)
    root, direction = rng.normal(size=(2, 4, 4))
    K, direction = root @ root.T + 0.5 * np.eye(4), direction + direction.T
    shift = rng.normal(size=4)
    potential = {
        Poisson: lambda: Poisson([0, 3, 1, 2]),
        Gaussian: lambda: Gaussian(0.3, [0.0, 1.0, -1.0, 2.0]),
    }.get(family, lambda: family([1, -1, 1, 1]))()
    if not compatible(potential, engine.__name__):
        return
    options = {"ridge": 1e-12, "tol": 1e-10} if engine is mean_field else {"tol": TIGHT[engine.__name__]}

    def at(t, u):
        model = GLM(potentials=potential, prior_mean=0.2 + u * shift, prior_covariance=K + t * direction)
        return model, engine(model, form="covariance", max_iter=2000, **options)

    by_covariance, by_mean = evidence_sensitivity(*at(0.0, 0.0))
    step = 1e-4
    slope = (at(step, 0)[1].log_evidence - at(-step, 0)[1].log_evidence) / (2 * step)
    assert np.sum(by_covariance * direction) == pytest.approx(slope, rel=2e-5, abs=1e-6)
    slope = (at(0, step)[1].log_evidence - at(0, -step)[1].log_evidence) / (2 * step)
    assert by_mean @ shift == pytest.approx(slope, rel=2e-5, abs=1e-6)
