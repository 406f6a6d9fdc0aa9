"""BayesianLogisticRegression: scikit-learn's contract, an honest posterior, clear refusals, exact restarts."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.integrate import trapezoid
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import StandardScaler

from adaptive import inference
from adaptive.estimators import BayesianLogisticRegression
from adaptive.estimators.linear.binary_belief import Problem
from adaptive.estimators.linear.settings import LogisticSettings
from adaptive.estimators.rows.training import LabelledRows
from adaptive.inference.evidence.maximise import LogNormal
from tests.estimators.conformance import check_conforms, in_one_line

ENGINES = ["expectation_propagation", "laplace_approximation", "variational_bounds"]


@pytest.mark.filterwarnings("ignore:y holds one class")
@pytest.mark.parametrize(
    "estimator",
    [
        BayesianLogisticRegression(),
        BayesianLogisticRegression(prior="student_t", prior_scale=1.0, inference="variational_bounds"),
        BayesianLogisticRegression(
            multi_class="one_vs_rest", link="probit", fit_intercept=False, inference="laplace_approximation"
        ),
    ],
    ids=in_one_line,
)
def test_scikit_learn_conformance(estimator):
    check_conforms(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def tiny(seed=0, rows=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 1))
    return X, np.where(rng.random(rows) < expit(2 * X[:, 0] - 0.5), "yes", "no")


@pytest.mark.parametrize(("prior", "error"), [("gaussian", 0.01), ("laplace", 0.01), ("student_t", 0.06)])
def test_predictive_probabilities_are_near_those_of_the_exact_posterior(prior, error):
    """Two unknowns on a grid: expectation propagation is within .01 of exact class probabilities, bounds are near."""
    X, y = tiny()
    model = BayesianLogisticRegression(prior, prior_scale=1.5).fit(X, y)
    w, b = np.meshgrid(np.linspace(-12, 12, 801), np.linspace(-12, 12, 801), indexing="ij")
    log_prior = {
        "gaussian": -(w**2) / (2 * 1.5**2),
        "laplace": -np.abs(w) / 1.5,
        "student_t": -1.5 * np.log1p((w / 1.5) ** 2 / 2),
    }[prior]
    signs = np.where(y == "yes", 1, -1)
    log_posterior = log_prior - b**2 / 18
    for x, sign in zip(X[:, 0], signs, strict=True):
        log_posterior -= np.logaddexp(0, -sign * (w * x + b))
    posterior = np.exp(log_posterior - log_posterior.max())
    posterior /= posterior.sum()
    new = np.array([[-2.0], [-0.3], [0.4], [1.7]])
    exact = np.array([(posterior * expit(w * x + b)).sum() for x in new[:, 0]])
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], exact, atol=error)
    np.testing.assert_allclose(np.exp(model.log_predictive(new, ["yes"] * 4)), exact, atol=error)


@pytest.mark.parametrize(
    ("engine", "prior"),
    [(engine, "gaussian") for engine in ENGINES]
    + [("expectation_propagation", "laplace"), ("variational_bounds", "laplace"), ("variational_bounds", "student_t")],
)
def test_learnt_scale_is_where_evidence_times_prior_is_largest(cancer, engine, prior):
    X, y = cancer[0][:40, :4], cancer[1][:40]
    model = BayesianLogisticRegression(prior, inference=engine, tol=1e-5).fit(X, y)
    centre = np.log(3.0 / np.sqrt((X**2).sum(axis=1).mean()))

    def objective(log_scale):
        fixed = BayesianLogisticRegression(prior, inference=engine, prior_scale=np.exp(log_scale), tol=1e-5).fit(X, y)
        return fixed.log_evidence_ - 0.5 * (log_scale - centre) ** 2 / LogNormal.width**2

    best = max(objective(t) for t in np.log(model.prior_scale_) + [-1.5, -0.75, -0.375, 0.375, 0.75, 1.5])
    assert objective(np.log(model.prior_scale_)) > best - 0.011  # the search stops within .01 nats


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_features", [5, 30])
def test_partial_fit_reaches_what_fit_reaches(cancer, sparse, n_features):
    """Answers one by one, warm, or all at once: the same posterior, also with fewer rows than unknowns."""
    X, y = cancer[0][:25, :n_features], cancer[1][:25]
    X = sp.csr_array(X) if sparse else X
    whole = BayesianLogisticRegression(prior_scale=1.0, tol=1e-10).fit(X, y)
    parts = BayesianLogisticRegression(prior_scale=1.0, tol=1e-10).fit(X[:20], y[:20])
    for k in range(20, 25):
        parts.partial_fit(X[[k]], y[k : k + 1])
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-7)
    np.testing.assert_allclose(parts.posterior_.variances(), whole.posterior_.variances(), rtol=1e-6)
    assert abs(parts.log_evidence_ - whole.log_evidence_) < 1e-6


def test_sparse_rows_answer_like_dense_ones(cancer):
    X, y = cancer
    dense = BayesianLogisticRegression(tol=1e-9).fit(X[:20], y[:20])
    sparse = BayesianLogisticRegression(tol=1e-9).fit(sp.csr_array(X[:20]), y[:20])
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-7)
    for scorer in ("information_gain", "predictive_variance", "predictive_information_gain"):
        options = {"scorer": scorer, "target": X[:10] if scorer.startswith("predictive_i") else None}
        chosen = dense.select(X, 3, **options)
        options["target"] = None if options["target"] is None else sp.csr_array(options["target"])
        assert sparse.select(sp.csr_array(X), 3, **options).tolist() == chosen.tolist()


def test_prior_answers_before_any_data_and_for_the_class_not_seen_yet(cancer):
    X, y = cancer
    model = BayesianLogisticRegression(classes=[0, 1])
    with pytest.raises(NotFittedError):
        model.predict(X)
    first = model.select(X, scorer="information_gain")  # by the prior: the longest row has the least certain class
    assert first.tolist() == [int(np.argmax((X**2).sum(axis=1)))]
    model.partial_fit(X[[3]], y[[3]])
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), 2)
    assert probabilities[3, y[3]] > 0.5
    assert 0 < probabilities.min()
    assert model.select(X).shape == (1,)
    named_late = BayesianLogisticRegression().partial_fit(X[[3]], ["ham"], classes=["ham", "spam"])
    assert named_late.classes_.tolist() == ["ham", "spam"]
    assert named_late.predictive(X[:2]).outcomes.tolist() == ["ham", "spam"]
    with pytest.warns(UserWarning, match="one class only, 'a'"):
        lone = BayesianLogisticRegression().fit(X[:4], ["a"] * 4)
    assert lone.predict(X[:2]).tolist() == ["a", "a"]
    lone.partial_fit(X[4:6], ["b", "a"])
    assert lone.classes_.tolist() == ["a", "b"]
    assert lone.predict_proba(X[:4])[:, 0].mean() > 0.5


def test_refused_answers_leave_the_model_as_it_was(cancer):
    X, y = cancer
    model = BayesianLogisticRegression(classes=[0, 1]).fit(X[:40], y[:40])
    before = model.posterior_.mean.copy()
    for rows, labels, words in [
        (X[:1], [7], "the known classes are .0, 1."),
        (X[:1, :3], [1], "features"),
        (np.full((1, 30), np.nan), [1], "NaN"),
        (X[:2], [1], "inconsistent"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.partial_fit(rows, labels)
    assert np.array_equal(model.posterior_.mean, before)
    fresh = BayesianLogisticRegression(classes=["a", "b"])
    with pytest.raises(ValueError, match="'c'.*known classes are \\['a', 'b'\\]"):
        fresh.partial_fit(X[:2], ["a", "c"])
    assert not hasattr(fresh, "n_features_in_")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"prior": "cauchy"}, "prior must be one of 'gaussian', 'laplace', 'student_t', got 'cauchy'"),
        ({"df": 0.0}, "df must be > 0, got 0.0"),
        ({"prior": "student_t", "inference": "laplace_approximation"}, 'use "variational_bounds"'),
        ({"link": "cloglog"}, "link must be one of 'logit', 'probit'"),
        ({"inference": "laplace"}, "Did you mean 'laplace_approximation'"),
        ({"inference": 3}, "inference must be a name or a callable"),
        ({"prior_scale": 0.0}, "prior_scale must be > 0, got 0.0"),
        ({"classes": [1]}, "classes must name two labels or more"),
        ({"multi_class": "ovr"}, "multi_class must be one of 'softmax', 'one_vs_rest'"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"tol": -1.0}, "tol must be >= 0"),
    ],
)
def test_bad_settings_end_in_one_sentence(settings, sentence, cancer):
    X, y = cancer
    with pytest.raises(ValueError, match=sentence):
        BayesianLogisticRegression(**settings).fit(X[:20], y[:20])


def test_laplace_prior_with_laplaces_method_is_refused(cancer):
    with pytest.raises(ValueError, match="laplace_approximation"):
        BayesianLogisticRegression("laplace", inference="laplace_approximation").fit(cancer[0][:20], cancer[1][:20])


@pytest.mark.parametrize(
    "settings",
    [{}, {"prior": "laplace"}, {"prior": "student_t", "prior_scale": 1.0}, {"inference": "variational_bounds"}],
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.filterwarnings("ignore:y holds one class")
def test_state_comes_back_to_the_last_bit(cancer, settings, sparse):
    X = sp.csr_array(cancer[0][:, :8]) if sparse else cancer[0][:, :8]
    model = BayesianLogisticRegression(**settings).fit(X[:15], cancer[1][:15])
    copy = BayesianLogisticRegression(**settings).restore(model.state())
    for _ in range(2):
        assert np.array_equal(copy.posterior_.mean, model.posterior_.mean)
        assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
        for one in (model, copy):
            one.partial_fit(X[[20]], cancer[1][[20]])


def test_non_convergence_warns_and_is_reported(cancer):
    with pytest.warns(ConvergenceWarning):
        model = BayesianLogisticRegression(prior_scale=1.0, max_iter=1, tol=0).fit(cancer[0][:50], cancer[1][:50])
    assert not model.converged_
    assert len(model.objective_trace_) == model.n_iter_ == 1


def test_extreme_features_stay_finite():
    rng = np.random.default_rng(0)
    X = np.c_[rng.standard_normal((30, 2)) * [1e6, 1e-6], np.zeros(30)]
    y = X[:, 0] > 0
    for engine in ENGINES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "columns of X differ")
            model = BayesianLogisticRegression(inference=engine).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.score(X, y) > 0.9
        assert np.isfinite(model.select(X, 2, return_scores=True)[1]).all()


def test_a_callable_is_an_inference(cancer):
    engine = functools.partial(inference.variational_bounds, logdet_bound=1)
    X, y = cancer[0][:40, :4], cancer[1][:40]
    by_callable = BayesianLogisticRegression(inference=engine, prior_scale=1.0, tol=1e-9).fit(X, y)
    by_name = BayesianLogisticRegression(inference="variational_bounds", prior_scale=1.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(by_callable.coef_, by_name.coef_, atol=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_is_a_number_of_answers(cancer, engine, sparse):
    """Weights 0, 1, 3 are no row, one row, three rows; the scale is learnt alike, and later answers add to them."""
    X, y = cancer[0][:30, :4], cancer[1][:30]
    settings = {"inference": engine, "tol": 1e-9, "update": "refit"}
    counts = np.arange(30) % 4
    table = sp.csr_array if sparse else np.asarray
    weighted = BayesianLogisticRegression(**settings).fit(table(X), y, sample_weight=counts)
    repeated = BayesianLogisticRegression(**settings)
    repeated.fit(table(np.repeat(X, counts, axis=0)), np.repeat(y, counts))
    assert weighted.prior_scale_ == pytest.approx(repeated.prior_scale_, rel=1e-4)
    np.testing.assert_allclose(weighted.predict_proba(table(X)), repeated.predict_proba(table(X)), atol=1e-5)
    weighted.partial_fit(table(X[:2]), y[:2], sample_weight=[2.0, 0.0])
    repeated.partial_fit(table(X[[0, 0]]), y[[0, 0]])
    np.testing.assert_allclose(weighted.predict_proba(table(X)), repeated.predict_proba(table(X)), atol=1e-4)
    assert weighted.score(table(X), y, sample_weight=counts) > 0.8
    copy = BayesianLogisticRegression(**settings).restore(weighted.state())
    assert np.array_equal(copy.predict_proba(table(X)), weighted.predict_proba(table(X)))


def test_bad_weights_are_refused_and_nothing_is_lost(cancer):
    X, y = cancer
    model = BayesianLogisticRegression(prior_scale=1.0).fit(X[:20], y[:20])
    before = model.posterior_.mean.copy()
    for weights, words in [
        ([-1.0, 1.0], "sample_weight must be >= 0"),
        ([np.nan, 1.0], "sample_weight contains nan"),
        ([1.0], r"sample_weight must have shape \(2,\)"),
        ([0.0, 0.0], "sample_weight must not be zero everywhere"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.partial_fit(X[:2], y[:2], sample_weight=weights)
    assert np.array_equal(model.posterior_.mean, before) and len(model.y_train_) == 20


def test_labellers_who_disagree_leave_a_class_uncertain():
    X = np.array([[1.0]])
    model = BayesianLogisticRegression(prior_scale=3.0, classes=["a", "b"], fit_intercept=False)
    for votes, expected in [(["a", "b"], 0.5), (["b"] * 30, None)]:
        for vote in votes:
            model.partial_fit(X, [vote])
        share = model.predict_proba(X)[0, 1]
        assert share == pytest.approx(expected, abs=1e-6) if expected else 0.8 < share < 1


def broken(change):
    """A sparse row whose indices were changed behind SciPy's back."""
    X = sp.random(4, 30, density=0.5, format="csr", random_state=0)
    change(X)
    return X


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        (np.full((2, 30), np.nan), "^Input X contains NaN, first in row 0; leave out rows that are not known.$"),
        (
            sp.csr_array(np.where(np.arange(90).reshape(3, 30) == 40, np.inf, np.eye(3, 30))),
            "^Input X contains infinity .*, first in row 1; leave out",
        ),
        (np.empty((0, 30)), "^candidates is empty: there is nothing to select from.$"),
        (np.zeros((2, 29)), "^X has 29 features, but BayesianLogisticRegression is expecting 30 features as input.$"),
        (broken(lambda X: X.indices.__setitem__(5, -7)), "^X is a broken sparse .* run from -7 to .*overflow 32 bits"),
        (broken(lambda X: X.indices.__setitem__(5, 2**31 - 3)), "^X is a broken sparse .* to 2147483645, outside"),
        (broken(lambda X: X.indptr.__setitem__(-1, 10**6)), "^X is a broken sparse matrix: its indptr does not rise"),
        (broken(lambda X: X.indptr.__setitem__(2, -9)), "^X is a broken sparse matrix: its indptr does not rise"),
        (
            sp.csr_array((np.ones(1), np.array([2**31 + 5]), np.array([0, 1])), shape=(1, 2**31 + 9)),
            "^X must have at most 2147483647 columns",
        ),
    ],
)
@pytest.mark.parametrize("update", ["refit", "inclusion"])
def test_bad_pools_end_in_one_sentence_and_nothing_is_lost(cancer, pool, words, update):
    X, y = cancer
    model = BayesianLogisticRegression(prior_scale=1.0, update=update).fit(X[:20], y[:20])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=words):
        model.select(pool)
    if pool.shape[0]:
        with pytest.raises(ValueError, match=words):
            model.partial_fit(pool, np.zeros(pool.shape[0], dtype=int))
        with pytest.raises(ValueError, match=words.replace("^X has 29 features.*", "features")):
            model.predict(pool)
    with pytest.raises(ValueError, match="^n_select is 5, but only 3 of 3 candidates are allowed.$"):
        model.select(X[:3], 5)
    assert np.array_equal(model.predict_proba(X), before) and len(model.y_train_) == 20


