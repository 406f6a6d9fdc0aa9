"""Queries go out as files and answers come back: ids kept, read twice and learnt once, bad rows refused."""

import csv
import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.labelling import Answer, Imported, read_csv, read_label_studio, tell, write_csv, write_label_studio
from adaptive.labelling.standing import Standing
from designs.pool import Annotated

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
TRUTH = np.where(X[:, 0] > 0, "yes", "no")
NAMES = [f"row-{k}" for k in range(30)]


def new_model(**options):
    return BayesianLogisticRegression(classes=["no", "yes"], prior_scale=1.0, **options)


def new_design(pool=X, **options):
    return SequentialDesign(new_model(), pool, random_state=0, **options)


def read_rows(path):
    with path.open(newline="") as stream:
        delimiter = ";" if ";" in stream.readline() else ","
        stream.seek(0)
        return list(csv.DictReader(stream, delimiter=delimiter))


def fill(path, answers, column="answer"):
    """Do what a person with a spreadsheet does: write answers (by position) into the file."""
    rows = read_rows(path)
    for row in rows:
        row[column] = answers.get(int(row["position"]), "")
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


def exported(path, answers):
    """Do what Label Studio does: number the tasks anew, keep their data, add the annotations (by position)."""
    tasks = json.loads(path.read_text())
    for number, task in enumerate(tasks):
        task["id"] = 1000 + number
        task["annotations"] = [
            {"id": 7, "completed_by": person, "was_cancelled": label is None, "result": [] if label is None else [
                {"type": "choices", "from_name": "label", "to_name": "item", "value": {"choices": [label]}}]}
            for person, label in answers.get(task["data"]["position"], [])
        ]  # fmt: skip
    path.write_text(json.dumps(tasks))


@pytest.mark.parametrize("form", ["csv", "label studio"])
def test_a_real_run_through_files_equals_one_that_was_told_directly(tmp_path, form):
    frame = pd.DataFrame(X, index=NAMES, columns=["a", "b", "c"])
    through, direct = (new_design(frame, batch_size=4, initial=[3, 8, 11, 20], log=tmp_path / f"{k}") for k in "ab")
    path = tmp_path / "queries"
    for _ in range(4):
        query = through.ask()
        if form == "csv":
            write_csv(through, path)
            fill(path, {int(p): TRUTH[p] for p in query.positions})
            imported = tell(through, read_csv(path))
        else:
            write_label_studio(through, path)
            exported(path, {int(p): [("ann", TRUTH[p])] for p in query.positions})
            imported = tell(through, read_label_studio(path))
        assert imported == Imported(learnt=4)
        asked = direct.ask()
        direct.tell(asked, TRUTH[asked.positions])
    assert through.history_["position"] == direct.history_["position"]
    assert through.history_["label"] == [NAMES[p] for p in through.history_["position"]]
    assert through.history_["outcome"] == direct.history_["outcome"]
    assert np.array_equal(through.estimator_.predict_proba(frame), direct.estimator_.predict_proba(frame))
    through.close()
    with SequentialDesign.load(tmp_path / "a", new_model(), frame) as again:
        assert np.array_equal(again.estimator_.predict_proba(frame), through.estimator_.predict_proba(frame))


def test_what_goes_out_says_what_it_is(tmp_path):
    frame = pd.DataFrame(X, index=NAMES, columns=["a", "b", "c"])
    design = new_design(frame, initial=[3], exploration=0)
    design.tell(design.ask(), "yes")
    design.ask(2)
    design.ask(1, another=True)
    write_csv(design, tmp_path / "q.csv", data={"text": [f"say {name}" for name in NAMES]})
    rows = read_rows(tmp_path / "q.csv")
    assert list(rows[0]) == ["query", "position", "id", "score", "text", "answer", "annotator"]
    assert [row["query"] for row in rows] == ["1", "1", "2"]
    assert all(row["id"] == NAMES[int(row["position"])] and row["text"] == f"say {row['id']}" for row in rows)
    assert [float(row["score"]) for row in rows[:2]] == design.pending[0].scores.tolist()
    write_label_studio(design, tmp_path / "t.json")  # people are not led unless somebody asks for it
    assert not any("predictions" in task for task in json.loads((tmp_path / "t.json").read_text()))
    write_label_studio(design, tmp_path / "t.json", predictions=True)
    tasks = json.loads((tmp_path / "t.json").read_text())
    for task in tasks:
        assert set(task["data"]) == {"query", "position", "id", "score", "a", "b", "c"}
        (prediction,) = task["predictions"]
        row = frame.loc[[task["data"]["id"]]]
        assert prediction["score"] == pytest.approx(design.estimator_.predict_proba(row).max())
        assert prediction["result"][0]["value"]["choices"] == design.estimator_.predict(row).tolist()
        assert task["data"]["a"] == row["a"].item()


