"""What a person or a file says is the answer in the log: typed, on a page, by CSV, by Label Studio, by Parquet."""

import csv
import html
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from adaptive import labelling
from adaptive.cli.asking import Question, ask_person
from adaptive.cli.label.rows import names_of, read_labels
from adaptive.estimators import BayesianLogisticRegression
from adaptive.loop import EventLog, MaxSteps, SequentialDesign
from adaptive.serve import Pool, Shown, answers_of
from adaptive.tables import read_cells
from tests.culprits import naming

ROWS = np.random.default_rng(0).normal(size=(6, 2))
LABELS = {  # as --classes has them, and what they are then
    "numbers 0 and 1": ("0,1", [0, 1]),
    "numbers from the highest": ("2,1", [2, 1]),
    "numbers of two digits": ("10,3", [10, 3]),
    "numbers below 0": ("-1,1", [-1, 1]),
    "numbers with a fraction": ("0.5,1.5", ["0.5", "1.5"]),
    "numbers and words": ("2,1 or none", ["2", "1 or none"]),
    "numbers with a zero before them": ("01,1", ["01", "1"]),
    "words": ("no,yes", ["no", "yes"]),
    "mixed case": ("Billing,saLes", ["Billing", "saLes"]),
    "case alone": ("Yes,yes", ["Yes", "yes"]),
    "blanks": ("in stock,out of stock", ["in stock", "out of stock"]),
    "one the beginning of another": ("no,not sure", ["no", "not sure"]),
    "True and False": ("True,False", ["True", "False"]),
    "nan and None": ("nan,None", ["nan", "None"]),
    "words for nothing": ("NA,?", ["NA", "?"]),
    "words of the terminal": ("s,q", ["s", "q"]),
    "dates": ("2024-01-05,2024-01-06", ["2024-01-05", "2024-01-06"]),
    "accents and markup": ("café,<b>&amp;", ["café", "<b>&amp;"]),
}


def begin(labels, log=None):
    model = BayesianLogisticRegression(classes=sorted(labels), hyperparameters="mode")
    return SequentialDesign(model, ROWS, initial=len(labels), stop=MaxSteps(len(labels)), random_state=0, log=log)


def asked(labels):
    design = begin(labels)
    return design, dict(zip(design.ask(len(labels)).positions.tolist(), labels, strict=True))


def typed(labels, folder, opened):
    design = begin(labels)
    question = Question("which?", [str(label) for label in labels], list(labels))
    lines = io.StringIO("".join(f"{label}\n" for label in labels))
    job = SimpleNamespace(progress=None)
    ask_person(job, design, lambda position: question, source=lines, shown=io.StringIO())
    return design.history_["outcome"]


def on_a_page(labels, folder, opened):
    def begun_or_new(log, begun):
        model = BayesianLogisticRegression(classes=sorted(labels), hyperparameters="mode")
        return SequentialDesign.load(log, model, ROWS, stop=MaxSteps(len(labels))) if begun else begin(labels, log)

    pool = Pool("Rows", begun_or_new, labels, lambda k: Shown.of_text(f"row {k}"), ahead=0)
    browser, store = opened(pool, folder / "store")
    person = browser()
    person.begin()
    for label in labels:
        found = re.findall(
            r'name="answer" value="(\d)" required( data-key="(\d)")?[^>]*><span>(.*?)</span>', person.page.text
        )
        ((value, key),) = [(value, key) for value, _, key, words in found if html.unescape(words) == str(label)]
        assert not str(label).isdecimal() or key in ("", str(label))
        person.answer(value)
    return [one["answer"] for one in answers_of(store, 0)]


