"""Batches of what has draws only: vote by vote what is left."""

import numpy as np
import pytest

from adaptive import scorers
from adaptive.predictive import StatedPredictive, WeightedDraws
from adaptive.selection import select
from adaptive.selection.votes import Votes


def ensemble(seed=0, k=200, m=15, c=3, **options):
    rng = np.random.default_rng(seed)
    scores = 2 * np.einsum("kcd,md->kmc", rng.standard_normal((k, c, 4)), rng.standard_normal((m, 4)))
    table = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights = rng.dirichlet(np.ones(k))
    return WeightedDraws(weights, table / table.sum(axis=2, keepdims=True), range(c), ensemble=True, **options)


class Asked:
    def __init__(self, belief):
        self.belief = belief

    def predictive(self, candidates, *, target=None, random_state=None):
        weights, table = self.belief.draws()
        rows = table[:, np.asarray(candidates)]
        return WeightedDraws(weights, rows, self.belief.outcomes, ensemble=True, random_state=random_state)


def test_what_is_left_is_what_a_regression_on_the_chosen_votes_leaves():
    belief = ensemble()
    weights, table = belief.draws()
    votes = np.eye(3)[table.argmax(axis=2)]
    centred = votes - np.tensordot(weights, votes, axes=1)
    chosen, found = [4, 9, 4, 1], Votes(belief)
    for i in chosen:
        found = found.after(i)
    told = np.concatenate([centred[:, i] for i in chosen], axis=1)  # all at once, from the normal equations
    noise = np.zeros((12, 12))
    for n, i in enumerate(chosen):
        p = table[:, i]
        noise[3 * n : 3 * n + 3, 3 * n : 3 * n + 3] = np.diag(weights @ p) - (p.T * weights) @ p + 1e-3 * np.eye(3)
    inverse = np.linalg.inv((told.T * weights) @ told + noise)
    for j in range(15):
        cross = (told.T * weights) @ centred[:, j]
        total = np.trace((centred[:, j].T * weights) @ centred[:, j])
        assert found.left[j] == pytest.approx(1 - np.trace(cross.T @ inverse @ cross) / total, abs=1e-4)


def test_a_twin_of_what_was_chosen_counts_less_than_others():
    weights, table = ensemble().draws()
    twins = np.concatenate([table, table[:, :1]], axis=1)
    left = Votes(WeightedDraws(weights, twins, range(3), ensemble=True)).after(15).left
    assert left[0] == pytest.approx(left[15]) and left[0] == left.min() and left.max() > 2 * left[0]


def test_scores_of_a_batch_are_single_scores_times_what_is_left():
    belief = ensemble()
    chosen, scores = select(
        Asked(belief), np.arange(15), 6, scorer="query_by_committee", return_scores=True, random_state=0
    )
    votes = Votes(belief)
    for i, score in zip(chosen.tolist(), scores.tolist(), strict=True):
        expected = votes.left * scorers.query_by_committee(belief)
        assert score == pytest.approx(expected[i], abs=1e-6)
        votes = votes.after(i)
    pending = select(Asked(belief), np.arange(15), pending=chosen[:4], exclude=chosen[:4], random_state=0)
    single = select(Asked(belief), np.arange(15), 5, random_state=0)
    assert len(set(single.tolist())) == 5 and pending[0] not in chosen[:4]


def test_draws_keep_their_weights_however_long_the_batch():
    """Of ten members the outcomes of five candidates leave one, and of one no candidate is in doubt."""
    few = ensemble(k=10, m=40)
    _, scores = select(Asked(few), np.arange(40), 20, scorer="query_by_committee", return_scores=True, random_state=0)
    assert scores[5] > 0.05
    by_hand = StatedPredictive(4, draws=lambda n=None: (np.ones(2) / 2, np.full((2, 4, 2), 0.5)), outcomes=[0, 1])
    assert by_hand.only_draws and few.only_draws and not few.given(0, 1).provides("refined")
    assert not WeightedDraws(np.ones(2), np.full((2, 4, 2), 0.5), [0, 1]).only_draws
