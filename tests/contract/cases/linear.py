"""Linear classifiers and regression."""

from __future__ import annotations

import numpy as np

from adaptive import BayesianLogisticRegression, SparseLinearRegression
from designs.pool import Annotated
from tests.contract.case import Case
from tests.contract.cases.rows import ROWS, classifier, falling

NAMES = ["east", "north", "west"]


def third(points):
    """Three classes, in sectors of the plane."""
    angle = np.arctan2(np.asarray(points)[:, 1], np.asarray(points)[:, 0])
    return np.array(NAMES)[np.searchsorted([-1.0, 1.2], angle)]


def logistic(**options):
    return lambda: BayesianLogisticRegression(**{"prior_scale": 2.0, "classes": [0, 1], **options})


def integrated():
    return BayesianLogisticRegression(classes=[0, 1], hyperparameters="integrated")


PAIRS = Annotated(ROWS, ["Ann", "Bob", "Cid"])  # by turns, row by row: two answers about a row are no two draws
PAIRS = PAIRS.take(np.concatenate([3 * np.arange(23) + (np.arange(23) + k) % 3 for k in range(3)]))


def said(pairs):
    """Ann is right, Bob wrong about every fourth row, Cid always."""
    rows, who = pairs.rows, pairs.who
    true = (ROWS[rows, 0] > 0).astype(int)
    return np.where((who == 2) | ((who == 1) & (rows % 4 == 0)), 1 - true, true)


def annotated(name, **options):
    first = PAIRS.take(np.arange(0, 24))
    return Case(
        name,
        logistic(annotators=True, **options),
        PAIRS,
        (first, said(first)),
        said,
        target=ROWS[:4] + 0.1,
        given="direction",
        once=True,
    )


CASES = [
    annotated("BayesianLogisticRegression annotators"),
    classifier("BayesianLogisticRegression", logistic()),
    classifier("BayesianLogisticRegression integrated", integrated),
    classifier("BayesianLogisticRegression probit", logistic(link="probit")),
    classifier("BayesianLogisticRegression laplace", logistic(prior="laplace")),
    classifier("BayesianLogisticRegression student_t", logistic(prior="student_t")),
    classifier("BayesianLogisticRegression by bounds", logistic(inference="variational_bounds")),
    classifier(
        "BayesianLogisticRegression by inclusion", logistic(inference="variational_bounds", update="inclusion")
    ),
    classifier("BayesianLogisticRegression softmax", logistic(classes=NAMES), third),
    classifier(
        "BayesianLogisticRegression one against the rest", logistic(classes=NAMES, multi_class="one_vs_rest"), third
    ),
    Case(  # a Gaussian prior: with the others a what-if is a step, and partial_fit goes all the way
        "SparseLinearRegression",
        lambda: SparseLinearRegression("gaussian", noise_variance=0.1, prior_scale=0.5, fit_intercept=False), ROWS,
        (ROWS[:6], falling(ROWS[:6])), falling, target=ROWS[:4] + 0.1,
    ),
    Case(  # after an answer scales have other weights: a what-if moves them, partial_fit looks for them anew
        "SparseLinearRegression integrated", lambda: SparseLinearRegression(fit_intercept=False), ROWS,
        (ROWS[:6], falling(ROWS[:6])), falling, target=ROWS[:4] + 0.1, given="step",
    ),
]  # fmt: skip
