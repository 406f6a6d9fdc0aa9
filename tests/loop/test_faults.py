"""Kills, interrupts, full disks: nothing that was acknowledged is lost, and what follows is as if nothing had been."""

import errno
import importlib.util
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import adaptive.loop
from adaptive.loop import EventLog, SequentialDesign, read_log

SCRIPT = Path(__file__).with_name("two_second_design.py")
FULL = bool(os.environ.get("ADAPTIVE_FULL"))
KILLS = 20 if FULL else 3
PAUSE = 0.02  # seconds per measurement: with what the loop itself takes, two seconds for all


@pytest.fixture(scope="module")
def two_seconds():
    spec = importlib.util.spec_from_file_location("two_second_design", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.whole = module.design().run()
    return module


def start(log, pause=PAUSE):
    environment = {**os.environ, "PYTHONPATH": str(Path(adaptive.loop.__file__).parents[2])}
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(log), str(pause)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout.readline() == b"ready\n", process.stderr.read().decode()
    return process


def finish(two_seconds, log, same):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "log .* torn by a crash")
        design = two_seconds.design(log)
    with design:
        same(design.run(), two_seconds.whole)


def n_told(log):
    return sum(event["event"] == "tell" for event in read_log(log)[1])


def test_a_process_killed_at_random_points(two_seconds, tmp_path, same):
    rng = np.random.default_rng(0)
    n_logs, log = 0, tmp_path / "log0"
    for _ in range(KILLS):
        process = start(log)
        time.sleep(rng.uniform(0.0, 1.2))
        process.kill()
        process.communicate()
        if n_told(log) == two_seconds.STEPS:  # this one is done: begin another
            finish(two_seconds, log, same)
            n_logs, log = n_logs + 1, tmp_path / f"log{n_logs + 1}"
    finish(two_seconds, log, same)


def test_a_process_interrupted_by_ctrl_c(two_seconds, tmp_path, same):
    log = tmp_path / "log"
    process = start(log, pause=1.0)  # what it does is to measure, nearly all of the time
    while b'"event":"tell"' not in log.read_bytes():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0 and errors.decode().strip().endswith("KeyboardInterrupt")
    assert 0 < n_told(log) < two_seconds.STEPS
    finish(two_seconds, log, same)


class Interrupt:
    """Raises KeyboardInterrupt before the n-th line that runs in adaptive.loop: between any two statements."""

    folder = str(Path(adaptive.loop.__file__).parent)

    def __init__(self, n):
        self.left, self.fired = n, False

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, kind, error, traceback):
        sys.settrace(None)
        return kind is KeyboardInterrupt

    def _call(self, frame, event, argument):
        return self._line if frame.f_code.co_filename.startswith(self.folder) else None

    def _line(self, frame, event, argument):
        if event == "line" and not self.fired:
            self.left -= 1
            if self.left < 0:
                self.fired = True
                raise KeyboardInterrupt
        return self._line


@pytest.mark.filterwarnings("ignore:log .* torn by a crash", "ignore:unclosed file:ResourceWarning")
def test_an_interrupt_between_any_two_statements(model_with_state, pool, answers, tmp_path, same):
    steps = 5
    measured = []

    def measure(query):
        measured.append(query.id)
        return answers[query.positions]

    options = {"measure": measure, "initial": 2, "random_state": 3}
    whole = SequentialDesign(model_with_state(), pool, **options).run(steps)

    with Interrupt(10**9) as counting:
        SequentialDesign(model_with_state(), pool, log=tmp_path / "counted", **options).run(steps)
    n_lines = 10**9 - counting.left
    rng = np.random.default_rng(0)  # the full run interrupts at every third line
    chosen = range(rng.integers(3), n_lines, 3) if FULL else np.unique(rng.integers(0, n_lines, size=40))
    n_fired = 0
    for n in chosen:
        path = tmp_path / f"log{n}"
        measured.clear()
        design = SequentialDesign(model_with_state(), pool, log=EventLog(path, snapshot_every=3), **options)
        with Interrupt(n) as interrupt:
            design.run(steps)
        known = list(measured)
        # the process dies here, and another continues from what is on the disk
        shutil.copy(path, tmp_path / f"copy{n}")
        with SequentialDesign.load(tmp_path / f"copy{n}", model_with_state(), pool, **options) as again:
            again.run(steps - again.iteration)
            same(again, whole)
        assert sorted(measured) == list(range(steps)), f"measured twice or never, interrupted at line {n}"
        # or somebody goes on with the same object
        measured[:] = known
        told = sum(event["event"] == "tell" for event in read_log(path)[1])
        design.run(steps - told)
        same(design, whole)
        assert sorted(measured) == list(range(steps)), f"measured twice or never, interrupted at line {n}"
        design.close()
        n_fired += interrupt.fired
    assert n_fired >= 0.8 * len(chosen)  # snapshots come a few lines earlier or later


