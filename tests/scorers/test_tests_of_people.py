"""Scorers of adaptive tests: what customary selectors do, on predictives stated by hand; the rule that ends a test."""

import numpy as np
import pytest

from adaptive import Questionnaire, SequentialDesign, scorers
from adaptive.loop import MaxSteps, TargetDeviation
from adaptive.predictive import MissingField, Predictive, StatedPredictive, WeightedDraws
from adaptive.scorers import record_of


def test_randomesque_shuffles_the_best_only():
    belief = StatedPredictive(variance=np.arange(10.0))
    scorer = scorers.randomesque("predictive_variance", 3)
    best = [int(scorer(belief, seed).argmax()) for seed in range(300)]
    assert set(best) == {7, 8, 9} and min(np.bincount(best)[7:]) > 60
    np.testing.assert_array_equal(scorer(belief, 0)[:7], np.arange(7.0))
    assert scorer.__name__ == "randomesque(predictive_variance, 3)" and record_of(scorer).whole_pool


def test_strata_are_asked_one_after_the_other():
    sharpness = np.array([[0.5], [2.0], [1.0], [1.5]])
    scorer = scorers.stratified("predictive_variance", 2)
    first = StatedPredictive(variance=[0.1, 9.0, 0.2, 8.0], features=sharpness, measured=np.zeros((0, 1)))
    assert scorer(first, 0).argmax() == 2  # of the blunt half, the better one
    later = StatedPredictive(variance=[0.1, 9.0, 8.0], features=sharpness[[0, 1, 3]], measured=sharpness[[2]])
    assert scorer(later, 0).argmax() == 1
    with pytest.raises(MissingField, match="stratified needs features"):
        scorer(Predictive(2, variance=[1.0, 2.0]), 0)


def test_fisher_information_of_a_two_parameter_item_is_known():
    a, b = np.array([1.0, 2.0]), np.array([0.0, 0.3])
    belief = Questionnaire.from_parameters(a, b).respondent().predictive([0, 1])
    p = 1 / (1 + np.exp(a * b))
    np.testing.assert_allclose(scorers.fisher_information(belief), a**2 * p * (1 - p), rtol=1e-6)


def test_target_deviation_is_that_of_the_draws():
    belief = WeightedDraws([0.25, 0.75], np.full((2, 1, 2), 0.5), [0, 1], target=[[0.0], [2.0]])
    assert belief.target_deviation == pytest.approx([np.sqrt(0.75)])


def test_a_test_ends_when_the_trait_is_known():
    bank = Questionnaire.from_parameters(np.full(30, 2.0), np.linspace(-1, 1, 30))
    rule = TargetDeviation(0.4)
    design = SequentialDesign(
        bank.respondent(), list(range(30)), lambda query: [1, 0][query.labels[0] % 2 :][:1], stop=rule
    )
    design.run()
    assert 3 < design.iteration < 30 and design.estimator_.std[0] <= 0.4 and repr(rule) == "TargetDeviation(0.4)"
    assert TargetDeviation(1e-3).fraction_done(design) < 0.1
    with pytest.raises(ValueError, match="limit must be > 0"):
        TargetDeviation(0.0)


def test_content_is_bounded():
    bank = Questionnaire.from_parameters(np.full(6, 1.5), np.zeros(6))
    pool = bank.pool(["words"] * 4 + ["shapes"] * 2, {"words": 1})
    design = SequentialDesign(bank.respondent(), pool, lambda query: [1], stop=MaxSteps(10), random_state=0).run()
    assert sorted(item < 4 for item in design.history_["label"]) == [False, False, True]
    with pytest.raises(ValueError, match="content must have an entry"):
        bank.pool(["words"], 1)
