"""A test on pages: the same questions and estimates as offline, one answer per question whatever a browser does."""

import csv
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adaptive.cli import run
from adaptive.estimators import Questionnaire
from adaptive.loop import SequentialDesign
from adaptive.serve import Store, SurveyItem, answers_of, sessions_of
from adaptive.serve.pages import TEXTS, Estimate, bell, bell_x
from tests.serve.conftest import N_QUESTIONS


def item(query):
    return f"Item {query.labels[0][1:]}?"


def same(store, source, session, twin):
    """A session's design, come back from the store, is the offline one."""
    design = source.design(session, store.log(session), begun=True)
    assert design.history_["label"] == twin.history_["label"]
    assert design.history_["outcome"] == twin.history_["outcome"]
    assert np.array_equal(design.history_["score"], twin.history_["score"], equal_nan=True)
    assert design.estimator_.mean.tobytes() == twin.estimator_.mean.tobytes()
    assert design.estimator_.interval(0.95).tobytes() == twin.estimator_.interval(0.95).tobytes()


def test_served_is_offline_bit_for_bit(opened, survey, offline):
    browser, store = opened(survey(show_result=True))
    said = [2, 0, "skip", 1, 1, 2, 0]
    anna = browser()
    anna.begin()
    asked = []
    for answer in said:
        asked.append(anna.question)
        anna.answer(answer)
    twin = offline(1, said)
    assert anna.question is None and "Thank you" in anna.page.text
    assert sorted(asked) == sorted(f"Item {label[1:]}?" for label in [*twin.history_["label"], _skipped(twin)])
    same(store, survey(), 1, twin)
    mean, (low, high) = twin.estimator_.mean[0], twin.estimator_.interval(0.95)[0]
    assert f"{mean:.2f}; with 95% probability it lies between {low:.2f} and {high:.2f}" in anna.page.text


def _skipped(design):
    return next(query.labels[0] for query in design.unanswered)


moves = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2, "skip", "back", "reload", "stale", "nonsense"])), max_size=30
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves)
def test_sessions_never_mix(opened, survey, offline, tmp_path_factory, moves):
    """Three people in any order of answers, skips, retractions, reloads, old forms: each is where one alone is."""
    browser, store = opened(survey(), tmp_path_factory.mktemp("mixed"))
    people = [browser() for _ in range(3)]
    stands = [[] for _ in people]  # what stands of each, in order
    old = [None] * 3
    for person in people:
        person.begin()
    for k, move in moves:
        person, form = people[k], people[k].form("/answer")
        if move == "reload":
            before = person.page.text if person.page.status_code == 200 else None
            person.get()
            assert before is None or person.page.text == before
        elif move == "back":
            told = [n for n, one in enumerate(stands[k]) if one != "skip"]
            if told and person.form("/retract"):
                person.retract()
                # its question waits again, and is asked again first: the same answer is where one was
                again = stands[k][told[-1]]
                person.answer(again)
        elif move == "stale":
            if old[k]:
                question = person.question
                assert person.post("/answer", old[k]).status_code == 409
                assert person.question == question
        elif move == "nonsense" and form:
            assert person.answer("99").status_code == 422
        elif move in (0, 1, 2, "skip") and form:
            old[k] = {**form, "answer": str(move)}
            person.answer(move)
            stands[k].append(move)
    for k, person in enumerate(people):
        twin = offline(k + 1, stands[k])
        person.get()
        same(store, survey(), k + 1, twin)
        if not twin.finished:
            assert person.question == item(twin.ask())
    store.close()


