"""A respondent's interval holds what all items share: the uncertain origin and unit of the scale."""

import copy

import numpy as np
import pytest
from scipy.stats import norm

from adaptive import Questionnaire

RNG = np.random.default_rng(0)
KNOWN_ITEMS = Questionnaire.from_parameters(
    RNG.uniform(0.7, 2.0, 25), thresholds=np.sort(RNG.uniform(-2, 2, (25, 2)), axis=1), response_model="graded"
)


@pytest.mark.parametrize("shared", [[[0.0, 0.0], [0.0, 0.0]], [[0.6, 0.0], [0.0, 0.0]], [[0.3, 0.1], [0.1, 0.5]]])
def test_an_interval_is_as_wide_as_the_deviation_says(shared):
    """Of a posterior that is nearly Gaussian:  mean +- z deviation, which is that of the grid and of the scale."""
    bank = copy.copy(KNOWN_ITEMS.respondent().bank)
    bank.shared = np.array([shared])
    respondent = type(KNOWN_ITEMS.respondent())(bank)
    respondent.partial_fit(list(range(12)), [1, 2, 3, 2, 1, 3, 2, 3, 2, 2, 1, 3])
    low, high = respondent.interval(0.9).ravel()
    (first,), (x,) = respondent.person_.weights, [part.x[:, 0] for part in respondent.bank.parts]
    mean = first @ x
    spread = first @ (x - mean) ** 2
    deviation = np.sqrt(spread + shared[0][0] + 2 * mean * shared[0][1] + (first @ x**2) * shared[1][1])
    assert (high - low) / 2 == pytest.approx(norm.ppf(0.95) * deviation, rel=0.06)
    assert 0.5 * (low + high) == pytest.approx(float(respondent.mean[0]), abs=0.1)
