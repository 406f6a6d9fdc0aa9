"""A run's folder: started once, resumed only as what it is, held by one process, written whole."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from adaptive.cli.errors import CommandError
from adaptive.cli.run_folder import RunFolder

SETTINGS = {"seed": 0, "questions": 60, "scorers": ["random"]}


def start(path, settings=SETTINGS, **options):
    with RunFolder(path, "classify", settings, **options) as folder:
        return folder


def test_a_new_folder_keeps_its_settings_and_resumes_with_them(tmp_path):
    start(tmp_path / "a/run")
    resumed = start(tmp_path / "a/run", SETTINGS | {"questions": 10}, given=["seed"], resume=True)
    assert resumed.settings == SETTINGS and resumed.log.is_dir()
    assert json.loads((tmp_path / "a/run/settings.json").read_text())["command"] == "classify"


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        ({"questions": 10}, ["questions"], "has questions = 60, not 10"),
        ({"scorers": ["random", "margin"]}, ["scorers"], "has scorers = random, not random, margin"),
        ({"tree": 1}, [], "lacks tree"),
    ],
)
def test_a_run_is_not_resumed_as_another(tmp_path, change, given, message):
    start(tmp_path)
    with pytest.raises(CommandError, match=message):
        start(tmp_path, SETTINGS | change, given=given, resume=True)
    with pytest.raises(CommandError, match="has command = classify, not kspace"):
        RunFolder(tmp_path, "kspace", SETTINGS, resume=True)


def test_what_a_run_was_started_with_is_fixed(tmp_path):
    folder = RunFolder(tmp_path, "classify", SETTINGS)
    folder.fix("fingerprint", "abc", "the rows")
    with folder:
        pass
    resumed = RunFolder(tmp_path, "classify", SETTINGS, resume=True)
    resumed.fix("fingerprint", "abc", "the rows")
    with pytest.raises(CommandError, match="the rows are not those that the run in .* was started with"):
        resumed.fix("fingerprint", "abd", "the rows")


def test_what_is_in_the_way_is_named(tmp_path):
    with pytest.raises(CommandError, match="there is no run to resume"):
        start(tmp_path / "absent", resume=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="is a file"):
        start(tmp_path / "file")
    with pytest.raises(CommandError, match="is not empty"):
        start(tmp_path)
    (tmp_path / "run/log").mkdir(parents=True)  # what a process killed before its settings were written leaves
    start(tmp_path / "run")
    with pytest.raises(CommandError, match="holds a run already; add --resume"):
        start(tmp_path / "run")
    (tmp_path / "run/settings.json").write_text("{")
    with pytest.raises(CommandError, match="cannot be read"):
        start(tmp_path / "run", resume=True)
    with pytest.raises(CommandError, match="cannot be written"):
        start(tmp_path / "file/run")


def test_a_folder_of_another_run_is_not_offered_to_be_resumed_and_a_hint_is_added(tmp_path):
    start(tmp_path / "run")
    given, other = list(SETTINGS), {**SETTINGS, "seed": 9}
    with pytest.raises(CommandError, match=r"a run with seed = 0, not 9; name another folder with --out\. Do so\.$"):
        RunFolder(tmp_path / "run", "classify", other, given=given, hints={"seed": "Do so."})
    with pytest.raises(CommandError, match=r"has seed = 0, not 9; resume it without .* with --out\. Do so\.$"):
        RunFolder(tmp_path / "run", "classify", other, given=given, hints={"seed": "Do so."}, resume=True)
    with pytest.raises(CommandError, match="add --resume"):
        RunFolder(tmp_path / "run", "classify", SETTINGS, given=given, hints={"seed": "Do so."})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
def test_a_folder_is_held_by_one_process(tmp_path):
    with (
        RunFolder(tmp_path / "run", "classify", SETTINGS),
        pytest.raises(CommandError, match="another process is at work"),
        RunFolder(tmp_path / "run", "classify", SETTINGS, resume=True),
    ):
        pass
    start(tmp_path / "run", resume=True)


def test_tables_read_back_equal_and_failures_leave_the_old_file(tmp_path):
    folder = start(tmp_path / "run")
    folder.write_csv("t.csv", {"x": np.array([0.1, 1 / 3]), "label": [None, "a,b"]})
    text = (tmp_path / "run/t.csv").read_text()
    assert text == f'x,label\n0.1,\n{1 / 3!r},"a,b"\n'
    with pytest.raises(ValueError, match="JSON"):
        folder.write_json("settings.json", {"x": np.nan})
    assert json.loads((tmp_path / "run/settings.json").read_text())["seed"] == 0


def test_a_run_killed_while_it_wrote_its_settings_is_started_anew(tmp_path):
    for name in (".settings.json.partial", ".settings.json.0a1b2c3d.partial"):
        (tmp_path / name).write_text("{")
    start(tmp_path)
    assert json.loads((tmp_path / "settings.json").read_text())["seed"] == 0
