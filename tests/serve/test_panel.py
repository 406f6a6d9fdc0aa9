"""People whom a panel sends: one session for each, on any device, and the way back that the file says."""

import pytest

from adaptive.cli import run
from adaptive.serve import Panel, answers_of, sessions_of
from adaptive.serve.export import forget

DONE = "https://panel.example.org/complete?cc=C1&who={participant}"
PANEL = Panel("PROLIFIC_PID", DONE)


def come(browser, participant):
    browser.get(f"/?PROLIFIC_PID={participant}&STUDY_ID=7")
    return browser.post("/start", browser.form("/start"))


def test_a_participant_goes_on_here_and_on_another_device(survey, opened):
    browser, store = opened(survey(panel=PANEL))
    here, elsewhere = browser(), browser()
    come(here, "5f2c")
    here.answer(2)
    question = here.question
    assert here.get("/?PROLIFIC_PID=5f2c") is not None and here.question == question  # a reload
    come(elsewhere, "5f2c")
    assert elsewhere.question == question
    elsewhere.answer(1)
    assert here.get() is not None and here.question == elsewhere.question
    assert [(one["session"], one["participant"]) for one in sessions_of(store)] == [(1, "5f2c")]
    assert len(answers_of(store, 1)) == 2


def test_everybody_is_sent_back_at_the_end_and_nowhere_else(survey, opened):
    browser, _ = opened(survey(panel=PANEL))
    anna = browser()
    come(anna, "a-1")
    while anna.question:
        assert "panel.example.org" not in anna.page.text
        anna.answer(0)
    assert 'href="https://panel.example.org/complete?cc=C1&amp;who=a-1"' in anna.page.text
    anna.get("/?PROLIFIC_PID=a-1&done=https://elsewhere.example.org&cc=C2")
    assert "elsewhere" not in anna.page.text and "cc=C1" in anna.page.text


def test_whoever_does_not_agree_is_sent_back_without_a_session(survey, opened):
    browser, store = opened(survey(panel=Panel("PROLIFIC_PID", DONE, "We keep your answers.\n\nYou may stop.")))
    anna = browser()
    anna.get("/?PROLIFIC_PID=a1")
    text = anna.page.text
    assert '<p dir="auto">We keep your answers.</p><p dir="auto">You may stop.</p>' in text
    assert "I agree; begin" in text
    assert "who=a1" in anna.page.text and sessions_of(store) == []


def test_other_ids_forged_ones_and_none_are_refused(survey, opened):
    browser, store = opened(survey(panel=PANEL))
    anna, other = browser(), browser()
    come(anna, "a1")
    assert anna.get("/?PROLIFIC_PID=b2").status_code == 409 and "another participant" in anna.page.text
    other.get("/")
    assert other.form("/start") is None and "by the link of the panel" in other.page.text
    for strange in ("<script>", "a" * 65, "a%20b", "", "a%00"):
        assert other.get(f"/?PROLIFIC_PID={strange}").status_code == 400
    other.get("/?PROLIFIC_PID=b2")
    form = other.form("/start")
    assert other.post("/start", form | {"participant": "a1"}).status_code == 403
    assert other.post("/start", {"token": form["token"]}).status_code == 403
    assert [one["participant"] for one in sessions_of(store)] == ["a1"]


def test_many_devices_leave_twenty_tickets_and_forgetting_leaves_none(survey, opened):
    browser, store = opened(survey(panel=PANEL))
    for _ in range(24):
        come(browser(), "a1")
    assert store.rows("SELECT COUNT(*) FROM tickets") == [(20,)]
    forget(store, 1)
    assert store.rows("SELECT COUNT(*) FROM tickets") == store.rows("SELECT COUNT(*) FROM participants") == [(0,)]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"participant": "two words"}, "name of a parameter"),
        ({"participant": "P", "done": "http://panel.example.org"}, "an https address"),
        ({"participant": "P", "done": "https://{participant}.example.org"}, "an https address"),
        ({"participant": "P", "done": "https://panel.example.org/{cc}"}, "an https address"),
        ({"participant": "P", "done": "javascript:alert(1)"}, "an https address"),
    ],
)
def test_a_panel_at_fault(settings, says):
    with pytest.raises(ValueError, match=says):
        Panel(**settings)


def test_a_file_at_fault(tmp_path, capsys):
    path = tmp_path / "test.toml"
    text = 'title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?"}, {text = "B?"}]\n[panel]\n'
    for lines, says in (
        ('done = "https://panel.example.org"', "a panel needs participant"),
        ("participant = 3", "line 5: participant must be a text"),
        (
            'participant = "P"\nreturn = "x"',
            "line 6: 'return' is not known here; there may be consent, done,",
        ),
        ('participant = "P"\ndone = "ftp://x"', "done must be an https address"),
    ):
        path.write_text(text + lines + "\n")
        assert run(["serve", str(path)]) == 2
        assert says in capsys.readouterr().err
    path.write_text(text + 'participant = "P"\n')
    assert run(["serve", str(path), "--invite", "3", "--store", str(tmp_path / "store")]) == 2
    assert "both say who comes in" in capsys.readouterr().err
