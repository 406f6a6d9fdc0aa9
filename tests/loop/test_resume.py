"""What is loaded continues as if nothing had happened, and what does not belong is refused in one sentence."""

import json
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from adaptive import BayesianLogisticRegression, scorers
from adaptive.loop import EventLog, LogError, MaxSeconds, MaxSteps, SequentialDesign, StablePredictions, read_log
from adaptive.loop.log.counted import count_line, count_path
from adaptive.loop.log.snapshots import pack, snapshot_path, unpack

OPTIONS = {"initial": 3, "batch_size": 2, "random_state": 7}


def drive(design, answers, steps):
    """A bit of everything: questions ahead of answers, skips, parts, refusals."""
    for k in range(steps):
        first, second = design.ask(), design.ask(another=True)
        if k % 3 == 1:
            design.skip(first)
        else:
            design.tell(first.positions[-1:], answers[first.positions[-1:]])
        with pytest.raises(ValueError):
            design.tell(second, np.full(len(second), np.nan))
        design.tell(second, answers[second.positions])
    return design


@pytest.mark.parametrize("snapshot_every", [3, 1000])
@pytest.mark.parametrize("stateful", [True, False])
def test_loading_after_any_step(model, model_with_state, pool, answers, tmp_path, same, snapshot_every, stateful):
    kind = model_with_state if stateful else model
    whole = drive(SequentialDesign(kind(), pool, **OPTIONS), answers, 5)
    for stopped in range(5):
        log = EventLog(tmp_path / f"log{stopped}", snapshot_every=snapshot_every)
        with SequentialDesign(kind(), pool, log=log, **OPTIONS) as design:
            drive(design, answers, stopped)
            loaded_at = design.iteration
        with SequentialDesign.load(log.path, kind(), pool) as again:
            assert again.iteration == loaded_at
            # drive() counts its steps from 0: continue where it was
            for k in range(stopped, 5):
                first, second = again.ask(), again.ask(another=True)
                if k % 3 == 1:
                    again.skip(first)
                else:
                    again.tell(first.positions[-1:], answers[first.positions[-1:]])
                with pytest.raises(ValueError):
                    again.tell(second, np.full(len(second), np.nan))
                again.tell(second, answers[second.positions])
            same(again, whole)


def test_a_snapshot_spares_the_replay(model_with_state, pool, measure, tmp_path):
    class Counting(model_with_state):
        calls = 0

        def partial_fit(self, X, y):
            type(self).calls += 1
            return super().partial_fit(X, y)

    log = EventLog(tmp_path / "log", snapshot_every=4)
    with SequentialDesign(Counting(), pool, measure, log=log) as design:
        design.run(11)
    Counting.calls = 0
    with SequentialDesign.load(log.path, Counting(), pool, measure) as again:
        assert again.estimator_.n_fits == 11 and Counting.calls <= 2


def test_save_and_load_without_a_log(model_with_state, pool, answers, tmp_path, same):
    path = tmp_path / "saved"
    design = drive(SequentialDesign(model_with_state(), pool, **OPTIONS), answers, 2)
    design.save(path)
    drive(design, answers, 1)
    design.save(path)  # a newer save replaces the older one
    with SequentialDesign.load(path, model_with_state(), pool) as again:
        same(again, design)
    other = SequentialDesign(model_with_state(), pool, random_state=8)
    with pytest.raises(LogError, match="is not an older save of this design"):
        other.save(path)
    (tmp_path / "letter").write_text("Dear all,\n")
    with pytest.raises(LogError, match="is not an older save of this design"):
        other.save(tmp_path / "letter")