def test_sparse_tables_with_long_indices_are_read(cancer):
    X, y = sp.csr_array(cancer[0]), cancer[1]
    long = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    short, model = (BayesianLogisticRegression(prior_scale=1.0).fit(rows[:30], y[:30]) for rows in (X, long))
    model.partial_fit(X[30:32], y[30:32]).partial_fit(long[32:34], y[32:34])
    short.partial_fit(X[30:32], y[30:32]).partial_fit(X[32:34], y[32:34])
    assert np.array_equal(model.predict_proba(long), short.predict_proba(X))
    assert model.select(long).tolist() == short.select(X).tolist()


def test_columns_in_another_order_are_refused(cancer):
    frame = pd.DataFrame(cancer[0], columns=[f"c{i}" for i in range(30)])
    model = BayesianLogisticRegression(prior_scale=1.0, update="inclusion").fit(frame[:20], cancer[1][:20])
    for use in (model.predict, model.select, lambda rows: model.partial_fit(rows, cancer[1][: len(rows)])):
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            use(frame[frame.columns[::-1]][:50])
    assert model.select(frame).shape == (1,)


def test_a_sparse_prior_finds_few_relevant_features():
    """Of 40 features 3 matter: the heavier the tails the better the forecasts, and the smaller the other weights."""
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((400, 40)), np.r_[3.0, -2.5, 2.0, np.zeros(37)]
    y = (rng.random(400) < expit(X @ weights)).astype(int)
    losses, shares = {}, {}
    for prior in ("student_t", "laplace", "gaussian"):
        model = BayesianLogisticRegression(prior, inference="variational_bounds").fit(X[:120], y[:120])
        losses[prior] = -model.log_predictive(X[120:], y[120:]).mean()
        shares[prior] = np.abs(model.coef_[0, 3:]).sum() / np.abs(model.coef_[0, :3]).sum()
    assert losses["laplace"] < losses["gaussian"] - 0.02
    assert shares["laplace"] < 0.7 * shares["gaussian"]
    assert losses["student_t"] < losses["laplace"] - 0.01
    assert shares["student_t"] < 0.7 * shares["laplace"]


