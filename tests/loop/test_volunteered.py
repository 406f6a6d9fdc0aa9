"""Labels that nobody asked for: learnt by position, logged as volunteered, and asked for no more."""

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.loop import PredictiveCheck, read_log


def test_what_is_known_already_is_told_by_position(model, pool, answers):
    design = SequentialDesign(model(), pool, random_state=0)
    design.tell([3, 7], answers[[3, 7]], worker="Anna").tell(5, answers[5])
    history = design.history_
    assert history["position"] == history["label"] == [3, 7, 5] and history["step"] == [1, 1, 2]
    assert history["outcome"] == answers[[3, 7, 5]].tolist() and np.isnan(history["score"]).all()
    exact = model().partial_fit(pool[[3, 7, 5]], answers[[3, 7, 5]])
    np.testing.assert_allclose(design.estimator_.precision, exact.precision, rtol=1e-12)
    assert not design.pending and not design.unanswered and design.n_left == len(pool) - 3
    events = [(one["event"], one.get("volunteered")) for one in design.log.reload()]
    assert events == [("ask", True), ("tell", None)] * 2 and design.log.reload()[1]["worker"] == "Anna"
    while design.n_left:
        assert not np.isin(design.ask(another=True).positions, [3, 7, 5]).any()


@pytest.mark.parametrize("kind", ["model", "model_with_state"])
def test_they_survive_save_load_and_replay(kind, request, pool, answers, measure, same, tmp_path):
    model = request.getfixturevalue(kind)
    twins = [SequentialDesign(model(), pool, measure, random_state=0, log=tmp_path / name) for name in "ab"]
    for design in twins:
        design.run(2)
        free = [k for k in range(len(pool)) if k not in design.excluded()][:3]
        design.tell(free, answers[free]).run(1)
    twins[0].save(tmp_path / "saved")
    with (
        SequentialDesign.load(tmp_path / "saved", model(), pool, measure) as loaded,
        SequentialDesign.load(_closed(twins[0]), model(), pool, measure) as replayed,
    ):
        for again in (loaded, replayed):
            same(again, twins[1])
        for design in (loaded, replayed, twins[1]):
            design.run(3)
        same(loaded, twins[1])
        same(replayed, twins[1])


def _closed(design):
    design.close()
    return design.log_path


@pytest.mark.parametrize(
    ("positions", "outcomes", "message"),
    [
        ([3], [1.0], "position 3 has an answer already: take it back first .retract., or make the design with repeat"),
        ([9], [np.nan], "y contains NaN"),
        ([25], [1.0], "positions must hold positions from 0 to 24, got 25"),
        ([8, 8], [1.0, 1.0], "positions must hold every position once"),
        ([20], [1.0], "positions holds position 20, which mask does not allow"),
        ([8, 9], [1.0], "outcomes must hold one entry for each of the 2 candidates asked, got 1"),
        ([0.5], [1.0], "query must be a Query or positions .integers."),
    ],
)
def test_what_is_refused_changes_nothing(model, pool, positions, outcomes, message, same, tmp_path):
    options = {"mask": np.arange(25) != 20, "exploration": 0.5, "random_state": 1}
    design, twin = (SequentialDesign(model(), pool, log=tmp_path / name, **options) for name in "ab")
    for one in (design, twin):
        one.tell([3], [1.0])
    with pytest.raises(ValueError, match=message):
        design.tell(positions, outcomes)
    same(design, twin)
    design.close()
    twin.close()
    design = SequentialDesign.load(tmp_path / "a", model(), pool, **{k: options[k] for k in ("mask",)})
    for one in (design, twin := SequentialDesign.load(tmp_path / "b", model(), pool, mask=options["mask"])):
        assert [one.ask(another=True).id for _ in range(5)] == [1, 2, 3, 4, 5]
    same(design, twin)


def test_they_cost_nothing_and_leave_the_instrument_where_it_is(model, pool, answers):
    design = SequentialDesign(model(), pool, cost=lambda rows, last: np.full(len(rows), 2.0 if last is None else 3.0))
    design.tell([3], answers[3])
    assert design.spent == 0.0
    design.tell(design.ask(), [0.0])
    assert design.spent == 2.0


def test_an_initial_position_that_was_volunteered_is_not_asked_again(model, pool, answers):
    design = SequentialDesign(model(), pool, initial=[4, 2, 9])
    design.tell([2], answers[2])
    assert design.ask(3).positions.tolist() == [4, 9] and design.ask(another=True).positions[0] not in (4, 2, 9)


def test_one_that_is_taken_back_is_a_candidate_again(model, pool, answers):
    design = SequentialDesign(model(), pool, random_state=0)
    design.tell([3], answers[3]).retract([3])
    assert design.history_["position"] == [] and not design.pending and design.n_left == len(pool)
    assert design.tell([3], answers[3]).history_["outcome"] == [answers[3]]


def test_repeat_counts_a_further_one_as_an_answer_of_its_own(model, pool):
    design = SequentialDesign(model(), pool, repeat=True)
    design.tell([3], 1.0).tell([3], 2.0)
    assert design.history_["outcome"] == [1.0, 2.0]


def test_callbacks_see_them_as_any_answer(pool):
    check = PredictiveCheck()
    model = BayesianLogisticRegression(classes=["no", "yes"])
    design = SequentialDesign(model, pool, callbacks=[check], random_state=0)
    design.tell([3], "yes").tell([4, 5], ["no", "yes"])
    assert check.history_["position"][-2:] == [4, 5]


def test_a_callable_pool_takes_them_by_the_positions_of_now(model, pool, answers):
    rows = [tuple(row) for row in pool]
    design = SequentialDesign(model(), lambda estimator: rows)
    design.tell([3], answers[3])
    assert design.excluded().tolist() == [3] and design.history_["position"] == [3]


def test_a_log_says_that_they_were_volunteered(model, pool, tmp_path):
    with SequentialDesign(model(), pool, log=tmp_path / "log") as design:
        design.tell([3], 1.0)
    _, events = read_log(tmp_path / "log")
    assert events[0]["volunteered"] and events[0]["scores"] == [None]