def test_outcomes_keep_their_dtype(pool, tmp_path):
    class Collects:
        def __init__(self):
            self.seen = []

        def predictive(self, candidates, **options):
            raise AssertionError

        def partial_fit(self, X, y):
            self.seen.append(y)

    given = [
        np.array([1.5], dtype=np.float32), np.array([0.1 + 0.2]), np.array([7], dtype=np.uint8), ["yes"], [True],
        [1 / 3 + 2j], [np.arange(4, dtype=np.complex64).reshape(2, 2)], [(1, 5)], [None],
    ]  # fmt: skip
    with SequentialDesign(Collects(), pool, initial=9, log=tmp_path / "log") as design:
        for outcome in given:
            design.tell(design.ask(), outcome)
    with SequentialDesign.load(tmp_path / "log", Collects(), pool) as again:
        for a, b in zip(design.estimator_.seen, again.estimator_.seen, strict=True):
            assert type(a) is type(b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)
            assert repr(a) == repr(b)


def test_a_stopping_rule_remembers(model_with_state, pool, measure, tmp_path, same):
    def rule():
        return StablePredictions(0.3, patience=3) | MaxSteps(20)

    whole = SequentialDesign(model_with_state(), pool, measure, stop=rule()).run()
    assert 5 < whole.iteration < 20
    for stopped in (2, whole.iteration - 1):
        log = EventLog(tmp_path / f"log{stopped}", snapshot_every=3)
        with SequentialDesign(model_with_state(), pool, measure, stop=rule(), log=log) as design:
            design.run(stopped)
        with SequentialDesign.load(log.path, model_with_state(), pool, measure, stop=rule()) as again:
            assert again.stop.state()[0]["calm"] == design.stop.state()[0]["calm"]
            same(again.run(), whole)
        # another rule sees all answers again, as if it had been there from the start
        other = StablePredictions(0.25, patience=50)
        with SequentialDesign.load(log.path, model_with_state(), pool, measure, stop=other) as again:
            fresh = SequentialDesign(model_with_state(), pool, measure, stop=other).run(again.iteration)
            assert again.iteration == fresh.iteration and again.stop.calm == fresh.stop.calm


def test_the_header_says_what_it_is(model, pool, tmp_path):
    with SequentialDesign(model(), pool, random_state=3, log=tmp_path / "log") as design:
        design.ask()
    header, events = read_log(tmp_path / "log")
    assert header["seed"] == 3 and header["pool"]["length"] == 25
    assert header["arguments"]["scorer"] == "information_gain"
    assert {"python", "numpy", "scipy", "scikit-learn"} <= set(header["versions"])
    assert [event["event"] for event in events] == ["ask"]
    for line in (tmp_path / "log").read_text().splitlines():
        json.loads(line)  # plain JSON lines for any other tool


def test_a_log_names_classes_and_functions_as_users_import_them(tmp_path):
    """Modules may move, public names are a promise."""
    pool = np.random.default_rng(0).standard_normal((9, 2))
    model = BayesianLogisticRegression(prior_scale=1.0, classes=[0, 1])
    with SequentialDesign(model, pool, scorer=scorers.margin, log=tmp_path / "log") as design:
        design.ask()
    header, _ = read_log(tmp_path / "log")
    assert header["estimator"]["class"] == "adaptive.BayesianLogisticRegression"
    assert header["arguments"]["scorer"] == "function adaptive.scorers.margin"


# -- what does not belong ----------------------------------------------------------------------------------------


@pytest.fixture
def log(model, pool, measure, tmp_path):
    path = tmp_path / "log"
    with SequentialDesign(model(), pool, measure, cost=np.ones(25), log=path, **OPTIONS) as design:
        design.run(4)
    return path


