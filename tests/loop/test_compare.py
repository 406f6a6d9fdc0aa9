"""The comparison with random choice is paired, reproducible for any number of processes, and adds up."""

import functools
import os
import signal

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from adaptive import BayesianLogisticRegression
from adaptive.loop import METRICS, SequentialDesign, compare_with_random
from adaptive.loop.comparison import interval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 * RNG.normal(size=120)
LABELS = np.where(X[:, 0] + 0.2 * RNG.normal(size=120) > 0, "up", "down")


def columns_of(table, **where):
    rows = pd.DataFrame(table.questions)
    for name, value in where.items():
        rows = rows[rows[name] == value]
    return rows


def test_scorers_share_splits_and_first_questions(model):
    table = compare_with_random(
        model(), X, Y, scorers=["information_gain", "predictive_variance"], n_queries=9, seeds=[3, 8], initial=4,
        metric="rmse",
    )  # fmt: skip
    assert table.scorers == ["information_gain", "predictive_variance", "random"] and table.seeds == [3, 8]
    for seed in (3, 8):
        first = [columns_of(table, seed=seed, scorer=scorer)["position"].tolist()[:4] for scorer in table.scorers]
        assert first[0] == first[1] == first[2]
    assert columns_of(table, seed=3)["position"].tolist()[:4] != columns_of(table, seed=8)["position"].tolist()[:4]
    assert table.n_labelled.tolist() == list(range(1, 10))
    # at the initial questions all scorers measure the same
    for scorer in table.scorers:
        assert np.array_equal(table.values[scorer][:, :4], table.values["random"][:, :4])
    assert table.values["information_gain"].shape == (2, 9)


def test_the_values_are_those_of_the_model_that_learnt_these_answers(model):
    table = compare_with_random(model(), X, Y, n_queries=6, seeds=2, metric="rmse", test=0.25, batch_size=2, every=2)
    assert table.n_labelled.tolist() == [4, 6]
    for seed in table.seeds:
        asked = columns_of(table, seed=seed, scorer="random")["position"].tolist()
        held_out = np.sort(np.random.default_rng([seed, 0]).permutation(120)[:30])
        assert not set(asked) & set(held_out)
        learner = model()
        for k in range(0, 6, 2):
            learner.partial_fit(X[asked[k : k + 2]], Y[asked[k : k + 2]])
        error = np.sqrt(np.mean((learner.predict(X[held_out]) - Y[held_out]) ** 2))
        assert table.values["random"][seed, -1] == error


def test_measuring_does_not_disturb_the_run(model):
    table = compare_with_random(model(), X, Y, n_queries=8, seeds=[5], initial=0, metric="rmse", test=(X[:20], Y[:20]))
    design = SequentialDesign(model(), X, lambda query: Y[query.positions], random_state=5).run(8)
    assert columns_of(table, scorer="information_gain")["position"].tolist() == design.history_["position"]


def test_any_number_of_processes(model):
    forest = RandomForestClassifier(5, random_state=0)
    options = {"scorers": ["uncertainty", "entropy"], "n_queries": 6, "seeds": 2, "metric": "log_loss"}
    one = compare_with_random(forest, X, LABELS, n_jobs=1, **options)
    two = compare_with_random(forest, X, LABELS, n_jobs=2, **options)
    assert repr(one.columns) == repr(two.columns) and repr(one.questions) == repr(two.questions)


def test_intervals_are_paired(model):
    table = compare_with_random(model(), X, Y, n_queries=6, seeds=5, metric="rmse")
    difference = table.values["information_gain"] - table.values["random"]
    columns = table.differences(confidence=0.9)
    for k, n in enumerate(columns["n_labelled"]):
        assert n == k + 1 and columns["mean"][k] == pytest.approx(difference[:, k].mean())
        if difference[:, k].std() > 0:
            low, high = stats.t.interval(0.9, 4, difference[:, k].mean(), stats.sem(difference[:, k]))
            assert (columns["lower"][k], columns["upper"][k]) == pytest.approx((low, high))
    area = table.area()
    assert area["scorer"] == ["information_gain", "random"]
    heights = np.mean((table.values["random"][:, 1:] + table.values["random"][:, :-1]) / 2, axis=1)
    assert area["mean"][1] == pytest.approx(heights.mean())
    assert area["difference"][1] == 0.0
    assert area["difference"][0] == pytest.approx(area["mean"][0] - area["mean"][1])
    assert set(table.curve()) == {"scorer", "n_labelled", "mean", "lower", "upper"}
    assert table.to_frame().columns.tolist() == ["seed", "scorer", "n_labelled", "value"]
    assert "information_gain" in str(table) and "5 seeds" in str(table)
    mean, lower, upper = interval(np.array([[1.0, 2.0]]))
    assert mean.tolist() == [1.0, 2.0] and np.isinf(lower).all() and np.isinf(upper).all()


