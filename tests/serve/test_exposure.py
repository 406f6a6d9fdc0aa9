"""Rules of a test's items: a cap on exposure, shares of contents, a first item; and a file that says all of it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from adaptive.cli import run
from adaptive.cli.ask.keys import EXAMPLE, FREE, KEYS
from adaptive.cli.ask.questionnaire_file import read_questionnaire
from adaptive.estimators.questionnaires.pools import ItemRules
from adaptive.serve import answers_of
from adaptive.serve.exposure import EVERYBODY
from tests.serve.conftest import N_ITEMS

ROOT = Path(__file__).resolve().parents[2]
IDS = [f"i{k}" for k in range(N_ITEMS)]
KINDS = {item: "abc"[k % 3] for k, item in enumerate(IDS)}


def taken(opened, source, n_people, folder=None):
    """What each of some people is asked, one after the other."""
    browser, store = opened(source, folder)
    for who in range(n_people):
        person, k = browser(), 0
        person.begin()
        while person.question:
            person.answer((who + k) % 3)
            k += 1
    return store, [[one["item"] for one in answers_of(store, 1 + who)] for who in range(n_people)]


def test_no_item_is_asked_of_more_than_its_share(survey, opened, tmp_path):
    n, cap = 12, 0.6
    store, asked = taken(opened, survey(rules=ItemRules(IDS, exposure=cap, questions=6)), n)
    assert all(len(one) == 6 for one in asked)
    counts = Counter(item for one in asked for item in one)
    assert max(counts.values()) <= cap * n + 1
    kept = dict(store.rows("SELECT position, people FROM exposure"))
    assert kept.pop(EVERYBODY) == n and {IDS[k]: people for k, people in kept.items()} == counts
    _, free = taken(opened, survey(), n, tmp_path / "free")  # without a cap the best first item is everybody's
    assert max(Counter(item for one in free for item in one).values()) == n


def test_an_answer_that_is_taken_back_exposes_nothing_twice(survey, opened):
    browser, store = opened(survey(rules=ItemRules(IDS, exposure=0.6)))
    anna = browser()
    anna.begin()
    for _ in range(3):
        anna.answer(1)
        anna.retract()
    assert max(people for (people,) in store.rows("SELECT people FROM exposure")) == 1


def test_a_first_item_and_shares_of_contents(survey, opened):
    shares = {"a": 0.5, "b": 0.34, "c": 0.16}
    rules = ItemRules(IDS, first="i5", content=KINDS, shares=shares, exposure=0.8, questions=6)
    _, asked = taken(opened, survey(rules=rules), 4)
    assert all(one[0] == "i5" for one in asked)
    assert all(Counter(KINDS[item] for item in one) == {"a": 3, "b": 2, "c": 1} for one in asked)


def test_skipped_items_count_and_a_bank_that_is_too_small_goes_on():
    rules = ItemRules("abcd", exposure=0.5)
    assert rules.barred("", {"a": 3, "b": 2}, 5) == [0]
    assert rules.barred("cd", {"a": 5, "b": 4, "c": 5, "d": 5}, 5) == [0, 2, 3]  # the one that fewest were asked
    assert rules.barred("abcd") == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="at least 0.5, for 2 questions of 4 items"):
        ItemRules("abcd", exposure=0.4, questions=2)
    kinds = {"a": "x", "b": "y", "c": "y", "d": "y"}
    with pytest.raises(ValueError, match="for 1 questions of 1 items about x"):
        ItemRules("abcd", exposure=0.9, content=kinds, shares={"x": 0.5, "y": 0.5}, questions=2)
    with pytest.raises(ValueError, match="a share in"):
        ItemRules("abcd", exposure=1.2)


def test_every_key_is_in_the_example_in_the_help_and_in_the_guide(tmp_path, capsys):
    everything = re.sub(r"^# (\[+[a-z]+\]|[a-z_]+ = )", r"\1", EXAMPLE, flags=re.M)
    for name, text in (("plain.toml", EXAMPLE), ("all.toml", everything)):
        (tmp_path / name).write_text(text)
        read = read_questionnaire(tmp_path / name)
        assert len(read.items) == 4
    assert read.rules().any and read.attention and read.panel["screen_out"] == 2 and read.origins and read.one_tap
    assert run(["serve", "--example"]) == 0 and capsys.readouterr().out == EXAMPLE
    assert run(["serve", "--help"]) == 0
    told = capsys.readouterr().out
    guide = (ROOT / "docs/guide/tests.md").read_text(encoding="utf-8")
    for section, keys in KEYS.items():
        assert section in told and (not section or f"[{section}]" in guide)
        for key in keys if section not in FREE else ():
            assert re.search(rf"^  +{key} ", told, re.M), key
            assert re.search(rf"^#? ?{key} = ", EXAMPLE, re.M), key
            assert f"`{key}`" in guide, key


TEST = 'title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?", content = "x"}, {text = "B?", content = "y"}]\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("exposure = 2\n" + TEST, "line 1: exposure must be a share in (0, 1], got 2.0"),
        (
            "exposure = 0.5\n" + TEST + "[stop]\nquestions = 2\n",
            "exposure must be at least 1, for 2 questions of 2 items",
        ),
        ('first = "C"\n' + TEST, "line 1: first must be the id of an item, got 'C'"),
        (TEST + "[content]\nx = 0.5\ny = 0.4\n", "line 4: the shares must add up to 1, not to 0.9"),
        (TEST + "[content]\nx = 1.0\n", "item 2 has a content that [content] lacks"),
        (TEST + "[content]\nx = 0.5\ny = 0.3\nz = 0.2\n", "line 7: no item has the content 'z'"),
        (TEST + '[content]\nx = "half"\n', "line 5: x must be a share in (0, 1], got 'half'"),
        (TEST + '[api]\norigins = ["lab.example.org"]\n', 'origins must be sites such as "https://lab.example.org"'),
        (TEST + '[api]\norigins = "https://lab.example.org"\n', "line 5: origins must be a list of texts"),
    ],
)
def test_a_file_at_fault(tmp_path, capsys, text, says):
    (tmp_path / "test.toml").write_text(text)
    assert run(["serve", str(tmp_path / "test.toml"), "--store", str(tmp_path / "store")]) == 2
    assert says in capsys.readouterr().err