def test_two_tabs_a_reload_and_a_double_click(opened, survey):
    browser, store = opened(survey())
    anna = browser()
    start = anna.form("/start", anna.get())
    anna.post("/start", start)
    anna.post("/start", start)  # a double click begins once
    assert [session["session"] for session in sessions_of(store)] == [1]
    first, tab = anna.question, anna.form("/answer")
    for _ in range(2):
        assert anna.get().status_code == 200 and anna.question == first
    assert anna.post("/answer", {**tab, "answer": "1"}).status_code == 200
    second = anna.question
    assert second != first
    for answer in ("1", "2", "skip"):  # a second click, another tab, the back button
        page = anna.post("/answer", {**tab, "answer": answer})
        assert page.status_code == 409 and "no longer open" in page.text and anna.question == second
    assert [one["answer"] for one in answers_of(store, 1)] == [2]
    back = anna.form("/retract")
    anna.retract()
    assert anna.question == first and answers_of(store, 1) == []
    assert anna.post("/retract", back).status_code == 409
    assert anna.post("/answer", {**tab, "answer": "1"}).status_code == 409  # a form from before the retraction
    anna.answer(0)
    assert anna.question == second and [one["answer"] for one in answers_of(store, 1)] == [1]
    read = anna.get("/answers").text
    assert first in read and "never" in read and second not in read


def test_invitations(opened, survey, tmp_path):
    from adaptive.serve.people import People

    browser, store = opened(survey(), invitations=True)
    (one, secret), _ = People(store).invite(2)
    stranger = browser()
    assert "by invitation" in stranger.get().text and stranger.form("/start") is None
    assert stranger.get("/i/0123").status_code == 404
    anna = browser()
    anna.get(f"/i/{secret}")
    assert sessions_of(store) == []  # a look at the link begins nothing
    form = anna.form("/start")
    assert browser().post("/start", {**form, "secret": ""}).status_code == 403
    anna.post("/start", form)
    anna.answer(1)
    question = anna.question
    again = browser()  # the link on another device is the same session
    again.get(f"/i/{secret}")
    again.post("/start", again.form("/start"))
    assert again.question == question and [s["session"] for s in sessions_of(store)] == [one]
    assert secret not in str(store.rows("SELECT * FROM sessions")) and anna.page.headers.get("set-cookie") is None
    cookie = again.client.cookies.jar.__iter__().__next__()
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite").lower() == "lax"


def test_what_the_file_may_set(opened, survey, tmp_path):
    browser, _ = opened(
        survey(show_result=False, may_skip=False, lang="de", texts={"answer": "Antworten", "thanks": "Danke."})
    )
    anna = browser()
    anna.begin()
    assert '<html lang="de">' in anna.page.text and "Antworten" in anna.page.text
    assert 'value="skip"' not in anna.page.text
    assert anna.answer("skip").status_code == 422
    for _ in range(N_QUESTIONS):
        anna.answer(1)
    assert "Danke." in anna.page.text and "95%" not in anna.page.text
    with pytest.raises(ValueError, match="'anwser' is not a text of the pages"):
        from adaptive.serve import application

        application(survey(texts={"anwser": "x"}), tmp_path / "other")


@pytest.mark.parametrize(
    ("words", "keys", "help"),
    [
        (("never", "often", "always"), ["1", "2", "3"], "1 to 3 to choose"),
        (("0", "1", "2"), ["0", "1", "2"], "the digit that names"),
    ],
)
def test_a_digit_on_a_page_is_the_answer_of_that_name(opened, survey, words, keys, help):
    browser, _ = opened(survey(items=[SurveyItem("i0", "Item?", words, (1, 2, 3))]))
    page = browser().begin().text
    assert re.findall(r'data-key="(\d)"', page) == re.findall(r"<kbd[^>]*>(\d)</kbd>", page) == keys and help in page


def test_designs_leave_memory_and_come_back(opened, survey, offline):
    from adaptive.serve.survey import SurveyDesk

    _, store = opened(survey())
    desk = SurveyDesk(survey(), store, most=2)
    said = {k: [] for k in range(1, 6)}
    for turn in range(4):
        for k in said:
            place = desk.place(k)
            answer = (turn + k) % 3
            desk.answer(k, place.number, str(answer))
            said[k].append(answer)
            assert len(desk.designs) <= 2
    for k, answers in said.items():
        same(store, survey(), k, offline(k, answers))