def test_entries_that_can_be_read_are_shown(tmp_path):
    texts = [f"document {k}" for k in range(5)]

    class Lengths(LogisticRegression):
        def fit(self, X, y):
            return super().fit(np.array([[len(x)] for x in X]), y)

    design = SequentialDesign(Lengths(), texts, initial=[4, 1])
    design.ask(2)
    write_csv(design, tmp_path / "q.csv")
    assert [row["candidate"] for row in read_rows(tmp_path / "q.csv")] == [texts[4], texts[1]]


def test_a_file_may_be_read_again_as_it_fills_up(tmp_path):
    design = new_design(batch_size=4, initial=[3, 8, 11, 20])
    design.ask()
    path = tmp_path / "q.csv"
    write_csv(design, path)
    fill(path, {3: "yes", 8: " no "})
    assert tell(design, read_csv(path)) == Imported(learnt=2, waiting=[11, 20])
    assert tell(design, read_csv(path)) == Imported(known=2, waiting=[11, 20])
    fill(path, {3: "yes", 8: "no", 20: "yes", 11: "?"})
    assert tell(design, read_csv(path)) == Imported(learnt=1, known=2, skipped=[11])
    assert design.history_["position"] == [3, 8, 20] and not design.pending
    assert 11 not in design.ask().positions  # set aside, yet a late answer is still learnt
    assert tell(design, [Answer(11, "no")]).learnt == 1


def test_answers_come_out_of_order_and_for_several_queries(tmp_path):
    design = new_design(initial=6)
    queries = [design.ask(2, another=k > 0) for k in range(3)]
    path = tmp_path / "q.csv"
    write_csv(design, path)
    wanted = [int(query.positions[1]) for query in queries]
    fill(path, {position: TRUTH[position] for position in wanted})
    assert tell(design, reversed(read_csv(path))).learnt == 3
    assert sorted(design.history_["position"]) == sorted(wanted)
    assert [query.positions.tolist() for query in design.pending] == [[query.positions[0]] for query in queries]


def test_annotators_who_disagree_count_as_independent_answers_with_repeat(tmp_path):
    design = new_design(repeat=True, initial=[3, 8])
    design.ask(2)
    path = tmp_path / "t.json"
    write_label_studio(design, path)
    exported(path, {3: [(1, "yes"), ({"id": 2, "email": "bob@x"}, "no"), (3, "yes")], 8: [(1, None), (2, "no")]})
    answers = read_label_studio(path)
    assert [answer.annotator for answer in answers] == ["1", "bob@x", "3", "1", "2"]
    assert tell(design, answers) == Imported(learnt=4)
    assert tell(design, answers) == Imported(known=4)
    rows, labels = X[[3, 3, 3, 8]], ["yes", "no", "yes", "no"]
    exact = new_model(tol=1e-10).fit(rows, labels)
    np.testing.assert_allclose(design.estimator_.predict_proba(X), exact.predict_proba(X), atol=1e-4)
    # one more opinion: a fourth answer to row 3 only
    more = [*answers, Answer(3, "no", annotator="4")]
    assert tell(design, more) == Imported(learnt=1, known=4)
    assert Counter(design.history_["outcome"]) == {"yes": 2, "no": 3}


def test_a_disagreement_leaves_the_probability_near_one_half():
    torn, sure = (new_design(repeat=True, initial=[3]) for _ in range(2))
    for design, said in ((torn, ("yes", "no")), (sure, ("yes", "yes"))):
        design.ask()
        tell(design, [Answer(3, label) for label in said])
    assert abs(torn.estimator_.predict_proba(X[[3]])[0, 1] - 0.5) < 1e-6
    assert sure.estimator_.predict_proba(X[[3]])[0, 1] > 0.6
    # both have learnt from two answers: the row's latent is better known than before
    prior = new_design().estimator_.predictive(X[[3]]).variance[0]
    assert torn.estimator_.predictive(X[[3]]).variance[0] < prior


