"""Every command at work in its folder: stopped, out of space, gone on with, with another input."""

from __future__ import annotations

import errno
import json

import pytest
import typer

from adaptive.cli import run
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job

QUESTIONS = 'title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?"}, {text = "B?"}]\n'
EVENTS = "user,item,year\n" + "".join(f"u{k % 4},i{k % 3},{1900 + k}\n" for k in range(12))
TEXTS = "text,who\n" + "".join(f"{'wine oak' if k % 2 else 'motor'},w{k % 2}\n" for k in range(12))
# what is asked for, the table, and what is stopped
WORK = {
    "counts": (("counts", "FILE", "--place", "year"), EVENTS, "counts.events_report.write"),
    "recommend": (("recommend", "FILE"), EVENTS, "recommend.report.write"),
    "sequences": (("sequences", "FILE"), EVENTS, "sequences.report.write"),
    "topics": (("topics", "FILE", "--metadata", "who", "--topics", "2"), TEXTS, "topics.stream.Stream.learn"),
    "prefer": (("prefer", "FILE"), "user,winner,loser\np,a,b\n", "prefer.command._run"),
    "calibrate": (("calibrate", "FILE"), "a,b\n1,0\n0,1\n", "fitting.fitted"),
    "ask": (("ask", "FILE"), QUESTIONS, "ask.command.ask_person"),
    "label": (("label", "FILE", "--classes", "a,b"), EVENTS, "label.people.ask_person"),
    "classify": (("classify", "--questions", "3"), "", "classify.command._run_all"),
    "photograph": (("photograph", "--size", "16", "--measurements", "11"), "", "photograph.command._run"),
    "move": (("move",), "", "move.command.design_in"),
}


@pytest.mark.parametrize("command", WORK)
def test_whatever_ends_a_command_is_one_line_that_says_how_to_go_on(command, tmp_path, monkeypatch, capsys):
    """Ctrl-C, a full disk; then it goes on without its file being named, but not with another content."""
    arguments, text, target = WORK[command]
    file, out = tmp_path / "given", tmp_path / "a run"
    file.write_text(text)
    first = [str(file) if one == "FILE" else one for one in arguments] + ["--out", str(out)]
    again = [command, "--out", str(out), "--resume"]
    for line, error, code, says in (
        (first, KeyboardInterrupt(), 130, "stopped"),
        (again, OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device; when that is mended,"),
    ):

        def ended(*_, error=error, **__):
            raise error

        monkeypatch.setattr(f"adaptive.cli.{target}", ended)
        assert run(line) == code
        told = capsys.readouterr().err
        assert says in told and told.count("\n") == 1
        assert told.endswith(f"continue with: adaptive {command} --out '{out}' --resume\n")
    assert json.loads((out / "settings.json").read_text())["command"] == command
    if text:
        file.write_text(text.replace("\n", "\r\n"))
        assert run(again) == 2
        assert "of given are not those that the run in" in capsys.readouterr().err


class Context:
    """As typer hands it to a command."""

    info_name = "count"

    def __init__(self, *stated):
        self.stated = stated

    def get_parameter_source(self, name):
        return type("Source", (), {"name": "COMMANDLINE" if name in self.stated else "DEFAULT"})


def job(path, *stated, **options):
    free = options.pop("free", ())
    given = {"context": None, "out": path, "pictures": "svg", "jobs": 3, "resume": False, "n": 1, "stop": 5}
    return Job(Context(*stated), given | options, aside=["ask"], free=free)


def test_settings_are_the_arguments_and_the_frame_is_none_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begun = job(tmp_path / "run", table=type(tmp_path)("t.csv"), ask="me", seeds=(1, 2))
    assert begun.settings == {"n": 1, "stop": 5, "table": str(tmp_path / "t.csv"), "seeds": [1, 2]}
    assert begun.pictures == "svg"


def test_what_may_change_goes_on_and_what_may_not_does_not(tmp_path):
    with job(tmp_path):
        pass
    assert job(tmp_path, "stop", resume=True, stop=9, free=["stop"]).settings["stop"] == 5
    with pytest.raises(CommandError, match="has n = 1, not 2"):
        job(tmp_path, "n", resume=True, n=2)


def test_it_says_at_the_end_what_the_folder_holds(tmp_path, capsys):
    with job(tmp_path / "run") as begun:
        begun.write_csv("a.csv", {"x": [1]})
        begun.write_summary({"good": True})
    assert capsys.readouterr().out == f"{tmp_path / 'run'} holds a.csv, summary.json.\n"
    assert json.loads((tmp_path / "run/summary.json").read_text())["settings"] == {"n": 1, "stop": 5}
    with pytest.raises(CommandError), job(tmp_path / "other") as begun:
        begun.write_csv("a.csv", {"x": [1]})
        begun.progress = lambda: " after 3 answers"
        raise KeyboardInterrupt
    assert capsys.readouterr().out == f"{tmp_path / 'other'} holds a.csv.\n"


def test_a_dry_run_says_what_was_understood_and_touches_nothing(tmp_path, capsys):
    with job(tmp_path / "done"):
        pass
    for folder in (tmp_path / "done", tmp_path / "new"):
        dry = job(folder, dry_run=True)
        dry.understood("three columns", lambda: ["a line", "and another"])
        with pytest.raises(typer.Exit), dry:
            raise AssertionError
        told = capsys.readouterr().out
        assert told.startswith("three columns\na line\nand another\nA dry run: nothing was computed, and nothing was")
        assert str(folder) in told
    assert not (tmp_path / "new").exists()
    job(tmp_path / "other").understood(lambda: 1 / 0)  # else it is not even asked for


def test_the_last_line_is_the_command_to_type_next(tmp_path, capsys):
    with job(tmp_path / "run") as begun:
        begun.then("adaptive count", "once you have slept")
    assert capsys.readouterr().out == "Next, once you have slept: adaptive count\n"
    with pytest.raises(CommandError), job(tmp_path / "stopped") as begun:
        begun.then("adaptive count")
        raise KeyboardInterrupt
    assert capsys.readouterr().out == ""


def test_a_line_that_does_the_same_anew_has_the_settings_of_the_run_and_a_folder_of_its_own(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my events.csv").write_text(EVENTS)
    assert run(["counts", "my events.csv", "--place", "year", "--window", "1800:2000", "--bins", "4", "--dry-run"]) == 0
    seen = []
    monkeypatch.setattr("adaptive.cli.counts.events_report.write", lambda axes, job: seen.append(job))
    for _ in range(2):
        assert run(["counts", "my events.csv", "--place", "year", "--window", "1800:2000", "--out", "a run"]) == 0
        same = "adaptive counts 'my events.csv' --place year --window 1800:2000 --bins {} --out 'a run-2'"
        assert capsys.readouterr().out.endswith(f"half as many bins: {same.format(50)}\n")
        assert seen[-1].anew("--bins", "9") == same.format(9)
        (tmp_path / "a run" / "settings.json").unlink()
    (tmp_path / "a run-2").mkdir()
    assert seen[-1].anew().endswith("--out 'a run-3'")
