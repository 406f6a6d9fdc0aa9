"""An answer that is taken back: the state is the replay without it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.loop import EventLog, MaxSteps, SequentialDesign, StablePredictions, read_log
from tests.loop.conftest import LinearGaussian, WithState

POOL = np.random.default_rng(5).normal(size=(12, 3))


def known(design):
    """What a design knows; its clock is left out, and scores, which a query that somebody else chose has not."""
    history = {name: design.history_[name] for name in ("step", "position", "label", "outcome")}
    belief = None if design.estimator_.precision is None else design.estimator_.precision.tobytes()
    pending = [(query.id, query.positions.tolist()) for query in design.pending]
    return belief, history, pending, design.excluded().tolist()


@settings(max_examples=25)
@given(st.data())
def test_what_is_left_is_what_was_never_said(data):
    """Any asks, answers, skips and retractions, against a design that was told only what stands."""
    design = SequentialDesign(WithState(), POOL, log=EventLog(), random_state=1)
    told, events = [], []
    for _ in range(data.draw(st.integers(1, 14))):
        moves = ["ask"] * (len(design.excluded()) < len(POOL)) + ["tell", "skip"] * bool(design.pending)
        move = data.draw(st.sampled_from(moves + ["retract"] * bool(told)))
        if move == "ask":
            events.append(("ask", design.ask(another=True), None))
        elif move == "retract":
            query = data.draw(st.sampled_from(told))
            told.remove(query)
            design.retract(query)
            events = [event for event in events if not (event[0] == "tell" and event[1] is query)]
        else:
            query = data.draw(st.sampled_from(design.pending))
            answer = data.draw(st.sampled_from([-1.0, 0.5, 2.0]))
            events.append((move, query, answer))
            if move == "tell":
                design.tell(query, answer)
                told.append(query)
            else:
                design.skip(query)
    twin = SequentialDesign(WithState(), POOL, random_state=1)
    for move, query, answer in events:
        if move == "ask":
            twin.ask(positions=query.positions)
        elif move == "tell":
            twin.tell(query, answer)
        else:
            twin.skip(query)
    assert known(design) == known(twin)


@pytest.mark.parametrize("snapshot_every", [2, 50])
def test_the_same_answer_again_is_where_one_was(tmp_path, snapshot_every):
    stop = MaxSteps(9) | StablePredictions(0.01, 3)
    log = EventLog(tmp_path / "log", snapshot_every=snapshot_every)
    with SequentialDesign(WithState(), POOL, random_state=1, log=log, stop=stop) as design:
        queries = []
        for k in range(6):
            queries.append(design.ask())
            design.tell(queries[-1], float(k))
        design.ask()
        before, rule = known(design), design.stop.fraction_done(design)
        design.retract(queries[-1]).tell(queries[-1], 5.0)
        assert known(design) == before and design.stop.fraction_done(design) == rule
        design.retract(int(queries[-1].positions[0]))  # by position: the last answer there
        design.retract(queries[2])
        left = known(design)
        assert [event["event"] for event in read_log(tmp_path / "log")[1]].count("retract") == 3
    again = SequentialDesign.load(EventLog(tmp_path / "log"), WithState(), POOL, stop=stop)
    assert known(again) == left and again.iteration == 4
    again.close()


def test_parts_of_a_query():
    design = SequentialDesign(LinearGaussian(), POOL, batch_size=3, random_state=1)
    query = design.ask()
    design.tell(query, [1.0, 2.0, 3.0])
    design.retract(query.part(np.array([1])))
    assert design.history_["outcome"] == [1.0, 3.0]
    assert [one.positions.tolist() for one in design.pending] == [[query.positions[1]]]
    design.tell(query.positions[[1]], 2.0).retract(query)
    assert design.iteration == 0 and design.estimator_.precision is None


def test_what_cannot_be_taken_back_changes_nothing():
    log = EventLog()
    design = SequentialDesign(LinearGaussian(), POOL, random_state=1, log=log)
    first = design.ask()
    design.tell(first, 1.0)
    waiting = design.ask()
    before, lines = known(design), log.contents()
    for query, message in (
        (waiting, "of query 1 have no answers"),
        (11, "have no answers"),
        ("a", "must be a Query or"),
    ):
        with pytest.raises(ValueError, match=message):
            design.retract(query)
    assert known(design) == before and log.contents() == lines
    design.retract(first)
    with pytest.raises(ValueError, match="have no answers that could be taken back"):
        design.retract(first)


def test_an_answer_that_was_refused_is_none():
    design = SequentialDesign(LinearGaussian(), POOL, random_state=1)
    query = design.ask()
    with pytest.raises(ValueError, match="NaN"):
        design.tell(query, np.nan)
    with pytest.raises(ValueError, match="have no answers"):
        design.retract(query)
    assert design.tell(query, 1.0).retract(query).iteration == 0


def test_a_query_that_leaves_positions_out_and_who_answered():
    log = EventLog()
    design = SequentialDesign(LinearGaussian(), POOL, random_state=1, repeat=True, log=log)
    query = design.ask(worker=1, exclude=range(11))
    assert query.positions.tolist() == [11]
    design.tell(query, 0.0, worker=2)
    assert [event.get("worker") for event in log.reload()] == [1, 2]
    with pytest.raises(ValueError, match="no candidate is left|No candidate is left"):
        design.ask(another=True, exclude=range(12))