def test_a_majority_is_one_answer_and_a_tie_waits():
    design = new_design(initial=[3, 8, 11])
    design.ask(3)
    said = [Answer(3, one) for one in ("yes", "no", "yes")] + [Answer(8, "yes"), Answer(8, "no"), Answer(11, "no")]
    assert tell(design, said, combine="majority") == Imported(learnt=2, tied=[8], waiting=[8])
    assert dict(zip(design.history_["position"], design.history_["outcome"], strict=True)) == {3: "yes", 11: "no"}
    said.append(Answer(8, "no"))
    assert tell(design, said, combine="majority") == Imported(learnt=1, known=2)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([Answer(3, "yes"), Answer(5, "no", None, 0, where="q.csv, line 9")], "line 9: query 0 never asked position 5"),
        (
            [Answer(3, "yes"), Answer(5, "no", None, 7)],
            "query 7 never asked position 5, so .*; is it of another desi",
        ),
        ([Answer(3, "yes"), Answer(30, "no")], "the position must be from 0 to 29, got 30"),
        ([Answer(8, "no"), Answer(3, "yess")], "known classes are .'no', 'yes'.: 'yess' is none .* did you mean 'yes'"),
        ([Answer(8, "no"), Answer(3, "maybe")], r"the label 'maybe' is unknown; the known classes are \['no', 'yes'\]"),
        ([Answer(8, "no"), Answer(3, "yes", id="row-8")], "the id is 'row-8', but position 3 of the pool is 3"),
        ([Answer(8, "no"), Answer(3, "yes"), Answer(3, "no")], "position 3 has 2 answers .'yes', 'no'.: give combine"),
        (
            [Answer(8, "no"), Answer(20, "no", annotator="Bob")],
            "position 20 was learnt as 'yes' from Ann and is now said to be 'no' by Bob: give combine='majority', make",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence_and_nothing_is_learnt(answers, message):
    design = new_design(initial=[3, 8, 20])
    query = design.ask(3)
    design.tell(query.part(np.array([2])), "yes", worker="Ann")
    before = design.history_, [one.positions.tolist() for one in design.pending]
    with pytest.raises(ValueError, match=message):
        tell(design, answers)
    assert (design.history_, [one.positions.tolist() for one in design.pending]) == before
    assert tell(design, [Answer(3, "yes"), Answer(8, "no")]).learnt == 2


def test_what_the_estimator_refuses_waits_and_classes_find_it_before():
    only_two = BayesianLogisticRegression(prior_scale=1.0, link="probit")
    design = SequentialDesign(only_two, X, initial=4)
    queries = [design.ask(2, another=k > 0) for k in range(2)]
    said = [Answer(int(p), label) for query in queries for p, label in zip(query.positions, ("yes", "no"), strict=True)]
    third = [*said[:3], said[3]._replace(outcome="maybe")]
    with pytest.raises(ValueError, match="'maybe'"):
        tell(design, third, classes=["no", "yes"])
    assert design.history_["outcome"] == []
    with pytest.raises(ValueError, match="Only binary classification"):
        tell(design, third)
    assert design.history_["outcome"] == ["yes", "no"] and len(design.pending) == 1
    assert tell(design, said) == Imported(learnt=2, known=2)


def test_labels_take_the_type_of_the_classes_or_of_one_another(tmp_path):
    digits = SequentialDesign(BayesianLogisticRegression(classes=[3, 5]), X, initial=[0, 1])
    digits.ask(2)
    tell(digits, [Answer(0, "3"), Answer(1, 5)])
    assert digits.history_["outcome"] == [3, 5]
    numbers = SequentialDesign(LogisticRegression(), X, initial=[0, 1, 2])
    numbers.ask(3)
    tell(numbers, [Answer(0, "0"), Answer(1, "1")])
    assert numbers.history_["outcome"] == [0, 1]
    with pytest.raises(ValueError, match="'one' is not a finite number, as earlier answers are"):
        tell(numbers, [Answer(2, "one")])
    words = SequentialDesign(LogisticRegression(), X, initial=[0, 1])
    words.ask(2)
    tell(words, [Answer(0, "01"), Answer(1, "x")])
    assert words.history_["outcome"] == ["01", "x"]
    with pytest.raises(ValueError, match="the label 'b' is unknown; the known classes are"):
        tell(words, [Answer(0, "b")], classes=["01", "x"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("position,label\n3,yes\n", "q.csv has no column 'answer'; its columns are 'position', 'label'"),
        ("", "q.csv has no column 'position'; its columns are none"),
        ("position,answer\nx,yes\n", "q.csv, line 2: position must be a whole number, got 'x'"),
        ("position,answer\n3,yes,no\n", "q.csv, line 2: 3 fields, but the header has 2"),
        ("query,position,answer\n1.5,3,yes\n", "query must be a whole number, got '1.5'"),
    ],
)
def test_bad_tables_are_named(tmp_path, text, message):
    (tmp_path / "q.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_csv(tmp_path / "q.csv")


def test_names_and_ids_that_are_numbers_are_the_same_beside_gaps(tmp_path):
    design = new_design(repeat=True, initial=[3, 8])
    design.ask(2)
    for said in ("position,id,answer,annotator\n3,3,yes, 7\n", "position,id,answer,annotator\n3.0,3.0,yes,7.0\n,,,\n"):
        (tmp_path / "q.csv").write_text(said)
        imported = tell(design, read_csv(tmp_path / "q.csv"))
    assert imported == Imported(known=1, waiting=[8])


def test_tables_of_other_offices(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("\ufeffposition\tanswer\tannotator\n3\tja \tAnn\n8\t\t\n", encoding="utf-8")
    (answer,) = read_csv(path)
    assert answer[:2] == (3, "ja") and answer.annotator == "Ann" and answer.where == "q.csv, line 2"


YES = {"type": "choices", "value": {"choices": ["yes"]}}
COMMENT = {"type": "textarea", "from_name": "why", "value": {"text": ["looks so"]}}
TWO = [{**YES, "from_name": "kind"}, {**YES, "from_name": "tone", "value": {"choices": ["no"]}}]


def task(annotation, **data):
    return [{"data": {"position": 3, **data}, "annotations": [annotation]}]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("not json", "t.json is not JSON"),
        ({"data": 1}, "t.json must hold a list of tasks, got a dict"),
        ([{"position": 3, "label": "yes"}], "task 0: there is no data or no annotations; export with the format JSON"),
        (task({"result": [YES]}, position=None), "data must hold the position that the task was made with, got None"),
        (task({"result": 3}), "an annotation must hold a list of results"),
        (task(3), "task 0: an annotation must be an object, got int"),
        (task({"result": [TWO[0], TWO[1]]}), "must hold one answer, got those of 'kind', 'tone'; name one with from_n"),
        (
            task({"result": [{"type": "number", "value": {"number": float("nan")}}]}),
            "a number must be a number, got nan",
        ),
        ("[" * 100_000, "t.json is not JSON: maximum recursion"),
        (task({"result": [{"type": "brushlabels"}]}), "a result must be one of choices, number, rating, got 'brush"),
        (task({"result": [{"type": "choices", "value": {"choices": ["a", "b"]}}]}), "must choose one label, got .'a'"),
        (task({"result": [{"type": "number", "value": {"number": "3"}}]}), "a number must be a number, got '3'"),
    ],
)
def test_bad_exports_are_named(tmp_path, contents, message):
    (tmp_path / "t.json").write_text(contents if isinstance(contents, str) else json.dumps(contents))
    with pytest.raises(ValueError, match=message):
        read_label_studio(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        (task({"result": []}), r"left out where an annotation holds no answer \(task 1\)"),
        (task({"result": [COMMENT]}), "an annotation holds no answer"),
        (task({"result": [{"type": "choices", "value": {"choices": []}}]}), "an annotation holds no answer"),
        (task({"result": [YES]}, position="CEO"), "data must hold the position .*, got 'CEO'"),
        (task({"result": [{"type": "brushlabels"}]}), "a result must be one of choices, number, rating"),
        ([{"data": {"text": "a"}, "id": 3}], "there is no data or no annotations"),
    ],
)
def test_what_cannot_be_used_is_said_and_the_rest_is_used(tmp_path, left_out, message):
    (tmp_path / "t.json").write_text(json.dumps([*task({"result": [YES]}, position="3"), *left_out]))
    with pytest.warns(UserWarning, match=message) as said:
        (answer,) = read_label_studio(tmp_path / "t.json")
    assert answer[:2] == (3, "yes") and len(said) == 1


