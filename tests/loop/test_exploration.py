"""Questions that chance asks: how many, where, how they are logged; and what "auto" stands for."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression

from adaptive import BayesianLogisticRegression, GaussianProcessClassifier, SequentialDesign
from adaptive.loop import read_log

POOL = np.random.default_rng(0).standard_normal((400, 3))


def classifier():
    return BayesianLogisticRegression(prior_scale=1.0, classes=[0, 1])


def answer(query):
    return (query.candidates[:, 0] > 0).astype(int)


def run(steps, **options):
    return SequentialDesign(classifier(), POOL, answer, random_state=2, **options).run(steps)


def test_the_share_of_questions_drawn_at_random_is_what_it_was_asked_to_be(tmp_path):
    with SequentialDesign(classifier(), POOL, answer, initial=5, random_state=2, log=tmp_path / "log") as design:
        design.run(65)
    asked = [event for event in read_log(tmp_path / "log")[1] if event["event"] == "ask" and not event["initial"]]
    drawn = [event["drawn"] for event in asked]
    assert set(drawn) == {0, 1} and 3 <= sum(drawn) <= 17  # of 60, at .15
    assert [event["scores"] == [None] for event in asked] == [bool(k) for k in drawn]
    assert len(set(design.history_["position"])) == 65


def test_a_coin_depends_on_the_seed_and_the_number_of_the_query_alone():
    first, other = run(30), run(30, scorer="margin")
    there = [np.isnan(score) for score in first.history_["score"]]
    assert there == [np.isnan(score) for score in other.history_["score"]] and any(there)


def test_a_batch_has_its_drawn_rows_last_and_all_differ():
    design = run(8, batch_size=6, exploration=0.5)
    for k in range(8):
        scores = np.array(design.history_["score"][6 * k : 6 * k + 6])
        n_drawn = int(np.isnan(scores).sum())
        assert np.isnan(scores[6 - n_drawn :]).all()
    assert 12 <= np.isnan(design.history_["score"]).sum() <= 36 and len(set(design.history_["position"])) == 48


def test_all_at_random_and_none():
    assert np.isnan(run(10, exploration=1).history_["score"]).all()
    assert np.isfinite(run(10, exploration=0).history_["score"]).all()


def test_masks_and_answers_are_respected():
    mask = np.arange(400) % 40 == 3
    design = run(None, exploration=0.7, mask=mask)
    assert sorted(design.history_["position"]) == np.flatnonzero(mask).tolist()


def test_a_resumed_run_tosses_the_same_coins(tmp_path):
    whole = run(24, exploration=0.4, batch_size=2)
    with SequentialDesign(
        classifier(), POOL, answer, random_state=2, exploration=0.4, batch_size=2, log=tmp_path / "log"
    ) as design:
        design.run(9)
    with SequentialDesign.load(tmp_path / "log", classifier(), POOL, answer) as again:
        assert again.exploration == 0.4
        again.run(15)
    assert again.history_["position"] == whole.history_["position"]


def test_auto_is_what_the_estimator_names(model):
    assert SequentialDesign(classifier(), POOL).scorer == "query_by_committee"
    assert SequentialDesign(LogisticRegression(), POOL).scorer == "margin"
    assert SequentialDesign(model(), POOL).scorer == "information_gain"
    fitted = classifier().partial_fit(POOL[:6], [0, 1, 1, 0, 1, 0])
    assert fitted.select(POOL)[0] == fitted.select(POOL, scorer="query_by_committee")[0]


def test_a_process_is_asked_about_its_predictions_of_the_pool():
    model = GaussianProcessClassifier(1.0 * RBF(1.0), classes=[0, 1], optimizer=None)
    assert SequentialDesign(model, POOL).scorer == "predictive_information_gain"
    model.fit(POOL[:8], (POOL[:8, 0] > 0).astype(int))
    rest = POOL[8:200]
    chosen = model.select(rest, return_scores=True)
    named = model.select(rest, scorer="predictive_information_gain", target=rest, return_scores=True)
    np.testing.assert_array_equal(chosen, named)  # a small pool is its own sample
    assert model.select(np.repeat(POOL, 2, axis=0)).shape == (1,)


def test_only_classifiers_whose_outcomes_count_are_asked_at_random(model):
    assert SequentialDesign(classifier(), POOL).exploration == 0.15
    assert SequentialDesign(LogisticRegression(), POOL).exploration == 0.15
    for estimator, scorer in ((classifier(), "random"), (classifier(), "core_set"), (model(), "auto")):
        assert SequentialDesign(estimator, POOL, scorer=scorer).exploration == 0.0


@pytest.mark.parametrize("exploration", [-0.1, 1.5, "always", True])
def test_what_is_no_share_is_refused(exploration):
    with pytest.raises(ValueError, match="exploration must be"):
        SequentialDesign(classifier(), POOL, exploration=exploration)


class Noting(BayesianLogisticRegression):
    """Keeps what it was told to be pending."""

    pending: ClassVar[list] = []

    def select(self, candidates, n_select=1, **options):
        self.pending.append(options["pending"])
        return super().select(candidates, n_select, **options)


def test_what_chance_drew_is_pending_for_the_rest_of_its_batch():
    """Else the best of the others may be a twin of it."""
    Noting.pending.clear()
    design = SequentialDesign(
        Noting(prior_scale=1.0, classes=[0, 1]), POOL, answer, random_state=2, batch_size=4, exploration=0.5
    ).run(4)
    drawn = np.isnan(np.reshape(design.history_["score"], (4, 4)))
    chosen = [k for k in range(4) if not drawn[k].all()]
    assert any(drawn[k].any() for k in chosen) and len(chosen) == len(Noting.pending)
    for k, pending in zip(chosen, Noting.pending, strict=True):
        rows = POOL[np.reshape(design.history_["position"], (4, 4))[k][drawn[k]]]
        np.testing.assert_array_equal(np.zeros((0, 3)) if pending is None else pending, rows)
