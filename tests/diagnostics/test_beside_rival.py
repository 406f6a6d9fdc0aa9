"""The model beside the classifier that one would have taken instead."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.cli import run
from adaptive.diagnostics import beside_rival, rival_in_words

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 2))
LINES = X.sum(axis=1) > 0
RING = np.hypot(*X.T) > 1.2  # which no line tells apart


def designed(y, n=60, pool=X, **options):
    model = BayesianLogisticRegression(classes=[False, True], hyperparameters="mode")
    return SequentialDesign(model, pool, lambda query: y[query.positions], random_state=0, **options).run(n)


def test_who_is_ahead_is_said_only_where_it_is_certain():
    behind = beside_rival(designed(RING), rival=KNeighborsClassifier(9))
    assert behind["difference"] > 2 * behind["standard_error"] and "take it for predictions" in rival_in_words(behind)
    ahead = beside_rival(designed(LINES), rival=DummyClassifier())
    assert ahead["difference"] < -2 * ahead["standard_error"] and "model predicts certainly" in rival_in_words(ahead)
    equal = beside_rival(
        designed(LINES), rival=BayesianLogisticRegression(classes=[False, True], hyperparameters="mode")
    )
    assert equal["difference"] == 0 and equal["log_loss"] == equal["rival_log_loss"]
    assert "cannot be told" in rival_in_words(equal)


def test_the_design_is_not_changed_and_the_parts_are_the_same_each_time():
    design = designed(LINES, 30)
    before = design.estimator_.predict_proba(X).tobytes()
    assert beside_rival(design) == beside_rival(design)
    assert design.estimator_.predict_proba(X).tobytes() == before


def test_labels_from_before_count_and_sparse_rows_are_rows():
    found = beside_rival(designed(LINES, 15), (X[:10], LINES[:10]))
    assert found["n"] == 25
    assert beside_rival(designed(LINES, 30, sparse.csr_matrix(X)))["n"] == 30


def test_too_few_labels_tell_nothing_and_other_pools_are_refused():
    assert beside_rival(designed(LINES, 12)) is None
    assert beside_rival(designed(np.zeros(120, dtype=bool), 30)) is None
    rows = [(float(a), float(b)) for a, b in X]

    def pool(estimator):
        return np.array(rows)

    model = BayesianLogisticRegression(classes=[False, True], hyperparameters="mode")
    with pytest.raises(ValueError, match="fixed pool of rows"):
        beside_rival(SequentialDesign(model, pool))


def test_the_report_of_label_says_it(tmp_path, capsys):
    lines = [
        "a,b,label",
        *(f"{a:.3f},{b:.3f},{'yes' if one else 'no'}" for (a, b), one in zip(X[:60], LINES, strict=False)),
    ]
    lines += [f"{a:.3f},{b:.3f}," for a, b in X[60:]]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    out, asked = ["--out", str(tmp_path / "run")], str(tmp_path / "next.csv")
    assert run(["label", str(tmp_path / "rows.csv"), "--classes", "no,yes", "--ask", asked, "--batch", "4", *out]) == 0
    header, *rest = (tmp_path / "next.csv").read_text().splitlines()
    place = header.split(",").index("answer")
    filled = []
    for k, line in enumerate(rest):
        cells = line.split(",")
        cells[place] = ("no", "yes")[k % 2]
        filled.append(",".join(cells))
    (tmp_path / "next.csv").write_text("\n".join([header, *filled]) + "\n")
    assert run(["label", "--tell", asked, *out]) == 0
    capsys.readouterr()
    assert run(["label", "--report", *out]) == 0
    assert "On 64 labels, each predicted while it was left out" in capsys.readouterr().out
