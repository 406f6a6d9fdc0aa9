"""Points out, outcomes by their ids back in: late, unordered, twice, failed, volunteered, after a kill, by two."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from adaptive import BayesianLogisticRegression, GaussianProcessRegressor, SequentialDesign
from adaptive.loop import LogError, MaxSteps, Optimizer, PoolExhausted
from adaptive.loop.points import undominated

NAMES = ["x", "y", "z"]


@pytest.fixture
def make(model, pool):
    def optimizer(log=None, worker=None, best="max", **options):
        design = SequentialDesign(model(), pool, log=log, random_state=0, **options)
        return Optimizer(design, NAMES, "signal", worker=worker, best=best)

    return optimizer


@pytest.fixture
def measured(pool, answers):
    """Outcomes of points, found by their settings alone."""

    def outcomes(points):
        where = [int(np.flatnonzero((pool == [p["x"], p["y"], p["z"]]).all(axis=1))[0]) for p in points]
        return [{"_id": p["_id"], "signal": answers[k]} for p, k in zip(points, where, strict=True)]

    return outcomes


def test_a_loop_of_points_is_the_loop_of_queries(make, model, pool, answers, measured, same):
    optimizer = make()
    twin = SequentialDesign(model(), pool, random_state=0)
    for _ in range(5):
        points = optimizer.suggest()
        optimizer.ingest(measured(points))
        query = twin.ask()
        assert list(points[0]) == ["_id", *NAMES] and [points[0][n] for n in NAMES] == query.candidates[0].tolist()
        twin.tell(query, answers[query.positions])
    same(optimizer.design, twin)


def test_outcomes_come_late_out_of_order_and_in_batches(make, model, pool, answers, measured):
    optimizer = make()
    first, second, third = optimizer.suggest(3), optimizer.suggest(2), optimizer.suggest()
    ids = [point["_id"] for point in (*first, *second, *third)]
    assert len(set(ids)) == len(ids) == 6
    optimizer.ingest(measured([second[1], first[2]]))
    optimizer.ingest(measured(third))
    optimizer.ingest(measured([first[1], second[0], first[0]]))
    design = optimizer.design
    asked = design.history_["position"]
    exact = model().partial_fit(pool[asked], answers[asked])
    np.testing.assert_allclose(design.estimator_.precision, exact.precision, rtol=1e-12)
    np.testing.assert_allclose(design.estimator_.shift, exact.shift, rtol=1e-12, atol=1e-12)
    assert design.iteration == 6 and not design.pending


def test_an_outcome_that_comes_twice_is_learnt_once(make, measured):
    optimizer = make()
    points = measured(optimizer.suggest(2))
    optimizer.ingest([*points, points[0]])
    optimizer.ingest(points)
    optimizer.ingest([{**points[0], "_id": float(points[0]["_id"])}, {**points[1], "_id": str(points[1]["_id"])}])
    assert optimizer.design.iteration == 2
    with pytest.raises(ValueError, match="of _id 0 has the outcome .* already, got 7.0: take the first back"):
        optimizer.ingest([{"_id": 0, "signal": 7.0}])
    optimizer.design.retract(optimizer.design.history_["position"][:1])
    optimizer.ingest([{"_id": 0, "signal": 7.0}])
    assert optimizer.design.history_["outcome"][-1] == 7.0


def test_failures_are_set_aside_and_a_late_outcome_is_learnt(make, measured):
    optimizer = make()
    points = optimizer.suggest(3)
    optimizer.ingest(measured(points[:1]))
    optimizer.register_failures(points)
    design = optimizer.design
    assert design.iteration == 1 and not design.pending and len(design.unanswered) == 2
    failed = {tuple(point[name] for name in NAMES) for point in points}
    rest = optimizer.suggest(design.n_left)
    assert not failed & {tuple(point[name] for name in NAMES) for point in rest}
    optimizer.ingest(measured(points[1:2]))
    assert design.iteration == 2 and len(rest) == 22


def test_points_of_somebodys_own_choice(make, pool, answers, measured):
    optimizer = make()
    own = dict(zip(NAMES, (pool[7] * (1 + 1e-9)).tolist(), strict=True))  # as a motor reads back
    optimizer.ingest([{**own, "signal": answers[7]}, {**own, "_id": "baseline", "signal": answers[7]}])
    assert optimizer.design.history_["position"] == [7] and np.isnan(optimizer.design.history_["score"][0])
    chosen = dict(zip(NAMES, pool[3].tolist(), strict=True))
    (registered,) = optimizer.register_suggestions([{**chosen, "_id": "theirs"}])
    assert registered == {**chosen, "_id": 1} or registered["_id"] == optimizer.design.pending[0].id
    optimizer.ingest(measured([registered]))
    (point,) = optimizer.suggest()
    optimizer.ingest([{**{n: point[n] for n in NAMES}, "signal": 0.5}])  # its _id was lost
    assert not optimizer.design.pending and optimizer.design.iteration == 3


def test_two_workers_have_points_of_their_own(model, pool, answers, measured):
    design = SequentialDesign(model(), pool, random_state=0)
    left, right = (Optimizer(design, NAMES, "signal", worker=name) for name in ("left", "right"))
    mine, yours = left.suggest(2), right.suggest(2)
    assert len({point["_id"] for point in mine + yours}) == 4
    right.ingest(measured(mine))  # anybody may tell
    left.ingest(measured(yours))
    assert design.iteration == 4 and len(set(design.history_["position"])) == 4
    more = left.suggest(2)
    again = Optimizer(design, NAMES, "signal", worker="left")
    assert again.suggest(2) == more and not {p["_id"] for p in right.suggest(2)} & {p["_id"] for p in more}


SCRIPT = """
    import os, signal, sys
    import numpy as np
    from adaptive import GaussianProcessRegressor, SequentialDesign
    from adaptive.loop import Optimizer
    settings = np.linspace(0.0, 1.0, 21)[:, None]
    design = SequentialDesign.open(sys.argv[1], GaussianProcessRegressor(optimizer=None), settings, random_state=3)
    optimizer = Optimizer(design, ["motor"], "signal")
    points = optimizer.suggest(3)
    print(points, flush=True)
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    optimizer.ingest([{"_id": point["_id"], "signal": np.sin(point["motor"])} for point in points])
    optimizer.checkpoint()
    print(optimizer.suggest(1), flush=True)