def as_csv(labels, folder, opened):
    design, said = asked(labels)
    labelling.write_csv(design, folder / "next.csv")
    with (folder / "next.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    with (folder / "next.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows({**row, "answer": f" {said[int(row['position'])]} "} for row in rows)
    return told(design, labelling.read_csv(folder / "next.csv", classes=labels), labels)


def as_csv_of_pandas(labels, folder, opened):
    """Numbers beside gaps become 1.0."""
    design, said = asked(labels)
    labelling.write_csv(design, folder / "next.csv")
    frame = pd.read_csv(folder / "next.csv")
    frame["answer"] = pd.Series([said[position] for position in frame["position"]])
    frame = pd.concat([frame, frame[:1].assign(answer=np.nan)])
    frame.to_csv(folder / "next.csv", index=False)
    return told(design, labelling.read_csv(folder / "next.csv", classes=labels), labels)


def as_parquet(labels, folder, opened):
    """Columns have types of their own."""
    design, said = asked(labels)
    labelling.write_csv(design, folder / "next.csv")
    frame = pd.read_csv(folder / "next.csv")
    answers = pd.Series([said[position] for position in frame["position"]])
    if set(labels) == {"True", "False"}:
        answers = answers == "True"
    elif str(labels[0]).startswith("2024"):
        answers = pd.to_datetime(answers)
    elif all(re.fullmatch(r"-?[0-9.]+", str(label)) for label in labels) and "01" not in labels:
        answers = answers.astype(float)
    frame.assign(answer=answers, annotator="Ann").to_parquet(folder / "next.parquet")
    return told(design, labelling.read_csv(folder / "next.parquet", classes=labels), labels)


def by_label_studio(labels, folder, opened):
    design, said = asked(labels)
    labelling.write_label_studio(design, folder / "tasks.json")
    tasks = json.loads((folder / "tasks.json").read_text())
    for task in tasks:
        chosen = {"type": "choices", "value": {"choices": [str(said[task["data"]["position"]])]}}
        task["annotations"] = [{"completed_by": 1, "result": [chosen]}]
    (folder / "export.json").write_text(json.dumps(tasks))
    return told(design, labelling.read_label_studio(folder / "export.json"), labels)


def told(design, answers, labels):
    """What the log holds after the answers of a file, read twice."""
    assert labelling.tell(design, answers, classes=labels).learnt == len(labels)
    assert labelling.tell(design, answers, classes=labels).known == len(labels)
    return design.history_["outcome"]


def in_the_table(labels, folder, opened):
    """Rows that are labelled before anybody asks."""
    with (folder / "table.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["width", "label"], *([k, f" {one}"] for k, one in enumerate(labels)), [9, ""]])
    _, known, _ = read_labels(read_cells(folder / "table.csv"), "label", [str(label) for label in labels])
    return known[: len(labels)].tolist()


@pytest.mark.parametrize(
    "route", [typed, on_a_page, as_csv, as_csv_of_pandas, as_parquet, by_label_studio, in_the_table]
)
def test_what_is_said_is_the_answer_in_the_log(route, tmp_path, opened):
    (tmp_path / "empty.csv").write_text("width\n1\n2\n")
    for name, (classes, expected) in LABELS.items():
        with naming(name):
            labels = read_labels(read_cells(tmp_path / "empty.csv"), "label", names_of(classes))[2]
            assert labels == expected
            folder = tmp_path / name
            folder.mkdir()
            answers = route(labels, folder, opened)
            assert answers == labels and [type(one) for one in answers] == [type(one) for one in labels]


@pytest.mark.parametrize("labels", [["0", "1"], ["True", "x"], ["01", "1"], ["2024-01-05", "b"]])
def test_without_classes_all_files_say_the_same(labels, tmp_path):
    logs = []
    for read, path in ((labelling.read_csv, "a.csv"), (labelling.read_label_studio, "a.json")):
        design = SequentialDesign(BayesianLogisticRegression(), ROWS, initial=[0, 1], log=EventLog())
        design.ask(2)
        if read is labelling.read_csv:
            (tmp_path / path).write_text("position,answer\n" + "".join(f"{k},{one}\n" for k, one in enumerate(labels)))
        else:
            tasks = [
                {"data": {"position": k}, "annotations": [
                    {"result": [{"type": "choices", "value": {"choices": [one]}}]}]}
                for k, one in enumerate(labels)
            ]  # fmt: skip
            (tmp_path / path).write_text(json.dumps(tasks))
        labelling.tell(design, read(tmp_path / path))
        logs.append(design.history_["outcome"])
    assert logs[0] == logs[1] and [str(one) for one in logs[0]] == labels
