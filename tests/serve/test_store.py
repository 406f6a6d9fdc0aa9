"""The store: the same log as in a file, on the disk at once, and what is wrong with it said in one sentence."""

import itertools
import os
import sqlite3

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression
from adaptive.loop import EventLog, LogError, SequentialDesign
from adaptive.loop.log.storage import LogBehind
from adaptive.serve import Store, StoreError, StoreFault
from adaptive.serve.export import answers_of
from adaptive.serve.labelling import DESIGN
from adaptive.serve.stores.log import StoredLog
from adaptive.serve.stores.sqlite import SCHEMA


def ids(survey):
    return [item.id for item in survey.items]


def test_the_lines_are_those_of_a_file(survey, tmp_path, monkeypatch):
    monkeypatch.setattr("time.monotonic", itertools.repeat(0.0).__next__)
    source, store = survey(), Store(tmp_path / "store")
    kept = []
    for log in (EventLog(tmp_path / "log", snapshot_every=4), store.log(7, snapshot_every=4)):
        with SequentialDesign(source.person, ids(source), random_state=1, log=log) as design:
            for k in range(5):
                design.tell(design.ask(), [1 + k % 3])
            design.retract(design.history_["position"][2])
            kept.append((log.contents(), design.estimator_.mean.tobytes()))
    again = SequentialDesign.load(store.log(7), source.person, ids(source))
    assert kept[0] == kept[1] == (again.log.contents(), again.estimator_.mean.tobytes())
    assert store.rows("SELECT COUNT(*) FROM snapshots") == [(1,)]
    with pytest.raises(LogError, match="exists already"):
        SequentialDesign(source.person, ids(source), log=store.log(7))
    with pytest.raises(LogError, match="does not exist"):
        SequentialDesign.load(store.log(8), source.person, ids(source))
    store.close()


def test_a_replayed_answer_is_a_conflict(tmp_path):
    with Store(tmp_path) as store:
        storage = StoredLog(store, 1)
        storage.create(b"header\n")
        storage.append(b"one\n", number=0, end=7, durable=True)
        with pytest.raises(LogBehind, match="was written by another server"):
            storage.append(b"another\n", number=0, end=7, durable=True)
        assert storage.read() == b"header\none\n"
        with store.transaction() as run:
            run("DELETE FROM events WHERE number = 1")
        with pytest.raises(LogError, match="cut off: 1 events were acknowledged, it holds 0"):
            answers_of(store, 1)
        storage.append(b"one\n", number=0, end=7, durable=True)
        with store.transaction() as run:
            run("DELETE FROM events WHERE number = 0")
        with pytest.raises(LogError, match="lines are missing"):
            storage.read()


def test_a_log_of_its_own_that_was_cut_off_is_not_exported(tmp_path):
    with Store(tmp_path / "store") as store:
        path, pool = store.folder / "run.jsonl", np.arange(12.0).reshape(6, 2)
        store.fact("log", path.name)
        design = SequentialDesign(
            BayesianLogisticRegression(classes=[0, 1]), pool, lambda query: query.positions % 2, log=path
        )
        design.run(3)
        assert len(answers_of(store, DESIGN)) == 3
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
        with pytest.raises(LogError, match=r"was cut off: 6 events were acknowledged, it holds 4"):
            answers_of(store, DESIGN)


