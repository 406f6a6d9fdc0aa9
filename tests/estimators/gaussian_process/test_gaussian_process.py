"""Gaussian processes: scikit-learn's numbers where it has them, the contract's behaviour, and every inference."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sklearn.gaussian_process
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor, SequentialDesign
from adaptive.estimators.gaussian_process.regressor_belief import DEFAULT_INFERENCE
from adaptive.estimators.nodes import Nodes
from adaptive.inference.classic import informative_vector_machine, sparse_online
from adaptive.kernels import Masked, NeuralNetwork, PiecewisePolynomial
from adaptive.means import Constant, Linear
from tests.estimators.conformance import check_conforms, in_one_line

ENGINES = [
    "laplace_approximation",
    "expectation_propagation",
    "variational_gaussian",
    "variational_bounds",
    "mean_field",
]
KERNEL = 2.0 * RBF(1.0)


@pytest.mark.filterwarnings("ignore:y holds one class")
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianProcessClassifier(),
        GaussianProcessRegressor(),
        GaussianProcessRegressor(likelihood="laplace", likelihood_scale=0.5),
    ],
    ids=in_one_line,
)
def test_scikit_learn_conformance(estimator):
    check_conforms(estimator)


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "right", "left")


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (40, 1))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)


# ---------------------------------------------------------------------- what scikit-learn computes
def test_laplace_is_that_of_scikit_learn(labelled):
    X, y = labelled
    ours = GaussianProcessClassifier(KERNEL, inference="laplace_approximation", hyperparameters="mode").fit(X, y)
    theirs = sklearn.gaussian_process.GaussianProcessClassifier(KERNEL).fit(X, y)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-5)
    theta = theirs.kernel_.theta
    value, gradient = ours.log_marginal_likelihood(theta, eval_gradient=True)
    their_value, their_gradient = theirs.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(their_value, abs=1e-6)
    np.testing.assert_allclose(gradient, their_gradient, atol=1e-5)
    fixed = GaussianProcessClassifier(KERNEL, inference="laplace_approximation", optimizer=None).fit(X, y)
    their_fixed = sklearn.gaussian_process.GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, y)
    for a, b in zip(fixed.latent_mean_and_variance(X), their_fixed.latent_mean_and_variance(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    assert np.mean(ours.predict(X) == theirs.predict(X)) == 1.0


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize(
    "kernel", [KERNEL + WhiteKernel(0.1), 1.0 * Matern(1.0, nu=1.5) + WhiteKernel(0.1)], ids=in_one_line
)
def test_gaussian_noise_is_that_of_scikit_learn(measured, kernel, normalize_y):
    X, y = measured
    X_new = np.linspace(-4, 4, 9)[:, None]
    ours = GaussianProcessRegressor(kernel, normalize_y=normalize_y, hyperparameters="mode").fit(X, y)
    theirs = sklearn.gaussian_process.GaussianProcessRegressor(kernel, normalize_y=normalize_y).fit(X, y)
    assert ours.evidence_kind_ == "exact"
    assert ours.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-4)
    theirs.kernel_.theta = ours.kernel_.theta
    again = sklearn.gaussian_process.GaussianProcessRegressor(
        ours.kernel_, normalize_y=normalize_y, optimizer=None
    ).fit(X, y)
    for a, b in zip(ours.predict(X_new, return_std=True), again.predict(X_new, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)
    np.testing.assert_allclose(
        ours.predict(X_new, return_cov=True)[1], again.predict(X_new, return_cov=True)[1], atol=1e-7
    )
    value, gradient = ours.log_marginal_likelihood(ours.kernel_.theta + 0.1, eval_gradient=True)
    their_value, their_gradient = again.log_marginal_likelihood(ours.kernel_.theta + 0.1, eval_gradient=True)
    assert value == pytest.approx(their_value, abs=1e-6)
    np.testing.assert_allclose(gradient, their_gradient, rtol=1e-5, atol=1e-6)


def test_noise_per_row_several_outputs_and_the_prior(measured):
    X, y = measured
    alpha = np.linspace(0.01, 1.0, 40)
    ours = GaussianProcessRegressor(KERNEL, alpha=alpha, optimizer=None).fit(X, y)
    theirs = sklearn.gaussian_process.GaussianProcessRegressor(KERNEL, alpha=alpha, optimizer=None).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    both = np.column_stack([y, 3 * y + 1])
    ours = GaussianProcessRegressor(KERNEL, alpha=0.1, normalize_y=True, hyperparameters="mode").fit(X, both)
    theirs = sklearn.gaussian_process.GaussianProcessRegressor(KERNEL, alpha=0.1, normalize_y=True).fit(X, both)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    assert ours.sample_y(X, 3).shape == (40, 2, 3)
    prior = GaussianProcessRegressor(KERNEL)
    mean, std = prior.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, np.zeros(40))
    np.testing.assert_allclose(std, np.sqrt(2.0))
    with pytest.raises(RuntimeError, match="At most one"):
        prior.predict(X, return_std=True, return_cov=True)


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_many_classes_as_in_scikit_learn(multi_class):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.1 * rng.normal(size=60), [-0.5, 0.5])]
    options = {"multi_class": multi_class, "optimizer": None}
    ours = GaussianProcessClassifier(KERNEL, inference="laplace_approximation", **options).fit(X, y)
    theirs = sklearn.gaussian_process.GaussianProcessClassifier(KERNEL, **options).fit(X, y)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.95
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-4)
    if multi_class == "one_vs_rest":
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-3)
        assert len(ours.select(X, 2)) == 2
    else:
        with pytest.raises(ValueError, match="one_vs_one"):
            ours.predict_proba(X)


# ---------------------------------------------------------------------- every inference
@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_inference_classifies_and_climbs_its_evidence(labelled, engine, link):
    X, y = labelled
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = GaussianProcessClassifier(KERNEL, inference=engine, link=link, optimizer=None).fit(X, y)
        model = GaussianProcessClassifier(KERNEL, inference=engine, link=link).fit(X, y)
    assert model.log_evidence_ >= start.log_evidence_ - 1e-9
    assert model.evidence_kind_ == ("approximation" if "la" in engine[:2] or "exp" in engine else "lower_bound")
    assert start.score(X, y) > 0.85
    theta = start.kernel_.theta + 0.1
    _, gradient = start.log_marginal_likelihood(theta, eval_gradient=True)
    for j, step in enumerate(1e-4 * np.eye(2)):
        slope = (start.log_marginal_likelihood(theta + step) - start.log_marginal_likelihood(theta - step)) / 2e-4
        assert gradient[j] == pytest.approx(slope, rel=1e-3, abs=2e-4)


@pytest.mark.parametrize("engine", ["expectation_propagation", "laplace_approximation", "variational_gaussian"])
def test_the_evidence_does_not_depend_on_the_path(labelled, engine):
    """Fitted from scratch at the learnt parameters, from several starts, it is the same."""
    X, y = labelled
    for start in (RBF(0.3), 100.0 * RBF(3.0)):
        model = GaussianProcessClassifier(ConstantKernel(1.0) * start, inference=engine, hyperparameters="mode")
        model.fit(X, y)
        again = GaussianProcessClassifier(model.kernel_, inference=engine, optimizer=None).fit(X, y)
        assert again.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-5)


def test_sampling_and_the_classic_ones_serve_too(labelled):
    X, y = labelled
    ep = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, y)
    gold = GaussianProcessClassifier(KERNEL, inference="annealed_importance", optimizer=None, random_state=0).fit(X, y)
    np.testing.assert_allclose(gold.predict_proba(X), ep.predict_proba(X), atol=0.06)
    for engine in (sparse_online, lambda model, **options: informative_vector_machine(model, n_active=25, **options)):
        few = GaussianProcessClassifier(KERNEL, inference=engine, optimizer=None).fit(X, y)
        assert np.mean(few.predict(X) == ep.predict(X)) > 0.9
        np.testing.assert_allclose(few.latent_mean_and_variance(X[:3])[0], few.posterior_.mean[:3], atol=1e-4)


# ---------------------------------------------------------------------- noise that is not Gaussian, means, kernels
@pytest.mark.parametrize("likelihood", [name for name in DEFAULT_INFERENCE if name != "gaussian"])
def test_robust_noise_forgives_outliers(measured, likelihood):
    bound = {"laplace": 0.25, "logistic": 0.45, "student_t": 0.2}[likelihood]  # of the error, each noise its own
    X, y = measured
    spoilt = y.copy()
    spoilt[::8] += 4.0
    model = GaussianProcessRegressor(KERNEL, likelihood=likelihood).fit(X, spoilt)
    gaussian = GaussianProcessRegressor(KERNEL + WhiteKernel(0.1)).fit(X, spoilt)

    def error(fitted):
        return float(np.sqrt(np.mean((fitted.predict(X) - np.sin(X[:, 0])) ** 2)))

    assert error(model) < bound
    assert error(model) < error(gaussian)
    assert model.log_evidence_ > gaussian.log_evidence_
    assert 0.01 < model.likelihood_scale_ < 1.0
    theta = model.evidence_.theta + 0.05
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for j, step in enumerate(1e-3 * np.eye(3)):
        slope = (model.log_marginal_likelihood(theta + step) - model.log_marginal_likelihood(theta - step)) / 2e-3
        assert gradient[j] == pytest.approx(slope, rel=1e-3, abs=1e-3)
    fair = GaussianProcessRegressor(KERNEL, likelihood=likelihood, normalize_y=True).fit(100 + X, 1e3 * spoilt)
    assert fair.likelihood_scale_ == pytest.approx(1e3 * model.likelihood_scale_, rel=0.3)
    grid = np.linspace(-30, 30, 2001)
    density = np.exp(model.log_predictive(np.repeat(X[:1], len(grid), axis=0), grid))
    assert density.sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=0.02)


def test_mean_functions_are_learnt():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (30, 2))
    y = 3.0 + X @ [1.0, -2.0] + 0.05 * rng.normal(size=30)
    kernel = ConstantKernel(0.01, "fixed") * RBF(1.0, "fixed") + WhiteKernel(0.01)
    model = GaussianProcessRegressor(kernel, mean=Constant() + Linear()).fit(X, y)
    np.testing.assert_allclose(model.mean_.theta, [3.0, 1.0, -2.0], atol=0.15)
    far = model.predict([[50.0, 50.0]])
    assert far[0] == pytest.approx(3.0 - 50.0, abs=5.0)
    value, gradient = model.log_marginal_likelihood(model.evidence_.theta + 0.1, eval_gradient=True)
    assert len(gradient) == 4
    assert np.isfinite(value)
    labels = np.where(X[:, 0] > -1, 1, 0)
    narrow = ConstantKernel(1.0, "fixed") * RBF(0.3, "fixed")
    shifted = GaussianProcessClassifier(narrow, mean=Constant()).fit(X, labels)
    assert shifted.mean_.theta[0] > 0


def test_own_kernels_serve(labelled):
    X, y = labelled
    for kernel in (4.0 * NeuralNetwork(1.0), 4.0 * PiecewisePolynomial(3.0), 4.0 * Masked(RBF(1.0), [0])):
        assert GaussianProcessClassifier(kernel).fit(X, y).score(X, y) > 0.9


# ---------------------------------------------------------------------- the contract
def test_what_few_rows_taught_is_forgotten_when_rows_have_doubled(labelled, measured):
    X, y = labelled
    flat, steep = (ConstantKernel(1.0, (1e-3, 1e3)) * RBF(1.0, (0.1, 10.0)) for _ in range(2))
    order = np.argsort(y != "left")  # one class first: a function that is flat
    parts = GaussianProcessClassifier(flat, classes=["left", "right"])
    parts.partial_fit(X[order[:8]], y[order[:8]]).partial_fit(X[order[8:]], y[order[8:]])
    whole = GaussianProcessClassifier(steep).fit(X[order], y[order])
    np.testing.assert_allclose(parts.kernel_.theta, whole.kernel_.theta, atol=1e-8)
    X, y = measured
    parts = GaussianProcessRegressor(flat, alpha=0.01).partial_fit(X[:5], y[:5]).partial_fit(X[5:], y[5:])
    np.testing.assert_allclose(
        parts.kernel_.theta, GaussianProcessRegressor(steep, alpha=0.01).fit(X, y).kernel_.theta, atol=1e-8
    )


def test_partial_fit_ends_where_fit_does(labelled, measured):
    X, y = labelled
    whole = GaussianProcessClassifier(KERNEL, optimizer=None, tol=1e-9).fit(X, y)
    parts = GaussianProcessClassifier(KERNEL, optimizer=None, tol=1e-9).partial_fit(X[:1], y[:1], ["left", "right"])
    for k in range(1, 60, 20):
        parts.partial_fit(X[k : k + 20], y[k : k + 20])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    X, y = measured
    whole = GaussianProcessRegressor(KERNEL, alpha=0.01, optimizer=None).fit(X, y)
    parts = GaussianProcessRegressor(KERNEL, alpha=0.01, optimizer=None).partial_fit(X[:10], y[:10])
    np.testing.assert_allclose(parts.partial_fit(X[10:], y[10:]).predict(X), whole.predict(X), atol=1e-8)


def test_designs_teach_a_classifier(labelled):
    X, y = labelled
    design = SequentialDesign(
        GaussianProcessClassifier(KERNEL, classes=["left", "right"], optimizer=None),
        X,
        lambda rows: y[: len(rows)],
        random_state=0,
    )
    query = design.ask(2)
    design.tell(query, y[query.positions])
    assert len(design.estimator_.y_train_) == 2
    model = design.estimator_
    again = GaussianProcessClassifier(KERNEL, classes=["left", "right"], optimizer=None).restore(model.state())
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


def test_what_a_regressor_would_learn_is_exact(measured):
    X, y = measured
    model = GaussianProcessRegressor(KERNEL + WhiteKernel(0.04), optimizer=None, normalize_y=True).fit(X[:20], y[:20])
    pool = np.linspace(-3, 3, 9)[:, None]
    belief = model.predictive(pool)
    chosen = model.select(pool)[0]
    scale, noise = model.belief_.scale**2, 0.04 * model.belief_.scale**2
    mean, std = model.predict(pool, return_std=True)
    np.testing.assert_allclose(belief.mean, mean, atol=1e-9)
    np.testing.assert_allclose(belief.variance + noise, std**2, atol=1e-9)
    assert chosen == np.argmax(std)
    after = belief.given(int(chosen), 0.3)
    again = GaussianProcessRegressor(KERNEL + WhiteKernel(0.04), optimizer=None)
    z = np.append(
        (y[:20] - model.belief_.shift) / model.belief_.scale, (0.3 - model.belief_.shift) / model.belief_.scale
    )
    again.fit(np.vstack([X[:20], pool[[chosen]]]), z)
    np.testing.assert_allclose(after.mean, model.belief_.shift + model.belief_.scale * again.predict(pool), atol=1e-5)
    np.testing.assert_allclose(after.variance + noise, scale * again.predict(pool, return_std=True)[1] ** 2, atol=1e-5)
    again = GaussianProcessRegressor(KERNEL + WhiteKernel(0.04), optimizer=None, normalize_y=True).restore(
        model.state()
    )
    np.testing.assert_array_equal(again.predict(pool), model.predict(pool))


# ---------------------------------------------------------------------- extremes and bad input
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("log_length", [-1.0, 2.5, 5.0])
@pytest.mark.parametrize("log_sd", [-1.0, 2.5, 6.0])
def test_the_plane_of_hyperparameters_is_finite(labelled, engine, log_length, log_sd):
    X, y = labelled
    kernel = ConstantKernel(np.exp(2 * log_sd)) * RBF(np.exp(log_length))
    doubled = np.vstack([X[:20], X[:5]]), np.concatenate([y[:20], y[:5]])  # rows that are there twice
    model = GaussianProcessClassifier(kernel, inference=engine, optimizer=None).fit(*doubled)
    assert np.isfinite(model.log_evidence_)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_inputs_are_finite(labelled):
    X, y = labelled
    for scaled in (1e6 * X, 1e-6 * X):
        assert np.isfinite(GaussianProcessClassifier(KERNEL).fit(scaled, y).predict_proba(scaled)).all()
    alone = GaussianProcessClassifier(KERNEL, classes=["left", "right"]).fit(X[:1], y[:1])
    assert np.isfinite(alone.predict_proba(X)).all()
    assert np.isfinite(GaussianProcessRegressor(KERNEL, alpha=0.1).fit(X[:1], [3.0]).predict(X)).all()


def test_bad_input_is_one_sentence(labelled):
    X, y = labelled
    with pytest.raises(NotFittedError):
        GaussianProcessClassifier().predict(X)
    cases = [
        (GaussianProcessClassifier(link="cloglog"), "link must be one of 'logit', 'probit'"),
        (GaussianProcessClassifier(inference="vb"), "inference must be one of"),
        (GaussianProcessClassifier(multi_class="softmax"), "multi_class must be one of"),
        (GaussianProcessClassifier(mean="linear"), "mean must be a mean function"),
        (GaussianProcessClassifier(optimizer="adam"), "optimizer must be one of"),
        (GaussianProcessClassifier(classes=["up", "down"]), "y contains the label 'right'"),
    ]
    for model, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    with pytest.raises(ValueError, match="likelihood must be one of"):
        GaussianProcessRegressor(likelihood="cauchy").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="laplace_approximation refuses Laplace potentials"):
        GaussianProcessRegressor(
            likelihood="laplace", likelihood_scale=1.0, inference="laplace_approximation", optimizer=None
        ).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="alpha must be a number or have one entry per row"):
        GaussianProcessRegressor(alpha=[0.1, 0.2]).fit(X, X[:, 0])

    class Broken(RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            return -super().__call__(X, Y)

    with pytest.raises(ValueError, match=r"the kernel matrix of .* at X is not positive definite"):
        GaussianProcessClassifier(Broken(), optimizer=None).fit(X, y)
    model = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="theta must have 2"):
        model.log_marginal_likelihood(np.zeros(5))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan, 1.0]], ["left"])
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("estimator", [GaussianProcessClassifier, GaussianProcessRegressor])
def test_a_parameter_that_ends_at_its_bound_is_named(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    y = (X[:, 0] > 0).astype(int) if estimator is GaussianProcessClassifier else rng.normal(size=30)
    kernel = ConstantKernel(1.0, (0.1, 2.0)) * RBF(1.0, (0.5, 2.0))
    with pytest.warns(ConvergenceWarning, match=r"the learnt k\d__\w+ ends at its (lower|upper) bound"):
        fitted = estimator(kernel, hyperparameters="mode").fit(X, y)
    assert np.isfinite(fitted.log_marginal_likelihood_value_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(ConstantKernel(1.0, "fixed") * RBF(1.0, (1e-3, 1e3)), hyperparameters="mode").fit(X, y)


# ---------------------------------------------------------------------- what nobody gave
def test_without_a_kernel_units_of_inputs_and_outcomes_do_not_matter(measured, labelled):
    """The length starts at a distance of the rows, outcomes are in units of their own: else all is learnt from 1."""
    X, y = measured
    new = np.linspace(-4, 4, 9)[:, None]
    usual = GaussianProcessRegressor().fit(X, y)
    other = GaussianProcessRegressor().fit(1000 * X, 50 * y + 300)
    for a, b, shift in zip(usual.predict(new, True), other.predict(1000 * new, True), (300, 0), strict=True):
        np.testing.assert_allclose(50 * a + shift, b, rtol=1e-5)
    assert np.abs(usual.predict(X) - np.sin(X[:, 0])).max() < 0.2  # noise is learnt: it does not go through all points
    X, y = labelled
    tables = [GaussianProcessClassifier().fit(by * X, y).predict_proba(by * X) for by in (1.0, 1000.0)]
    np.testing.assert_allclose(*tables, atol=1e-5)


@pytest.mark.parametrize(
    ("estimator", "averages"),
    [
        (GaussianProcessClassifier(), True),
        (GaussianProcessRegressor(1.0 * RBF(1.0)), True),
        (GaussianProcessRegressor(optimizer=None), False),
        (GaussianProcessRegressor(RBF([1.0] * 5)), False),  # more than four: nodes would not be on all sides of the top
        (GaussianProcessRegressor(RBF(1.0, "fixed")), False),
        (GaussianProcessRegressor(n_restarts_optimizer=2), False),
        (GaussianProcessRegressor(optimizer=lambda objective, theta, bounds: (theta, 0.0)), False),
        (GaussianProcessRegressor(mean=Constant(1.0)), False),
        (GaussianProcessClassifier(inference="annealed_importance"), False),
        (GaussianProcessClassifier(classes=["a", "b", "c"]), False),
        (GaussianProcessClassifier(classes=["a", "b", "c"], hyperparameters="integrated"), True),
    ],
    ids=lambda one: in_one_line(one).split(" at 0x")[0] if hasattr(one, "fit") else str(one),
)
def test_hyper_parameters_are_averaged_over_unless_the_search_was_asked_for_something(estimator, averages):
    assert issubclass(estimator._belief_about(None), Nodes) is averages


def test_a_third_label_goes_on_with_a_kernel_for_each_class(labelled):
    X, y = labelled
    model = GaussianProcessClassifier().fit(X[:30], y[:30])
    model.partial_fit(X[30:40], np.where(X[30:40, 1] > 0.5, "up", y[30:40]), classes=["left", "right", "up"])
    assert model.predict_proba(X).shape == (60, 3) and len(model.kernel_.kernels) == 3


def test_the_latent_of_nodes_is_their_mixtures(labelled):
    X, y = labelled
    model = GaussianProcessClassifier().fit(X[:20], y[:20])
    mean, variance = model.latent_mean_and_variance(X)
    predictive = model.predictive(X)
    np.testing.assert_allclose(mean, predictive.mean, rtol=1e-8)
    np.testing.assert_allclose(variance, predictive.variance, rtol=1e-6)
