"""A run stops when the next answers together can tell at most so much."""

import itertools

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, GaussianProcessRegressor
from adaptive.loop import AtMost, InformationLeft, MaxSteps, SequentialDesign

POOL = np.random.default_rng(0).uniform(0, 4, (11, 1))


def on_a_map(stop, **options):
    model = GaussianProcessRegressor(optimizer=None, alpha=0.1)
    return SequentialDesign(model, POOL, lambda query: query.candidates[:, 0], stop=stop, random_state=0, **options)


def best(design, n):
    """The largest information of any n that may still be asked, from the posterior's covariance."""
    left = np.setdiff1d(np.arange(11), design.history_["position"])
    belief = design.estimator_.predictive(POOL)
    K = belief.covariance(np.arange(11), np.arange(11)) / 0.1
    sets = (list(B) for B in itertools.combinations(left, min(n, len(left))))
    return max(0.5 * np.linalg.slogdet(np.eye(len(B)) + K[np.ix_(B, B)])[1] for B in sets)


def test_what_is_left_is_above_the_best_set_at_every_step_and_the_run_stops_by_it():
    rule = AtMost(0.7, next=3)
    design = on_a_map(rule)
    while not design.finished:
        most, kind = rule.most_left(design)
        assert kind == "bound" and most >= best(design, 3) - 1e-9
        assert (rule.fraction_done(design) == 1.0) == (most <= 0.7)
        design.run(1)
    assert best(design, 3) <= 0.7 and 2 <= design.iteration < 11
    assert repr(rule) == "AtMost(0.7, next=3)"


def test_many_small_gains_are_seen_that_a_single_one_does_not_show():
    single, together = on_a_map(InformationLeft(0.5)).run(), on_a_map(AtMost(0.5, next=8) | MaxSteps(10)).run()
    assert together.iteration > single.iteration


def test_masks_repeats_and_nothing_left():
    masked = on_a_map(AtMost(1e-6, next=3), mask=np.arange(11) < 4).run()
    assert masked.iteration == 4 and masked.stop.most_left(masked) == (0.0, "bound")
    again = on_a_map(AtMost(1e-3, next=3) | MaxSteps(3), repeat=True).run()
    assert again.stop.rules[0].most_left(again)[0] > 0


def test_of_labels_it_is_an_estimate_and_unfitted_classes_go_on():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 2))
    y = (X[:, 0] > 0).astype(int)
    rule = AtMost(0.4, next=3)
    design = SequentialDesign(
        BayesianLogisticRegression(classes=[0, 1]), X, lambda query: y[query.positions], stop=rule | MaxSteps(25),
        random_state=0,
    )  # fmt: skip
    design.run(2)
    assert rule.most_left(design)[1] == "estimate" and rule.fraction_done(design) < 1
    design.run()
    assert design.iteration < 25


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="nats must be"):
        AtMost(0.0)
    with pytest.raises(ValueError, match="next must be"):
        AtMost(1.0, next=0)