def test_a_comment_beside_the_answer_is_left_out(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(task({"result": [COMMENT, YES]})))
    with pytest.warns(UserWarning, match="a textarea stands beside the answer .the answer is read."):
        assert [one.outcome for one in read_label_studio(tmp_path / "t.json")] == ["yes"]


def test_a_file_without_any_answer_has_none(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(task({"result": []})))
    with pytest.warns(UserWarning, match="holds no answer"):
        assert read_label_studio(tmp_path / "t.json") == []


def test_of_several_controls_one_is_named_and_of_a_persons_annotations_the_last_counts(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(task({"result": TWO})))
    assert [one.outcome for one in read_label_studio(tmp_path / "t.json", from_name="tone")] == ["no"]
    both = [
        {"result": [{**YES, "value": {"choices": [said]}}], "completed_by": 1, "updated_at": f"2026-01-0{day}"}
        for said, day in (("late", 2), ("early", 1))
    ]
    (tmp_path / "t.json").write_text(json.dumps([{"data": {"position": 3}, "annotations": both}]))
    assert [one.outcome for one in read_label_studio(tmp_path / "t.json")] == ["early", "late"]


def test_numbers_and_ratings_are_outcomes(tmp_path):
    for kind in ("number", "rating"):
        (tmp_path / "t.json").write_text(json.dumps(task({"result": [{"type": kind, "value": {kind: 2.5}}]})))
        assert read_label_studio(tmp_path / "t.json")[0].outcome == 2.5