@pytest.mark.parametrize(
    "change, message",
    [
        ({"candidates": np.zeros((25, 3))}, "candidates are not those of log .*25 candidates with fingerprint"),
        ({"candidates": np.zeros((9, 3))}, "got 9 candidates"),
        ({"candidates": lambda estimator: np.zeros((9, 3))}, "got a callable pool"),
        ({"noise_variance": 2.0}, "estimator parameter noise_variance is not that of log .*: it has 0.5, got 2.0"),
        ({"kind": True}, "estimator is not that of log .*LinearGaussian', got .*WithState"),
        ({"random_state": 8}, "random_state is not that of log .*it has 7, got 8"),
        ({"scorer": "random"}, "scorer is not that of log"),
        ({"batch_size": 1}, "batch_size is not that of log .*it has 2, got 1"),
        ({"cost": None}, "cost is not that of log"),
        ({"log": "other"}, "leave log out"),
        ({"scorer": divmod}, "scorer is not that of log .*got 'function builtins.divmod'"),
    ],
)
def test_another_design(model, model_with_state, pool, log, change, message):
    change = {"cost": np.ones(25), "candidates": pool, **change}
    kind = model_with_state if change.pop("kind", False) else model
    estimator = kind(change.pop("noise_variance", 0.5))
    with pytest.raises(ValueError, match=message):
        SequentialDesign.load(log, estimator, **change)
    SequentialDesign.load(log, model(), pool, cost=np.ones(25)).close()  # and the refusal left it free and whole


def test_other_versions_are_a_warning(model, pool, log, monkeypatch):
    monkeypatch.setattr("adaptive.loop.log.header.versions", lambda: {"numpy": "0.1"})
    with pytest.warns(UserWarning, match="numpy .* -> 0.1"):
        SequentialDesign.load(log, model(), pool, cost=np.ones(25)).close()


def test_an_estimator_that_refuses_what_was_learnt(model, pool, log):
    class LinearGaussian(model):
        def partial_fit(self, X, y):
            raise ValueError("not today")

    LinearGaussian.__module__, LinearGaussian.__qualname__ = model.__module__, model.__qualname__
    with pytest.raises(LogError, match="cannot be replayed .*its event 2 .tell. ends in ValueError: not today"):
        SequentialDesign.load(log, LinearGaussian(), pool, cost=np.ones(25))


def test_a_fitted_estimator_is_not_an_unfitted_one(pool, tmp_path):
    labels = np.where(pool[:, 0] > 0, 1, 0)
    start = LogisticRegression().fit(pool, labels)
    start.predictive, start.partial_fit = None, None  # so that it is taken as it is
    SequentialDesign(start, pool, log=tmp_path / "log").close()
    other = LogisticRegression()
    other.predictive, other.partial_fit = None, None
    with pytest.raises(LogError, match="whether the estimator is fitted is not that of log .*it has True, got False"):
        SequentialDesign.load(tmp_path / "log", other, pool)


def own_scorer(predictive, random_state):
    return predictive.variance


def test_a_scorer_of_ones_own_is_given_again(model, pool, measure, tmp_path):
    with SequentialDesign(model(), pool, measure, scorer=own_scorer, log=tmp_path / "log") as design:
        design.run(2)
    with pytest.raises(LogError, match="scorer is not that of log .*own_scorer"):
        SequentialDesign.load(tmp_path / "log", model(), pool)
    with SequentialDesign.load(tmp_path / "log", model(), pool, measure, scorer=own_scorer) as again:
        again.run(1)


