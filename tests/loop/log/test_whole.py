"""A log of less than was acknowledged is refused and left as it is; nobody writes to a file that was exchanged."""

import json
import os
import shutil
import signal
import zlib

import numpy as np
import pytest

from adaptive.loop import EventLog, LogError, SequentialDesign, read_log
from adaptive.loop.log.counted import count_path
from adaptive.loop.log.event_log import _write_line
from adaptive.loop.log.snapshots import pack, unpack
from adaptive.loop.log.storage import snapshot_path
from adaptive.serve import Store

LINES, TORN = 21, 30  # what a half copied file keeps: whole lines, and bytes of the next one


@pytest.fixture
def thirty(model_with_state, pool, measure, tmp_path):
    """A log of 20 answers with a snapshot every 10 events."""
    path = tmp_path / "log"
    with SequentialDesign(model_with_state(), pool, measure, log=EventLog(path, snapshot_every=10)) as design:
        design.run(20)
    return path


def keep(path, n_lines, torn=0):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:n_lines]) + lines[n_lines][:torn])
    return path.read_bytes()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("known_by", ["count", "snapshot"])
@pytest.mark.parametrize("torn", [0, TORN])
def test_a_log_cut_off_is_refused_with_both_counts(thirty, model_with_state, pool, known_by, torn):
    n_events = len(read_log(thirty)[1])
    other = {"count": snapshot_path, "snapshot": count_path}[known_by](thirty)
    other.unlink()
    left = keep(thirty, LINES, torn)
    stands_for = n_events if known_by == "count" else 40
    with pytest.raises(LogError, match=f"the {known_by} beside it stands for {stands_for} events, the log holds 20"):
        SequentialDesign.load(thirty, model_with_state(), pool)
    assert thirty.read_bytes() == left  # nothing was overwritten or dropped
    for path in (count_path(thirty), snapshot_path(thirty)):  # as the message says
        path.unlink(missing_ok=True)
    if not torn:
        SequentialDesign.load(thirty, model_with_state(), pool).close()


def test_a_log_cut_off_behind_its_snapshot_is_refused(thirty, model_with_state, pool):
    keep(thirty, len(thirty.read_bytes().splitlines()) - 1)
    with pytest.raises(LogError, match="the count beside it stands for 44 events, the log holds 43"):
        SequentialDesign.load(thirty, model_with_state(), pool)


def test_a_torn_line_without_a_count_is_not_called_harmless(thirty, model_with_state, pool):
    count_path(thirty).unlink()
    snapshot_path(thirty).unlink()
    keep(thirty, LINES, TORN)
    with pytest.warns(UserWarning, match="no count of its events is beside it, so that later answers may be missing"):
        SequentialDesign.load(thirty, model_with_state(), pool).close()


def test_a_saved_copy_is_as_well_guarded(model, pool, measure, tmp_path, same):
    design = SequentialDesign(model(), pool, measure).run(5)
    design.save(tmp_path / "copy")
    with SequentialDesign.load(tmp_path / "copy", model(), pool) as again:
        same(again, design)
    keep(tmp_path / "copy", 4)
    with pytest.raises(LogError, match="stands for 10 events, the log holds 3"):
        SequentialDesign.load(tmp_path / "copy", model(), pool)


@pytest.mark.filterwarnings("error")
def test_a_damaged_count_and_one_of_another_log_are_passed_over(thirty, model_with_state, pool, measure, tmp_path):
    path = tmp_path / "other"
    SequentialDesign(model_with_state(), pool, measure, log=path, random_state=5).run(24).close()
    flipped = bytearray(count_path(thirty).read_bytes())
    flipped[12] ^= 8
    for line in (count_path(path).read_bytes(), bytes(flipped), b"", b"\xff" * 64):
        count_path(thirty).write_bytes(line)
        SequentialDesign.load(thirty, model_with_state(), pool).close()


def test_a_new_log_has_nothing_of_an_older_one_of_its_name(thirty, model_with_state, pool, measure):
    thirty.unlink()
    SequentialDesign(model_with_state(), pool, measure, log=thirty).run(1).close()
    with SequentialDesign.load(thirty, model_with_state(), pool) as again:
        assert again.iteration == 1


def test_an_answer_is_synced_once(model, pool, measure, tmp_path, monkeypatch):
    with SequentialDesign(model(), pool, measure, log=tmp_path / "log") as design:
        query, synced, sync = design.ask(), [], os.fsync
        monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(descriptor), sync(descriptor)))
        design.tell(query, 0.5)
    assert len(synced) == 1


def test_a_design_in_a_store_is_as_well_guarded(model, pool, measure, tmp_path):
    with Store(tmp_path / "store") as store:
        SequentialDesign(model(), pool, measure, log=store.log(3)).run(4)
        with store.transaction() as run:
            run("DELETE FROM events WHERE design = 3 AND number > 5")
        with pytest.raises(LogError, match="the count beside it stands for 8 events, the log holds 5; restore it"):
            SequentialDesign.load(store.log(3), model(), pool)


# -- under a running design --------------------------------------------------------------------------------------


def delete(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("elsewhere"))


def replace(path):
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def cut(path):
    os.truncate(path, path.stat().st_size - 20)


def write(path):
    path.write_bytes(path.read_bytes() + b"a line of somebody else\n")


