"""``adaptive label`` of a Parquet file that stays on disk: asked in the terminal and by files, resumed, refused."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adaptive.cli import run
from adaptive.cli.label import stored_rows

M = 600


def write(path, frame):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=100)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(5.0, 3.0, (M, 3)).astype(np.float32), columns=["a", "b", "c"])
    table.loc[7, "b"] = np.nan
    return table.assign(text=[f"row {k}" for k in range(M)], one=1, count=rng.integers(0, 9, M))


@pytest.fixture
def label(frame, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stored_rows, "MOST_CELLS", 1000)
    write(tmp_path / "pool.parquet", frame)

    def call(*arguments, typed="", out="run"):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run(["label", *map(str, arguments), "--out", str(tmp_path / out)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def asked(tmp_path):
    events = [json.loads(line) for line in (tmp_path / "run" / "log" / "answers.jsonl").read_text().splitlines()]
    return events[0], [event["positions"][0] for event in events if event.get("event") == "ask"]


def test_a_stored_pool_is_labelled_resumed_and_reported(label, frame, tmp_path, monkeypatch):
    pool = tmp_path / "pool.parquet"
    code, said, _ = label(pool, "--classes", "yes,no", "--show", "text", typed="yes\nno\nyes\n")
    assert code == 130 and "600 rows, read in parts; 4 columns of numbers are features" in said
    assert "left out, constant or missing: one" in said and "so no features: text" in said
    header, positions = asked(tmp_path)
    assert f"text: row {positions[0]}" in said and len(header["pool"]["parts"]) == 6
    code, said, _ = label(pool, "--resume", typed="no\n")
    assert code == 130 and asked(tmp_path)[1][:4] == positions[:4]
    labels = pd.read_csv(tmp_path / "run" / "labels.csv")
    assert labels["label"].tolist().count("yes") == 2 and len(labels) == 4
    assert labels["text"].tolist() == [f"row {line - 1}" for line in labels["line"]]

    questions = tmp_path / "next.csv"
    code, said, _ = label(pool, "--resume", "--ask", questions, "--batch", "6")
    assert code == 0 and "6 rows to label" in said
    table = pd.read_csv(questions)
    assert table["text"].tolist() == [f"row {position}" for position in table["position"]]
    table.assign(answer=np.where(frame["a"][table["position"]] > 5, "yes", "no")).to_csv(questions, index=False)
    code, said, _ = label(pool, "--tell", questions)
    assert code == 0 and "6 answers learnt" in said
    code, said, _ = label(pool, "--report")
    predictions = pd.read_parquet(tmp_path / "run" / "predictions.parquet")
    assert code == 0 and len(predictions) == M and predictions["predicted"].isin(["yes", "no"]).all()
    assert predictions["probability"].between(0.5, 1.0).all()
    monkeypatch.setattr(stored_rows, "AT_ONCE", 256)  # three parts, the last one short, tell the same
    assert label(pool, "--report")[0] == 0
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "run" / "predictions.parquet"), predictions)


def test_labels_of_the_file_are_learnt_and_not_asked(label, frame, tmp_path):
    known = [1, 250, 599]
    frame["label"] = None
    frame.loc[known, "label"] = ["yes", "no", "yes"]
    write(tmp_path / "pool.parquet", frame)
    code, said, _ = label(tmp_path / "pool.parquet", typed="yes\nno\n")
    assert code == 130 and "5 of 600 rows have a label (2 no, 3 yes)" in said
    assert not np.isin(asked(tmp_path)[1], known).any()


def test_a_changed_row_group_is_named_before_a_question(label, frame, tmp_path):
    pool = tmp_path / "pool.parquet"
    label(pool, "--classes", "yes,no", typed="yes\n")
    write(pool, frame.assign(text=frame["text"].where(frame.index != 350, "another")))
    code, _, why = label(pool, "--resume", typed="yes\n")
    assert code == 2 and "the rows of pool.parquet are not those" in why and "row group 3 differs" in why
    frame.loc[455, "c"] = np.inf
    write(tmp_path / "other.parquet", frame)
    code, _, why = label(tmp_path / "other.parquet", "--classes", "yes,no", out="other")
    assert code == 2 and "infinite" in why


def test_a_long_file_without_numbers_or_classes_is_refused(label, frame, tmp_path):
    write(tmp_path / "words.parquet", pd.concat([frame[["text"]]] * 2).assign(other="x"))
    assert "none of its columns holds numbers" in label(tmp_path / "words.parquet", "--classes", "a,b")[2]
    assert "name the classes with --classes" in label(tmp_path / "pool.parquet", out="none")[2]
    assert "has no column 'z'" in label(tmp_path / "pool.parquet", "--classes", "a,b", "--show", "z", out="z")[2]
