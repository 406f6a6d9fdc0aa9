"""Commands and functions outside: answers, and what is said where none comes."""

from __future__ import annotations

import os
import sys
import time

import pytest

from adaptive.cli.errors import CommandError
from adaptive.cli.outside import KEPT, Asked, Outside, OutsideError, PythonFunction, ShellCommand

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands of a POSIX shell")


def test_a_command_is_given_a_text_and_names():
    command = ShellCommand('printf "%s " "$ADAPTIVE_ITEM" "$ADAPTIVE_SYSTEM"; cat')
    assert command("è una domanda\nof two lines", item="q 1", system="m") == "q 1 m è una domanda\nof two lines"
    assert ShellCommand("echo 1")("x" * 10**6) == "1"  # nobody reads it


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 3", "the command ended with code 3."),
        ("echo one >&2; echo 'out of\tmemory' >&2; exit 1", "the command ended with code 1 (out of memory)."),
        ("/no/such/model", "ended with code 127"),
    ],
    ids=["code", "stderr", "missing"],
)
def test_a_command_that_fails_is_said_in_a_sentence(command, said):
    with pytest.raises(OutsideError) as raised:
        ShellCommand(command)("item")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    late = tmp_path / "late"
    command = ShellCommand(f"(sleep 2; touch {late}) & sleep 60", timeout=0.3)
    start = time.perf_counter()
    with pytest.raises(OutsideError, match=r"no answer within 0\.3 seconds"):
        command("item")
    assert time.perf_counter() - start < 2
    time.sleep(2.2)
    assert not late.exists()


def test_a_command_that_never_stops_printing_costs_no_memory():
    with pytest.raises(OutsideError, match="no answer within"):
        ShellCommand("yes", timeout=0.5)("item")
    assert len(ShellCommand(f"head -c {3 * KEPT} /dev/zero | tr '\\0' x; echo; echo 1")("item")) <= KEPT


def test_a_child_that_holds_the_output_open_does_not_hold_the_answer():
    start = time.perf_counter()
    assert ShellCommand("sleep 20 & echo 1")("item") == "1"
    assert time.perf_counter() - start < 10


def test_rubbish_and_failures_are_tried_again(tmp_path):
    seen = tmp_path / "seen"
    flaky = ShellCommand(f"echo x >> {seen}; [ $(wc -l < {seen}) -ge 3 ] && echo 7 || echo rubbish")
    twice = Outside(flaky, int, attempts=2).reply(Asked("item"))
    assert twice.value is None
    assert twice.printed == "rubbish"
    assert "rubbish" in twice.problem
    again = Outside(flaky, int, attempts=2).reply(Asked("item"))
    assert (again.value, again.problem) == (7, None)
    assert len(seen.read_text().split()) == 3


@pytest.mark.parametrize("jobs", [1, 4], ids=lambda n: f"{n} at a time")
def test_one_bad_answer_touches_no_other(jobs):
    outside = Outside(ShellCommand("read x; [ $x = 3 ] && exit 1; echo $x"), int, attempts=1, jobs=jobs)
    found = dict(outside.replies([Asked(str(k)) for k in range(6)]))
    assert {k: reply.value for k, reply in found.items()} == {0: 0, 1: 1, 2: 2, 3: None, 4: 4, 5: 5}
    assert "code 1" in found[3].problem


def test_commands_run_at_the_same_time():
    outside = Outside(ShellCommand("sleep 0.5; echo 1"), int, jobs=4)
    start = time.perf_counter()
    assert len(list(outside.replies([Asked("")] * 4))) == 4
    assert time.perf_counter() - start < 1.5


def test_who_leaves_ends_what_runs(tmp_path):
    outside = Outside(ShellCommand(f"read x; sleep $x; touch {tmp_path}/$x"), str, jobs=2)
    start = time.perf_counter()
    replies = outside.replies([Asked("0"), Asked("30")])
    assert next(replies)[0] == 0
    replies.close()
    assert time.perf_counter() - start < 5
    assert sorted(os.listdir(tmp_path)) == ["0"]


def test_a_function_of_python_gets_the_names_it_knows(tmp_path, monkeypatch):
    (tmp_path / "their_model.py").write_text(
        "def plain(text):\n    return len(text)\n"
        "def named(text, item):\n    return (text, item)\n"
        "def all_of(text, **names):\n    return names\n"
        "def broken(text):\n    raise RuntimeError('no\\ngpu')\n"
        "number = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert PythonFunction("their_model:plain")("abc", item="q") == 3
    assert PythonFunction("their_model:named")("abc", item="q", system="m") == ("abc", "q")
    assert PythonFunction("their_model:all_of")("abc", item="q", system="m") == {"item": "q", "system": "m"}
    reply = Outside(PythonFunction("their_model:broken"), int).reply(Asked("abc"))
    assert reply.problem == "their_model:broken raised RuntimeError: no gpu."
    for place, said in {
        "their_model": "package.module:function", "their_model:number": "no function",
        "their_model:other": "AttributeError", "no.such.module:f": "ModuleNotFoundError",
    }.items():  # fmt: skip
        with pytest.raises(CommandError, match=said):
            PythonFunction(place)