def test_margin_may_be_the_reference():
    options = {"n_queries": 14, "seeds": 3, "initial": 4, "every": 5}
    table = compare_with_random(
        BayesianLogisticRegression(prior_scale=1.0),
        X,
        LABELS,
        scorers="information_gain",
        reference="margin",
        **options,
    )
    assert table.scorers == ["information_gain", "margin", "random"] and table.reference == "margin"
    to_margin, to_random = table.differences(), table.differences(reference="random")
    assert set(to_margin["scorer"]) == {"information_gain", "random"}
    assert set(to_random["scorer"]) == {"information_gain", "margin"}
    by_hand = (table.values["information_gain"] - table.values["margin"]).mean(axis=0)
    n = len(by_hand)
    assert to_margin["mean"][:n] == pytest.approx(by_hand.tolist())
    area = table.area()
    assert area["difference"][1] == 0.0 and area["difference"][0] == pytest.approx(area["mean"][0] - area["mean"][1])
    assert table.area(reference="random")["difference"][2] == 0.0
    assert "paired difference to margin" in str(table)
    for wrong in ("entropy", "randon"):
        with pytest.raises(ValueError, match="reference must be one of 'information_gain', 'margin', 'random'"):
            table.differences(reference=wrong)
    # the curves of both are those of a comparison with random alone
    alone = compare_with_random(
        BayesianLogisticRegression(prior_scale=1.0), X, LABELS, scorers="information_gain", **options
    )
    assert np.array_equal(alone.values["information_gain"], table.values["information_gain"])


def test_the_calibration_error_is_that_of_its_bins():
    class Says:
        classes_ = np.array(["down", "up"])

        def predict_proba(self, X):
            return np.stack([1 - X[:, 0], X[:, 0]], axis=1)

    stated = np.array([0.05, 0.05, 0.65, 0.62, 0.68])
    y = np.array(["down", "up", "up", "down", "up"])
    by_hand = (2 * abs(0.05 - 1 / 2) + 3 * abs(0.65 - 2 / 3)) / 5  # "down" is the mirror image, with the same gaps
    assert METRICS["calibration_error"](Says(), stated[:, None], y) == pytest.approx(by_hand)


def test_it_finds_a_scorer_that_pays(model):
    rare = np.concatenate([RNG.normal(size=(150, 3)) * [1, 1, 0.01], RNG.normal(size=(10, 3)) * [0.01, 0.01, 4]])
    y = rare @ [1.0, -1.0, 3.0]
    table = compare_with_random(model(0.01), rare, y, n_queries=8, seeds=8, metric="rmse", test=(rare, y))
    area = table.area()
    assert area["difference_upper"][0] < 0  # a smaller error than at random, by more than the interval


def test_a_plain_classifier_begins_where_every_run_can_predict():
    table = compare_with_random(
        LogisticRegression(), X, LABELS, scorers="uncertainty", n_queries=12, seeds=2, initial=1
    )
    assert 2 <= table.n_labelled[0] <= 6 and table.n_labelled[-1] == 12
    assert np.isfinite(table.values["uncertainty"]).all()
    assert table.values["uncertainty"].min() > 0.3