def test_an_interrupt_while_learning(model, pool, measure, same):
    class Slow(model):
        interrupted = True

        def partial_fit(self, X, y):
            super().partial_fit(X, y)
            if self.n_fits == 3 and type(self).interrupted:
                type(self).interrupted = False
                raise KeyboardInterrupt

    design = SequentialDesign(Slow(), pool, measure)
    with pytest.raises(KeyboardInterrupt):
        design.run(5)
    same(design.run(2), SequentialDesign(model(), pool, measure).run(5))


class FullDisk:
    """Writes what fits, then fails as a full disk does; ``at`` says which call fails."""

    def __init__(self, monkeypatch, at):
        self.full = True
        write, sync = os.write, os.fsync

        def failing_write(descriptor, data):
            if self.full and at == "write":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self.full and at == "half" and len(data) > 20:
                return write(descriptor, bytes(data)[:20])
            if self.full and at == "half":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(descriptor, data)

        def failing_sync(descriptor):
            if self.full and at == "fsync":
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return sync(descriptor)

        monkeypatch.setattr(os, "write", failing_write)
        monkeypatch.setattr(os, "fsync", failing_sync)


@pytest.mark.parametrize("at", ["write", "half", "fsync"])
def test_a_full_disk(model, pool, measure, answers, tmp_path, same, monkeypatch, at):
    path = tmp_path / "log"
    design = SequentialDesign(model(), pool, log=path)
    design.tell(design.ask(), measure(design.ask()))
    query = design.ask()
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        disk = FullDisk(patch, at)
        with pytest.raises(OSError, match="this tell was not recorded; make room and repeat the call"):
            design.tell(query, measure(query))
        assert design.iteration == 1 and design.ask().id == query.id
        if at != "fsync":  # only answers are synced
            with pytest.raises(OSError, match="this ask was not recorded"):
                design.ask(another=True)
        assert path.read_bytes() == before
        disk.full = False
        design.tell(query, measure(query))
    design.tell(design.ask(), measure(design.ask()))
    same(design, SequentialDesign(model(), pool, measure).run(3))
    design.close()
    with SequentialDesign.load(path, model(), pool) as again:
        same(again, design)


def test_a_run_on_a_full_disk_keeps_what_it_measured(model, pool, answers, tmp_path, same):
    calls = []

    def measure(query):
        calls.append(query.id)
        return answers[query.positions]

    path = tmp_path / "log"
    design = SequentialDesign(model(), pool, measure, log=path).run(2)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    query = design.ask()
    try:  # the file may grow by less than one answer: a real failure of the operating system, after a part was written
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 25, hard))
        with pytest.raises(OSError, match="File too large .*this tell was not recorded"):
            design.run()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert design.iteration == 2 and design.ask().id == query.id
    design.run(2)
    assert calls == [0, 1, 2, 3, 4] and design.iteration == 5
    design.close()
    with SequentialDesign.load(path, model(), pool) as again:
        same(again, design)


def test_no_room_for_a_new_log_or_for_a_snapshot(model_with_state, pool, measure, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        FullDisk(patch, "fsync")
        with pytest.raises(OSError, match="the log was not started"):
            SequentialDesign(model_with_state(), pool, log=tmp_path / "log")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="No such file or directory .*the log was not started"):
        SequentialDesign(model_with_state(), pool, log=tmp_path / "no folder" / "log")

    def no_room(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("adaptive.loop.log.storage.FileStorage.write_snapshot", no_room)
    log = EventLog(tmp_path / "log", snapshot_every=3)
    with (
        pytest.warns(UserWarning, match="no snapshot was written beside .*No space left"),
        SequentialDesign(model_with_state(), pool, measure, log=log) as design,
    ):
        design.run(4)
    assert design.iteration == 4


def test_a_rejection_waits_for_space(model, pool, answers, tmp_path, monkeypatch):
    path = tmp_path / "log"
    design = SequentialDesign(model(), pool, log=path)
    query = design.ask()
    write, written = os.write, []

    def after_the_answer(descriptor, data):  # the disk fills up between an answer and its rejection
        written.append(bytes(data))
        if b'"reject"' in bytes(data) and len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", after_the_answer)
    with pytest.raises(ValueError, match="NaN"):
        design.tell(query, np.nan)
    design.tell(query, 1.0)
    design.close()
    assert [event["event"] for event in read_log(path)[1]] == ["ask", "tell", "reject", "tell"]
    with SequentialDesign.load(path, model(), pool) as again:
        assert again.history_["outcome"] == [1.0]
