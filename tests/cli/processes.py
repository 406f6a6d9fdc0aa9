"""The ``adaptive`` command as a process: started, watched through its logs, stopped; what it leaves in its folder."""

from __future__ import annotations

import csv
import fcntl
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FULL_DISK = """
import errno, os, sys
from adaptive.cli import run
real, left = os.write, [{}]
def write(descriptor, data):
    left[0] -= 1
    if left[0] < 0:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return real(descriptor, data)
os.write = write
sys.exit(run(sys.argv[1:]))
"""


def command(*arguments):
    return [sys.executable, "-m", "adaptive.cli", *map(str, arguments)]


def finish(*arguments, full_after=None):
    """Run the command to its end, in a process of its own; the disk is full after so many writes."""
    start = command(*arguments)
    if full_after is not None:
        start[1:3] = ["-c", _FULL_DISK.format(full_after)]
    found = subprocess.run(start, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert "Traceback" not in found.stderr, found.stderr
    return found


def on_a_terminal(*arguments):
    """Run the command to its end with a terminal as stderr; return exit code, stdout and what the terminal showed."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), cwd=ROOT, stdout=subprocess.PIPE, stderr=child, text=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(child)
    shown = b""
    try:
        while part := os.read(parent, 4096):
            shown += part
    except OSError:  # the terminal's other end was closed
        pass
    os.close(parent)
    stdout, _ = process.communicate(timeout=240)
    return process.returncode, stdout, shown


def kill_after(answers, out, *arguments):
    """Start the command, kill it once so many answers are in its logs, and return how many there were at the end."""
    process = subprocess.Popen(command(*arguments), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_for_answers(process, out, answers)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    _wait_for_silence(out)
    return n_told(out)


def interrupt_after(answers, out, *arguments):
    """Start the command, press Ctrl-C once so many answers are in its logs; return exit code, stdout and stderr."""
    process = subprocess.Popen(
        command(*arguments), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    _wait_for_answers(process, out, answers)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
    stdout, stderr = process.communicate(timeout=240)
    return process.returncode, stdout, stderr


def assert_same_files(found, wanted, names):
    """The same bytes in both folders; of the first file that differs, the first lines that do."""
    for name in names:
        ours, theirs = (found / name).read_bytes(), (wanted / name).read_bytes()
        pairs = zip(ours.splitlines(), theirs.splitlines(), strict=False)
        unlike = [pair for pair in pairs if pair[0] != pair[1]]
        assert ours == theirs, f"{name} differs ({len(ours)} and {len(theirs)} bytes): {str(unlike[:2])[:400]}"


def logs(out):
    return {path.name: path.read_bytes() for path in (out / "log").glob("*.jsonl")}


def n_told(out):
    return sum(text.count(b'"event":"tell"') for text in logs(out).values())


def columns(path):
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {name: [row[name] for row in rows] for name in rows[0]}


def _wait_for_answers(process, out, wanted):
    deadline = time.monotonic() + 240
    while process.poll() is None and n_told(out) < wanted and time.monotonic() < deadline:
        time.sleep(0.002)


def _wait_for_silence(out):
    """Workers that lost their command end at their next question, which may take its time."""
    for _ in range(400):
        before = logs(out)
        time.sleep(0.3)
        if logs(out) == before and all(map(_is_free, (out / "log").glob("*.jsonl"))):
            return
    raise AssertionError("orphaned workers go on writing")


def _is_free(log):
    """Whether no process writes this log: one that does has it locked."""
    with log.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
