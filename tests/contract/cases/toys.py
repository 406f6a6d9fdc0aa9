"""Toys whose answers are known in closed form, or that know nothing but draws."""

from __future__ import annotations

import numpy as np

from tests.contract.anchored_ensemble import AnchoredEnsemble
from tests.contract.case import Case
from tests.contract.cases.rows import ROWS, classifier, falling
from tests.contract.graded_response import GradedResponse
from tests.contract.linear_gaussian import LinearGaussian

RNG = np.random.default_rng(1)
ITEMS = np.column_stack([RNG.uniform(0.5, 3, 23), np.sort(RNG.uniform(-2.5, 2.5, (23, 3)), axis=1)])
SILENT = np.array([[0.0, -1.0, 0.0, 1.0], [2.0, -1.0, 0.0, 1.0]])  # an item of slope 0 says nothing about anybody


def graded(name, make):
    return Case(
        name, make, ITEMS, (ITEMS[:2], np.array([1, 2])), lambda items: np.sum(np.asarray(items)[:, 1:] < 0.7, axis=1),
        target=ITEMS[:4] + 0.1, unrelated=SILENT,
    )  # fmt: skip


CASES = [
    classifier("AnchoredEnsemble", AnchoredEnsemble),
    graded("GradedResponse", GradedResponse),
    graded("GradedResponse by draws", lambda: GradedResponse(draws=True)),
    Case(
        "LinearGaussian", LinearGaussian, ROWS, (np.eye(3)[:2], np.array([0.5, -1.0])), falling, target=ROWS[:4] + 0.1,
        unrelated=np.eye(3)[1:],
    ),
]  # fmt: skip
