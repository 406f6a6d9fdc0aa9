"""Who answered what rightly: long and wide tables, and what evaluation programs export."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from adaptive.tables import Responses, TableError, read_responses
from adaptive.tables.responses import score_of
from adaptive.tables.responses.responses import Record

WIDE = "model,family,q1,q2,q3\na,x,1,0,\nb,x,right,wrong,.5\nc,,0,1,1\n"
LONG = "model,question_id,correct,task\n" + "a,q1,1,t\na,q2,0,t\nb,q1,true,t\nb,q2,False,t\nb,q3,0.5,t\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else "\n".join(map(json.dumps, text)) + "\n")
    return path


def test_a_wide_and_a_long_table_say_the_same(tmp_path):
    wide = read_responses(write(tmp_path / "wide.csv", WIDE))
    assert (wide.systems, wide.items, wide.families) == (("a", "b", "c"), ("q1", "q2", "q3"), ("x", "x", ""))
    np.testing.assert_array_equal(wide.scores, [[1, 0, np.nan], [1, 0, 0.5], [0, 1, 1]])
    long = read_responses(write(tmp_path / "long.csv", LONG))
    np.testing.assert_array_equal(long.scores, wide.scores[:2])
    assert long.benchmarks == ("t",) * 3
    named = read_responses(
        write(tmp_path / "named.csv", LONG.replace("question_id", "Frage")), columns={"item": "Frage"}
    )
    np.testing.assert_array_equal(named.scores, long.scores)


def test_a_long_table_in_parquet_reads_as_in_csv(tmp_path):
    pytest.importorskip("pyarrow")
    rows = Responses.of_records([Record("a", "q1", 1.0), Record("a", "q2", 0.25), Record("b", "q2", 0.0)])
    frame = rows.to_frame().stack().rename_axis(["system", "item"]).rename("score").reset_index()
    frame.to_parquet(tmp_path / "table.parquet")
    np.testing.assert_array_equal(read_responses(tmp_path / "table.parquet").scores, rows.scores)


def test_items_of_several_benchmarks_with_one_name_are_told_apart(tmp_path):
    rows = "model,item,score,benchmark\na,1,1,math\na,1,0,law\n"
    found = read_responses(write(tmp_path / "two.csv", rows))
    assert found.items == ("math/1", "law/1")
    assert found.benchmarks == ("math", "law")


def test_a_table_of_items_adds_text_and_benchmark(tmp_path):
    about = write(tmp_path / "items.csv", "item,text,benchmark\nq2,How many?,math\nq1,Why?,law\n")
    found = read_responses(write(tmp_path / "wide.csv", WIDE), about=about)
    assert found.texts == ("Why?", "How many?", "")
    assert found.benchmarks == ("law", "math", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WIDE.replace(".5", "7"), "line 3, column 'q3': expected a score from 0 to 1, or right or wrong, got '7'"),
        (WIDE.replace("c,,", "a,,"), "two lines of the system 'a'"),
        (LONG + "a,q1,0,t\n", "line 2: 'a' has another score for the item 'q1'"),
        ("model,q1\na,\n", "holds no answers"),
        ("model\na\n", "no column of an item"),
    ],
    ids=["score", "twice", "differ", "empty", "no items"],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, said):
    with pytest.raises(TableError) as raised:
        read_responses(write(tmp_path / "table.csv", text))
    assert said in str(raised.value)


def test_samples_of_the_evaluation_harness_are_a_table(tmp_path):
    def sample(k, right, flexible):
        given = {"gen_args_0": {"arg_0": f"Question {k}?", "arg_1": {"until": []}}}
        common = {"doc_id": k, "doc": {"question": f"{k}?"}, "arguments": given, "metrics": ["exact_match"]}
        return [
            common | {"filter": "strict-match", "exact_match": right},
            common | {"filter": "flexible-extract", "exact_match": flexible},
        ]

    first = [row for k in range(3) for row in sample(k, float(k > 0), 1.0)]
    other = [{"doc_id": k, "doc": {}, "acc": k % 2, "acc_norm": 1, "filter": "none"} for k in range(3)]
    folder = tmp_path / "results"
    write(folder / "org__small" / "samples_gsm8k_2024-01-01T00-00-00.123.jsonl", sample(0, 1.0, 1.0))  # an older run
    write(folder / "org__small" / "samples_gsm8k_2024-06-01T00-00-00.123.jsonl", first)
    write(folder / "org__small" / "samples_arc_easy_2024-06-01T00-00-00.123.jsonl", other)
    write(folder / "org__large" / "samples_gsm8k_2024-06-01T00-00-00.123.jsonl", first[:2])
    found = read_responses(folder)
    assert sorted(found.systems) == ["org/large", "org/small"]
    assert set(found.families) == {"org"}
    table = found.to_frame()
    assert table.loc["org/small"].to_dict() == {
        "gsm8k/0": 0, "gsm8k/1": 1, "gsm8k/2": 1, "arc_easy/0": 1, "arc_easy/1": 1, "arc_easy/2": 1,
    }  # fmt: skip
    assert np.isnan(table.loc["org/large"]).sum() == 5
    assert dict(zip(found.items, found.texts, strict=True))["gsm8k/1"] == "Question 1?"
    assert set(found.benchmarks) == {"gsm8k", "arc_easy"}
    by_acc = read_responses(folder / "org__small" / "samples_arc_easy_2024-06-01T00-00-00.123.jsonl", metric="acc")
    assert by_acc.scores.tolist() == [[0, 1, 0]]
    with pytest.raises(TableError, match="there is no f1; name one, such as 'acc'"):
        read_responses(folder / "org__small" / "samples_arc_easy_2024-06-01T00-00-00.123.jsonl", metric="f1")


def test_details_of_a_leaderboard_are_a_table(tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    for system, values in {"org__small": [0, 1, 0], "org__large": [1, 1, 1]}.items():
        folder = tmp_path / f"details_{system}" / "2023-08-19T16-35-46.942696"
        folder.mkdir(parents=True)
        rows = {"example": ["one", "two", "three"], "metrics": [{"acc": value, "acc_stderr": 0} for value in values]}
        pd.DataFrame(rows).to_parquet(folder / "details_harness|gsm8k|5_2023-08-19T16-35-46.942696.parquet")
    found = read_responses(tmp_path)
    assert sorted(found.systems) == ["org/large", "org/small"]
    assert found.to_frame().loc["org/small"].tolist() == [0, 1, 0]
    assert (found.items[1], found.texts[1], found.benchmarks[1]) == ("gsm8k/1", "two", "gsm8k")


def test_runs_of_helm_are_a_table(tmp_path):
    for model, values in {"org_small": [0, 1], "org_large": [1, 1]}.items():
        rows = [
            {"instance_id": f"id{k}", "stats": [{"name": {"name": "exact_match", "split": "test"}, "mean": float(v)}]}
            for k, v in enumerate(values)
        ]
        path = tmp_path / f"mmlu:subject=law,method=joint,model={model}" / "per_instance_stats.json"
        path.parent.mkdir()
        path.write_text(json.dumps(rows))
    found = read_responses(tmp_path)
    assert sorted(found.systems) == ["org_large", "org_small"]
    assert found.to_frame().loc["org_small"].tolist() == [0, 1]
    assert set(found.benchmarks) == {"mmlu"}


def inspect_log(path, model, created, samples, summarised=False):
    """A log as Inspect writes it: an archive, of which old ones call the header start.json."""
    about = {"version": 2, "status": "success", "eval": {"model": model, "task": "arc", "created": created}}
    if path.suffix == ".json":
        path.write_text(json.dumps({**about, "samples": samples}))
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json" if summarised else "start.json", json.dumps(about))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps({**one, "messages": []}))
        if summarised:
            archive.writestr("summaries.json", json.dumps(samples))


def sample(id, value, epoch=1, scorer="choice"):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Why?"}]}]
    return {"id": id, "epoch": epoch, "input": chat if id == 2 else f"Question {id}", "target": "B",
            "scores": None if value is None else {scorer: {"value": value, "answer": "A"}}}  # fmt: skip


@pytest.mark.parametrize(("method", "name"), [(93, "zstd"), (9, "deflate64"), (77, "method 77")])
def test_an_archive_that_python_cannot_unpack_is_named(tmp_path, method, name):
    path = tmp_path / "one.eval"
    inspect_log(path, "openai/small", "2025-01-02", [sample(1, "C")], summarised=True)
    packed = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):  # of each file, and of the directory
        at = packed.find(mark)
        while at >= 0:
            packed[at + place : at + place + 2] = method.to_bytes(2, "little")
            at = packed.find(mark, at + 4)
    path.write_bytes(packed)
    with pytest.raises(TableError, match=rf"one.eval is packed by {name}, .*`inspect log convert --to json"):
        read_responses(path)


def test_logs_of_inspect_are_a_table(tmp_path):
    inspect_log(tmp_path / "one.eval", "openai/small", "2025-01-02T00:00:00", [
        sample(1, "C"), sample(1, "I", 2), sample(2, "P"), sample(3, None)
    ], summarised=True)  # fmt: skip
    inspect_log(tmp_path / "old.eval", "openai/small", "2024-01-02T00:00:00", [sample(k, "I") for k in (1, 2, 3)])
    inspect_log(tmp_path / "2025-01-03T10-00-00+00-00_arc_x1.json", "hf/org/large", "2025-01-03", [
        sample(1, 1), sample(2, True), sample(3, {"loose": 0.75, "strict": 0.25})
    ])  # fmt: skip
    found = read_responses(tmp_path)
    assert sorted(found.systems) == ["hf/org/large", "openai/small"]
    small, large = (found.scores[found.systems.index(one)].tolist() for one in ("openai/small", "hf/org/large"))
    assert found.items == ("arc/1", "arc/2", "arc/3") and set(found.benchmarks) == {"arc"}
    assert small[:2] == [0.5, 0.5] and np.isnan(small[2]) and large == [1.0, 1.0, 0.75]
    assert sorted(found.families) == ["hf/org", "openai"] and found.texts[:2] == ("Question 1", "Why?")
    log = tmp_path / "several.eval"
    inspect_log(log, "a/b", "2025", [sample(1, {"loose": 0.75, "strict": 0.25}), sample(2, "C", scorer="strict")])
    assert read_responses(log, metric="strict").scores.tolist() == [[0.25, 1.0]]
    with pytest.raises(TableError, match="sample 2: there is no loose; name one, such as 'strict'"):
        read_responses(log, metric="loose")
    inspect_log(log, "a/b", "2025", [sample(1, "excellent")])
    with pytest.raises(TableError, match="sample 1: expected a score from 0 to 1, or right or wrong .*got 'excellent'"):
        read_responses(log)
    log.write_text("no archive")
    with pytest.raises(TableError, match="is not a log of Inspect"):
        read_responses(log)


def test_a_folder_without_exports_and_lines_that_are_none_are_said(tmp_path):
    with pytest.raises(TableError, match="holds no samples_"):
        read_responses(tmp_path)
    with pytest.raises(TableError, match="line 2: this is not JSON"):
        read_responses(write(tmp_path / "samples_a.jsonl", '{"doc_id": 0, "acc": 1}\nnot this\n'))
    with pytest.raises(TableError, match="line 1: there is no doc_id"):
        read_responses(write(tmp_path / "samples_a.jsonl", '{"acc": 1}\n'))


def test_copies_and_families_stay_on_one_side_of_a_split():
    records = [Record(s, f"q{k}", v, family=f) for s, f, row in [
        ("a", "x", "110"), ("b", "y", "110"), ("c", "y", "001"), ("d", "", "000"), ("e", "", "111"), ("f", "z", "000"),
    ] for k, v in enumerate(map(float, row))]  # fmt: skip
    table = Responses.of_records(records)
    a, b, c, d, e, f = table.units()
    assert a == b == c  # b copies a, and is of c's family
    assert d == f != a
    assert e not in (a, d)
    assert table.distinct().tolist() == [0, 2, 3, 4]


def test_words_numbers_and_the_last_line_are_scores():
    assert [score_of(one) for one in ("Right.", "WRONG", True, 0, "log\n\n 0.5 \n")] == [1, 0, 1, 0, 0.5]
    for rubbish in ("", "maybe", "1.5", "-1", "nan", "x" * 1000):
        with pytest.raises(ValueError, match="expected a score") as raised:
            score_of(rubbish)
        assert len(str(raised.value)) < 150