def test_uncertainty_is_the_distance_from_one_half(cancer):
    X, y = cancer
    model = BayesianLogisticRegression(prior_scale=1.0).fit(X[:40], y[:40])
    belief = model.predictive(X[40:])
    nodes = np.linspace(-12, 12, 4_001)
    latents = belief.mean[:, None] + np.sqrt(belief.variance)[:, None] * nodes
    averages = trapezoid(expit(latents) * np.exp(-(nodes**2) / 2), nodes) / np.sqrt(2 * np.pi)
    positions, scores = model.select(X[40:], 5, scorer="uncertainty", joint=False, return_scores=True)
    np.testing.assert_allclose(scores, 0.5 - np.sort(np.abs(averages - 0.5))[:5], atol=1e-6)
    assert positions.tolist() == np.argsort(np.abs(averages - 0.5))[:5].tolist()


@pytest.mark.parametrize(
    ("engine", "prior"),
    [("expectation_propagation", "gaussian"), ("expectation_propagation", "laplace")]
    + [("laplace_approximation", "gaussian")]
    + [("variational_bounds", prior) for prior in ("gaussian", "laplace", "student_t")],
)
def test_slope_of_the_evidence_is_that_of_refits(cancer, engine, prior):
    X, y = cancer[0][:40, :6], cancer[1][:40]
    settings = LogisticSettings(prior, inference=engine, tol=1e-11, max_iter=2000)
    problem = Problem(settings, LabelledRows(X, y, np.arange(2)))
    for log_scale in (-1.5, 0.7):
        ends = [problem.evaluate(log_scale + side, None, False).value for side in (-1e-3, 1e-3)]
        found = problem.evaluate(log_scale, None, False)
        assert found.slope == pytest.approx((ends[1] - ends[0]) / 2e-3, abs=2e-3)
        assert 0 <= found.curvature <= 6


