"""Several people answer one design: each has a query of his own, the same until it is told, given the others'."""

import json
import threading
import warnings

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, selection
from adaptive.loop import MaxSteps, PoolExhausted, SequentialDesign, read_log
from adaptive.loop.log.counted import count_path
from adaptive.loop.log.event_log import EventLog
from adaptive.loop.log.snapshots import snapshot_path, unpack


def test_each_worker_has_a_query_until_it_is_told(model, pool, answers):
    design = SequentialDesign(model(), pool, random_state=0)
    anna, bob, nobody = design.ask(worker="Anna"), design.ask(worker=2), design.ask()
    assert len({int(query.positions[0]) for query in (anna, bob, nobody)}) == 3
    assert [anna.worker, bob.worker, nobody.worker] == ["Anna", 2, None]
    for name, query in [("Anna", anna), (2, bob), (np.int64(2), bob), (None, nobody)]:
        assert design.ask(worker=name).id == query.id
    design.tell(bob, answers[bob.positions])
    assert design.ask(worker="Anna").id == anna.id and design.ask(worker=2).id == 3
    further = design.ask(worker="Anna", another=True)
    assert further.id == 4 and design.ask(worker="Anna").id == anna.id  # the oldest first
    free = np.setdiff1d(np.arange(len(pool)), design.excluded())[:1]
    assert design.ask(worker="Eve", positions=free).worker == "Eve"
    assert [query.worker for query in design.pending] == ["Anna", None, 2, "Anna", "Eve"]


def test_what_the_others_were_asked_is_conditioned_on(model, pool):
    design = SequentialDesign(model(), pool, random_state=0)
    first, second = design.ask(worker="a"), design.ask(worker="b")
    together = selection.select(model(), pool, 2, return_scores=True)
    assert [int(first.positions[0]), int(second.positions[0])] == together[0].tolist()
    np.testing.assert_allclose([first.scores[0], second.scores[0]], together[1], rtol=1e-12)
    alone = SequentialDesign(model(), pool, joint=False)
    alone.ask(worker="a")
    assert alone.ask(worker="b").scores[0] > second.scores[0]  # as if nothing were pending


def test_under_load_a_query_only_leaves_out_what_is_pending_and_the_log_says_so(model, pool, tmp_path):
    path = tmp_path / "design.jsonl"
    design, alone = SequentialDesign(model(), pool, log=path), SequentialDesign(model(), pool, joint=False)
    for k in range(3):
        light, plain = design.ask(worker=k, joint=False), alone.ask(worker=k)
        assert light.positions.tolist() == plain.positions.tolist() and light.scores == plain.scores
    in_the_light = design.ask(worker=3)
    design.close()
    asked = read_log(path)[1]
    assert [event.get("joint") for event in asked] == [False, False, False, None]
    again = SequentialDesign.load(path, model(), pool)
    assert [q.positions.tolist() for q in again.pending][3] == in_the_light.positions.tolist()
    one, other = (
        SequentialDesign(model(), pool, random_state=0),
        SequentialDesign(model(), pool, joint=False, random_state=0),
    )
    for design in (one, other):
        design.ask()
    assert other.ask(another=True, joint=True).scores == one.ask(another=True).scores


def test_initial_positions_are_shared_out_and_a_pool_ends(model, pool, answers):
    design = SequentialDesign(model(), pool[:4], initial=[3, 1, 0])
    assert [int(design.ask(worker=k).positions[0]) for k in range(4)] == [3, 1, 0, 2]
    with pytest.raises(PoolExhausted):
        design.ask(worker=9)
    run = SequentialDesign(model(), pool, lambda query: answers[query.positions], stop=MaxSteps(3))
    waiting = run.ask(worker="Anna")
    assert run.run().iteration == 3 and waiting.positions[0] not in run.history_["position"]  # it is hers
    assert [query.worker for query in run.pending] == ["Anna"]


@pytest.mark.parametrize("n_events", range(2, 9))
def test_a_killed_design_knows_whose_query_is_whose(model_with_state, pool, answers, tmp_path, same, n_events):
    def work(design, done):
        """Two workers, the second always a query behind."""
        for turn in range(done, 6):
            query = design.ask(worker=("a", "b")[turn % 2])
            if turn:
                other = next(query for query in design.pending if query.worker == ("b", "a")[turn % 2])
                design.tell(other, answers[other.positions])
        return design, query

    whole, last = work(SequentialDesign(model_with_state(), pool, random_state=0), 0)
    log = EventLog(tmp_path / "log", snapshot_every=3)
    with SequentialDesign(model_with_state(), pool, random_state=0, log=log) as design:
        work(design, 0)
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(b"".join(lines[: 1 + n_events]))
    count_path(log.path).unlink()  # of more
    if snapshot_path(log.path).exists() and unpack(snapshot_path(log.path).read_bytes())["n_events"] > n_events:
        snapshot_path(log.path).unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = SequentialDesign.load(log.path, model_with_state(), pool)
    with again:
        asked = [event for event in read_log(log.path)[1] if event["event"] == "ask"]
        for name in ("a", "b"):
            mine = [query for query in again.pending if query.worker == name]
            assert not mine or again.ask(worker=name).id == mine[0].id
        pending = len(again.pending)
        _, query = work(again, len(asked) - (pending == 2))
        same(again, whole)
        assert query.worker == last.worker and query.positions.tolist() == last.positions.tolist()


def test_queries_of_nobody_in_particular_are_logged_as_ever(model, pool, tmp_path):
    with SequentialDesign(model(), pool, log=tmp_path / "log") as design:
        design.ask()
        design.ask(worker="Anna")
    first, second = (json.loads(line) for line in (tmp_path / "log").read_text().splitlines()[1:])
    assert "worker" not in first and second["worker"] == "Anna"


def test_threads_share_a_design():
    X = np.random.default_rng(0).standard_normal((60, 2))
    design = SequentialDesign(BayesianLogisticRegression(classes=[0, 1]), X, scorer="margin", random_state=0)
    errors = []

    def work(name):
        try:
            for _ in range(4):
                query = design.ask(worker=name)
                design.tell(query, (X[query.positions, 0] > 0).astype(int))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors and design.iteration == 16 and len(set(design.history_["position"])) == 16
