"""A file is the old one or the new one: whatever fails, whoever is first, with and without a sync."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adaptive
from adaptive.files import write_csv, write_file

FAILING = ("open", "fsync", "replace")


@pytest.mark.parametrize("durable", [True, False])
def test_what_was_there_is_replaced(tmp_path, durable):
    path = tmp_path / "file"
    for data in (b"old", "ä"):
        write_file(path, data, durable=durable)
    assert path.read_bytes() == "ä".encode() and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("at", FAILING)
def test_a_failure_leaves_the_old_file_alone(tmp_path, monkeypatch, at):
    path = tmp_path / "file"
    write_file(path, b"old")

    def no_room(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("builtins.open" if at == "open" else f"os.{at}", no_room)
    with pytest.raises(OSError, match="No space left"):
        write_file(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_only_durable_files_are_synced_and_their_folder_with_them(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    write_file(tmp_path / "figure", b"", durable=False)
    assert synced == []
    write_file(tmp_path / "answers", b"")
    assert len(synced) == 2


@pytest.mark.parametrize("links", [True, False])
def test_exclusively_the_first_one_wins(tmp_path, monkeypatch, links):
    def no_links(*arguments):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "log"
    write_file(path, b"first", exclusive=True)
    with pytest.raises(FileExistsError):
        write_file(path, b"second", exclusive=True)
    assert path.read_bytes() == b"first" and list(tmp_path.iterdir()) == [path]


def test_a_killed_process_leaves_no_part_of_a_file(tmp_path):
    path, size = tmp_path / "file", 1 << 22
    script = (
        "import itertools, sys; from pathlib import Path; from adaptive.files import write_file\n"
        "for k in itertools.count():\n"
        f"    write_file(Path(sys.argv[1]), bytes([k % 251]) * {size}, durable=False)\n"
        "    k or print('ready', flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(adaptive.__file__).parents[1])}
    writer = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, env=environment)
    assert writer.stdout.readline() == b"ready\n"
    for _ in range(20):
        seen = path.read_bytes()
        assert len(seen) == size and len(set(seen[:: size // 64])) == 1
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert len(path.read_bytes()) == size


def test_columns_read_back_equal(tmp_path):
    write_csv(tmp_path / "t.csv", {"x": np.array([0.1, 1 / 3]), "n": [np.int64(2), 3], "label": [None, "a,b"]})
    assert (tmp_path / "t.csv").read_text() == f'x,n,label\n0.1,2,\n{1 / 3!r},3,"a,b"\n'
    with pytest.raises(ValueError, match="shorter"):
        write_csv(tmp_path / "t.csv", {"x": [1, 2], "y": [1]})
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3
