"""A pipeline keeps the posterior at its end: all is as with the last step on features that were made by hand."""

import copy
import pickle
import warnings

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from adaptive import (
    BayesianLogisticRegression,
    ClassifierView,
    GaussianProcessRegressor,
    PipelineView,
    SequentialDesign,
    SparseLinearRegression,
    cite,
    compare_with_random,
)
from adaptive.estimators import wrap
from adaptive.loop import EventLog
from adaptive.loop.log.counted import count_path
from adaptive.loop.log.snapshots import snapshot_path

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3)) * [1.0, 500.0, 0.01] + [0.0, 3000.0, 5.0]
Y = np.where((X - X.mean(axis=0)) / X.std(axis=0) @ [1.0, -1.0, 0.5] > 0, "yes", "no")
FRAME = pandas.DataFrame({"size": X[:, 1], "colour": np.array(["red", "green", "blue"])[RNG.integers(0, 3, 60)]})
FRAME.index = [f"row {k}" for k in range(60)]


def model(**options):
    return BayesianLogisticRegression(classes=["no", "yes"], **options)


def measure(query):
    return Y[query.positions]


def run(estimator, pool, steps=10, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return SequentialDesign(estimator, pool, measure, scorer="information_gain", random_state=0, **options).run(
            steps
        )


def columns():
    return make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["colour"]))


class Counting(TransformerMixin, BaseEstimator):
    """Standardises, and counts the rows that it is asked about."""

    rows = 0

    def fit(self, X, y=None):
        self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0)
        return self

    def transform(self, X):
        type(self).rows += len(X)
        return (X - self.mean_) / self.scale_


@pytest.mark.parametrize(
    ("pipeline", "pool", "rows"),
    [
        (lambda last: make_pipeline(StandardScaler(), last), X, StandardScaler().fit_transform(X)),
        (lambda last: make_pipeline(columns(), last), FRAME, columns().fit_transform(FRAME)),
        (lambda last: make_pipeline(last), StandardScaler().fit_transform(X), StandardScaler().fit_transform(X)),
        (lambda last: make_pipeline("passthrough", StandardScaler(), last), X, StandardScaler().fit_transform(X)),
    ],
    ids=["scaler", "columns of a frame", "no transformer", "passthrough"],
)
@pytest.mark.parametrize(
    "last",
    [model(), model(inference="variational_bounds", update="inclusion")],
    ids=["refit", "inclusion"],
)
def test_the_loop_asks_what_it_asks_of_the_last_step_alone(pipeline, pool, rows, last):
    given = pipeline(last)
    before = pickle.dumps(given)
    ours, by_hand = run(given, pool, batch_size=2), run(last, rows, batch_size=2)
    assert ours.history_["position"] == by_hand.history_["position"]
    np.testing.assert_array_equal(ours.history_["score"], by_hand.history_["score"])
    np.testing.assert_array_equal(ours.estimator_.predict_proba(pool), by_hand.estimator_.predict_proba(rows))
    np.testing.assert_array_equal(ours.estimator_.posterior_.mean, by_hand.estimator_.posterior_.mean)
    assert pickle.dumps(given) == before  # the user's own pipeline has learnt nothing


def test_fields_what_ifs_targets_and_costs_are_those_of_the_last_step():
    rows = StandardScaler().fit_transform(X)
    view = wrap(make_pipeline(StandardScaler(), model(hyperparameters="mode"))).prepare(X).partial_fit(X[:9], Y[:9])
    alone = model(hyperparameters="mode").partial_fit(rows[:9], Y[:9])
    assert isinstance(view, PipelineView) and view.default_scorer == alone.default_scorer
    ours, theirs = view.predictive(X, target=X[:5]), alone.predictive(rows, target=rows[:5])
    supposed = [[one for _, one in belief.scenarios(3)] for belief in (ours, theirs)]
    for one, other in [(ours, theirs), (ours.target, theirs.target), *zip(*supposed, strict=True)]:
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.variance, other.variance)
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
    np.testing.assert_array_equal(ours.target_covariance, theirs.target_covariance)
    cost = np.linspace(1, 2, 60)
    options = {"scorer": "predictive_information_gain", "return_scores": True, "exclude": [4], "chunk_size": 7}
    options["random_state"] = 0
    mine = view.select(X, 4, target=X[:5], cost=lambda pool: cost[: len(pool)], pending=X[10:12], **options)
    same = alone.select(rows, 4, target=rows[:5], cost=cost, pending=rows[10:12], **options)
    np.testing.assert_array_equal(mine, same)
    np.testing.assert_array_equal(view.log_predictive(X, Y), alone.log_predictive(rows, Y))
    assert view.score(X, Y) == alone.score(rows, Y) and view.classes_.tolist() == ["no", "yes"]
    assert "minka2001" in cite(view)


def test_a_pool_is_transformed_once():
    Counting.rows = 0
    design = run(make_pipeline(Counting(), model()), X, steps=8)
    assert Counting.rows == len(X) + 8  # the pool, and what was asked
    copy.deepcopy(design).run(1)
    assert Counting.rows == len(X) + 9


@pytest.mark.parametrize("n_events", [1, 7, 12])
def test_a_killed_run_asks_on_as_if_nothing_had_happened(tmp_path, n_events):
    whole = run(make_pipeline(columns(), model()), FRAME, 9)
    log = EventLog(tmp_path / "log", snapshot_every=3)
    design = run(make_pipeline(columns(), model()), FRAME, 6, log=log)
    design.close()
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(b"".join(lines[: 1 + n_events]))
    for beside in (count_path(log.path), snapshot_path(log.path)):  # of more, perhaps
        beside.unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = SequentialDesign.load(log.path, make_pipeline(columns(), model()), FRAME, measure)
    again.run(9 - again.iteration)
    assert again.history_["position"] == whole.history_["position"]
    np.testing.assert_array_equal(again.estimator_.posterior_.mean, whole.estimator_.posterior_.mean)
    again.close()


