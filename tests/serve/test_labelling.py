"""A pool that several people label: a query each, leases, overlap; and the design is the one told in that order."""

import csv

import numpy as np
import pytest

from adaptive import labelling
from adaptive.cli import run
from adaptive.loop import MaxSteps
from adaptive.serve import answers_of
from adaptive.serve.labelling import LabellingDesk
from tests.serve.conftest import ROWS, truth


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def desk(opened, pool, tmp_path):
    def build(folder="desk", **more):
        from adaptive.serve import Store

        kept = Store(tmp_path / folder)
        clock = Clock()
        return LabellingDesk(pool(ahead=0, **more), kept, clock=clock), clock

    return build


def row(place):
    return int(place.shown.text.split()[1])


def test_each_has_a_query_of_their_own_and_the_design_is_the_one_told_in_that_order(opened, pool, portal):
    browser, store = opened(pool(stop=MaxSteps(12), ahead=0))
    people = [browser() for _ in range(3)]
    for k, person in enumerate(people):
        person.begin(f"P{k}")
    assert len({person.question for person in people}) == 3
    rng = np.random.default_rng(0)
    for _ in range(30):
        person = people[rng.integers(3)]
        person.get()
        if person.question:
            person.answer(truth(person.question))
    said = answers_of(store, 0)
    assert len(said) >= 12 and {one["session"] for one in said} == {1, 2, 3}
    # the same asks and answers, without pages
    from adaptive.loop import EventLog
    from adaptive.loop.log.event_log import parsed

    twin = pool(stop=MaxSteps(12)).begin(EventLog(), False)
    events = parsed(store.log(0).storage.read(), "")[1]
    for event in events:
        if event["event"] == "ask":
            query = twin.ask(1, another=True, worker=event["worker"])
            assert query.positions.tolist() == event["positions"]
        elif event["event"] == "tell":
            twin.tell(next(q for q in twin.pending if q.id == event["query"]), event["outcomes"])
    again = pool(stop=MaxSteps(12)).begin(store.log(0), True)
    assert again.history_["outcome"] == twin.history_["outcome"]
    probabilities = [d.estimator_.predictive(ROWS).probabilities.tobytes() for d in (again, twin)]
    assert probabilities[0] == probabilities[1]
    page = people[0].get("/numbers").text
    assert f"<td>{len(said)}</td>" in page and "When to stop" in page and "<polyline" in page


def test_a_lease_runs_out_and_nothing_typed_is_thrown_away(desk):
    work, clock = desk(lease=60.0)
    first, second = work.place(1), work.place(2)
    assert row(first) != row(second) and row(work.place(1)) == row(first)
    clock.now = 61.0
    taken = work.place(3)  # the oldest one that nobody answered goes to the next
    assert row(taken) == row(first) and taken.number == first.number
    from adaptive.serve.refusals import Refused

    with pytest.raises(Refused):  # it is somebody else's now
        work.answer(1, first.number, "1")
    work.answer(2, second.number, "1")  # late, but nobody else's: it counts
    work.answer(3, taken.number, "0")
    with pytest.raises(Refused):
        work.answer(3, taken.number, "0")
    assert [said.who for said in work._said] == [2, 3]


def test_cannot_tell_sets_a_row_aside_and_back_takes_an_answer_back(desk):
    work, _ = desk()
    place = work.place(1)
    work.answer(1, place.number, "skip")
    after = work.place(1)
    assert row(after) != row(place)
    work.answer(1, after.number, "1")
    third = work.place(1)
    work.retract(1, third.last)
    again = work.place(1)
    assert row(again) == row(after) and again.number != after.number and work._said == []
    work.answer(1, again.number, "0")
    assert [said.outcome for said in work._said] == ["no"] and row(work.place(1)) == row(third)


def test_overlap_asks_each_row_of_so_many_people(desk):
    work, _ = desk(overlap=2, repeat=True)
    seen = {1: [], 2: [], 3: []}
    for _ in range(200):
        moved = False
        for who in seen:
            place = work.place(who)
            if place.number:
                moved = True
                seen[who].append(row(place))
                work.answer(who, place.number, "1" if ROWS[row(place), 0] > 0 else "0")
        if not moved:
            break
    asked = [position for rows in seen.values() for position in rows]
    assert all(len(rows) == len(set(rows)) for rows in seen.values())
    assert sorted(asked) == sorted([*range(30), *range(30)])


def test_a_restart_goes_on_with_queries_leases_and_labellers(opened, pool, tmp_path):
    browser, store = opened(pool())
    anna, ben = browser(), browser()
    for person in (anna, ben):
        person.begin()
        person.answer(1)
    questions = [anna.question, ben.question]
    said = answers_of(store, 0)
    cookies = [person.client.cookies for person in (anna, ben)]
    store.close()
    browser, store = opened(pool())
    for cookie, question in zip(cookies, questions, strict=True):
        again = browser()
        again.client.cookies = cookie
        again.get()
        assert again.question == question and again.form("/retract")
    assert answers_of(store, 0) == said