"""


def test_killed_between_suggest_and_ingest_the_same_points_come_again(tmp_path):
    def ran(log, how):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path / log), how],
            capture_output=True, text=True, env=os.environ, timeout=120,
        )  # fmt: skip
        return done.returncode, done.stdout.splitlines()

    code, before = ran("killed.log", "kill")
    assert code == -signal.SIGKILL and len(before) == 1
    assert ran("killed.log", "kill")[1] == before
    code, after = ran("killed.log", "finish")
    assert code == 0 and after[:1] == before
    assert after == ran("whole.log", "finish")[1]


def test_when_to_stop(make, measured):
    optimizer = make(stop=MaxSteps(2))
    assert optimizer.should_stop() == (False, None)
    optimizer.ingest(measured(optimizer.suggest(2)))
    assert optimizer.should_stop() == (True, "MaxSteps(2) holds")
    emptied = make()
    emptied.suggest(25)
    assert emptied.should_stop() == (True, "no candidate is left")


def test_a_checkpoint_is_beside_the_log(make, measured, tmp_path, model_with_state, pool):
    optimizer = Optimizer(
        SequentialDesign(model_with_state(), pool, log=tmp_path / "answers.log", random_state=0), NAMES, "signal"
    )
    optimizer.ingest(measured(optimizer.suggest(2)))
    before = set(os.listdir(tmp_path))
    optimizer.checkpoint()
    assert set(os.listdir(tmp_path)) - before
    with pytest.raises(LogError):
        SequentialDesign.load(tmp_path / "answers.log", model_with_state(), pool)
    optimizer.finalize()
    SequentialDesign.load(tmp_path / "answers.log", model_with_state(), pool).close()
    with pytest.raises(ValueError, match="checkpoint needs a design with a log on disk"):
        make().checkpoint()


def test_the_best_points(make, measured, answers):
    optimizer = make()
    assert optimizer.get_best_points() == []
    points = optimizer.suggest(8)
    optimizer.ingest(measured(points))
    asked = np.array(optimizer.design.history_["position"])
    for best, k in (("max", np.argmax(answers[asked])), ("min", np.argmin(answers[asked]))):
        (number, settings, outcome), *more = Optimizer(optimizer.design, NAMES, "signal", best=best).get_best_points()
        assert not more and number == points[k]["_id"] and outcome == {"signal": answers[asked[k]]}
        assert settings == {name: points[k][name] for name in NAMES}


def test_undominated_by_brute_force():
    values = np.random.default_rng(0).integers(0, 4, (60, 3)).astype(float)
    good = undominated(values)
    for k, row in enumerate(values):
        dominated = any((other >= row).all() and (other > row).any() for other in values)
        assert good[k] == (not dominated and not any((values[j] == row).all() for j in range(k)))


def test_settings_of_frames_texts_and_single_numbers():
    frame = pd.DataFrame({"unused": [1.0, 2.0, 3.0], "angle": [0.0, 0.5, 1.0]}, index=list("abc"))
    design = SequentialDesign(GaussianProcessRegressor(optimizer=None), frame, random_state=0)
    assert set(Optimizer(design, ["angle"], "signal").suggest(1)[0]) == {"_id", "angle"}

    lamps = pd.DataFrame({"time": [0.5, 0.5, 1.0, 1.0], "lamp": ["red", "blue"] * 2})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["lamp"]), remainder="passthrough"),
        BayesianLogisticRegression(classes=["dark", "light"], hyperparameters="mode"),
    )
    optimizer = Optimizer(SequentialDesign(model, lamps, random_state=0), ["lamp", "time"], "seen")
    points = optimizer.suggest(3)
    assert {(point["lamp"], point["time"]) for point in points} < set(zip(lamps["lamp"], lamps["time"], strict=True))
    optimizer.ingest([{"time": 1, "lamp": "blue", "seen": "dark"}])
    assert optimizer.design.history_["position"] == [3]
    assert Optimizer(SequentialDesign(model, lamps), ["lamp", "time"], "seen").suggest()[0]["lamp"] in ("red", "blue")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: o.ingest([{"_id": 99, "signal": 1.0}]), "_id 99 was never suggested; leave _id out"),
        (lambda o: o.ingest([{"_id": True, "signal": 1.0}]), "_id True was never suggested"),
        (lambda o: o.ingest([{"_id": 0, "counts": 1.0}]), "points must have the outcome 'signal', got one with"),
        (lambda o: o.ingest([{"_id": 0, "signal": [1.0, 2.0]}]), "'signal' of a point must be one number"),
        (lambda o: o.ingest([{"x": 0.0, "signal": 1.0}]), "without _id must have all settings, got one without 'y'"),
        (lambda o: o.ingest([{"x": 9.0, "y": 9.0, "z": 9.0, "signal": 1.0}]), "no candidate has the settings"),
        (lambda o: o.ingest([{"_id": 0, "signal": 1.0}, {"_id": 99, "signal": 1.0}]), "99 was never suggested"),
        (lambda o: o.register_failures([{"_id": 0}, {"_id": 99}]), "99 was never suggested"),
        (lambda o: o.register_failures([{"x": 0.0}]), "suggestions must have the _id"),
        (lambda o: o.suggest(0), "num_points must be"),
        (lambda o: o.suggest(99), "num_points must be at most 24, what is left, got 99"),
        (lambda o: Optimizer(o.design, ["x"], "signal"), "one entry for each of the 3 columns, got 1"),
        (lambda o: Optimizer(o.design, "xyz", "signal"), "names must be texts"),
        (lambda o: Optimizer(o.design, ["x", "y", "y"], "signal"), "names must differ"),
        (lambda o: Optimizer(o.design, ["x", "y", "signal"], "signal"), "names must not hold 'signal'"),
        (lambda o: Optimizer(o.design, NAMES, "signal", best="least"), "best"),
    ],
)
def test_what_is_refused_changes_nothing(make, call, message):
    optimizer = make()
    optimizer.suggest(1)
    with pytest.raises(ValueError, match=message):
        call(optimizer)
    design = optimizer.design
    assert design.iteration == 0 and [query.id for query in design.pending] == [0] and design.n_left == 24


def test_an_outcome_that_the_estimator_refuses_waits(make, measured):
    optimizer = make()
    points = measured(optimizer.suggest(3))
    with pytest.raises(ValueError, match="NaN"):
        optimizer.ingest([points[0], {**points[1], "signal": np.nan}, points[2]])
    assert optimizer.design.iteration == 1 and len(optimizer.design.pending) == 2
    optimizer.ingest(points)
    assert optimizer.design.iteration == 3
    optimizer.suggest(22)
    with pytest.raises(PoolExhausted):
        optimizer.suggest()
