"""Every estimator through loops of thirty answers, its scorers in turn: from nothing, from a fit, in other clothes."""

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from adaptive import BayesianLogisticRegression, GaussianProcessClassifier, SequentialDesign
from tests.contract import loops
from tests.contract.cases import CASES, toys
from tests.contract.cases.rows import POINTS, label
from tests.culprits import naming

# few simulations say little, and say so
pytestmark = pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
SLOW = (  # a turn takes tenths of a second
    "BayesianLogisticRegression integrated", "BayesianLogisticRegression student_t",
    "BayesianLogisticRegression softmax", "BayesianLogisticRegression one against the rest",
    "GaussianProcessClassifier over nodes", "CoxProcess", "PoissonRegression", "forest", "plain classifier",
    "SimulatorEstimator", "ParticleEstimator", "ImageReconstructor of p",
)  # fmt: skip
#: Each kind of turn once, where all thirty answers would take long.
EACH_KIND = [(1, 0, False), (5, 1, False), (1, 0, True), (2, 0, False)]
BRIEF = [(1, 1, False), (2, 0, True)]
LABELS = {
    "words": lambda which: np.where(which, "yes", "no"),
    "truths": lambda which: which,
    "objects": lambda which: np.where(which, "yes", "no").astype(object),
    "numbers": lambda which: np.where(which, 3.0, -1.0),
}


#: Rows rounded to float32; sparse rows go through another engine, to the tolerance of its sites.
CLOSE = {"float32": {"rtol": 1e-3, "atol": 1e-4}, "sparse": {"rtol": 5e-3, "atol": 2e-3}}


def turns_of(case):
    return EACH_KIND if case.name.startswith(SLOW) else loops.TURNS


def of_cases(keep=lambda case: True):
    return pytest.mark.parametrize("case", [case for case in CASES if keep(case)], ids=lambda case: case.name)


def has_rows(case):
    return isinstance(case.candidates, np.ndarray) and case.candidates.ndim == 2


def takes_sparse(estimator):
    return hasattr(estimator, "__sklearn_tags__") and estimator.__sklearn_tags__().input_tags.sparse


def check_believed(design, case):
    assert np.isfinite(loops.believed(design, case)).all()


@of_cases()
def test_thirty_answers(case):
    with naming("from nothing"):
        check_believed(loops.run(case, case.make(), turns=turns_of(case)), case)
    with naming("from a fit"):
        check_believed(loops.run(case, case.fitted(), first=len(loops.TURNS), turns=turns_of(case)), case)


# A pipeline's scaler refuses what is sparse, a frame's columns are metadata of their own, simulations are drawn by
# the setting's bits.
@of_cases(
    lambda case: has_rows(case) and not case.name.startswith(("Simulator", "Metadata")) and "pipe" not in case.name
)
def test_rows_in_other_clothes_are_the_same_rows(case):
    """They are asked in the same order, but for what float32 rounds, and believed to be the same."""
    X, y = case.learn
    for clothes in loops.CLOTHES:
        if clothes == "sparse" and not takes_sparse(case.make()):
            continue
        rounded = CLOSE.get(clothes, {"rtol": 1e-6, "atol": 1e-8})
        with naming(clothes):
            taught = case.make().partial_fit(loops.dressed(X, clothes), y)
            belief = taught.predictive(loops.dressed(case.candidates, clothes), random_state=1)
            np.testing.assert_allclose(loops.numbers(belief), loops.numbers(of_fitted(case)), **rounded)
            turns = BRIEF if case.name.startswith(SLOW) else EACH_KIND
            design = loops.run(case, taught, clothes, first=3, turns=turns)
            check_believed(design, case)


def of_fitted(case):
    return case.fitted().predictive(case.candidates, random_state=1)


@of_cases(lambda case: isinstance(case.learn[1], np.ndarray) and case not in toys.CASES)
def test_answers_in_other_clothes_are_the_same_answers(case):
    X, y = case.learn
    forms = {"list": list(y), "tuple": tuple(y), "Python's own": np.asarray(y).tolist()}
    forms |= {
        "objects": np.array(forms["Python's own"], dtype=object),
        "series": pd.Series(y, index=range(7, 7 + len(y))),
    }
    if np.asarray(y).dtype.kind == "i":
        forms |= {"small integers": np.asarray(y).astype(np.int8), "unsigned": np.asarray(y).astype(np.uint16)}
    if np.asarray(y).dtype.kind == "f" and np.all(y == np.round(y)):
        forms |= {"integers": np.asarray(y).astype(int), "float32": np.asarray(y).astype(np.float32)}
    for name, form in forms.items():
        with naming(name):
            belief = case.make().partial_fit(X, form).predictive(case.candidates, random_state=1)
            np.testing.assert_array_equal(loops.numbers(belief), loops.numbers(of_fitted(case)))


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("make", [
    BayesianLogisticRegression, functools.partial(GaussianProcessClassifier, optimizer=None), LogisticRegression,
], ids=["linear", "process", "plain"])  # fmt: skip
def test_labels_of_every_kind_come_back_as_they_were_given(make, kind):
    """Asked for in a loop, from nothing and without classes."""
    which = label(POINTS).astype(bool)
    labels = LABELS[kind](which)
    design = SequentialDesign(make(), POINTS, lambda query: labels[query.positions], random_state=0).run(8)
    assert set(design.estimator_.classes_.tolist()) == set(labels.tolist())
    assert set(np.asarray(design.estimator_.predict(POINTS)).tolist()) <= set(labels.tolist())
    assert np.mean(design.estimator_.predict(POINTS) == labels) > 0.5
