"""`SequentialDesign.open`: whichever is due, begin or go on; settings and labels that need not be said twice."""

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.loop import AtMost, EventLog, InformationLeft, LogError, MaxCost, MaxSteps, StablePredictions, read_log
from adaptive.loop.log.plain_settings import plain_settings, settings_of


@pytest.mark.parametrize("options_again", [{}, {"initial": 3, "random_state": 7, "batch_size": 2}])
def test_a_program_that_is_started_again_and_again(model, pool, answers, same, tmp_path, options_again):
    options = {"initial": 3, "random_state": 7, "batch_size": 2}
    whole = SequentialDesign(model(), pool, **options)
    for _ in range(6):
        query = whole.ask()
        whole.tell(query, answers[query.positions])
    for start in range(6):
        with SequentialDesign.open(tmp_path / "log", model(), pool, **(options_again if start else options)) as design:
            query = design.ask()
            design.tell(query, answers[query.positions])
    with SequentialDesign.open(EventLog(tmp_path / "log"), model(), pool, random_state=None) as design:
        same(design, whole)


def test_scorer_target_and_stop_come_from_the_log(pool, tmp_path):
    X, y = pool, np.where(pool[:, 0] > 0, "yes", "no")
    model = BayesianLogisticRegression(classes=["no", "yes"])
    stop = (MaxSteps(9) & MaxCost(4.0)) | StablePredictions(0.02, 3)
    given = {"scorer": "predictive_information_gain", "target": X[:3].tolist(), "stop": stop, "random_state": 0}
    twin = SequentialDesign(model, X, lambda query: y[query.positions], **given)
    path = tmp_path / "log"
    with SequentialDesign.open(path, model, X, **given) as design:
        query = design.ask()
        design.tell(query, y[query.positions])
    with SequentialDesign.open(path, model, X, lambda query: y[query.positions]) as design:
        assert repr(design.stop) == repr(stop) and design.target == X[:3].tolist()
        assert design.scorer == "predictive_information_gain"
        design.run()
        assert design.history_["position"] == twin.run().history_["position"] and 3 < design.iteration <= 9
    with SequentialDesign.load(path, model, X, stop=MaxSteps(2)) as design:
        assert repr(design.stop) == "MaxSteps(2)"
    with SequentialDesign.load(path, model, X, stop=None) as design:
        assert design.stop is None
    with pytest.raises(LogError, match="target is not that of log"):
        SequentialDesign.open(path, model, X, target=X[:2].tolist())


@pytest.mark.parametrize(
    "rule",
    [
        AtMost(0.5, next=7),
        InformationLeft(0.1, n_candidates=30) | MaxSteps(3),
        StablePredictions(0.1, 2, n_candidates=9),
    ],
    ids=["at most", "information", "stable"],
)
def test_a_rule_survives_as_plain_data(rule):
    again = settings_of({"settings": plain_settings(None, rule)})["stop"]
    assert repr(again) == repr(rule) and plain_settings(None, again) == plain_settings(None, rule)


def test_what_is_not_plain_has_to_be_given_again(pool):
    assert plain_settings(np.zeros((5000, 3)), lambda design: True) == {}
    assert plain_settings(None, MaxSteps(3) | _Own()) == {}
    with pytest.raises(LogError, match="names the stopping rule 'Own', which this version does not have"):
        settings_of({"settings": {"stop": {"rule": "Own"}}})


class _Own(MaxSteps):
    def __init__(self):
        super().__init__(3)


def test_known_labels_are_learnt_once(model, pool, answers, tmp_path):
    known = [4, 9, 2], answers[[4, 9, 2]]
    for _ in range(3):
        with SequentialDesign.open(
            tmp_path / "log", model(), pool, known=known, random_state=0, initial=[9, 5]
        ) as design:
            assert design.history_["position"][:3] == [4, 9, 2]
            query = design.ask()
            design.tell(query, answers[query.positions])
    assert design.history_["position"][3] == 5 and len(set(design.history_["position"])) == design.spent + 3 == 6
    exact = model().partial_fit(pool[design.history_["position"]], answers[design.history_["position"]])
    np.testing.assert_allclose(design.estimator_.precision, exact.precision, rtol=1e-12)
    assert [event["event"] for event in read_log(tmp_path / "log")[1]][:2] == ["ask", "tell"]


def test_known_labels_may_grow_and_answer_what_waits(model, pool, answers, tmp_path):
    with SequentialDesign.open(tmp_path / "log", model(), pool, known=([4], answers[[4]]), random_state=0) as design:
        asked = int(design.ask().positions[0])
    more = [4, asked, *[k for k in (0, 1, 2) if k not in (4, asked)]]
    with SequentialDesign.open(tmp_path / "log", model(), pool, known=(more, answers[more])) as design:
        assert sorted(design.history_["position"]) == sorted(more) and not design.pending
    with pytest.raises(ValueError, match="known has 9.0 for position 4, and the log"):
        SequentialDesign.open(tmp_path / "log", model(), pool, known=([7, 4], [1.0, 9.0]))
    with SequentialDesign.open(tmp_path / "log", model(), pool) as design:  # it was let go, and nothing was told
        assert 7 not in design.history_["position"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"known": 3}, "known must be a pair .positions, outcomes., got int 3"),
        ({"known": ([1, 1], [0.0, 0.0])}, "known must hold every position once"),
        ({"known": ([1, 2], [0.0])}, "outcomes must hold one entry for each of the 2"),
        ({"known": ([99], [0.0])}, "positions must hold positions from 0 to 24, got 99"),
    ],
)
def test_what_is_refused(model, pool, tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        SequentialDesign.open(tmp_path / "log", model(), pool, **given)
    with pytest.raises(ValueError, match="log must be a path, or an EventLog over a storage that lasts"):
        SequentialDesign.open(None, model(), pool)
    with pytest.raises(ValueError, match="left out with a callable pool"):
        SequentialDesign.open(tmp_path / "other", model(), lambda _: pool, known=([1], [0.0]))
