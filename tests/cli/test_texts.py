"""Tables of texts alone: labels of `adaptive label` and `adaptive classify` are learnt by the prior of their words."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from adaptive import tables
from adaptive.cli import run
from adaptive.cli.label.classifier import classifier_of

THEMES = ["garden", "harbour", "kitchen"]


def texts_of(n: int) -> pd.DataFrame:
    """Texts of five words of a theme's sixty, and six of twenty that all themes share."""
    rng = np.random.default_rng(5)
    themes = rng.choice(THEMES, n)
    own = [[f"{theme}{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in rng.choice(60, 5)] for theme in themes]
    words = [[*some, *(f"word{chr(97 + k)}" for k in rng.choice(20, 6))] for some in own]
    return pd.DataFrame({"text": [" ".join(map(str, rng.permutation(one))) for one in words], "theme": themes})


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "texts.csv"
    texts_of(150).to_csv(path, index=False)
    return path


def test_words_that_stand_together_need_few_labels(table):
    cells = tables.read_cells(table)
    prepared = tables.Preparation(tables.columns_of(cells, leave_out=("theme",), max_missing=0.5), "texts")
    X, y = prepared.features_of(), cells.frame["theme"].to_numpy()
    assert prepared.of_texts and "what is learnt of a word also counts for words" in prepared.in_words()
    together, alone = (
        np.mean(classifier_of(THEMES, pool).fit(X[:20], y[:20]).predict(X[20:]) == y[20:]) for pool in (X, None)
    )
    assert together > 0.9 and together > alone + 0.1


def test_columns_that_say_nothing_do_not_drown_the_words(table):
    rng = np.random.default_rng(6)
    frame = tables.read_cells(table).frame
    y = frame["theme"].to_numpy()
    beside = frame.drop(columns="theme").assign(
        length=np.arange(150.0), amount=rng.gamma(2, 20, 150).round(2), channel=rng.choice(["mail", "phone"], 150),
        when=pd.date_range("2024-01-01", periods=150).strftime("%Y-%m-%d"),
    )  # fmt: skip
    beside.to_csv(table, index=False)
    prepared = tables.Preparation(tables.columns_of(tables.read_cells(table), leave_out=(), max_missing=0.5), "texts")
    X = prepared.features_of()
    words = prepared.transformer().fit(prepared.frame).named_transformers_["text text"][-1].vocabulary_
    others = X.toarray()[:, : -len(words)]
    assert np.mean(np.sum(others**2, axis=1)) == pytest.approx(0.1)
    assert prepared.of_texts and "other columns weigh little" in prepared.in_words()
    standardised = np.hstack([others * np.sqrt(4 / 0.1), X.toarray()[:, -len(words) :]])  # as they would be alone
    found, former = (
        np.mean(classifier_of(THEMES, pool).fit(rows[:20], y[:20]).predict(rows[20:]) == y[20:])
        for rows, pool in ((X, X), (standardised, None))
    )
    assert found > 0.8 and found > former + 0.2


def test_both_commands_learn_so_and_label_asks_the_same_again_after_a_stop(table, tmp_path, monkeypatch, capsys):
    used = []

    def seen(classes, pool=None, **options):
        used.append(pool is not None)
        return classifier_of(classes, pool, **options)

    monkeypatch.setattr("adaptive.cli.classify.labelling.classifier_of", seen)
    monkeypatch.setattr("adaptive.cli.label.asked_rows.classifier_of", seen)
    classify = ["classify", str(table), "--target", "theme", "--questions", "3", "--seeds", "1", "--jobs", "1"]
    assert run([*classify, "--scorer", "margin", "--out", str(tmp_path / "a")]) == 0
    frame = pd.read_csv(table).rename(columns={"theme": "label"})
    frame["label"] = [label if k < 20 else "" for k, label in enumerate(frame["label"])]
    frame.to_csv(table, index=False)
    asked = []
    for resume, answers in ((), "1\n2\nq\n"), (("--resume",), "q\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        arguments = ["label", str(table), "--classes", ",".join(THEMES), "--out", str(tmp_path / "b"), *resume]
        assert run(arguments) in (0, 130)
        shown = capsys.readouterr().out
        asked.append(shown[shown.rindex("Question 3") :].splitlines()[:3])
    assert asked[0] == asked[1] and all(used) and len(used) >= 3
    predicted = pd.read_csv(tmp_path / "b" / "labels.csv")
    assert np.mean(predicted["label_predicted"] == texts_of(150)["theme"]) > 0.85
