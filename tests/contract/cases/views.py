"""Classifiers and pipelines of others."""

from __future__ import annotations

from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adaptive import BayesianLogisticRegression
from adaptive.estimators import wrap
from tests.contract.cases.rows import POINTS, classifier


def pipeline():
    return make_pipeline(StandardScaler(), BayesianLogisticRegression(prior_scale=2.0, classes=[0, 1]))


CASES = [
    classifier("plain classifier", lambda: wrap(LogisticRegression()), given=None),
    classifier(
        "BayesianLogisticRegression at the end of a pipeline", lambda: wrap(pipeline()).prepare(POINTS)
    ),
    classifier("forest", lambda: wrap(RandomForestClassifier(20, min_samples_leaf=2, random_state=0))),
]  # fmt: skip
