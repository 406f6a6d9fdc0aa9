"""Counts at rows, and at places."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import CoxProcess, PoissonRegression
from tests.contract.case import Case
from tests.contract.cases.rows import POINTS, ROWS

BRIEFLY = np.linspace(0.2, 0.6, 12)  # how long is counted, so that tables are short
TIMED = np.column_stack([np.clip(ROWS[:12], -1.5, 1.5), BRIEFLY])
PLACES = np.column_stack([POINTS[:12], BRIEFLY])


def counted(rows):
    """Some counts at rows whose last column is the time."""
    return (np.asarray(rows)[:, 0] > 0.4).astype(float)


CASES = [
    Case(
        "CoxProcess", lambda: CoxProcess(0.2 * RBF(1.0), optimizer=None, exposure=2), PLACES,
        (PLACES[:6], counted(PLACES[:6])), counted, target=PLACES[:4], given="direction",
    ),
    Case(
        "PoissonRegression", lambda: PoissonRegression(prior_scale=0.2, fit_intercept=False, exposure=3), TIMED,
        (TIMED[:6], counted(TIMED[:6])), counted, target=TIMED[:4], given="direction",
    ),
]  # fmt: skip