def test_a_snapshot_about_other_features_is_not_used(tmp_path):
    log = EventLog(tmp_path / "log", snapshot_every=3)
    run(make_pipeline(StandardScaler().fit(X), model()), X, 6, log=log).close()
    other = make_pipeline(StandardScaler().fit(X[:30]), model())
    with pytest.warns(UserWarning, match="make other features of the pool than before.*replaying"):
        SequentialDesign.load(log.path, other, X, measure).close()


def test_fitted_steps_stay_as_they_are():
    scaler = StandardScaler().fit(X[:20])
    fitted = make_pipeline(scaler, model()).fit(X[:20], Y[:20])
    design = run(fitted, X, 3)
    assert design.estimator_.transformers_[0].mean_.tolist() == scaler.mean_.tolist()
    assert len(design.estimator_.estimator_.y_train_) == 23  # a fitted estimator is a starting belief
    with pytest.raises(ValueError, match="last step of the pipeline is fitted, but its StandardScaler is not"):
        SequentialDesign(make_pipeline(StandardScaler(), model().fit(scaler.transform(X), Y)), X)
    # without a pool known beforehand transformers have to be fitted
    with pytest.raises(NotFittedError, match="StandardScaler of the pipeline is not fitted: call prepare"):
        wrap(make_pipeline(StandardScaler(), model())).partial_fit(X[:2], Y[:2])
    ready = SequentialDesign(make_pipeline(scaler, model()), lambda estimator: X, scorer="margin", random_state=0)
    assert ready.ask().positions.shape == (1,)


def test_before_prepare_the_candidates_stand_for_the_pool_and_nothing_is_kept():
    view = PipelineView(make_pipeline(StandardScaler(), model()))
    ready = PipelineView(make_pipeline(StandardScaler(), model())).prepare(X)
    before = pickle.dumps(view)
    for scorer in ("information_gain", "margin"):
        assert view.select(X, 3, scorer=scorer).tolist() == ready.select(X, 3, scorer=scorer).tolist()
    np.testing.assert_array_equal(view.predictive(X).variance, ready.predictive(X).variance)
    assert pickle.dumps(view) == before
    with pytest.raises(NotFittedError):
        view.predict(X)
    assert view.fit(X, Y).score(X, Y) == make_pipeline(StandardScaler(), model()).fit(X, Y).score(X, Y)


@pytest.mark.parametrize("step", [SelectKBest(k=2), TargetEncoder(), VarianceThreshold(1e12)])
def test_what_cannot_be_fitted_on_the_pool_says_what_to_do(step):
    said = f"{type(step).__name__} of the pipeline could not be fitted on the candidates alone.*fit it before, or give "
    with pytest.raises(ValueError, match=said + r"ClassifierView\(pipeline\)"):
        SequentialDesign(make_pipeline(step, model()), X)


def test_what_was_fitted_before_may_learn_from_answers():
    assert run(make_pipeline(SelectKBest(k=2).fit(X, Y), StandardScaler(), model()), X, 2).iteration == 2
    whole = SequentialDesign(ClassifierView(make_pipeline(SelectKBest(k=2), model())), X, measure, random_state=0)
    assert whole.run(6).scorer == "margin"
    assert isinstance(wrap(make_pipeline(StandardScaler(), LogisticRegression())), ClassifierView)


def test_what_draws_makes_the_same_features_again():
    texts = [" ".join(RNG.choice(["cat", "dog", "cow", "hen", "pig", "bee"], 5)) for _ in range(60)]

    def pipeline():
        return make_pipeline(TfidfVectorizer(), TruncatedSVD(3), model())

    first, second = (run(pipeline(), texts, 5) for _ in range(2))
    assert first.history_["position"] == second.history_["position"]
    np.testing.assert_array_equal(first.estimator_.posterior_.mean, second.estimator_.posterior_.mean)


def test_regression_and_gaps():
    gaps = X.copy()
    gaps[5, 1] = np.nan
    numbers = (X[:, 1] - 3000) / 500
    steps = SimpleImputer(), StandardScaler()
    for last in (SparseLinearRegression(), GaussianProcessRegressor(alpha=0.1, optimizer=None)):
        design = SequentialDesign(make_pipeline(*steps, last), gaps, lambda q: numbers[q.positions], random_state=0)
        assert design.exploration == 0.0 and design.run(12).estimator_.score(X, numbers) > 0.5
    with pytest.raises(ValueError, match="the transformed candidates contains NaN or infinity, first in row 5"):
        SequentialDesign(make_pipeline(StandardScaler(), model()), gaps)


def test_a_comparison_tells_the_last_step_the_classes():
    pipeline = make_pipeline(StandardScaler(), BayesianLogisticRegression())
    table = compare_with_random(pipeline, X, Y, scorers="information_gain", n_queries=8, seeds=2, every=4)
    assert table.n_labelled.tolist() == [4, 8] and pipeline[-1].classes is None


def test_a_refused_pool_changes_nothing():
    gaps = np.where(np.arange(60)[:, None] == 5, np.nan, X)
    view = PipelineView(make_pipeline(StandardScaler(), model()))
    with pytest.raises(ValueError, match="first in row 5"):
        view.prepare(gaps)
    assert vars(view).keys() == {"pipeline"}
    by_hand = StandardScaler().fit(X)
    assert view.prepare(X).transformers_[0].mean_.tolist() == by_hand.mean_.tolist()