@pytest.fixture(scope="module")
def words():
    """Sparse rows of 300 features, of which 10 matter."""
    rng = np.random.default_rng(3)
    X = sp.random(200, 300, density=0.05, random_state=rng, format="csr")
    y = (rng.random(200) < expit(12 * np.asarray(X[:, :10].sum(axis=1)).ravel() - 2)).astype(int)
    return X, y


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("variances", ["sampled", "lanczos"])
def test_variances_without_matrices_are_a_choice(words, prior, variances):
    """Products only: the forecasts of exact variances, in the loop's terms; the state comes back to the last bit."""
    X, y = words
    options = {"sampled": {"n_samples": 200}, "lanczos": {"n_steps": 120}}[variances]
    engine = functools.partial(inference.variational_bounds, variances=variances, **options)
    settings = {"prior": prior, "prior_scale": 2.0, "tol": 1e-2, "random_state": 0, "max_iter": 10}
    exact = BayesianLogisticRegression(inference="variational_bounds", **settings).fit(X[:80], y[:80])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of Lanczos variances, whose widths creep to zero
        model = BayesianLogisticRegression(inference=engine, **settings).fit(X[:80], y[:80])
        assert isinstance(model.posterior_, inference.LargePosterior)
        if (prior, variances) != ("laplace", "lanczos"):
            np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=0.12)
        model.partial_fit(X[80:82], y[80:82])
        assert np.mean(model.predict(X) == exact.predict(X)) > 0.9
        copy = BayesianLogisticRegression(inference=engine, **settings).restore(model.state())
        assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
        for scorer in ("information_gain", "uncertainty", "predictive_information_gain"):
            target = X[:5] if scorer.startswith("predictive_i") else None
            chosen = [one.select(X, 3, scorer=scorer, target=target, random_state=1) for one in (model, copy)]
            assert chosen[0].tolist() == chosen[1].tolist()


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_the_scale_is_learnt_from_sampled_variances(words, prior):
    X, y = words
    engine = functools.partial(inference.variational_bounds, variances="sampled", n_samples=100)
    exact = BayesianLogisticRegression(prior, inference="variational_bounds").fit(X, y)
    sampled = BayesianLogisticRegression(prior, inference=engine, tol=3e-2, random_state=0).fit(X, y)
    assert sampled.prior_scale_ == pytest.approx(exact.prior_scale_, rel=0.25)


def test_a_matrix_too_large_is_refused_with_what_to_do():
    X = sp.eye(30, 30_000, format="csr")
    with pytest.raises(ValueError, match='30001 x 30001 .* variances="sampled" or "lanczos" forms no matrix'):
        BayesianLogisticRegression("laplace", inference="variational_bounds", prior_scale=1.0).fit(X, [0, 1] * 15)