def test_bad_calls_are_named(tmp_path):
    design = new_design(initial=[3])
    with pytest.raises(ValueError, match="no query waits for answers"):
        write_csv(design, tmp_path / "q.csv")
    design.ask()
    with pytest.raises(ValueError, match="data must be as long as the pool .30., column 'candidate' has 2"):
        write_csv(design, tmp_path / "q.csv", data=["a", "b"])
    with pytest.raises(ValueError, match="a column 'answer', a name that the file needs itself"):
        write_csv(design, tmp_path / "q.csv", data={"answer": NAMES})
    with pytest.raises(ValueError, match="combine must be one of 'each', 'majority'"):
        tell(design, [], combine="vote")
    changing = SequentialDesign(LogisticRegression(), lambda estimator: [1.0, 2.0])
    for call in (lambda: write_csv(changing, tmp_path / "q.csv"), lambda: tell(changing, [])):
        with pytest.raises(ValueError, match="pool is a callable"):
            call()
    assert not (tmp_path / "q.csv").exists()


@settings(max_examples=30, deadline=None)
@given(
    said=st.lists(st.tuples(st.sampled_from([3, 8, 11]), st.sampled_from(["yes", "no"])), max_size=7),
    cut=st.integers(0, 7),
)
def test_any_split_of_the_answers_leads_to_the_same_set_of_answers(said, cut):
    """Files that grow: the first part, then everything, tells each answer once."""
    design = new_design(repeat=True, initial=[3, 8, 11])
    design.ask(3)
    answers = [Answer(position, label) for position, label in said]
    first, second = tell(design, answers[:cut]), tell(design, answers)
    assert first.learnt + second.learnt == len(answers)
    assert Counter(zip(design.history_["position"], design.history_["outcome"], strict=True)) == Counter(said)


@pytest.mark.parametrize(
    ("classes", "said", "learnt"), [([0, 1], "1.0", 1), ([-1, 1], "-1.0", -1), ([0.5, 1.0], "1", 1.0)]
)
def test_a_number_is_the_same_label_however_it_was_saved(classes, said, learnt):
    design = SequentialDesign(BayesianLogisticRegression(classes=classes), np.eye(4), initial=[2])
    design.ask()
    tell(design, [Answer(2, said)])
    outcome = design.history_["outcome"]
    assert outcome == [learnt] and type(outcome[0]) is type(learnt)
    with pytest.raises(ValueError, match=r"the label '3.0' is unknown; the known classes are"):
        tell(design, [Answer(2, "3.0")])