def test_export_reads_back_and_forgetting_leaves_nothing(opened, survey, offline, tmp_path, capsys):
    browser, store = opened(survey(), tmp_path / "kept")
    for answers in ([0, 1, 2], [2, 2]):
        person = browser()
        person.begin()
        for answer in answers:
            person.answer(answer)
    person.retract()
    assert run(["export", str(tmp_path / "kept")]) == 0  # while it is served
    with (tmp_path / "kept/export/table.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    told = {k: dict(zip(d.history_["label"], d.history_["outcome"], strict=True))
            for k, d in ((1, offline(1, [0, 1, 2])), (2, offline(2, [2])))}  # fmt: skip
    assert {int(row.pop("session")): {i: int(a) for i, a in row.items() if a} for row in rows} == told
    times = [one["time"] for one in answers_of(store, 1)]
    assert times == sorted(times) and len(times) == 3
    assert run(["export", str(tmp_path / "kept"), "--backup", str(tmp_path / "copy")]) == 0
    assert run(["forget", str(tmp_path / "kept"), "1"]) == 2  # a server runs
    store.close()
    assert run(["forget", str(tmp_path / "kept"), "1"]) == 0
    assert run(["forget", str(tmp_path / "kept"), "1"]) == 2
    with Store(tmp_path / "kept") as after:
        assert answers_of(after, 1) == [] and [s["session"] for s in sessions_of(after)] == [2]
        assert len(answers_of(after, 2)) == 1
    capsys.readouterr()


def test_the_answer_table_is_what_a_questionnaire_reads(opened, survey, tmp_path):
    browser, store = opened(survey(stop=None, may_skip=False), tmp_path / "kept")
    rng = np.random.default_rng(0)
    for _ in range(6):
        person = browser()
        person.begin()
        while person.question:
            person.answer(rng.integers(3))
    assert run(["export", str(tmp_path / "kept")]) == 0
    import pandas as pd

    table = pd.read_csv(tmp_path / "kept/export/table.csv", index_col="session")
    assert table.shape == (6, 12) and not table.isna().any().any()
    design = survey(stop=None).design(3, store.log(3), begun=True)
    assert isinstance(design, SequentialDesign)
    taken = Questionnaire.from_prior(list(table.columns), (1, 2, 3)).respondent().fit(list(table.columns), table.loc[3])
    np.testing.assert_allclose(taken.mean, design.estimator_.mean, atol=1e-9)


def test_a_result_is_a_place_among_people_where_the_bank_has_any(opened, survey, offline):
    browser, _ = opened(survey(show_result=True, normed=True))
    anna = browser()
    anna.begin()
    for _ in range(6):
        anna.answer(2)
    taken = offline(1, [2] * 6).estimator_
    one = Estimate("trait", taken.mean[0], *taken.interval(0.95)[0], normed=True)
    words = f"{TEXTS[one.level]}, higher than {one.of_100(one.mean)} of 100 people"
    assert words in anna.page.text and '<polygon class="people"' in anna.page.text
    assert one.level in ("above", "high") and 75 < one.of_100(one.mean) < 100
    points = [float(x) for x in bell(*one.band).split()[-1].split(",")]
    assert points == pytest.approx(
        [bell_x(min(one.high, 3.0)), 95 - 85 * np.exp(-(min(one.high, 3.0) ** 2) / 2)], abs=0.1
    )


@pytest.mark.parametrize(
    ("mean", "level"), [(-9.0, "low"), (-1.0, "below"), (0.0, "average"), (1.0, "above"), (9.0, "high")]
)
def test_levels(mean, level):
    assert Estimate("trait", mean, mean - 1, mean + 1).level == level and 1 <= Estimate.of_100(mean) <= 99
