"""Tables: shapes and classes as published, splits, the three formats of their files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from adaptive import datasets


@pytest.mark.parametrize(
    ("loader", "arguments", "shape", "counts"),
    [
        (datasets.breast_cancer, (), (569, 30), {0: 212, 1: 357}),
        (datasets.uci, ("ionosphere",), (351, 34), {"b": 126, "g": 225}),
        (datasets.uci, ("sonar",), (208, 60), {"M": 111, "R": 97}),
        (datasets.uci, ("breast_cancer_wisconsin",), (683, 9), {2: 444, 4: 239}),
        (datasets.uci, ("crabs",), (200, 5), {"F": 100, "M": 100}),
        (datasets.uci, ("pima_ripley",), (532, 7), {"No": 355, "Yes": 177}),
        (datasets.raetsch, ("banana",), (5300, 2), {-1: 2924, 1: 2376}),
        (datasets.raetsch, ("splice",), (3175, 60), {-1: 1648, 1: 1527}),
        (datasets.libsvm, ("a9a",), (32561, 123), {-1: 24720, 1: 7841}),
        (datasets.libsvm, ("a9a", "test"), (16281, 123), {-1: 12435, 1: 3846}),
        (datasets.libsvm, ("w8a",), (49749, 300), {-1: 48270, 1: 1479}),
        (datasets.libsvm, ("heart_scale",), (270, 13), {-1: 150, 1: 120}),
        (datasets.ripley, (), (250, 2), {0: 125, 1: 125}),
    ],
)
def test_sets_are_as_published(loader, arguments, shape, counts):
    X, y = loader(*arguments)
    assert X.shape == shape
    assert np.isfinite(X.data if scipy.sparse.issparse(X) else X).all()
    classes, numbers = np.unique(y, return_counts=True)
    assert dict(zip(classes.tolist(), numbers.tolist(), strict=True)) == counts


def test_a_published_split_partitions_nothing_twice():
    X_train, X_test, y_train, y_test = datasets.raetsch("titanic", 9)
    assert X_train.shape == (150, 3) and X_test.shape == (2051, 3)
    X, y = datasets.raetsch("titanic")
    assert len(y_train) + len(y_test) == len(y) and y_train.sum() + y_test.sum() == y.sum()


def test_wrong_splits_are_named():
    datasets.raetsch("titanic")
    with pytest.raises(ValueError, match="split must be below 10 for the raetsch set 'titanic', got 10"):
        datasets.raetsch("titanic", 10)
    with pytest.raises(ValueError, match="'splice' comes without published splits"):
        datasets.raetsch("splice", 0)


def test_small_files_are_read_in_their_formats(tmp_path, monkeypatch):
    """The three file formats, on files made here: this test needs no data folder."""
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    for name in ("uci", "raetsch", "libsvm"):
        (tmp_path / name).mkdir()
    (tmp_path / "uci/sonar.csv").write_text("1,2.5,R\n3,?,M\n-1,0,M\n")
    X, y = datasets.uci("sonar")
    assert X.tolist() == [[1, 2.5], [-1, 0]] and y.tolist() == ["R", "M"]
    np.savez(tmp_path / "raetsch/thyroid.npz", X=np.eye(3), y=[1, -1, 1], train_idx=[[2, 0]], test_idx=[[1]])
    X_train, X_test, y_train, y_test = datasets.raetsch("thyroid", split=0)
    assert X_train.tolist() == [[0, 0, 1], [1, 0, 0]] and y_test.tolist() == [-1]
    (tmp_path / "libsvm/a9a").write_text("+1 1:1 3:0.5\n-1 2:1\n")
    X, y = datasets.libsvm("a9a")
    assert X.shape == (2, 123) and X[0, 2] == 0.5 and y.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.uci("sonr"), "name must be one of .*Did you mean 'sonar'"),
        (lambda: datasets.raetsch("moon"), "name must be one of 'banana'"),
        (lambda: datasets.ripley("half"), "part must be one of 'train', 'test'"),
    ],
)
def test_wrong_names_list_the_known_ones(call, message):
    with pytest.raises(ValueError, match=message):
        call()