def test_how_it_is_kept(tmp_path):
    with Store(tmp_path / "store") as store:
        pragmas = [store.rows(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "secure_delete")]
        assert pragmas == ["wal", 2, 1]
        key = store.key()
        assert len(key) == 32 and store.key() == key
        if os.name == "posix":
            for name in ("key", "store.sqlite", "lock"):
                assert (tmp_path / "store" / name).stat().st_mode & 0o077 == 0
            (tmp_path / "store" / "key").chmod(0o644)
            with pytest.raises(StoreError, match="may be read by others"):
                store.key()
        with pytest.raises(StoreError, match="is in use by a server"):
            Store(tmp_path / "store")
        with Store(tmp_path / "store", write=False) as seen:  # an export looks while a server runs
            assert seen.facts() == {}
            with pytest.raises(StoreFault):
                seen.fact("a", "b")
        store.fact("identity", "one")
        with pytest.raises(StoreError, match="holds the answers to something else"):
            store.fact("identity", "two")
        store.backup(tmp_path / "copy.sqlite")
        with pytest.raises(StoreError, match="backup .* File exists"):
            store.backup(tmp_path / "copy.sqlite")
    (tmp_path / "again").mkdir()
    (tmp_path / "copy.sqlite").rename(tmp_path / "again" / "store.sqlite")
    with Store(tmp_path / "again") as copy:
        assert copy.facts() == {"identity": "one"}


def version(path, number):
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version={number}")
    connection.close()


def corrupt(path):
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 2000] = b"x" * 2000
    path.write_bytes(content)


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda path: version(path, SCHEMA + 1), "is of version 2; this program reads up to 1"),
        (corrupt, "damaged|malformed"),
        (lambda path: path.write_bytes(b"not a database" * 1000), "cannot be used: file is not a database"),
        (lambda path: (path.unlink(), sqlite3.connect(path).execute("CREATE TABLE a (b)")), "is not a store of this"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot be used"),
    ],
    ids=["later version", "corrupt", "another file", "another database", "a folder"],
)
def test_a_store_at_fault_is_said_on_opening(tmp_path, spoil, message):
    with Store(tmp_path) as store, store.transaction() as run:
        for k in range(300):
            run("INSERT INTO facts VALUES (?, ?)", (f"name {k}", "x" * 100))
    spoil(tmp_path / "store.sqlite")
    with pytest.raises(StoreError, match=message):
        Store(tmp_path)


@pytest.mark.parametrize("fault", ["full", "read-only", "locked", "closed"])
def test_what_cannot_be_kept_is_told_and_nothing_is_lost(opened, survey, offline, tmp_path, fault):
    browser, store = opened(survey())
    anna = browser()
    anna.begin()
    for k in (0, 2):
        anna.answer(k)
    before, lines = anna.page, StoredLog(store, 1).read()
    other = None
    if fault == "full":
        pages = store.rows("PRAGMA page_count")[0][0]
        with store.transaction() as run:  # the rest of the last page, and then no more
            run("CREATE TABLE filler (x)")
            for _ in range(4):
                run("INSERT INTO filler VALUES (?)", ("x" * 900,))
        store.rows(f"PRAGMA max_page_count={pages}")
        StoredLog.append, kept = _grows(StoredLog.append), StoredLog.append
    elif fault == "read-only":
        store.rows("PRAGMA query_only=ON")
    elif fault == "locked":
        store.rows("PRAGMA busy_timeout=20")
        other = sqlite3.connect(store.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
    else:
        real, store.connection = store.connection, sqlite3.connect(":memory:", check_same_thread=False)
    try:
        said = anna.answer(1)
        assert said.status_code == 503
        assert "Your last answer could not be kept" in said.text or fault == "closed"
    finally:
        if fault == "full":
            StoredLog.append = kept
            store.rows("PRAGMA max_page_count=1000000")
        elif fault == "read-only":
            store.rows("PRAGMA query_only=OFF")
        elif fault == "locked":
            other.close()
        else:
            store.connection.close()
            store.connection = real
    assert StoredLog(store, 1).read() == lines
    assert anna.get().text == before.text  # at the question one was at
    anna.answer(1)
    twin = offline(1, [0, 2, 1])
    assert anna.question == f"Item {twin.ask().labels[0][1:]}?"


def _grows(append):
    """A disk runs full by lines that are long."""

    def longer(self, lines, *, number, end, durable):
        append(self, lines + b"x" * 20_000, number=number, end=end, durable=durable)

    return longer
