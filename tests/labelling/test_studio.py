"""A design that follows a Label Studio: exchanges recorded from a real one, and what it may answer instead."""

from pathlib import Path

import httpx
import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.labelling import LabelStudio, Live, StudioAway, StudioError
from adaptive.labelling.standing import Standing
from designs.pool import Annotated
from experiments.serve.shared.studio_exchange import N_LATE, N_TASKS, Replay, begins, session
from tests.labelling.studio import PAGE, Studio

RECORDED = Path(__file__).parent / "label_studio_exchange.json"


def begin(tasks):
    model = BayesianLogisticRegression(classes=["no", "yes"])
    return SequentialDesign(model, np.eye(len(tasks)), repeat=True, random_state=0)


def of_people(tasks):
    model = BayesianLogisticRegression(classes=["no", "yes"], annotators=True)
    return SequentialDesign(model, Annotated(np.eye(len(tasks)), range(2)), random_state=0)


def stands(live):
    return {(live.tasks[row], who): label for row, who, label in live.said()}


def test_a_recorded_session_is_learnt_as_it_stands_there(tmp_path):
    live = Live(LabelStudio("http://studio", 1, "a.b.c", transport=Replay(RECORDED)), begins(tmp_path))
    looked = list(session(live))
    first, second, third, idle, last = looked
    assert first.answers == 0 and len(first.open) >= 3
    assert (second.learnt, second.answers, second.people) == (4, 4, 2)
    assert (third.corrected, third.answers) == (1, 3)  # changed; deleted; skipped
    assert (idle.learnt, idle.corrected, idle.open) == (0, 0, third.open)
    assert last.begun and len(live.tasks) == N_TASKS + N_LATE
    tasks = live.tasks
    assert stands(live) == {(tasks[0], "1"): "no", (tasks[0], "2"): "no", (tasks[2], "2"): "yes"}
    assert tasks[3] not in last.open  # two people could not tell
    live.close()


def test_open_queries_are_the_tasks_with_a_prediction():
    studio = Studio(12)
    live = Live(studio.client(), begin)
    found = live.look()
    assert studio.shown() == {*found.open} and studio.settings["model_version"] == "adaptive"
    assert studio.settings["sampling"] == "Uncertainty sampling" and studio.settings["show_collab_predictions"] is False
    for _ in range(4):
        task = found.open[0]
        studio.label(task, 7, "yes" if task % 2 else "no")
        found = live.look()
        assert task not in found.open and {*found.open} <= studio.shown() and len(found.open) >= 3
    assert studio.shown() - {*found.open} <= {*studio.annotations}
    live.close()


def test_a_look_without_changes_asks_one_page():
    studio = Studio()
    live = Live(studio.client(), begin)
    live.look()
    studio.requests.clear()
    live.look()
    assert studio.requests == [("GET", "/api/tasks")]
    live.close()


@pytest.mark.parametrize("whole", [False, True])
def test_changed_and_deleted_answers_are_taken_back_however_they_are_heard_of(whole):
    studio = Studio(8)
    live = Live(studio.client(), begin)
    live.look()
    studio.label(1, 7, "yes")
    studio.label(2, 7, "no")
    studio.label(2, 8, "yes")
    assert live.look().answers == 3
    studio.label(1, 7, "no")
    studio.delete(2, 8)
    if whole:
        live._forget()
    found = live.look()
    assert stands(live) == {(1, "7"): "no", (2, "7"): "no"} and found.answers == 2
    live.close()


def test_a_skip_is_the_persons_until_nobody_can_tell():
    studio = Studio(6)
    live = Live(studio.client(), begin)
    task = live.look().open[0]
    studio.label(task % 6 + 1, 8, "no")
    studio.label(task, 7)
    assert task in live.look().open  # for the other one
    assert task in studio.shown()
    studio.label(task, 8)
    assert task not in live.look().open and task not in studio.shown()
    studio.label(task, 8, "yes")  # after all
    live.look()
    assert stands(live)[task, "8"] == "yes"
    live.close()


def test_nothing_is_left_when_every_task_has_an_answer():
    studio = Studio(3)
    live = Live(studio.client(), begin)
    live.look()
    for task in studio.tasks:
        studio.label(task, 7, "yes" if task == 2 else "no")
    found = live.look()
    assert found.finished and found.open == () and found.answers == 3
    live.close()


def test_skills_come_from_whoever_answers_and_a_third_person_finds_no_place():
    studio = Studio(9)
    live = Live(studio.client(), of_people)
    live.look()
    for task in range(1, 6):
        studio.label(task, 70, "yes" if task % 2 else "no")
    studio.label(1, 80, "no")
    found = live.look()
    assert found.answers == 6 and live.skills().keys() == {"70", "80"}
    assert not {*found.open} & {1, 2, 3, 4, 5}
    assert live.skills()["70"].labels == 5
    studio.label(6, 90, "yes")
    assert "all 2 places" in next(iter(live.look().left_out))
    assert Standing(live.design).said[-1].who in ("70", "80")
    assert live.believed().shape == (9, 2)
    live.close()


