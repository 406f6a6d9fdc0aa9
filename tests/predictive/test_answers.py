"""Several answers learnt at once say what they say one after the other: of classes, counts and class scores."""

import numpy as np
import pytest
from scipy.linalg import helmert

from adaptive.potentials import BernoulliLogit, Poisson
from adaptive.predictive import GaussianProjections, Mixture, SoftmaxProjections, members
from adaptive.predictive.answers.projections import answered, can_be_answered
from adaptive.predictive.members import as_members

RNG = np.random.default_rng(0)
ROWS, TARGET = RNG.standard_normal((9, 4)), RNG.standard_normal((2, 4))
ROWS[3] = ROWS[1]  # of twins the second is known once the first is, but for its own noise


def projections(seed, likelihood, scale=1.0):
    rng = np.random.default_rng(seed)
    root = scale * rng.standard_normal((4, 4))
    return GaussianProjections.from_rows(
        ROWS, 0.5 * rng.standard_normal(4), root=root, likelihood=likelihood, target=TARGET, random_state=1
    )


def scores(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    root = scale * rng.standard_normal((8, 8))
    blocks = (root @ root.T).reshape(2, 4, 2, 4)
    return SoftmaxProjections.from_rows(
        ROWS, rng.standard_normal((2, 4)), blocks, contrasts=helmert(3).T, outcomes=["a", "b", "c"], target=TARGET,
        random_state=1,
    )  # fmt: skip


def in_turn(belief, answers):
    for i, outcome in enumerate(answers):
        belief = belief.given(i, outcome)
    return belief


@pytest.mark.parametrize("likelihood", [BernoulliLogit(), Poisson()], ids=["classes", "counts"])
def test_answers_at_once_are_those_one_after_the_other(likelihood):
    scale = 1.0 if isinstance(likelihood, BernoulliLogit) else 0.3
    family = likelihood
    mixture = Mixture([0.3, 0.7], [projections(0, family, scale), projections(1, family, scale)], random_state=1)
    answers = [[1, -1, 1, 1, -1], [-1, -1, 1, -1, 1]] if scale == 1.0 else [[0, 2, 1, 1, 0], [1, 0, 0, 3, 2]]
    every = np.arange(len(ROWS))
    for of_one, at_once in zip(answers, answered(mixture, answers), strict=True):
        expected = in_turn(mixture, of_one)
        np.testing.assert_allclose(at_once.weights, expected.weights, rtol=1e-9)
        for ours, theirs in zip(at_once.predictives, expected.predictives, strict=True):
            for name in ("mean", "variance", "target_mean", "target_covariance"):
                np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-10, err_msg=name)
            np.testing.assert_allclose(ours.covariance(every, every), theirs.covariance(every, every), atol=1e-10)
            np.testing.assert_allclose(ours._source.draw(3, np.random.default_rng(0))[0],
                                       theirs._source.draw(3, np.random.default_rng(0))[0], atol=1e-8)  # fmt: skip
            further = ours.given(7, of_one[0]), theirs.given(7, of_one[0])
            np.testing.assert_allclose(further[0].mean, further[1].mean, atol=1e-10)


def test_members_are_moved_by_all_answers_as_by_one_after_the_other(monkeypatch):
    monkeypatch.setattr(members, "_NODES", 4096)  # those of `given`
    believed = scores(0)
    answers = [list("abcab"), list("bbcac")]
    for of_one, at_once in zip(answers, as_members(believed).answered(answers), strict=True):
        (ours,), theirs = at_once._components, in_turn(believed, of_one)
        for part in (0, 1):
            np.testing.assert_allclose(ours._source.mean(part), theirs._source.mean(part), atol=1e-9)
            np.testing.assert_allclose(ours._source.variance(part), theirs._source.variance(part), atol=1e-9)
        np.testing.assert_allclose(ours.draws(4)[1], theirs.draws(4)[1], atol=1e-9)
        np.testing.assert_allclose(ours.given(7, "a").probabilities, theirs.given(7, "a").probabilities, atol=1e-6)
        np.testing.assert_allclose(at_once.probabilities, theirs.probabilities, atol=0.05)  # 512 members


def test_members_of_a_mixture_are_weighed_by_what_their_component_said_of_the_answers():
    mixture = Mixture([0.4, 0.6], [scores(0), scores(1, 2.0)], random_state=2)
    answers = list("abcab")
    (at_once,) = as_members(mixture, 4000).answered([answers])
    expected = in_turn(mixture, answers)
    mine = [at_once.weights[at_once._drawn.component == k].sum() for k in (0, 1)]
    np.testing.assert_allclose(mine, expected.weights, atol=0.01)
    np.testing.assert_allclose(at_once.probabilities, expected.probabilities, atol=0.03)


def test_what_can_be_answered():
    from adaptive.potentials import Gaussian

    assert can_be_answered(projections(0, BernoulliLogit()))
    assert not can_be_answered(projections(0, Gaussian(1.0))) and not can_be_answered(scores(0))
