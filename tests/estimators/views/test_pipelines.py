"""`adaptive.make_pipeline`: scikit-learn's pipeline in all that is scikit-learn's, and the last step's choices."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline as of_scikit_learn
from sklearn.preprocessing import StandardScaler

import adaptive
from adaptive import BayesianLogisticRegression, PipelineView, SequentialDesign

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 100.0, 0.01] + [0.0, 500.0, 0.0]
Y = (X[:, 0] + 0.01 * (X[:, 1] - 500.0) > 0).astype(int)


def model(**options):
    return BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode", **options)


def test_it_chooses_and_learns_as_the_last_step_on_transformed_rows():
    pipeline = adaptive.make_pipeline(StandardScaler(), model()).prepare(X)
    rows, plain = StandardScaler().fit_transform(X), model()
    for _ in range(3):
        chosen = pipeline.select(X, 2, random_state=0)
        np.testing.assert_array_equal(chosen, plain.select(rows, 2, random_state=0))
        pipeline.partial_fit(X[chosen], Y[chosen])
        plain.partial_fit(rows[chosen], Y[chosen])
    np.testing.assert_allclose(pipeline.predict_proba(X), plain.predict_proba(rows), rtol=1e-12)
    np.testing.assert_allclose(pipeline.log_predictive(X, Y), plain.log_predictive(rows, Y), rtol=1e-12)
    target = pipeline.predictive(X, target=X[:4], random_state=0).target
    np.testing.assert_allclose(target.mean, plain.predictive(rows[:4]).mean, rtol=1e-9)


def test_it_is_scikit_learns_pipeline_in_all_else():
    ours, theirs = (make(StandardScaler(), model()) for make in (adaptive.make_pipeline, of_scikit_learn))
    assert list(ours.named_steps) == list(theirs.named_steps) and ours.get_params().keys() == theirs.get_params().keys()
    assert ours.fit(X, Y).score(X, Y) == theirs.fit(X, Y).score(X, Y)
    scores = [cross_val_score(clone(one), X, Y, cv=3) for one in (ours, theirs)]
    np.testing.assert_array_equal(*scores)
    search = GridSearchCV(clone(ours), {"standardscaler__with_mean": [True, False]}, cv=3).fit(X, Y)
    assert search.best_estimator_.select(X).shape == (1,)
    assert isinstance(clone(ours), type(ours)) and "StandardScaler" in ours._repr_html_()


def test_set_output_gives_the_last_step_names():
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    pipeline = adaptive.make_pipeline(StandardScaler(), model()).set_output(transform="pandas").prepare(frame)
    assert list(pipeline[:-1].transform(frame).columns) == ["age", "dose", "weight"]
    pipeline.partial_fit(frame[:20], Y[:20])
    assert list(pipeline[-1].feature_names_in_) == ["age", "dose", "weight"]
    design = SequentialDesign(pipeline, frame, random_state=0)
    assert list(design.estimator_.last.feature_names_in_) == ["age", "dose", "weight"]
    assert design.ask(2).candidates.columns.tolist() == ["age", "dose", "weight"]


def test_metadata_go_where_they_are_asked_for():
    weights = np.where(Y == 1, 2.0, 1.0)
    exact = model().fit(StandardScaler().fit_transform(X), Y, sample_weight=weights)
    named = adaptive.make_pipeline(StandardScaler(), model()).fit(
        X, Y, bayesianlogisticregression__sample_weight=weights
    )
    np.testing.assert_allclose(named.predict_proba(X), exact.predict_proba(StandardScaler().fit_transform(X)))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = adaptive.make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), model().set_fit_request(sample_weight=True)
        ).fit(X, Y, sample_weight=weights)
        np.testing.assert_array_equal(routed.predict_proba(X), named.predict_proba(X))
        assert routed.prepare(X).select(X, 2).shape == (2,)


def test_a_design_takes_it_like_scikit_learns_own():
    runs = []
    for make in (adaptive.make_pipeline, of_scikit_learn):
        design = SequentialDesign(make(StandardScaler(), model()), X, lambda q: Y[q.positions], random_state=0).run(8)
        assert isinstance(design.estimator_, PipelineView)
        runs.append(design.history_["position"])
    assert runs[0] == runs[1]


def test_before_anything_is_fitted():
    pipeline = adaptive.make_pipeline(StandardScaler(), model())
    assert pipeline.select(X, 3, random_state=0).shape == (3,) and not hasattr(pipeline[0], "mean_")
    with pytest.raises(NotFittedError, match="the StandardScaler of the pipeline is not fitted: call prepare"):
        pipeline.partial_fit(X[:2], Y[:2])
    scaler = StandardScaler().fit(X)
    assert adaptive.make_pipeline(scaler, model()).prepare(X[:5])[0].mean_.tolist() == scaler.mean_.tolist()


@pytest.mark.parametrize("steps", [(), (StandardScaler(),), (StandardScaler(), LogisticRegression())], ids=len)
def test_what_cannot_choose_is_refused(steps):
    with pytest.raises(ValueError, match="last step must be an estimator of the toolkit"):
        adaptive.make_pipeline(*steps)
