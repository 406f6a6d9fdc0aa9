"""A sum over independent parts is the information of the whole block, with a target and without."""

import numpy as np
import pytest

from adaptive import scorers
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections, SummedPredictive

RNG = np.random.default_rng(0)
ROWS, TARGET = RNG.normal(size=(6, 3)), RNG.normal(size=(2, 3))
ROOTS = RNG.normal(size=(2, 3, 3))
NOISE = RNG.gamma(2.0, 1.0, (6, 2))


def summed(target=None):
    parts = [
        GaussianProjections.from_rows(
            ROWS, np.zeros(3), root=ROOTS[k], likelihood=Gaussian(NOISE[:, k]), target=target
        )
        for k in range(2)
    ]  # fmt: skip
    return SummedPredictive(parts)


def information(positions, target=None):
    """By dense covariances, part after part."""
    total = 0.0
    for k in range(2):
        rows = ROWS[positions]
        C = ROOTS[k] @ ROOTS[k].T
        noise = np.diag(NOISE[positions, k])
        left = C
        if target is not None:  # what of the weights stays unknown when the target is known
            gain = C @ target.T @ np.linalg.inv(target @ C @ target.T)
            left = C - gain @ target @ C
        total += np.linalg.slogdet(rows @ C @ rows.T + noise)[1]
        total -= np.linalg.slogdet(noise if target is None else rows @ left @ rows.T + noise)[1]
    return 0.5 * total


@pytest.mark.parametrize("target", [None, TARGET], ids=["weights", "target"])
def test_scores_are_the_dense_informations(target):
    belief = summed(target)
    scores = scorers.information_gain(belief)
    np.testing.assert_allclose(scores, [information([i], target) for i in range(6)], atol=1e-8)
    after = scorers.information_gain(belief.given(2))
    expected = [information([2, i], target) - scores[2] for i in range(6) if i != 2]
    np.testing.assert_allclose(np.delete(after, 2), expected, atol=1e-8)
    by_entropies = belief.target_entropy - belief.expected_target_entropy
    np.testing.assert_allclose(by_entropies, scores, atol=1e-8)


def test_the_covariance_is_scaled_to_unit_noise():
    belief = summed()
    assert belief.likelihood.parameters["variance"] == 1.0
    block = belief.covariance([0, 3], [0, 3])
    assert block.shape == (4, 4)
    assert 0.5 * np.linalg.slogdet(np.eye(4) + block)[1] == pytest.approx(information([0, 3]), abs=1e-10)