def test_damaged_lines(model, pool, log):
    lines = log.read_bytes().splitlines(keepends=True)
    n = len(lines)
    for k in range(1, n):
        changed = bytearray(b"".join(lines))
        start = sum(map(len, lines[:k]))
        changed[start + len(lines[k]) // 2] ^= 1
        log.write_bytes(changed)
        with pytest.raises(LogError, match=f"log .* is damaged at line {k + 1} of {n}"):
            SequentialDesign.load(log, model(), pool, cost=np.ones(25))
    log.write_bytes(b"".join(lines[:2] + lines[3:]))
    with pytest.raises(LogError, match="damaged at line 3"):
        SequentialDesign.load(log, model(), pool, cost=np.ones(25))


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"question,answer\n1,2\n", b'{"event":"tell"}\n', bytes(range(256)), b'{"a":1,"check":"00"}\n'],
)
def test_foreign_files(model, pool, tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(LogError, match="is not a log of a design"):
        SequentialDesign.load(path, model(), pool)
    with pytest.raises(LogError, match="exists already"):
        SequentialDesign(model(), pool, log=path)
    assert path.read_bytes() == content
    with pytest.raises(LogError, match="cannot be opened: No such file"):
        SequentialDesign.load(tmp_path / "nothing", model(), pool)


def test_a_log_of_the_future(model, pool, log, monkeypatch):
    monkeypatch.setattr("adaptive.loop.log.event_log.VERSION", 0)
    with pytest.raises(LogError, match="format version 1; this version reads up to 0"):
        read_log(log)


def test_a_torn_last_line_is_dropped(model, pool, measure, tmp_path, same):
    path = tmp_path / "log"
    with SequentialDesign(model(), pool, measure, log=path) as design:
        whole = SequentialDesign(model(), pool, measure).run(6)
        design.run(5)
    data = path.read_bytes()
    last = data[:-1].rindex(b"\n") + 1  # where the last line, a tell, begins
    count = count_line(8, data[: data.index(b"\n") + 1])  # when that tell was not acknowledged yet
    for cut in (1, 17, len(data) - last - 1):
        path.write_bytes(data[: last + cut])
        count_path(path).write_bytes(count)
        with pytest.warns(UserWarning, match="torn by a crash and is dropped .*nothing that was acknowledged is lost"):
            again = SequentialDesign.load(path, model(), pool, measure)
        assert again.iteration == 4 and len(again.pending) == 1
        same(again.run(2), whole)
        again.close()
    path.write_bytes(data[:last] + b"\0" * 40 + b"\n")
    count_path(path).write_bytes(count)
    with pytest.warns(UserWarning, match="torn by a crash"):
        SequentialDesign.load(path, model(), pool, measure).close()


def test_one_design_per_log(model, pool, measure, tmp_path):
    path = tmp_path / "log"
    design = SequentialDesign(model(), pool, measure, log=path)
    with pytest.raises(LogError, match="is in use by another design; close that one first"):
        SequentialDesign.load(path, model(), pool)
    design.close()
    with pytest.raises(LogError, match="is closed"):
        design.ask()
    SequentialDesign.load(path, model(), pool).close()


def test_an_answer_written_but_not_learnt_before_the_crash(model, pool, measure, tmp_path):
    path = tmp_path / "log"
    with SequentialDesign(model(), pool, log=path) as design:
        query = design.ask()
        event = {"event": "tell", "query": query.id, "rows": [0], "seconds": 0.0}
        design._journal.log.append({**event, "outcomes": np.array([np.nan])})  # one the estimator will refuse
    with SequentialDesign.load(path, model(), pool) as again:
        assert again.iteration == 0 and again.ask().id == query.id
        again.tell(again.ask(), 1.0)
    with SequentialDesign.load(path, model(), pool) as again:
        assert again.history_["outcome"] == [1.0]
    assert [event["event"] for event in read_log(path)[1]] == ["ask", "tell", "reject", "tell"]


# -- snapshots ---------------------------------------------------------------------------------------------------


def test_a_snapshot_that_is_damaged_or_of_another_log(model_with_state, pool, measure, tmp_path, same):
    def run(name, seed):
        log = EventLog(tmp_path / name, snapshot_every=4)
        with SequentialDesign(model_with_state(), pool, measure, scorer="random", random_state=seed, log=log) as design:
            design.run(6)
        return design, snapshot_path(log.path)

    design, snapshot = run("one", 1)
    _, other = run("two", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snapshot.write_bytes(other.read_bytes())
        with SequentialDesign.load(tmp_path / "one", model_with_state(), pool, measure) as again:
            same(again, design)
        snapshot.unlink()
        with SequentialDesign.load(tmp_path / "one", model_with_state(), pool, measure) as again:
            same(again, design)
    good = other.read_bytes()
    for bad in (b"", b"PK nothing", good[: len(good) // 2], pack({"n_events": 3})):
        snapshot.write_bytes(bad)
        with (
            pytest.warns(UserWarning, match="is damaged; the log is replayed instead"),
            SequentialDesign.load(tmp_path / "one", model_with_state(), pool, measure) as again,
        ):
            same(again, design)


def test_a_snapshot_that_the_estimator_cannot_use(model_with_state, pool, measure, tmp_path, same):
    log = EventLog(tmp_path / "log", snapshot_every=2)
    with SequentialDesign(model_with_state(), pool, measure, log=log) as design:
        design.run(4)

    class WithState(model_with_state):
        def restore(self, state):
            self.precision = "half done"
            raise KeyError("mean")

    WithState.__module__, WithState.__qualname__ = model_with_state.__module__, model_with_state.__qualname__
    with (
        pytest.warns(UserWarning, match="cannot be used here .'mean'.; replaying"),
        SequentialDesign.load(log.path, WithState(), pool, measure) as again,
    ):
        same(again, design)


def test_a_snapshot_never_runs_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return (print, ("code ran",))

    path = tmp_path / "evil.npz"
    np.savez(path, document=np.array([Evil()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        unpack(path.read_bytes())
    with pytest.raises(ValueError, match="only plain data"):
        pack({"model": Evil()})


def test_states_come_back_as_they_were():
    state = {
        "mean": np.arange(3.0), "order": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "none": None, "n": 3,
        "names": ["a", "b"], "labels": np.array(["x", "yy"]), "empty": np.zeros((0, 2)), "scale": np.float32(0.1),
        "nested": {"type": "ep", "pair": (1, np.ones(2, dtype=complex))}, "dates": np.array(["2020-01-01"], "M8[D]"),
    }  # fmt: skip
    back = unpack(pack(state))
    assert repr(back) == repr(state)
    assert back["order"].flags.f_contiguous and back["scale"].dtype == np.float32


def test_a_state_that_is_no_plain_data_is_replayed(model_with_state, pool, measure, tmp_path, same):
    class Odd(model_with_state):
        def state(self):
            return {"secret": object()}

    log = EventLog(tmp_path / "log", snapshot_every=2)
    with (
        pytest.warns(UserWarning, match="no snapshot was written"),
        SequentialDesign(Odd(), pool, measure, log=log) as design,
    ):
        design.run(3)
    with SequentialDesign.load(log.path, Odd(), pool, measure) as again:
        same(again, design)


def test_seconds_spent_before_count_after_a_resume(model, pool, measure, tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr("adaptive.loop.log.journal.time.monotonic", lambda: clock[0])

    def slow(query):
        clock[0] += 40.0
        return measure(query)

    path = tmp_path / "log"
    with SequentialDesign(model(), pool, slow, log=path) as design:
        assert design.run(2).seconds == 80.0
    clock[0] += 5000.0  # a pause
    with SequentialDesign.load(path, model(), pool, slow, stop=MaxSeconds(110)) as again:
        assert again.seconds == 80.0
        assert again.run().iteration == 3 and again.seconds == 120.0
        assert again.history_["seconds"] == [40.0, 80.0, 120.0]


def test_the_answer_right_after_a_snapshot_is_learnt_again(model_with_state, pool, answers, tmp_path, same):
    """A crash between a snapshot and its record in the log, while a second query waits."""
    path = tmp_path / "log"
    with SequentialDesign(model_with_state(), pool, log=path, random_state=0) as design:
        first, second = design.ask(), design.ask(another=True)
        design.tell(first, answers[first.positions])
        design.save(path)  # a snapshot of three events, without a record
        design.tell(second, answers[second.positions])
        assert [event["event"] for event in read_log(path)[1]] == ["ask", "ask", "tell", "tell"]
        assert snapshot_path(path).exists()
        with SequentialDesign(model_with_state(), pool, random_state=0) as whole:
            for query in [whole.ask(), whole.ask(another=True)]:
                whole.tell(query, answers[query.positions])
    with SequentialDesign.load(path, model_with_state(), pool) as again:
        same(again, whole)
        assert again.estimator_.n_fits == 2
