"""A plain scikit-learn classifier behind the contract: at random until two classes were seen, then what it can say."""

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from adaptive.estimators import BayesianLogisticRegression, ClassifierView, wrap

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = np.where(X @ [1, -1, 0.5, 0] > 0, "up", "down")


def test_asks_at_random_until_two_classes_were_seen():
    view = wrap(LogisticRegression())
    firsts = {int(view.select(X, random_state=seed)[0]) for seed in range(12)}
    assert len(firsts) > 6  # not rows 0, 1, 2, ...
    view.partial_fit(X[:1], Y[:1])
    assert view.classifier_ is None
    assert len({int(view.select(X, random_state=seed)[0]) for seed in range(12)}) > 6
    other = int(np.flatnonzero(Y != Y[0])[0])
    view.partial_fit(X[[other]], Y[[other]])
    assert len({int(view.select(X, scorer="uncertainty", random_state=seed)[0]) for seed in range(5)}) == 1


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(5, random_state=0),
        BaggingClassifier(LogisticRegression(), n_estimators=4, max_features=0.5, random_state=0),
    ],
)
def test_members_are_joint_draws(ensemble):
    view = wrap(ensemble).partial_fit(X, Y)
    weights, draws = view.predictive(X[:7]).draws()
    assert draws.shape == (len(weights), 7, 2)
    np.testing.assert_allclose(np.tensordot(weights, draws, 1), view.predict_proba(X[:7]), atol=1e-12)
    assert view.select(X, 3, scorer="information_gain").shape == (3,)


def test_a_single_model_does_not_claim_draws():
    view = wrap(LogisticRegression()).partial_fit(X, Y)
    assert not view.predictive(X).provides("draws")
    with pytest.raises(ValueError, match="information_gain"):
        view.select(X, scorer="information_gain")


def test_equals_a_refit_on_all_answers():
    view = wrap(LogisticRegression())
    for k in range(20):
        view.partial_fit(X[[k]], Y[[k]])
    np.testing.assert_array_equal(view.predict_proba(X), LogisticRegression().fit(X[:20], Y[:20]).predict_proba(X))


def test_what_cannot_be_wrapped_is_said():
    assert isinstance(wrap(BayesianLogisticRegression()), BayesianLogisticRegression)
    for wrong, words in [
        (LogisticRegression, "must be an instance"),
        (LinearSVC(), "predict_proba"),
        (3, "got int"),
        (SVC(), "predict_proba"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrap(wrong)


def test_refused_answers_leave_the_view_as_it_was():
    view = ClassifierView(LogisticRegression(), classes=["down", "up"]).partial_fit(X[:5], Y[:5])
    before = view.predict_proba(X)
    with pytest.raises(ValueError, match="'sideways'"):
        view.partial_fit(X[:1], ["sideways"])
    with pytest.raises(ValueError, match="one label for each of the 2 rows"):
        view.partial_fit(X[:2], ["up"])
    np.testing.assert_array_equal(view.predict_proba(X), before)


def test_labels_of_another_kind_than_before_are_named():
    view = ClassifierView(LogisticRegression()).partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="labels of one kind, all numbers or all text, got int and str"):
        view.partial_fit([[2.0]], ["one"])
    assert view.partial_fit([[2.0]], [1]).outcomes_.tolist() == [0, 1, 1]
