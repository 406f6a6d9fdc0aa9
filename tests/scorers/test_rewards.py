"""Scorers that reward an outcome: the second of two, by a hopeful belief and under one draw."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

from adaptive import BayesianLogisticRegression, PoissonRegression, scorers, selection
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian
from adaptive.predictive import GaussianProjections, MissingField, Mixture, StatedPredictive, WeightedDraws

MEAN, VARIANCE = np.array([-1.0, 0.0, 2.0]), np.array([4.0, 0.0, 0.25])


def test_hopeful_is_the_probability_at_mean_plus_deviations():
    for family, link in ((BernoulliLogit(), expit), (BernoulliProbit(), ndtr)):
        belief = StatedPredictive(mean=MEAN, variance=VARIANCE, likelihood=family)
        for c in (0.0, 1.0, 2.5):
            found = scorers.upper_confidence_bound(c)(belief)
            np.testing.assert_allclose(found, link(MEAN + c * np.sqrt(VARIANCE)), rtol=1e-12)
    members = WeightedDraws([0.25, 0.75], [[[0.6, 0.4], [0.9, 0.1]], [[0.2, 0.8], [0.9, 0.1]]], ["no", "yes"])
    spread = np.sqrt(0.25 * 0.3**2 + 0.75 * 0.1**2)
    np.testing.assert_allclose(scorers.upper_confidence_bound(1.0)(members), [0.7 + spread, 0.1])
    assert scorers.upper_confidence_bound(10.0)(members).max() == 1.0
    parts = [StatedPredictive(mean=m, variance=VARIANCE, likelihood=BernoulliLogit()) for m in (MEAN, -MEAN)]
    both = Mixture([0.5, 0.5], parts)
    expected = 0.5 * (expit(MEAN + np.sqrt(VARIANCE)) + expit(-MEAN + np.sqrt(VARIANCE)))
    np.testing.assert_allclose(scorers.upper_confidence_bound(1.0)(both), expected)
    assert scorers.upper_confidence_bound(1.5).__name__ == "upper_confidence_bound(1.5)"


def test_a_candidate_is_chosen_as_often_as_it_is_best():
    """Two independent projections: P(first above second) in closed form."""
    mean, variance = np.array([0.3, 0.0]), np.array([0.5, 1.0])
    rows = np.eye(2)
    chosen = []
    for seed in range(2000):
        belief = GaussianProjections.from_rows(
            rows, mean, covariance=variance, likelihood=BernoulliLogit(), random_state=seed
        )
        scores = scorers.thompson(belief)
        assert scores.min() >= 0 and scores.max() <= 1
        chosen.append(np.argmax(scores))
    assert np.mean(np.array(chosen) == 0) == pytest.approx(ndtr(0.3 / np.sqrt(1.5)), abs=0.035)


def test_one_draw_serves_all_chunks_and_another_one_every_question():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    model = BayesianLogisticRegression(prior_scale=1.0, hyperparameters="mode").fit(X[:20], X[:20, 0] > 0)
    options = {"scorer": "thompson", "return_scores": True}
    first, again = (selection.select(model, X, chunk_size=size, random_state=1, **options) for size in (7, 60))
    assert first == again
    assert len({int(model.select(X, scorer="thompson", random_state=seed)[0]) for seed in range(20)}) > 3


@pytest.mark.parametrize("name", ["thompson", "upper_confidence_bound"])
def test_what_has_no_two_outcomes_is_named(name):
    score = scorers.thompson if name == "thompson" else scorers.upper_confidence_bound(1.0)
    counts = PoissonRegression(prior_scale=0.2).predictive(np.eye(3))
    numbers = StatedPredictive(mean=MEAN, variance=VARIANCE, likelihood=Gaussian(1.0))
    three = WeightedDraws([0.5, 0.5], np.full((2, 4, 3), 1 / 3), ["a", "b", "c"])
    for belief in (counts, numbers, three, StatedPredictive(2)):
        with pytest.raises(MissingField, match=f"^{name} needs a likelihood, or draws, of two outcomes"):
            score(belief, 0)


def test_bad_settings_and_names_of_elsewhere():
    with pytest.raises(ValueError, match="^deviations"):
        scorers.upper_confidence_bound(-1.0)
    with pytest.raises(ValueError, match="makes a scorer: call it"):
        scorers.get("upper_confidence_bound")
    with pytest.raises(ValueError, match=r"'ucb' is called upper_confidence_bound\(deviations\)"):
        scorers.get("ucb")
