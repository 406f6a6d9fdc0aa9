"""Gaussian processes."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor
from tests.contract.case import Case
from tests.contract.cases.rows import NEW, POINTS, classifier


def process(**options):
    return lambda: GaussianProcessClassifier(4.0 * RBF(1.0), classes=[0, 1], **options)


CASES = [
    classifier("GaussianProcessClassifier", process(optimizer=None)),
    classifier("GaussianProcessClassifier over nodes", process(hyperparameters="integrated")),
    classifier(
        "GaussianProcessClassifier by the variational Gaussian",
        process(optimizer=None, link="probit", inference="variational_gaussian"),
    ),
    Case(
        "GaussianProcessRegressor", lambda: GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None), POINTS,
        (POINTS[:6], POINTS[:6, 0]), lambda points: np.asarray(points)[:, 0], target=NEW,
    ),
]  # fmt: skip