@pytest.mark.parametrize(
    "change, message",
    [
        (delete, "was deleted, moved or replaced while this design was running"),
        (move, "was deleted, moved or replaced while this design was running"),
        (replace, "was deleted, moved or replaced while this design was running"),
        (cut, "was cut or written by others while this design was running"),
        (write, "was cut or written by others while this design was running"),
    ],
)
def test_a_file_that_was_exchanged_is_not_written(model, pool, measure, tmp_path, change, message):
    path = tmp_path / "log"
    design = SequentialDesign(model(), pool, measure, log=path).run(2)
    query = design.ask()
    change(path)
    left = path.read_bytes() if path.exists() else None
    for _ in range(2):
        with pytest.raises(LogError, match=message):
            design.tell(query, 0.5)
    assert design.iteration == 2 and design.ask().id == query.id
    assert (path.read_bytes() if path.exists() else None) == left
    if change in (delete, move, replace):
        design.save(tmp_path / "saved")
        assert len(read_log(tmp_path / "saved")[1]) == 5


def test_an_answer_is_not_taken_back_from_a_file_that_was_cut(model, pool, measure, tmp_path):
    path = tmp_path / "log"
    design = SequentialDesign(model(), pool, measure, log=path).run(3)
    keep(path, 3)
    with pytest.raises(LogError, match="cut or changed while this design was running: it holds 2 events, and 6 were"):
        design.retract([design.history_["position"][0]])
    with pytest.raises(LogError, match="was cut or changed while this design was running"):
        design.save(tmp_path / "saved")
    assert design.iteration == 3


def test_a_folder_may_be_changed_under_a_relative_path(model_with_state, pool, measure, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    design = SequentialDesign(model_with_state(), pool, measure, log=EventLog("log", snapshot_every=3))
    monkeypatch.chdir("/")
    design.run(4).close()
    events = read_log(tmp_path / "log")[1]
    assert snapshot_path(tmp_path / "log").exists() and [e["event"] for e in events].count("tell") == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_does_not_write(model, pool, measure, tmp_path, same):
    path = tmp_path / "log"
    design = SequentialDesign(model(), pool, measure, log=path).run(2)
    query = design.ask()
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            design.tell(query, 0.5)
        except LogError as error:
            os.write(send, str(error).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(send)
    said = os.read(receive, 4096).decode()
    os.close(receive)
    assert f"is written by process {os.getpid()}, and this is process {child}, forked from it" in said
    design.run(1).close()
    with SequentialDesign.load(path, model(), pool) as again:
        same(again, design)
        assert again.iteration == 3


# -- damage inside -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the snapshot of log")
def test_a_flipped_bit_of_a_snapshot_is_a_replay(thirty, model_with_state, pool, same):
    path = snapshot_path(thirty)
    good, rng = path.read_bytes(), np.random.default_rng(0)
    with SequentialDesign.load(thirty, model_with_state(), pool) as whole:
        pass
    for place in rng.permutation(8 * len(good))[:300].tolist():
        flipped = bytearray(good)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with SequentialDesign.load(thirty, model_with_state(), pool) as again:
            same(again, whole)


def test_a_shape_that_was_flipped_takes_no_memory(thirty, model_with_state, pool, recwarn):
    path = snapshot_path(thirty)
    state = unpack(path.read_bytes())
    path.write_bytes(pack({**state, "state": {**state["state"], "more": np.zeros(7)}}).replace(b"(7,)", b"(7e", 1))
    with SequentialDesign.load(thirty, model_with_state(), pool):
        assert "damaged; the log is replayed instead" in str(recwarn.pop(UserWarning).message)


def rewritten(path, number, change):
    """Forge one line of a log, with checks that are right."""
    lines, check = [], 0
    for k, record in enumerate(path.read_bytes().splitlines(), start=1):
        line = json.loads(record)
        del line["check"]
        line, check = _write_line(change(line) if k == number else line, check)
        lines.append(line)
    path.write_bytes(b"".join(lines))
    count_path(path).unlink(missing_ok=True)
    snapshot_path(path).unlink(missing_ok=True)


@pytest.mark.parametrize(
    "number, change, message",
    [
        (4, lambda line: {**line, "event": "teel"}, "holds at line 4 an event of the unknown kind 'teel'; known"),
        (4, lambda line: {k: v for k, v in line.items() if k != "event"}, "holds at line 4 an event of the unknown"),
        (3, lambda line: {k: v for k, v in line.items() if k != "rows"}, "line 3 an event 'tell' without 'rows'"),
        (2, lambda line: {k: v for k, v in line.items() if k != "costs"}, "line 2 an event 'ask' without 'costs'"),
        (1, lambda line: {k: v for k, v in line.items() if k != "pool"}, "line 1 a header without 'pool'"),
        (1, lambda line: {**line, "arguments": {}}, "line 1 a header without 'scorer', "),
        (1, lambda line: {k: v for k, v in line.items() if k != "format_version"}, "has format version None"),
    ],
)
def test_a_line_that_no_design_writes(thirty, model_with_state, pool, number, change, message):
    rewritten(thirty, number, change)
    with pytest.raises(LogError, match=message):
        SequentialDesign.load(thirty, model_with_state(), pool)


def test_a_line_of_twenty_thousand_brackets(thirty, model_with_state, pool):
    lines = thirty.read_bytes().splitlines(keepends=True)
    check = int(lines[1][-11:-3], 16)
    body = b'{"event":"tell","outcomes":' + b"[" * 20000 + b"]" * 20000 + b"}"
    lines[2] = body[:-1] + b',"check":"%08x"}\n' % zlib.crc32(body, check)
    thirty.write_bytes(b"".join(lines))
    with pytest.raises(LogError, match=r"is damaged at line 3 of 45"):
        SequentialDesign.load(thirty, model_with_state(), pool)
