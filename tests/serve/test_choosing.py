"""Choosing beside the pages: nobody waits for it, several processes share a log, and one of them chooses."""

import threading
import time

import numpy as np
import pytest

from adaptive.loop import MaxSteps, SequentialDesign
from adaptive.serve import answers_of
from adaptive.serve.labelling import DESIGN, LabellingDesk
from adaptive.serve.refusals import Refused
from adaptive.serve.survey import SurveyDesk
from tests.serve.conftest import ROWS


def row(place):
    return int(place.shown.text.split()[1])


def right(place):
    return str(int(ROWS[row(place), 0] > 0))


def until(holds, seconds=20.0):
    """Wait for what another thread will have done."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


@pytest.fixture
def desks(pool, place):
    """Desks of one pool, each as in a process of its own."""
    opened = []

    def build(**more):
        store = place()
        opened.append((LabellingDesk(pool(**more), store), store))
        return opened[-1][0]

    yield build
    for desk, store in opened:
        desk.close()
        store.close()


def label(desk, session, n):
    for _ in range(n):
        place = desk.place(session)
        if not place.number:
            return
        try:
            desk.answer(session, place.number, right(place))
        except Refused:
            continue


def test_a_page_never_waits_for_a_choice(desks, monkeypatch):
    held, waits = threading.Event(), SequentialDesign.proposal
    desk = desks()

    def proposal(self, *more, **options):
        held.wait(30.0)
        return waits(self, *more, **options)

    monkeypatch.setattr(SequentialDesign, "proposal", proposal)
    try:
        label(desk, 1, 8)  # more than are in stock
        assert len(desk.ledger.said) == 8
        asked = [event for event in desk.ledger.events if event["event"] == "ask"]
        assert "stock" not in asked[0] and asked[-1]["stock"] == "empty" and asked[-1]["drawn"] == 1
        assert len({event["positions"][0] for event in asked}) == 8
    finally:
        held.set()
    until(lambda: desk.designer.stock.read()["n_events"] == len(desk.ledger.events))
    before = len(desk.ledger.events)
    desk.place(2)
    assert "stock" not in desk.ledger.events[before]


def test_people_at_several_processes_share_one_design(desks, pool, place):
    both = [desks(), desks()]
    people = [threading.Thread(target=label, args=(both[k % 2], 1 + k, 6)) for k in range(4)]
    for person in people:
        person.start()
    for person in people:
        person.join(60.0)
    with both[0].ledger.reading(), both[1].ledger.reading():
        assert both[0].ledger.said == both[1].ledger.said
        said = list(both[0].ledger.said)
    positions = [told.position for told in said]
    assert len(said) == 24 == len(set(positions)) and {told.who for told in said} == {1, 2, 3, 4}
    with place() as store:
        replayed = pool().begin(store.log(DESIGN), True)
        assert replayed.history_["position"] == positions
        assert [one["position"] for one in answers_of(store, DESIGN)] == positions
        leading = [desk for desk in both if desk.designer._design is not None]
        assert len(leading) == 1
        followed = leading[0].designer
        until(lambda: followed.stock.read()["n_events"] == len(leading[0].ledger.events))
        with followed._guard:
            found = followed.design().estimator_.predictive(ROWS).probabilities
        assert np.array_equal(found, replayed.estimator_.predictive(ROWS).probabilities)


def test_each_has_rows_in_stock_where_people_are_told_apart(tmp_path):
    from adaptive.cli.serve.pools import pool as read
    from adaptive.serve import Store

    X = np.random.default_rng(0).standard_normal((40, 2)).round(3)
    (tmp_path / "rows.csv").write_text("\n".join(["a,b", *(f"{a},{b}" for a, b in X)]) + "\n")
    source = read(
        tmp_path / "rows.csv", "no,yes", text=None, image=None, features=None, overlap=1, seed=0, stop=None, skills=2
    )
    with Store(tmp_path / "store") as store:
        desk = LabellingDesk(source, store)
        for _ in range(6):
            for session in (1, 2):
                place = desk.place(session)
                position = source.row(int(place.number.split(".")[1]))
                desk.answer(session, place.number, str(int(X[position].sum() > 0)))
                until(lambda: desk.designer.stock.read()["n_events"] == len(desk.ledger.events))
        asked = [event for event in desk.ledger.events if event["event"] == "ask"]
        assert len(asked) == 12 and not any("stock" in event for event in asked[4:])
        desk.close()


def test_a_run_of_its_own_log_survives_a_fault_of_who_chooses(tmp_path, monkeypatch, capsys):
    from adaptive.cli import run
    from adaptive.cli.serve.pools import of_run
    from adaptive.serve import Store

    (tmp_path / "rows.csv").write_text("a,b\n" + "".join(f"{k},{k * k % 11}\n" for k in range(20)))
    out = ["--out", str(tmp_path / "run")]
    asked = ["--ask", str(tmp_path / "next.csv"), "--batch", "2"]
    assert run(["label", str(tmp_path / "rows.csv"), "--classes", "no,yes", *asked, *out]) == 0
    with Store(tmp_path / "store") as store:
        desk = LabellingDesk(of_run(tmp_path / "run"), store)
        learnt, faults = SequentialDesign.proposal, iter([True, True])

        def proposal(self, *more, **options):
            if next(faults, False):
                raise OSError("no room")
            return learnt(self, *more, **options)

        monkeypatch.setattr(SequentialDesign, "proposal", proposal)
        for _ in range(6):
            place = desk.place(1)
            desk.answer(1, place.number, "0")
        until(lambda: desk.designer.stock.read()["n_events"] == len(desk.ledger.events))
        assert len(desk.ledger.said) == 6
        desk.close()
    assert run(["label", "--report", *out]) == 0
    capsys.readouterr()


def test_another_process_chooses_when_the_first_has_ended(desks):
    first, second = desks(), desks()
    assert first.designer._design is not None and second.designer._design is None
    label(second, 1, 3)
    first.close()
    first.store.close()
    until(lambda: second.designer._design is not None)
    label(second, 1, 3)
    until(lambda: second.designer.stock.read()["n_events"] == len(second.ledger.events))


def test_a_stop_is_seen_by_all(desks):
    first, second = desks(stop=MaxSteps(4)), desks(stop=MaxSteps(4))
    label(second, 1, 4)
    until(lambda: first.designer.stock.read()["finished"])
    for desk in (first, second):
        place = desk.place(2)
        assert not place.number and place.done == 1.0


def test_a_row_is_set_aside_when_enough_people_could_not_tell(desks):
    desk = desks(give_up=2, ahead=0)
    first = desk.place(1)
    desk.answer(1, first.number, "skip")
    after = desk.place(1)
    assert row(after) != row(first)
    again = desk.place(2)  # theirs to try
    assert row(again) == row(first)
    desk.answer(2, again.number, "skip")
    assert [event["event"] for event in desk.ledger.events].count("skip") == 1
    third = desk.place(3)
    assert row(third) not in (row(first), row(after))
    seen = desk.place(2)
    desk.retract(2, seen.last)  # they can tell after all
    back = desk.place(2)
    assert row(back) == row(first)
    desk.answer(2, back.number, right(back))
    assert [told.position for told in desk.ledger.said] == [row(first)]
    assert row(desk.place(2)) == row(seen)


def test_nobody_gives_up_on_a_whole_pool(desks, monkeypatch):
    monkeypatch.setattr("adaptive.serve.labelling.MOST_PASSES", 3)
    desk = desks(ahead=0)
    for _ in range(3):
        desk.answer(1, desk.place(1).number, "skip")
    with pytest.raises(Refused, match="passed over many rows") as refusal:
        desk.answer(1, desk.place(1).number, "skip")
    assert refusal.value.status == 429
    place = desk.place(1)
    desk.answer(1, place.number, right(place))
    desk.answer(1, desk.place(1).number, "skip")


def test_an_answer_taken_back_is_forgotten_by_who_chooses(desks, pool):
    desk = desks()
    label(desk, 1, 5)
    place = desk.place(1)
    desk.retract(1, place.last)
    until(lambda: desk.designer.stock.read()["n_events"] == len(desk.ledger.events))
    with desk.designer._guard:
        assert desk.designer.design().history_["position"] == [told.position for told in desk.ledger.said]
    assert len(desk.ledger.said) == 4
    back = desk.place(1)
    desk.answer(1, back.number, right(back))
    assert len(desk.ledger.said) == 5


def test_how_it_goes_is_told_by_any_process(desks):
    first, second = desks(), desks()
    label(first, 1, 12)
    found = second.numbers()
    assert found["answers"] == 12 and found["people"] == 1
    until(lambda: second.numbers()["curve"])
    assert "The model believes that it is right on" in " ".join(second.numbers()["words"])


def test_a_session_of_a_test_goes_on_at_any_process(survey, place, offline):
    with place() as one, place() as other:
        desks = [SurveyDesk(survey(), one), SurveyDesk(survey(), other)]
        answers = [0, 2, 1, 1, 0]
        for k, given in enumerate(answers):
            desk = desks[k % 2]
            number = desk.place(1).number
            assert desks[1 - k % 2].place(1).number == number
            desk.answer(1, number, str(given))
            with pytest.raises(Refused):
                desks[1 - k % 2].answer(1, number, str(given))  # the same form sent twice
        twin = offline(1, answers)
        assert [desk.place(1).shown.text for desk in desks] == [f"Item {twin.ask().labels[0][1:]}?"] * 2
        desks[0].retract(1, desks[0].place(1).last)
        assert desks[1].place(1).count == 4
        for desk in desks:
            desk.close()


def test_the_same_session_at_two_processes_at_once(survey, place):
    with place() as one, place() as other:
        desks = [SurveyDesk(survey(), one), SurveyDesk(survey(), other)]
        refused = []

        def hurry(desk):
            for _ in range(6):
                try:
                    place = desk.place(1)
                    if place.number:
                        desk.answer(1, place.number, "1")
                except Refused as refusal:
                    refused.append(refusal.status)
                except Exception as fault:
                    refused.append(fault)
                    raise

        threads = [threading.Thread(target=hurry, args=(desk,)) for desk in desks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60.0)
        said = answers_of(one, 1)
        assert len(said) == 6 == len({said["item"] for said in said}) and set(refused) <= {409, 503}
        for desk in desks:
            desk.close()
