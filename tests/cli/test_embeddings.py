"""Vectors of a network as features of `adaptive label` and `serve --label`: one for each line, or one sentence."""

import numpy as np
import pandas as pd
import pytest

from adaptive.cli import run

N = 30


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((N, 5)).astype(np.float32)
    pd.DataFrame({"text": [f"words {k}" for k in range(N)]}).to_csv(tmp_path / "table.csv", index=False)
    np.save(tmp_path / "vectors.npy", vectors)
    pd.DataFrame({"e": list(vectors)}).to_parquet(tmp_path / "vectors.parquet")
    return tmp_path


def label(folder, embeddings, *more):
    arguments = ["label", folder / "table.csv", "--classes", "no,yes", "--ask", folder / "next.csv", "--batch", "4"]
    arguments += ["--embeddings", embeddings, "--out", folder / f"run-{len(more)}"]
    return run([str(one) for one in [*arguments, *more]])


def test_both_kinds_of_files_are_the_same_features(folder, capsys):
    asked = []
    for name in ("vectors.npy", "vectors.parquet:e"):
        assert label(folder, f"{folder}/{name}") == 0
        assert "features: the 5 numbers of" in capsys.readouterr().out
        asked.append((folder / "next.csv").read_text())
        (folder / "next.csv").unlink()
        for path in sorted((folder / "run-0").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        (folder / "run-0").rmdir()
    assert asked[0] == asked[1] and asked[0].count("\n") == 5


def test_a_run_goes_on_with_its_own_vectors_only(folder, capsys):
    assert label(folder, folder / "vectors.npy") == 0
    filled = pd.read_csv(folder / "next.csv").assign(answer=["no", "yes", "no", "yes"])
    filled.to_csv(folder / "filled.csv", index=False)
    tell = ["label", "--tell", str(folder / "filled.csv"), "--out", str(folder / "run-0")]
    assert run(tell) == 0 and "4 answers learnt" in capsys.readouterr().out
    np.save(folder / "vectors.npy", np.zeros((N, 5)) + np.arange(N)[:, None])
    assert run(tell) == 2
    assert "vectors of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "name", "sentence"),
    [
        (lambda f: np.save(f / "v.npy", np.ones((N - 1, 2))), "v.npy", "holds 29 vectors and"),
        (lambda f: np.save(f / "v.npy", np.full((N, 2), np.nan)), "v.npy", "the vector of row 0"),
        (lambda f: np.save(f / "v.npy", np.ones(N)), "v.npy", "must hold an array (rows, numbers)"),
        (lambda f: np.save(f / "v.npy", np.ones((N, 2))), "v.npy", "all vectors are equal"),
        (lambda f: (f / "v.npy").write_text("no"), "v.npy", "is no .npy file of numbers"),
        (lambda f: None, "v.npy", "there is no file"),
        (lambda f: None, "v.csv", "takes FILE.npy or FILE.parquet:COLUMN"),
        (lambda f: None, "vectors.parquet", "takes FILE.npy or FILE.parquet:COLUMN"),
        (lambda f: None, "vectors.parquet:f", "has no column 'f'"),
        (
            lambda f: pd.DataFrame({"e": [[1.0]] * (N - 1) + [[1.0, 2.0]]}).to_parquet(f / "v.parquet"),
            "v.parquet:e",
            "differ in length",
        ),
        (lambda f: pd.DataFrame({"e": ["a"] * N}).to_parquet(f / "v.parquet"), "v.parquet:e", "no vector of numbers"),
    ],
    ids=range(11),
)
def test_what_is_no_vector_for_each_line_is_one_sentence(folder, capsys, make, name, sentence):
    make(folder)
    assert label(folder, folder / name) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_served_pool_looks_at_the_vectors(folder):
    from adaptive.cli.serve.pools import pool
    from adaptive.loop import EventLog

    options = {"text": "text", "image": None, "features": None, "overlap": 1, "seed": 0, "stop": None}
    served = pool(folder / "table.csv", "no,yes", embeddings=str(folder / "vectors.npy"), **options)
    design = served.begin(EventLog(), False)
    assert np.asarray(design.pool).shape == (N, 5) and served.shown(3).text == "words 3"
    assert served.identity != pool(folder / "table.csv", "no,yes", **options).identity