def test_a_pool_that_changed_is_refused(opened, pool, tmp_path):
    from adaptive.serve import StoreError, application

    _, store = opened(pool(identity="pool a"))
    store.close()
    with pytest.raises(StoreError, match="holds the answers to something else"):
        application(pool(identity="pool b"), store.folder)


def test_labels_go_out_as_labelling_reads_them(opened, pool, tmp_path, capsys):
    browser, store = opened(pool(), tmp_path / "kept")
    anna = browser()
    anna.begin("Anna")
    for _ in range(4):
        anna.answer(truth(anna.question))
    assert run(["export", str(tmp_path / "kept")]) == 0
    read = labelling.read_csv(tmp_path / "kept/export/labels.csv")
    history = pool().begin(store.log(0), True).history_
    assert [(one.position, one.outcome) for one in read] == list(
        zip(history["position"], history["outcome"], strict=True)
    )
    assert {one.annotator for one in read} == {"Anna"}
    capsys.readouterr()


def test_no_two_annotators_of_an_export_are_called_alike(opened, pool, tmp_path, capsys):
    browser, _ = opened(pool(), tmp_path / "kept")
    for name in ("Anna", "Anna", "", "session 3", "adaptive label"):
        person = browser()
        person.begin(name)
        person.answer(truth(person.question))
    assert run(["export", str(tmp_path / "kept")]) == 0
    with (tmp_path / "kept/export/labels.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = ["Anna", "Anna (2)", "session 3", "session 3 (2)", "adaptive label (2)"]
    assert [row["annotator"] for row in rows] == names
    assert [row["session"] for row in rows] == ["1", "2", "3", "4", "5"]
    capsys.readouterr()


@pytest.mark.parametrize("options", [["--text", "words"], ["--features", "width,height"], ["--image", "file"], []])
def test_pools_of_texts_features_and_pictures(opened, tmp_path, options):
    from PIL import Image

    from adaptive.cli.serve.pools import pool as read

    with (tmp_path / "rows.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["words", "width", "height", "file", "label"])
        for k in range(24):
            Image.new("L", (4, 4), 10 * k).save(tmp_path / f"{k}.png")
            words = f"red wine {k % 5}" if k % 2 else "fast cars"
            table.writerow([words, k, k * k % 7, f"{k}.png", "yes" if k == 3 else ""])
    named = dict(zip((one[2:] for one in options[::2]), options[1::2], strict=True))
    source = read(
        tmp_path / "rows.csv", "yes,no", text=named.get("text"), image=named.get("image"),
        features=named.get("features"), overlap=1, seed=0, stop=None,
    )  # fmt: skip
    browser, store = opened(source)
    anna = browser()
    anna.begin()
    for _ in range(3):
        anna.answer(1)
    assert len(answers_of(store, 0)) == 3 and 3 not in [one["position"] for one in answers_of(store, 0)]
    if named.get("image"):
        (position,) = [p for (p,) in store.rows("SELECT position FROM leases WHERE session = 1")]
        assert anna.get(f"/picture/{position}").headers["content-type"] == "image/png"


def test_a_run_of_adaptive_label_goes_on(opened, tmp_path, capsys):
    from adaptive.cli.serve.pools import of_run

    rows = "a,b\n" + "".join(f"{k},{k * k % 11}\n" for k in range(20))
    (tmp_path / "rows.csv").write_text(rows)
    out = ["--out", str(tmp_path / "run")]
    asked = ["--ask", str(tmp_path / "next.csv"), "--batch", "3"]
    assert run(["label", str(tmp_path / "rows.csv"), "--classes", "no,yes", *asked, *out]) == 0
    browser, store = opened(of_run(tmp_path / "run"))
    anna, ben = browser(), browser()
    for person in (anna, ben):
        person.begin()
        for _ in range(3):
            person.answer(0)
    said = answers_of(store, 0)  # out of the log that the run keeps
    assert [one["session"] for one in said] == [1, 1, 1, 2, 2, 2] and {one["answer"] for one in said} == {"no"}
    opened.stop()
    assert run(["label", "--report", *out]) == 0
    with (tmp_path / "run/answers.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == 6
    assert run(["export", str(store.folder)]) == 0
    exported = labelling.read_csv(store.folder / "export/labels.csv")
    assert [one.outcome for one in exported] == ["no"] * 6 and {one.annotator for one in exported} == {
        "session 1", "session 2"}  # fmt: skip
    next((tmp_path / "run/log").glob("*.jsonl")).unlink()
    assert run(["export", str(store.folder)]) == 2 and "the log of the run" in capsys.readouterr().err
    capsys.readouterr()


def test_people_of_different_skill_are_told_apart(opened, tmp_path, capsys):
    from adaptive.cli.serve.pools import pool as read

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 2)).round(3)
    true = (rows.sum(axis=1) > 0).astype(int)
    lines = [f"{k},{a},{b},{'yes' if true[k] else 'no'}" if k < 4 else f"{k},{a},{b}," for k, (a, b) in enumerate(rows)]
    (tmp_path / "rows.csv").write_text("\n".join(["number,a,b,label", *lines]) + "\n")

    def source():
        return read(tmp_path / "rows.csv", "no,yes", text=None, image=None, features="a,b", overlap=1, seed=0,
                    stop=None, skills=3)  # fmt: skip

    browser, store = opened(source(), tmp_path / "kept")
    people = [browser() for _ in range(4)]
    for person in people:
        person.begin()
    assert not people[3].question and "All places for labellers are taken" in people[3].get().text
    wrong = (0.0, 0.0, 0.5)
    for _ in range(22):
        for k, person in enumerate(people[:3]):
            person.get()
            if not person.question:
                continue
            position = next(p for p, s in store.rows("SELECT position, session FROM leases") if s == k + 1)
            answer = true[position // 4]
            person.answer(int(1 - answer if rng.random() < wrong[k] else answer))
    said = answers_of(store, 0)
    assert len({(one["item"][0], one["session"]) for one in said}) == len(said) > 40
    opened.stop()
    assert run(["export", str(tmp_path / "kept")]) == 0
    with (tmp_path / "kept/export/people.csv").open(newline="") as stream:
        found = {row["session"]: row for row in csv.DictReader(stream)}
    skills = [float(found[str(k)]["skill"]) for k in (1, 2, 3)]
    assert min(skills[:2]) > skills[2] and float(found["3"]["high"]) > skills[2]
    read_back = labelling.read_csv(tmp_path / "kept/export/labels.csv")
    assert {one.position for one in read_back} <= set(range(4, 60))
    again, _ = opened(source(), tmp_path / "kept")  # goes on where it was
    person = again()
    person.begin()
    capsys.readouterr()


def test_cannot_tell_is_that_persons_alone_where_skills_are_learnt(opened, tmp_path):
    from adaptive.cli.serve.pools import pool as read

    (tmp_path / "rows.csv").write_text("a\n1\n2\n")
    source = read(
        tmp_path / "rows.csv", "no,yes", text=None, image=None, features="a", overlap=1, seed=0, stop=None, skills=2
    )
    browser, _ = opened(source)
    anna, ben = browser(), browser()
    for person in (anna, ben):
        person.begin()
    for _ in range(2):
        anna.answer("skip")
    assert not anna.question
    ben.answer(0)
    assert ben.question  # both rows are still his


def test_a_late_answer_is_learnt_where_skills_are(tmp_path):
    from adaptive.cli.serve.pools import pool as read
    from adaptive.serve import Store

    (tmp_path / "rows.csv").write_text("a\n1\n2\n3\n")
    source = read(
        tmp_path / "rows.csv", "no,yes", text=None, image=None, features="a", overlap=1, seed=0, stop=None, skills=2
    )
    clock = Clock()
    with Store(tmp_path / "kept") as store:
        desk = LabellingDesk(source, store, clock=clock)
        first = desk.place(1).number
        clock.now = 10_000.0
        assert desk.place(2).number  # sets what session 1 left open aside, for session 1
        desk.answer(1, first, "0")
        assert [one["session"] for one in answers_of(store, 0)] == [1]
        again = desk.place(1).number
        desk.answer(1, again, "skip")
        with pytest.raises(Exception, match="no longer open"):
            desk.answer(1, again, "0")  # what one could not tell is done with
        desk.close()


def test_a_question_stands_above_every_row_and_instructions_at_hand(opened, pool):
    browser, _ = opened(pool(question="Is it <good>?", instructions="Read it.\n\nThen say."))
    anna = browser()
    anna.get()
    assert '<p dir="auto">Read it.</p><p dir="auto">Then say.</p>' in anna.page.text
    anna.begin("Ann")
    assert anna.question.startswith("Is it <good>?") and "&lt;good&gt;" in anna.page.text
    assert "<details><summary>Instructions</summary>" in anna.page.text


def test_instructions_are_read_from_a_file(tmp_path, capsys):
    assert run(["serve", "test.toml", "--question", "What?"]) == 2
    assert "a test has its own words" in capsys.readouterr().err
    (tmp_path / "pool.csv").write_text("text\nred\nblue\n")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe")
    command = ["serve", "--label", str(tmp_path / "pool.csv"), "--classes", "a,b", "--text", "text"]
    assert run([*command, "--instructions", str(tmp_path / "bad.txt")]) == 2
    assert "is no text file in UTF-8" in capsys.readouterr().err
