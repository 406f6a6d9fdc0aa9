"""Embeddings as frames keep them, a vector in each cell, are rows wherever rows are taken."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from adaptive import (
    BayesianLogisticRegression,
    ClassifierView,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    ParticleEstimator,
    PoissonRegression,
    SequentialDesign,
    SparseLinearRegression,
)
from adaptive.estimators.rows.vector_cells import spread

RNG = np.random.default_rng(0)
BLOCK = RNG.standard_normal((24, 3)).astype(np.float32)
AGE = RNG.standard_normal(24)
BOTH = np.column_stack([BLOCK, AGE])
Y = (BLOCK[:, 0] > 0).astype(int)

GIVEN = {
    "series": (pd.Series(list(BLOCK)), BLOCK),
    "objects": (pd.Series(list(BLOCK)).to_numpy(), BLOCK),
    "lists": (pd.Series(BLOCK.tolist()), BLOCK.astype(float)),
    "frame": (pd.DataFrame({"e": list(BLOCK)}, index=range(7, 31)), BLOCK),
    "frame and numbers": (pd.DataFrame({"e": list(BLOCK), "age": AGE}), BOTH),
    "array of a frame": (pd.DataFrame({"e": list(BLOCK), "age": AGE}).to_numpy(), BOTH),
    "polars": (pl.DataFrame({"e": BLOCK.tolist(), "age": AGE}), np.column_stack([BLOCK.astype(float), AGE])),
    "polars array": (pl.DataFrame({"e": BLOCK}), BLOCK),
    "polars series": (pl.Series("e", BLOCK), BLOCK),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_cells_become_columns_in_their_precision(kind):
    given, expected = GIVEN[kind]
    found = np.asarray(spread(given))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


ESTIMATORS = {
    "logistic": (BayesianLogisticRegression(), Y),
    "gp classifier": (GaussianProcessClassifier(optimizer=None), Y),
    "gp regressor": (GaussianProcessRegressor(optimizer=None), AGE),
    "sparse": (SparseLinearRegression(), AGE),
    "counts": (PoissonRegression(), Y),
    "plain": (ClassifierView(LogisticRegression()), Y),
    "particles": (
        ParticleEstimator(
            model=lambda particles, settings: particles[:, :1] * np.asarray(settings)[:, 0], noise=1.0,
            prior=lambda n, rng: rng.standard_normal((n, 1)), n_particles=64,
        ),
        AGE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_of_rows_takes_a_frame_of_vectors(name):
    """Before: "setting an array element with a sequence"."""
    from sklearn.base import clone

    estimator, y = ESTIMATORS[name]
    frame = pd.DataFrame({"e": list(BLOCK)})
    answers = []
    for rows in (BLOCK, frame, frame["e"]):
        model = clone(estimator).partial_fit(rows[:20], y[:20])
        answers.append((model.select(rows, scorer="auto", random_state=0), model.predict(rows[20:])))
    for chosen, predicted in answers[1:]:
        np.testing.assert_array_equal(chosen, answers[0][0])
        np.testing.assert_allclose(predicted, answers[0][1], rtol=1e-8)  # frames keep columns together, arrays rows


def test_a_pipeline_and_the_features_of_items_take_them(tmp_path):
    from sklearn.gaussian_process.kernels import RBF
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from adaptive import CollaborativePreference

    chosen = []
    for pool in (BLOCK, pd.DataFrame({"e": list(BLOCK)}), pd.Series(list(BLOCK))):
        design = SequentialDesign(
            make_pipeline(StandardScaler(), BayesianLogisticRegression(classes=[0, 1])), pool, random_state=0
        )
        for _ in range(4):
            query = design.ask()
            design.tell(query, Y[query.positions])
        chosen.append(design.history_["position"])
    assert chosen[0] == chosen[1] == chosen[2]
    means = []
    for features in (pd.DataFrame(BLOCK[:4], index=list("abcd")), pd.Series(list(BLOCK[:4]), index=list("abcd"))):
        model = CollaborativePreference(2, kernel=RBF(), item_features=features, random_state=0)
        model.fit([("u", "a", "b"), ("u", "b", "c"), ("v", "d", "a")], [1, 1, -1])
        means.append(model.predictive([("u", "a", "d")]).mean)
    np.testing.assert_array_equal(*means)


def test_a_design_of_a_frame_of_vectors_asks_what_one_of_their_block_asks():
    def asked(pool):
        design = SequentialDesign(BayesianLogisticRegression(classes=[0, 1]), pool, random_state=0)
        for _ in range(6):
            query = design.ask()
            design.tell(query, Y[query.positions])
        return design.history_["position"]

    assert asked(pd.DataFrame({"e": list(BLOCK)})) == asked(BLOCK)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            [[1.0, 2.0]] * 5 + [[1.0]],
            r"vectors of one length in column 'e', where most have 2 numbers, got 1 numbers",
        ),
        ([[1.0, 2.0]] * 5 + [None], r"got None in row 5"),
        ([[1.0, 2.0]] * 5 + [["a", "b"]], r"got \['a', 'b'\] in row 5"),
        ([[1.0, 2.0]] * 5 + [[1.0, np.nan]], r"X contains NaN, first in row 5"),
    ],
)
def test_vectors_that_do_not_fit_are_refused_by_column_and_row(cells, message):
    with pytest.raises(ValueError, match=message):
        BayesianLogisticRegression().fit(pd.DataFrame({"e": pd.Series(cells)}), [0, 1] * 3)


def test_a_list_of_rows_of_different_lengths_is_refused_in_words():
    with pytest.raises(ValueError, match="in its cells, where most have 2 numbers, got 3 numbers"):
        BayesianLogisticRegression().fit([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0, 3.0]], [0, 1, 0])