def test_a_label_that_the_page_does_not_offer_is_left_out_and_named():
    studio = Studio()
    live = Live(studio.client(), begin)
    live.look()
    studio.label(1, 7, "perhaps")
    found = live.look()
    assert found.left_out == {"the label 'perhaps' is none of no, yes": [1]} and found.answers == 0
    live.close()


def test_a_server_that_does_not_answer_is_waited_for_and_read_anew():
    studio = Studio()
    live, said = Live(studio.client(), begin), []
    live.look()

    def away(request):
        raise httpx.ConnectError("connection refused", request=request)

    studio.fault = away
    with pytest.raises(StudioAway, match="does not answer"):
        live.look()
    studio.label(1, 7, "yes")

    def back(sentence):
        said.append(sentence)
        studio.fault = None

    live.follow(every=0.0, away=back, looked=lambda found: live.stop())
    assert len(said) == 1 and stands(live) == {(1, "7"): "yes"}
    live.close()


def test_after_an_import_of_thousands_a_look_reads_a_few_pages():
    studio = Studio(400)  # all of them changed at the same moment
    live = Live(studio.client(), begin)
    live.look()
    studio.label(399, 7, "yes")
    studio.requests.clear()
    assert live.look().answers == 1
    assert studio.requests.count(("GET", "/api/tasks")) <= 3
    live.close()


def test_a_look_cut_short_is_made_up_for_by_the_next():
    studio = Studio()
    live = Live(studio.client(), begin)
    live.look()
    studio.label(1, 7, "yes")

    def gone(request):  # the answers are read, then a prediction is refused
        if request.method == "POST":
            return httpx.Response(404, json={"detail": "no such task"})
        return httpx.Response(200, json=studio._answer(request.method, request.url.path, request))

    live.ahead, studio.fault = 6, gone
    with pytest.raises(StudioError, match="no such task"):
        live.look()
    seen = []

    def last(found):
        seen.append(found)
        live.stop()

    def once(request):
        studio.fault = None
        return gone(request)

    studio.fault = once
    live.follow(every=0.0, looked=last)
    assert seen[0].answers == 1 and {*seen[0].open} <= studio.shown()
    studio.fault = lambda request: httpx.Response(403, json={})
    live._stopped.clear()
    with pytest.raises(StudioError, match="refuses the token"):
        live.follow(every=0.0)
    live.close()


def test_a_personal_token_is_exchanged_again_when_it_has_ended():
    studio = Studio()
    given = []

    def handle(request):
        if request.url.path == "/api/token/refresh":
            given.append(f"access {len(given)}")
            return httpx.Response(200, json={"access": given[-1]})
        if request.headers["Authorization"] != f"Bearer {given[-1]}" or len(given) == 1:
            return httpx.Response(401, json={"detail": "Given token not valid"})
        return httpx.Response(200, json=studio.page)

    studio.fault = handle
    assert studio.client(token="a.b.c").title == "Reviews"
    assert given == ["access 0", "access 1"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (httpx.Response(401, json={}), "refuses the token"),
        (httpx.Response(404, json={}), "has no project 3"),
        (httpx.Response(200, text="<html>"), "is not a Label Studio"),
        (httpx.Response(200, json=PAGE | {"parsed_label_config": {}}), "must have one control of the type Choices"),
        (
            httpx.Response(200, json=PAGE | {"label_config": '<View><Choices name="label" choice="multiple"/></View>'}),
            "let people choose several",
        ),
    ],
)
def test_what_cannot_be_followed_is_said_in_a_sentence(answer, says):
    studio = Studio()
    studio.fault = lambda request: answer
    with pytest.raises(StudioError, match=says):
        studio.client()


def test_bad_arguments_are_refused_before_anything_is_asked():
    with pytest.raises(StudioError, match="must begin with http"):
        LabelStudio("studio.example.org", 3, "secret")
    with pytest.raises(StudioError, match="must be one word"):
        LabelStudio("http://studio.example.org", 3, "two words")
    with pytest.raises(StudioError, match="no Choices 'other'; it has 'label'"):
        Studio().client(control="other")
    live = Live(Studio().client(), lambda tasks: SequentialDesign(BayesianLogisticRegression(), np.eye(6)))
    with pytest.raises(ValueError, match="repeat=True"):
        live.look()


def test_an_overlap_is_set_before_the_first_answer_only():
    studio = Studio()
    client = studio.client()
    client.set_overlap(2)
    assert studio.settings == {"maximum_annotations": 2} and client.overlap == 2
    studio.label(1, 7, "yes")
    with pytest.raises(StudioError, match="before the first answer"):
        client.set_overlap(3)
