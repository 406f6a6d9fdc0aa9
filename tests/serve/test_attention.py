"""Attention items: asked in between, no part of the design, said in the export; and where they end a test."""

import csv

import pytest

from adaptive.cli import run
from adaptive.serve import Attention, Panel, answers_of
from adaptive.serve.export import attention_of, forget
from tests.serve.conftest import WORDS

ITEMS = [Attention("Choose 'often'.", WORDS, 2, after=2), Attention("=Choose 'never'.", WORDS, 0, after=3)]
PANEL = Panel("PID", "https://panel.example.org/?who={participant}", screen_out=2)


def come(browser, participant="a1"):
    browser.get(f"/?PID={participant}")
    browser.post("/start", browser.form("/start"))


def test_they_come_in_between_and_the_design_is_the_one_without_them(survey, opened, offline):
    browser, store = opened(survey(attention=ITEMS))
    anna, asked = browser(), []
    anna.begin()
    while anna.question:
        asked.append(anna.question)
        anna.answer(1)
    assert [k for k, text in enumerate(asked) if "Choose" in text] == [2, 4]
    design = offline(1, [1] * 6)
    assert [one["item"] for one in answers_of(store, 1)] == design.history_["label"]
    assert [(one["item"], one["answer"], one["correct"]) for one in attention_of(store)] == [
        (ITEMS[0].text, "sometimes", False), (ITEMS[1].text, "sometimes", False),
    ]  # fmt: skip
    assert not any(one["ended"] for one in attention_of(store))  # nobody is screened out unasked


def test_it_is_answered_once_and_not_skipped(survey, opened):
    browser, store = opened(survey(attention=ITEMS))
    anna = browser()
    anna.begin()
    anna.answer(1)
    anna.answer(1)
    form = anna.form("/answer")
    assert "Skip this question" not in anna.page.text
    for given, status in (("skip", 422), ("3", 422), ("2", 200), ("0", 409)):
        assert anna.post("/answer", {**form, "answer": given}).status_code == status
    assert [one["correct"] for one in attention_of(store)] == [True]
    anna.retract()  # the last answer of the test, after which the item came
    anna.answer(0)
    assert "Choose" not in anna.question and len(attention_of(store)) == 1


def test_two_wrong_answers_end_a_test_and_lead_back(survey, opened):
    browser, store = opened(survey(attention=ITEMS, panel=PANEL))
    anna = browser()
    come(anna)
    while anna.question:
        anna.answer(1)
    text = anna.page.text
    assert "The questions end here" in text and "https://panel.example.org/?who=a1" in text
    assert anna.form("/retract") is None and len(answers_of(store, 1)) == 3
    elsewhere = browser()
    come(elsewhere)
    assert "The questions end here" in elsewhere.page.text
    assert [one["ended"] for one in attention_of(store)] == [False, True]


def test_the_export_says_who_was_wrong(survey, opened, capsys):
    browser, store = opened(survey(attention=ITEMS, panel=PANEL))
    for participant, given in (("a1", 1), ("b2", 2)):
        one = browser()
        come(one, participant)
        while one.question:
            one.answer(given)
    store.close()
    assert run(["export", str(store.folder)]) == 0
    with (store.folder / "export" / "sessions.csv").open() as stream:
        rows = [(row["participant"], row["attention_wrong"], row["screened_out"]) for row in csv.DictReader(stream)]
    assert rows == [("a1", "2", "True"), ("b2", "1", "False")]
    with (store.folder / "export" / "attention.csv").open() as stream:
        assert [row["correct"] for row in csv.DictReader(stream)] == ["False", "False", "True", "False"]
    capsys.readouterr()


def test_forgetting_takes_them_too(survey, opened):
    browser, store = opened(survey(attention=ITEMS))
    anna = browser()
    anna.begin()
    for _ in range(4):
        anna.answer(1)
    assert len(attention_of(store)) == 1
    forget(store, 1)
    assert attention_of(store) == []


HEAD = 'title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?"}, {text = "B?"}]\n'


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('[[attention]]\nanswers = ["a", "b"]', "attention item 1 has no text"),
        ('[[attention]]\ntext = "X"\nright = "maybe"', "line 6: right must be one of the answers, got 'maybe'"),
        ('[[attention]]\ntext = "X"\nright = "no"\nafter = -1', "line 7: after must be a whole number >= 0"),
        ('[panel]\nparticipant = "P"\nscreen_out = 1', "screen_out needs items of [[attention]]"),
        ('[panel]\nparticipant = "P"\nscreen_out = 0', "line 6: screen_out must be a whole number > 0"),
    ],
)
def test_a_file_at_fault(tmp_path, capsys, lines, says):
    (tmp_path / "test.toml").write_text(HEAD + lines + "\n")
    assert run(["serve", str(tmp_path / "test.toml"), "--store", str(tmp_path / "store")]) == 2
    assert says in capsys.readouterr().err
