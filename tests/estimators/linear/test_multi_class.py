"""More than two classes: a joint softmax, or each against the rest."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.estimators.linear.binary_belief import BinaryBelief
from adaptive.estimators.linear.settings import LogisticSettings
from adaptive.estimators.linear.softmax_belief import SoftmaxBelief, _Problem
from adaptive.estimators.rows.training import LabelledRows
from adaptive.inference.evidence.maximise import LogNormal
from adaptive.inference.softmax.row_space import RowSpace

KINDS = ["softmax", "one_vs_rest"]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def rows_and_codes(m, n_features, c, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n_features))
    scores = X @ rng.standard_normal((n_features, c)) * 2
    return X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


@pytest.mark.parametrize("shape", [(40, 3), (6, 10)])
def test_of_two_classes_it_is_the_binary_model(shape):
    X, y = rows_and_codes(*shape, 2)
    settings = LogisticSettings(prior_scale=2.0, inference="laplace_approximation", tol=1e-12)
    ours = SoftmaxBelief.learnt(settings, LabelledRows(X, y, np.arange(2)))
    binary = BinaryBelief.learnt(settings, LabelledRows(X, y, np.arange(2)))
    rows = np.random.default_rng(1).standard_normal((5, shape[1]))
    assert ours.log_evidence == pytest.approx(binary.log_evidence, abs=1e-6)
    np.testing.assert_allclose(ours.probabilities(rows), binary.probabilities(rows), atol=1e-6)
    (weights, biases), (theirs, bias) = ours.coefficients(), binary.coefficients()
    np.testing.assert_allclose(weights[1] - weights[0], theirs[0], atol=1e-6)
    np.testing.assert_allclose(biases[1] - biases[0], bias[0], atol=1e-6)


def test_with_fewer_rows_than_features_nothing_is_lost(monkeypatch):
    """The coordinates of the labelled rows and what they leave at the prior are the same posterior."""
    X, y = rows_and_codes(8, 10, 3)
    settings, training = LogisticSettings(prior_scale=1.5, tol=1e-13, max_iter=1000), LabelledRows(X, y, np.arange(3))
    rng = np.random.default_rng(2)
    rows, target = rng.standard_normal((6, 10)), rng.standard_normal((2, 10))
    small = SoftmaxBelief.learnt(settings, training)
    assert not small.space.direct and small.posterior.n == 2 * 8
    monkeypatch.setattr(RowSpace, "__init__", _always_direct(RowSpace.__init__))
    full = SoftmaxBelief.learnt(settings, training)
    assert full.posterior.n == 2 * 11
    assert small.log_evidence == pytest.approx(full.log_evidence, abs=1e-9)
    np.testing.assert_allclose(small.coefficients()[0], full.coefficients()[0], atol=1e-9)
    np.testing.assert_allclose(small.coefficients()[1], full.coefficients()[1], atol=1e-9)
    one, other = (b.predictive(rows, target=target, random_state=1) for b in (small, full))
    np.testing.assert_allclose(one.covariance([0, 1], [3, 4]), other.covariance([0, 1], [3, 4]), atol=1e-9)
    np.testing.assert_allclose(one.expected_entropy, other.expected_entropy, atol=1e-9)
    after, same = one.given(0, 1).given(2, 0), other.given(0, 1).given(2, 0)
    np.testing.assert_allclose(after.probabilities, same.probabilities, atol=1e-9)
    np.testing.assert_allclose(after.target.probabilities, same.target.probabilities, atol=1e-9)
    np.testing.assert_allclose(after.draws(20_000)[1].mean(axis=0), after.probabilities, atol=0.02)


def _always_direct(init):
    def wrapped(self, *args, **options):
        init(self, *args, **options)
        self.direct = True

    return wrapped


@pytest.mark.parametrize("shape", [(60, 3), (8, 10)])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_slope_of_the_evidence_is_its_derivative(shape, intercept):
    X, y = rows_and_codes(*shape, 4)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    problem = _Problem(
        LogisticSettings(tol=1e-13, max_iter=1000, fit_intercept=intercept), LabelledRows(X, y, np.arange(4), weights)
    )
    at, below, above = (problem.evaluate(t, None, False) for t in (0.3, 0.3 - 1e-4, 0.3 + 1e-4))
    assert at.slope == pytest.approx((above.value - below.value) / 2e-4, abs=1e-3)


@pytest.mark.parametrize("engine", ["variational_bounds", "laplace_approximation"])
def test_the_learnt_scale_is_where_laplaces_evidence_times_prior_is_largest(iris, engine):
    X, y = iris[0][::4], iris[1][::4]
    model = BayesianLogisticRegression(inference=engine, tol=1e-8).fit(X, y)
    centre = np.log(3.0 / np.sqrt(np.mean(np.sum(X**2, axis=1))))

    def value(t):
        at = BayesianLogisticRegression(inference="laplace_approximation", tol=1e-8, prior_scale=np.exp(t)).fit(X, y)
        return at.log_evidence_ - 0.5 * ((t - centre) / LogNormal.width) ** 2

    assert model.evidence_kind_ == ("lower_bound" if engine == "variational_bounds" else "approximation")
    best = np.log(model.prior_scale_)
    assert value(best) >= max(value(best - 0.3), value(best + 0.3)) - 0.01  # the search stops within 0.01 nats


def test_probabilities_are_near_those_of_the_exact_posterior():
    """Three classes, two features, no intercept: self-normalised importance sampling of four unknowns."""
    X, y = rows_and_codes(15, 2, 3, seed=4)
    model = BayesianLogisticRegression(prior_scale=2.0, fit_intercept=False).fit(X, y)
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((100_000, 3, 2)) * 2.0 / np.sqrt(2.0)  # differences have the standard deviation 2
    scores = np.einsum("ncd,md->nmc", weights, X)
    logs = np.take_along_axis(scores, np.broadcast_to(y, scores.shape[:2])[..., None], 2)[..., 0].sum(axis=1)
    logs -= logsumexp(scores, axis=2).sum(axis=1)
    shares = np.exp(logs - logsumexp(logs))
    assert 1 / np.sum(shares**2) > 80
    rows = rng.standard_normal((8, 2)) * 1.5
    exact = np.tensordot(shares, softmax(np.einsum("ncd,md->nmc", weights, rows), axis=2), axes=1)
    np.testing.assert_allclose(model.predict_proba(rows), exact, atol=0.06)
    assert model.log_evidence_ <= logsumexp(logs) - np.log(len(logs)) + 0.1 and model.evidence_kind_ == "lower_bound"


@pytest.mark.parametrize("kind", KINDS)
def test_learning_answer_by_answer_reaches_what_fit_reaches(iris, kind):
    X, y = iris
    rows = np.random.default_rng(0).permutation(len(y))[:24]
    settings = {"multi_class": kind, "tol": 1e-8, "prior_scale": 1.5}
    whole = BayesianLogisticRegression(**settings).fit(X[rows], y[rows])
    parts = BayesianLogisticRegression(**settings, classes=np.unique(y))
    for start in range(0, 24, 6):
        parts.partial_fit(X[rows[start : start + 6]], y[rows[start : start + 6]])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_come_one_by_one(iris, kind):
    X, y = iris
    named = BayesianLogisticRegression(classes=np.unique(y), multi_class=kind)
    assert named.predictive(X[:3]).outcomes.tolist() == ["setosa", "versicolor", "virginica"]
    assert named.select(X).shape == (1,)
    named.partial_fit(X[:1], y[:1])  # one class only, the others are named
    p = named.predict_proba(X[:40])
    assert p.shape == (40, 3) and p[0, 0] > 1 / 3 and p.min() > 0
    grown = BayesianLogisticRegression(multi_class=kind)
    for i, known in [(0, 1), (60, 2), (120, 3)]:
        grown.partial_fit(X[[i]], y[[i]])
        assert len(grown.classes_) == known and grown.predict_proba(X).shape == (150, known)
    grown.partial_fit(X[[10]], y[[10]], classes=["setosa", "hybrid"])
    assert grown.classes_.tolist() == ["hybrid", "setosa", "versicolor", "virginica"]
    assert grown.predict_proba(X[:5])[:, 1].min() > 0.25
    with pytest.raises(ValueError, match="'lily'.*known classes are"):
        named.partial_fit(X[:1], ["lily"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [3, 40])
def test_sparse_rows_answer_like_dense_ones(iris, kind, m):
    X, y = iris[0] * (np.abs(iris[0]) > 0.5), iris[1]
    rows = np.random.default_rng(0).permutation(len(y))[:m]
    settings = {"classes": np.unique(y), "multi_class": kind, "tol": 1e-9 if kind == "one_vs_rest" else 1e-4}
    dense = BayesianLogisticRegression(**settings).fit(X[rows], y[rows])
    sparse = BayesianLogisticRegression(**settings).fit(sp.csr_array(X[rows]), y[rows])
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
    chosen = dense.select(X, 3, random_state=0)
    assert sparse.select(sp.csr_array(X), 3, random_state=0).tolist() == chosen.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [3, 40])
def test_state_comes_back_to_the_last_bit(iris, kind, m):
    X, y = iris
    rows = np.random.default_rng(1).permutation(len(y))[:m]
    settings = {"classes": np.unique(y), "multi_class": kind}
    model = BayesianLogisticRegression(**settings).fit(X[rows], y[rows])
    back = BayesianLogisticRegression(**settings).restore(copy.deepcopy(model.state()))
    assert np.array_equal(back.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(back.coef_, model.coef_) and back.log_evidence_ == model.log_evidence_
    assert np.array_equal(back.objective_trace_, model.objective_trace_) and back.converged_ == model.converged_
    more = X[[5, 70]], y[[5, 70]]
    assert np.array_equal(back.partial_fit(*more).predict_proba(X), model.partial_fit(*more).predict_proba(X))


def test_what_the_softmax_has_no_way_for_is_said(iris):
    X, y = iris
    for settings in ({"prior": "laplace"}, {"link": "probit"}, {"inference": lambda model, **options: None}):
        model = BayesianLogisticRegression(**settings, classes=np.unique(y))
        for act in (lambda m: m.fit(X, y), lambda m: m.predictive(X)):
            with pytest.raises(ValueError, match='Only binary classification .* or multi_class="one_vs_rest"'):
                act(model)
    sparse_prior = BayesianLogisticRegression(prior="laplace", prior_scale=1.0, multi_class="one_vs_rest").fit(X, y)
    assert sparse_prior.score(X, y) > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_decide_nearly_as_probabilities_do(iris, kind):
    X, y = iris
    model = BayesianLogisticRegression(multi_class=kind).fit(X, y)
    assert model.coef_.shape == (3, 4) and model.intercept_.shape == (3,)
    scores = X @ model.coef_.T + model.intercept_
    assert np.mean(model.classes_[scores.argmax(axis=1)] == model.predict(X)) > 0.97
    assert np.array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.decision_function(X)), model.predict_proba(X), rtol=1e-9)
    p = model.predict_proba(X)
    np.testing.assert_allclose(
        model.log_predictive(X, y), np.log(p[np.arange(150), np.searchsorted(model.classes_, y)])
    )


def test_what_is_learnt_about_one_class_is_told_to_the_others(iris):
    """Joint information: candidates that look alike have dependent outcomes, and answers teach about all classes."""
    X, y = iris
    model = BayesianLogisticRegression(prior_scale=1.0, classes=np.unique(y)).fit(X[::15], y[::15])
    belief = model.predictive(X, random_state=0)
    after = belief.given(70, "versicolor")
    moved = after.probabilities - belief.probabilities
    assert moved[75, 1] > 0.01 and moved[75, 0] < 0 and moved[75, 2] < 0
    covariance = belief.score_covariance[75]
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() > 0.1


def test_digits_are_told_apart_as_well_as_by_logistic_regression():
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    rows = np.random.default_rng(0).permutation(len(y))
    learn, rest = rows[:150], rows[150:]
    model = BayesianLogisticRegression().fit(X[learn], y[learn])
    peer = LogisticRegression(max_iter=2000).fit(X[learn], y[learn])
    ours = -model.log_predictive(X[rest], y[rest]).mean()
    theirs = -np.log(peer.predict_proba(X[rest])[np.arange(len(rest)), y[rest]]).mean()
    assert model.score(X[rest], y[rest]) > peer.score(X[rest], y[rest]) - 0.02
    assert ours < theirs + 0.05


def test_the_loop_asks_about_three_classes(iris):
    X, y = iris
    design = SequentialDesign(
        BayesianLogisticRegression(classes=np.unique(y)), X, lambda query: y[query.positions], batch_size=2,
        initial=2, random_state=0,
    )  # fmt: skip
    design.run(8)
    assert design.estimator_.score(X, y) > 0.85 and len(set(design.history_["position"])) == len(
        design.history_["position"]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_is_so_many_equal_answers(iris, kind):
    X, y = iris[0][::10], iris[1][::10]
    weights = np.arange(len(y)) % 3 + 1
    settings = {"multi_class": kind, "prior_scale": 1.5, "tol": 1e-10}
    weighted = BayesianLogisticRegression(**settings).fit(X, y, sample_weight=weights)
    copies = BayesianLogisticRegression(**settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(iris[0]), copies.predict_proba(iris[0]), atol=1e-5)
    assert weighted.log_evidence_ == pytest.approx(copies.log_evidence_, abs=1e-4)
