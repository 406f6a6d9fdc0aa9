"""Pools that change with what is known: entries recognised by equality, candidates in the log."""

import itertools

import numpy as np
import pandas as pd
import pytest

from adaptive.loop import EventLog, PoolExhausted, SequentialDesign, read_log


def answer(row):
    return float(np.dot(row, [1.0, -2.0, 0.5]))


def measure(query):
    return [answer(row) for row in query.candidates]


def directions(estimator):
    """The axes, and three directions that turn with every answer."""
    return np.concatenate([np.eye(3), np.cos(np.arange(9).reshape(3, 3) + estimator.n_fits)])


class Frontier:
    """A tree's boundary: the children of what was answered; entries are paths, tuples of 0 and 1."""

    def __init__(self):
        self.seen = []

    def __call__(self, estimator):
        # a function of what the estimator knows, as the contract wants it
        return [path + (step,) for path in [(), *estimator.paths] for step in (0, 1) if len(path) < 3]


class Paths:
    """Learns a number for every path it is told."""

    def __init__(self):
        self.paths = []

    def predictive(self, candidates, **options):
        raise AssertionError("select is its own")

    def select(self, candidates, n_select=1, *, exclude=(), return_scores=False, **options):
        free = [k for k in range(len(candidates)) if k not in set(np.asarray(exclude).tolist())]
        free.sort(key=lambda k: (len(candidates[k]), candidates[k]))
        return np.array(free[:n_select]), np.array([1.0 / len(candidates[k]) for k in free[:n_select]])

    def partial_fit(self, candidates, outcomes):
        assert isinstance(candidates, list)
        self.paths += [tuple(path) for path in candidates]

    def state(self):
        return {"paths": self.paths}

    def restore(self, state):
        self.paths = state["paths"]


def test_entries_are_recognised_by_equality():
    design = SequentialDesign(Paths(), Frontier(), lambda query: [1] * len(query)).run()
    found = design.history_["label"]
    every_path = [p for length in (1, 2, 3) for p in itertools.product((0, 1), repeat=length)]
    assert sorted(found) == sorted(every_path)  # each once, though positions change after every answer
    with pytest.raises(PoolExhausted):
        design.ask()


def test_arrays_by_value(model):
    design = SequentialDesign(model(), directions, measure).run(6)
    asked = [tuple(entry) for entry in itertools.chain(*(event for event in _candidates(design)))]
    assert len(set(asked)) == 6


def _candidates(design):
    return [event["candidates"].tolist() for event in design._journal.log.reload() if event["event"] == "ask"]


@pytest.mark.parametrize("snapshots", [True, False])
def test_the_log_gives_candidates_back(model, model_with_state, tmp_path, same, snapshots):
    kind = model_with_state if snapshots else model
    whole = SequentialDesign(kind(), directions, measure).run(7)
    log = EventLog(tmp_path / "log", snapshot_every=3)
    with SequentialDesign(kind(), directions, measure, log=log) as design:
        design.run(4)
        open_query = design.ask()
    header, events = read_log(tmp_path / "log")
    assert header["pool"] == {"kind": "callable"}
    assert all(event["candidates"].dtype == float for event in events if event["event"] == "ask")
    with SequentialDesign.load(tmp_path / "log", kind(), directions, measure) as again:
        assert np.array_equal(again.ask().candidates, open_query.candidates)
        same(again.run(3), whole)


def test_initial_positions_are_those_of_the_first_pool(model, tmp_path):
    path = tmp_path / "log"
    with SequentialDesign(model(), directions, measure, initial=[2, 0, 1], log=path) as design:
        design.run(1)
    with SequentialDesign.load(path, model(), directions, measure) as again:
        again.run(3)
        assert again.history_["position"][:3] == [2, 0, 1]
        assert _candidates(again)[1] == [[1.0, 0.0, 0.0]]


def test_labels_stand_for_entries_that_are_no_plain_data(model, tmp_path, same):
    def frame(estimator):
        rows = directions(estimator)
        return pd.DataFrame(rows, index=[f"{len(rows)}:{k}" for k in range(len(rows))])

    def measure_frame(query):
        return [answer(row) for row in query.candidates.to_numpy()]

    whole = SequentialDesign(model(), frame, measure_frame).run(5)
    with SequentialDesign(model(), frame, measure_frame, log=tmp_path / "log") as design:
        design.run(2)
        design.ask()
    with SequentialDesign.load(tmp_path / "log", model(), frame, measure_frame) as again:
        same(again.run(3), whole)
    with pytest.raises(ValueError, match="entries of a callable pool, or their labels, must be plain data"):
        SequentialDesign(model(), lambda estimator: [object()], initial=1).ask()


def test_what_needs_a_fixed_pool_says_so(model):
    with pytest.raises(ValueError, match="mask must be None with a callable pool"):
        SequentialDesign(model(), directions, mask=[True])
    with pytest.raises(ValueError, match="cost must be a callable"):
        SequentialDesign(model(), directions, cost=[1.0])
    design = SequentialDesign(model(), directions, measure, cost=lambda rows: 1.0 + np.abs(rows).sum(axis=1)).run(2)
    assert design.spent > 2