# -- candidates that are a row and a person ----------------------------------------------------------------------------


def paired(people=("Ann", "Bob"), **options):
    model = BayesianLogisticRegression(classes=["no", "yes"], prior_scale=1.0, annotators=True)
    return SequentialDesign(model, Annotated(X, list(people)), random_state=0, **options)


def by_person(design):
    return sorted((design.pool[one.position], one.who, one.outcome) for one in Standing(design).said)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_pairs_go_out_and_come_back_as_their_own_peoples(tmp_path, kind):
    design, path = paired(), tmp_path / f"next.{kind}"
    positions = design.ask(4).positions.tolist()
    pairs = [design.pool[position] for position in positions]
    if kind == "csv":
        write_csv(design, path, data=NAMES)
        rows = read_rows(path)
        assert [row["candidate"] for row in rows] == [NAMES[row] for row, _ in pairs]
        assert [row["for"] for row in rows] == [who for _, who in pairs]
        fill(path, {position: TRUTH[row] for position, (row, _) in zip(positions, pairs, strict=True)})
        given = read_csv(path)
    else:
        write_label_studio(design, path, data=NAMES)
        said = {position: [(who, TRUTH[row])] for position, (row, who) in zip(positions, pairs, strict=True)}
        exported(path, said)
        given = read_label_studio(path)
    assert tell(design, given).learnt == 4 and not design.pending
    told = by_person(design)
    assert told == sorted(((row, who), who, TRUTH[row]) for row, who in pairs)
    assert tell(design, given) == Imported(known=4) and by_person(design) == told


def test_a_line_that_somebody_else_fills_in_is_that_persons():
    design = paired()
    (position,) = design.ask(worker="Ann").positions.tolist()
    row, query = position // 2, design.pending[0].id
    label = str(design.pool.labels([position])[0])
    lines = [Answer(position, "yes", id=label, query=query, annotator="bob ")]
    found = tell(design, lines)
    assert (found.learnt, found.volunteered, found.waiting) == (1, [2 * row + 1], [position])
    lines += [Answer(position, "no", id=label, query=query, annotator="Ann")]  # they disagree: both are learnt
    found = tell(design, lines)
    assert (found.learnt, found.known, found.waiting) == (1, 1, [])
    assert by_person(design) == [((row, "Ann"), "Ann", "no"), ((row, "Bob"), "Bob", "yes")]
    assert tell(design, [Answer(2 * row + 1, "yes"), Answer(2 * row, "yes")]).corrected == [2 * row]
    assert set(design.estimator_.annotators_) == {"Ann", "Bob"}


def test_of_numbers_of_people_the_name_counts_and_of_places_the_position():
    design = paired([101, 102])
    tell(design, [Answer(6, "yes", annotator="102"), Answer(6, "no")])
    assert by_person(design) == [((3, 101), "101", "no"), ((3, 102), "102", "yes")]
    design = paired(range(2))
    tell(design, [Answer(6, "yes", annotator="1"), Answer(7, "no", annotator="Ann")])
    assert by_person(design) == [((3, 0), "1", "yes"), ((3, 1), "Ann", "no")]


@pytest.mark.parametrize(
    ("answer", "options", "sentence"),
    [
        (Answer(6, "yes", annotator="Ana"), {}, "must be one of the people .* did you mean 'Ann'"),
        (Answer(6, "yes", id="(4, 'Ann')"), {}, "position 6 of the pool is"),
        (
            Answer(6, "yes", annotator="Bob"),
            {"combine": "majority"},
            "combine must be 'each' where candidates",
        ),
    ],
)
def test_what_pairs_do_not_take_is_one_sentence(answer, options, sentence):
    design = paired()
    with pytest.raises(ValueError, match=sentence):
        tell(design, [answer], **options)
    assert not design.history_["step"]


def test_a_pair_that_may_not_be_asked_is_not_told():
    design = paired(mask=np.arange(60) % 2 == 0)  # Bob has gone
    with pytest.raises(ValueError, match="position 7 may not be asked"):
        tell(design, [Answer(6, "yes", annotator="Bob")])
