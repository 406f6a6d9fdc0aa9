"""Diagnostics agree with what a person computes from the same answers by hand, and leave the design alone."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from adaptive import BayesianLogisticRegression, SequentialDesign, diagnostics, plots, scorers
from adaptive.loop import InformationLeft

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = np.where(X @ [1.5, -1.0, 0.5] + RNG.logistic(size=80) > 0, "spam", "ham")
X_TEST = RNG.normal(size=(60, 3))
Y_TEST = np.where(X_TEST @ [1.5, -1.0, 0.5] + RNG.logistic(size=60) > 0, "spam", "ham")
CLASSES = ["ham", "spam"]


def new_model():
    return BayesianLogisticRegression(classes=CLASSES, prior_scale=1.0)


def run(steps=12, estimator=None, **options):
    estimator = new_model() if estimator is None else estimator
    design = SequentialDesign(estimator, X, lambda query: Y[query.positions], random_state=0, **options)
    return design.run(steps)


@pytest.fixture(scope="module")
def design():
    return run(scorer="information_gain", exploration=0)


def refitted(design, n):
    """The model that was told the first n answers."""
    asked = design.history_["position"][:n]
    model = new_model()
    for position in asked:
        model.partial_fit(X[[position]], Y[[position]])
    return model


def test_a_learning_curve_is_that_of_the_models_along_the_way(design):
    curve = diagnostics.learning_curve(design, X_TEST, Y_TEST, every=5)
    assert curve["n_labelled"] == [5, 10, 12] and set(curve["scorer"]) == {"information_gain"}
    for n, value in zip(curve["n_labelled"], curve["mean"], strict=True):
        assert value == refitted(design, n).score(X_TEST, Y_TEST)
    _, ax = plots.figure()
    plots.learning_curve(curve, ax=ax)  # infinite limits: a line without a band
    assert len(ax.lines) == 1 and np.isfinite(ax.get_ylim()).all()


def test_a_learning_curve_begins_where_the_estimator_can_predict():
    design = run(8, LogisticRegression(), scorer="uncertainty")
    outcomes = np.array(design.history_["outcome"])
    first = int(np.argmax(outcomes != outcomes[0])) + 1
    curve = diagnostics.learning_curve(design, X_TEST, Y_TEST, metric="log_loss")
    assert curve["n_labelled"][0] == first and np.isfinite(curve["mean"]).all()


def test_calibration_on_labelled_rows_is_that_of_predict_proba(design):
    table = diagnostics.calibration(design, X_TEST, Y_TEST, every=6)
    assert table["n_labelled"] == [6, 12] and table["n_events"] == [60, 60]
    p = refitted(design, 12).predict_proba(X_TEST)
    of_label = p[np.arange(60), (Y_TEST == "spam").astype(int)]
    assert table["expected_accuracy"][-1] == pytest.approx(p.max(axis=1).mean())
    assert table["accuracy"][-1] == pytest.approx((of_label > 0.5).mean())
    assert table["log_loss"][-1] == pytest.approx(-np.log(of_label).mean())
    assert table["expected_log_loss"][-1] == pytest.approx(-(p * np.log(p)).sum(axis=1).mean())


def test_answers_are_judged_as_they_were_predicted_before_they_were_learnt(design):
    table = diagnostics.calibration(design)
    assert table["n_events"] == list(range(1, 13))
    model, of_label = new_model(), []
    for position in design.history_["position"]:
        predictive = model.predictive(X[[position]])
        of_label.append(predictive.probabilities[0, CLASSES.index(Y[position])])
        model.partial_fit(X[[position]], Y[[position]])
    assert table["log_loss"][-1] == pytest.approx(-np.mean(np.log(of_label)))
    assert table["accuracy"][-1] == pytest.approx(np.mean(np.array(of_label) > 0.5), abs=0.1)  # ties at one half


def test_a_model_that_is_right_is_calibrated_on_questions_of_its_own_choice():
    """Weights from the prior, labels from the model: what was expected of the answers is what came, though chosen."""
    expected, observed = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(40, 2))
        labels = np.where(rows @ rng.normal(size=2) * 1.0 + rng.logistic(size=40) > 0, "spam", "ham")
        model = BayesianLogisticRegression(classes=CLASSES, prior_scale=1.0, fit_intercept=False)
        design = SequentialDesign(model, rows, lambda query, labels=labels: labels[query.positions], random_state=seed)
        table = diagnostics.calibration(design.run(12))
        expected.append(table["expected_log_loss"][-1])
        observed.append(table["log_loss"][-1])
    difference = np.array(observed) - expected
    assert abs(difference.mean()) < 3 * difference.std() / np.sqrt(40)


def test_class_balance_counts_the_answers(design):
    table = diagnostics.class_balance(design, every=5)
    outcomes = design.history_["outcome"]
    for n, outcome, count, share in zip(*(table[k] for k in ("n_labelled", "outcome", "count", "share")), strict=True):
        assert count == outcomes[:n].count(outcome) and share == count / n
    assert table["n_labelled"] == [5, 5, 10, 10, 12, 12]
    assert diagnostics.class_balance(design)["n_labelled"][::2] == list(range(1, 13))  # after each answer by default
    believed = dict(zip(table["outcome"], table["believed"], strict=True))
    assert believed["spam"] == pytest.approx(design.estimator_.predict_proba(X)[:, 1].mean())


def test_class_balance_without_probabilities():
    undecided = SequentialDesign(LogisticRegression(), X, initial=[0])
    undecided.tell(undecided.ask(), "ham")
    table = diagnostics.class_balance(undecided)
    assert table["outcome"] == ["ham"] and np.isnan(table["believed"]).all()


def test_when_to_stop_says_what_rules_and_scorers_say(design):
    table = diagnostics.when_to_stop(design, every=4)
    assert table["n_labelled"] == [4, 8, 12] and np.isnan(table["change"][0])
    assert table["information_left"][-1] == pytest.approx(InformationLeft(1.0).information_left(design))
    before, now = (refitted(design, n).predict_proba(X) for n in (8, 12))
    assert table["change"][-1] == pytest.approx(np.abs(now - before)[:, 0].mean())
    assert table["expected_accuracy"][-1] == pytest.approx(now.max(axis=1).mean())
    left = np.setdiff1d(np.arange(80), design.history_["position"])
    belief = refitted(design, 12).predictive(X[left], target=X)
    assert table["expected_gain"][-1] == pytest.approx(scorers.expected_error_reduction(belief).max())
    most = table["most_next"]
    assert most[0] > most[-1] >= table["information_left"][-1]
    told = scorers.information_gain(refitted(design, 12).predictive(X))
    bound = np.minimum(np.sqrt(np.minimum(told, most[-1]) / 2), 1 - now.max(axis=1))
    assert table["most_change"][-1] == pytest.approx(bound.mean())
    judged = diagnostics.calibration(design, every=4)
    words = diagnostics.in_words(table, judged)
    assert f"was right on {100 * judged['accuracy'][-1]:.0f}%" in words
    assert "The next 20 answers together can teach an estimated" in words and "points at most" in words
    assert words.startswith("After 12 answers the best question left") and "The last 4 answers moved" in words


def test_when_to_stop_of_an_ensemble_a_sample_and_a_point_estimate():
    forest = run(10, RandomForestClassifier(5, random_state=0), initial=4, mask=np.arange(80) < 50)
    table = diagnostics.when_to_stop(forest, every=5, n_candidates=20)
    assert table == diagnostics.when_to_stop(forest, every=5, n_candidates=20)
    assert table["information_left"][-1] > 0 and table["expected_gain"][-1] > 0
    point = run(10, LogisticRegression(), initial=4, scorer="margin")
    table = diagnostics.when_to_stop(point, every=5)
    assert np.isnan(table["information_left"]).all() and table["expected_accuracy"][-1] > 0.5
    assert diagnostics.in_words(table).splitlines()[-1].startswith("The model believes")


def test_nothing_left_to_ask_and_nothing_to_say():
    all_asked = run(80)
    table = diagnostics.when_to_stop(all_asked, every=80)
    assert np.isnan(table["information_left"][-1]) and np.isnan(table["expected_gain"][-1])
    assert "nats" not in diagnostics.in_words(table)
    undecided = SequentialDesign(LogisticRegression(), X, initial=[0])
    undecided.tell(undecided.ask(), "ham")
    assert diagnostics.in_words(diagnostics.when_to_stop(undecided)).startswith("Nothing can be said yet")


def test_the_design_is_left_alone(design):
    before = design.history_, design.estimator_.posterior_.mean.copy()
    for call in (diagnostics.calibration, diagnostics.class_balance, diagnostics.when_to_stop):
        call(design)
    assert design.history_ == before[0] and np.array_equal(design.estimator_.posterior_.mean, before[1])


def test_figures_draw_the_tables(design):
    _, ax = plots.figure()
    table = diagnostics.class_balance(design)
    plots.class_balance(table, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == CLASSES
    spam = [share for one, share in zip(table["outcome"], table["share"], strict=True) if one == "spam"]
    np.testing.assert_allclose(ax.lines[2].get_ydata(), 100 * np.array(spam))
    _, ax = plots.figure()
    table = diagnostics.calibration(design)
    plots.calibration_along(table, ax=ax)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), 100 * np.array(table["accuracy"]))
    table = diagnostics.when_to_stop(design, every=4)
    drawing = plots.when_to_stop(table)
    np.testing.assert_allclose(drawing.axes[0].lines[0].get_ydata(), table["information_left"])
    with pytest.raises(ValueError, match="table must have the columns"):
        plots.class_balance({"n_labelled": []}, ax=ax)


def test_bad_calls_are_named(design):
    empty = SequentialDesign(new_model(), X)
    for call in (diagnostics.calibration, diagnostics.class_balance, diagnostics.when_to_stop):
        with pytest.raises(ValueError, match="the design has learnt no answer yet"):
            call(empty)
    changing = SequentialDesign(LogisticRegression(), lambda estimator: [1.0, 2.0])
    for call in (diagnostics.calibration, diagnostics.when_to_stop):
        with pytest.raises(ValueError, match="the design's pool is a callable"):
            call(changing)
    with pytest.raises(ValueError, match="X and y come together"):
        diagnostics.calibration(design, X_TEST)
    with pytest.raises(ValueError, match=r"y must have shape \(60,\)"):
        diagnostics.calibration(design, X_TEST, Y)
    with pytest.raises(ValueError, match="Did you mean 'log_loss'"):
        diagnostics.learning_curve(design, X_TEST, Y_TEST, metric="logloss")
    with pytest.raises(ValueError, match="every must be at least 1"):
        diagnostics.class_balance(design, every=0)
