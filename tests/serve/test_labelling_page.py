"""A labeller's page: words of one's own, one tap, progress from nothing, and when one may stop."""

import re
import time

import pytest

from adaptive.cli import run
from adaptive.loop import InformationLeft, MaxSteps
from adaptive.serve.designer import REPORT, Stock
from adaptive.serve.progress import _band, _may_stop
from tests.serve.conftest import truth


def progress(browser):
    return int(re.search(r'<progress[^>]*value="(\d+)"', browser.page.text)[1])


@pytest.mark.parametrize("rule", [MaxSteps(8), InformationLeft(0.15)], ids=["answers", "information"])
def test_progress_begins_at_nothing_and_ends_at_all_that_is_needed(opened, pool, rule):
    browser, _ = opened(pool(stop=rule, ahead=2))
    anna, seen = browser(), []
    anna.begin()
    while anna.question:
        seen.append(progress(anna))
        anna.answer(truth(anna.question))
        assert len(seen) < 30
        time.sleep(0.1)  # the designer learns beside the pages
    assert seen[0] == 0 and max(seen) > 20


def test_one_may_stop_where_the_last_report_said_so(opened, pool):
    browser, store = opened(pool())
    anna = browser()
    anna.begin()
    assert "You may stop" not in anna.page.text
    curve = [(10, 0.8, 0.6, 0.9), (20, 0.9, 0.75, 0.96)]
    Stock(store, REPORT).write({"words": ["Words."], "curve": curve, "may_stop": True})
    assert "You may stop" in anna.get("/").text
    text = anna.get("/numbers").text
    assert "You may stop" in text and "90% of 20 answers at the end; with 90% probability between 75% and 96%" in text
    assert 'class="band" points="175.0,21.0 310.0,14.4 310.0,37.5 175.0,54.0 "' in text


def test_when_one_may_stop():
    table = {"n_labelled": [20, 40], "change": [0.02, 0.002], "expected_gain": [0.01, 0.0002]}
    assert _may_stop(table)
    for column, value in (
        ("n_labelled", 20),
        ("change", 0.02),
        ("expected_gain", 0.001),
        ("expected_gain", float("nan")),
    ):
        assert not _may_stop(table | {column: [table[column][0], value]})
    assert not _may_stop({"n_labelled": [], "change": [], "expected_gain": []})
    low, high = _band(45.0, 50)
    assert 0.8 < low < 0.9 < high < 0.96


def test_words_of_ones_own_and_one_tap(opened, pool):
    browser, store = opened(pool(texts={"cannot_tell": "Weiß nicht"}, one_tap=True))
    anna = browser()
    anna.begin()
    assert "Weiß nicht" in anna.page.text and 'type="radio"' not in anna.page.text
    assert re.search(r'<button class="choice" name="answer" value="1"[^>]*><span>yes</span>', anna.page.text)
    anna.answer(1)
    assert store.rows("SELECT 1 FROM events WHERE CAST(line AS TEXT) LIKE '%\"tell\"%'")


def test_texts_at_fault(tmp_path, capsys):
    (tmp_path / "pool.csv").write_text("text\nred\nblue\n")
    serve = ["serve", "--label", str(tmp_path / "pool.csv"), "--classes", "a,b", "--text", "text"]
    for content, says in (
        (b'anwser = "x"', "'anwser' is not a text of the pages; there are"),
        (b"[texts]\nanswer = 3", "the text 'answer' must be a text"),
        (b"answer = ", "texts.toml: "),
        (b"\xff\xfe", "is no text file in UTF-8 (--texts)"),
    ):
        (tmp_path / "texts.toml").write_bytes(content)
        assert run([*serve, "--texts", str(tmp_path / "texts.toml"), "--store", str(tmp_path / "store")]) == 2
        assert says in capsys.readouterr().err
    (tmp_path / "test.toml").write_text('title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?"}]\n')
    assert run(["serve", str(tmp_path / "test.toml"), "--one-tap"]) == 2 and "--one-tap" in capsys.readouterr().err
    assert run([*serve, "--exposure", "0.3"]) == 2 and "--exposure is about a test" in capsys.readouterr().err
