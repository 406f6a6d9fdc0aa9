"""Lines about progress: when they come, what they say, and when there are none."""

import io
import time

from adaptive.cli import progress
from adaptive.cli.progress import Progress


def waited(stream, text, seconds=10.0):
    """What stands in the stream once this text does."""
    end = time.monotonic() + seconds
    while text not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.005)
    return stream.getvalue()


def test_lines_come_while_a_command_is_at_work_and_say_what_it_does():
    stream = io.StringIO()
    with Progress(stream, first=0.01):
        assert waited(stream, ": reading\n").startswith("adaptive: at work for ")
        progress.say(lambda: "learning 12 events")
        assert "s: learning 12 events\n" in waited(stream, "learning 12 events\n")
    ended = stream.getvalue()
    time.sleep(0.05)
    assert stream.getvalue() == ended


def test_the_first_line_comes_within_two_seconds_and_then_ever_less_often():
    assert progress.FIRST < 2 and progress.FACTOR > 1


def test_a_person_who_is_asked_sees_no_lines():
    stream = io.StringIO()
    with Progress(stream, first=0.01), progress.hushed():
        time.sleep(0.1)
    assert stream.getvalue() == ""


def test_what_has_ended_at_once_says_nothing_and_outside_of_a_command_nothing_is_said():
    stream = io.StringIO()
    with Progress(stream, first=5.0):
        pass
    assert stream.getvalue() == ""
    progress.say(lambda: "nothing")
    with progress.hushed():
        pass


def test_only_a_terminal_gets_lines(monkeypatch, capsys):
    with Progress(first=0.01):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    with Progress(first=0.01):
        assert waited(terminal, "reading\n") != ""