def test_log_loss_and_own_metrics():
    def share_of_up(estimator, X, y):
        return np.mean(estimator.predict(X) == "up")

    frame = pd.DataFrame(X)
    for metric in ("log_loss", "score", share_of_up):
        table = compare_with_random(
            LogisticRegression(),
            frame,
            LABELS,
            scorers="entropy",
            n_queries=8,
            seeds=1,
            metric=metric,
            every=4,
        )
        assert np.isfinite(table.values["entropy"]).all()
        assert table.metric == (metric if isinstance(metric, str) else "share_of_up")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"y": Y[:5]}, "y must have shape"),
        ({"metric": "acuracy"}, "Did you mean 'accuracy'"),
        ({"n_queries": 61}, "initial <= n_queries <= 60"),
        ({"initial": 11}, "initial <= n_queries"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"seeds": [1, 1]}, "seeds must be a number of runs or different seeds"),
        ({"test": 1.5}, "test must be a share"),
        ({"test": (X, Y[:3])}, "test must be a share of the rows or .X_test, y_test. of one length"),
        ({"scorers": "informationgain"}, "information_gain"),
        ({"reference": "margn"}, "Did you mean 'margin'"),
        ({"reference": 3}, "reference must be the name of a scorer, got 3"),
        ({"every": 0}, "every must be at least 1"),
    ],
)
def test_bad_arguments(model, options, message):
    with pytest.raises(ValueError, match=message):
        compare_with_random(model(), **{"X": X, "y": Y, "n_queries": 10, "seeds": 1, "metric": "rmse", **options})


def test_several_metrics_are_measured_on_the_same_runs(model):
    options = {"scorers": "uncertainty", "n_queries": 6, "seeds": 2, "exploration": 0}
    both = compare_with_random(LogisticRegression(), X, LABELS, metric=["accuracy", "log_loss"], **options)
    assert list(both) == ["accuracy", "log_loss"] and both["accuracy"].questions == both["log_loss"].questions
    for name, table in both.items():
        alone = compare_with_random(LogisticRegression(), X, LABELS, metric=name, **options)
        assert repr(alone.columns) == repr(table.columns)
    with pytest.raises(ValueError, match="metric must name one"):
        compare_with_random(LogisticRegression(), X, LABELS, metric=[], **options)
    nameless = [lambda *_: 0.0, lambda *_: 1.0]  # one would take the place of the other
    with pytest.raises(ValueError, match="got two that are called '<lambda>'"):
        compare_with_random(LogisticRegression(), X, LABELS, metric=nameless, **options)
    partly = functools.partial(lambda number, *_: number, 0.5)  # has no name of its own
    table = compare_with_random(LogisticRegression(), X, LABELS, metric=partly, **options)
    assert table.metric == "partial" and set(table.values["random"].ravel()) == {0.5}


OPTIONS = {"scorers": "entropy", "n_queries": 8, "initial": 6, "every": 8, "metric": "score"}


@pytest.mark.filterwarnings("ignore:A worker stopped:UserWarning")
def test_a_worker_that_is_killed_is_said_in_a_sentence():
    parent = os.getpid()

    def dies(estimator, X_test, y_test):  # as by a system that is out of memory
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match=r"the runs of seeds \[4, 7\] are missing: nothing is left to compare"):
        compare_with_random(LogisticRegression(), X, LABELS, seeds=[4, 7], n_jobs=2, **{**OPTIONS, "metric": dies})


def test_what_was_finished_is_kept_when_a_worker_dies(monkeypatch):
    class Dying(joblib.Parallel):
        def __call__(self, tasks):  # a worker dies in the sixth run, the other of the third seed
            for function, arguments, options in [*tasks][:5][::-1]:
                yield function(*arguments, **options)
            raise TerminatedWorkerError("killed")

    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="worker process died") as caught:
        patch.setattr("joblib.Parallel", Dying)
        table = compare_with_random(LogisticRegression(), X, LABELS, seeds=[5, 3, 8], **OPTIONS)
    assert table.seeds == [5, 3] and table.missing == [8] and len(caught) == 1
    assert r"the runs of seeds [8] are missing" in str(caught[0].message) and "seeds=[8]" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert "2 seeds (1 missing: [8])" in str(table)
    whole = compare_with_random(LogisticRegression(), X, LABELS, seeds=[5, 3], **OPTIONS)
    assert repr(table.columns) == repr(whole.columns) and repr(table.questions) == repr(whole.questions)
