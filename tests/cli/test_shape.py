"""Every command in one shape: an example in its help that is understood as it stands, a dry run, one main input."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer

from adaptive.cli import app, run
from adaptive.cli.example import EXAMPLES, TABLES

COMMANDS = {one.callback.__name__: one.callback for one in app.registered_commands}
GROUP = typer.main.get_command(app)
OF_A_STORE = ("export", "forget")  # their examples need the store that another command leaves


def help_of(command, capsys):
    assert run([command, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_that_is_understood_in_an_empty_folder(command, tmp_path, monkeypatch, capsys):
    block = re.search(r"^  Example:\n((?:    adaptive .*\n)+)", help_of(command, capsys), re.MULTILINE)
    assert block, "no example in the help"
    lines = [line.strip() for line in block[1].splitlines()]
    assert tuple(lines) == EXAMPLES[command]
    assert shlex.split(lines[-1])[1] == command
    monkeypatch.chdir(tmp_path)
    for line in lines:
        asked = shlex.split(line)[1:]
        if asked[0] in OF_A_STORE:
            assert run([*asked, "--dry-run"]) == 2
            assert capsys.readouterr().err.count("\n") == 1
            continue
        if asked[0] == "example":
            assert run([*asked, "--dry-run"]) == 0 and not list(tmp_path.iterdir())
            assert run(asked) == 0
        else:
            before = sorted(path.name for path in tmp_path.iterdir())
            assert run([*asked, "--dry-run"]) == 0
            assert sorted(path.name for path in tmp_path.iterdir()) == before  # nothing was written
        said = capsys.readouterr()
        assert said.out and not said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_one_main_input_and_the_options_of_all(command):
    params = {param.name: param for param in GROUP.commands[command].params}
    files = [name for name, param in params.items() if param.param_type_name == "argument"]
    assert len(files) == (0 if command == "move" else 2 if command in OF_A_STORE else 1)
    assert params["dry_run"].opts == ["--dry-run"]
    if "out" in params and command != "export":
        assert {"resume"} <= params.keys() and f"adaptive-{command}-run" in params["out"].help


@pytest.mark.parametrize("name", TABLES)
def test_an_example_is_written_once_and_leaves_what_is_there(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["example", name]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{name} holds ") and said[1].startswith("Next: adaptive ") and name in said[1]
    written = Path(name).read_bytes()
    assert run(["example", name]) == 0  # the same
    Path(name).write_bytes(written + b"more\n")
    assert run(["example", name]) == 2
    assert "is there already, and is not the example" in capsys.readouterr().err
    assert Path(name).read_bytes() == written + b"more\n"


def test_examples_are_listed_and_no_other_is_written(capsys):
    assert run(["example"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TABLES)
    assert run(["example", "none.csv"]) == 2
    assert "there is no example 'none.csv'; there are flowers.csv" in capsys.readouterr().err


def test_warnings_of_libraries_are_one_plain_line_of_any_command(tmp_path, monkeypatch, capsys):
    import warnings

    def noisy(*_):
        for _ in range(3):
            warnings.warn("this\n    is odd", UserWarning, stacklevel=1)

    monkeypatch.setattr("adaptive.cli.counts.events_report.write", noisy)
    path = tmp_path / "events.csv"
    path.write_text("x\n1\n2\n")
    assert run(["counts", str(path), "--out", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().err == "adaptive: warning: this is odd\n"


def test_the_script_of_the_submission_finds_these_examples(capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / ".ci"))
    sys.modules.pop("commands", None)
    import commands

    for command in COMMANDS:
        assert tuple(commands.example_in(help_of(command, capsys))) == EXAMPLES[command]
    listed = re.findall(r"^  ([a-z-]+)  ", help_of_all(capsys).split("Commands:")[1], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    assert "Commands:" in inspect.getsource(commands.examples)


def help_of_all(capsys):
    assert run(["--help"]) == 0
    return capsys.readouterr().out


WORDS = ("apple banana cherry", "cherry damson elder", "elder grape apple")


@pytest.mark.parametrize(
    ("line", "header", "row", "says"),
    [
        ("recommend", "Customer,track,plays", "{a},{b},2", "  track     item: "),
        ("counts --pairs", "listener,song,plays", "{a},{b},2", "  plays     count: "),
        ("sequences", "visitor_id,page", "{a},{b}", "  page        item: "),
        ("calibrate", "Person,q1,q2", "p{k},{bit},{bit}", "names are the column Person"),
        ("topics", "text,party,year", "{words},{a},190{bit}", "  party  metadata: "),
    ],
)
def test_columns_that_nobody_named_are_found_by_their_words(line, header, row, says, tmp_path, capsys):
    rows = [row.format(a=f"a{k % 7}", b=f"b{k % 5}", k=k, bit=k % 2, words=WORDS[k % 3]) for k in range(60)]
    (tmp_path / "table.csv").write_text("\n".join([header, *rows]) + "\n")
    command, *options = line.split()
    more = ["--topics", "2"] if command == "topics" else []
    out = ["--dry-run", "--out", str(tmp_path / "run")]
    assert run([command, str(tmp_path / "table.csv"), *options, *more, *out]) == 0
    assert says in capsys.readouterr().out
