"""Engines that match moments are exact for one potential: evidence, mean and variance against quadrature.

A new engine of that kind adds one row to ENGINES.
"""

import numpy as np
import pytest
from scipy.integrate import quad

from adaptive.inference import GLM, expectation_propagation
from adaptive.potentials import BernoulliLogit, Laplace

ENGINES = {"expectation_propagation": expectation_propagation}
ROW, PRIOR = np.array([[0.8, -0.5]]), np.array([2.0, 0.7])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("potential", [BernoulliLogit([1]), Laplace(0.4, location=[1.3])], ids=["logit", "laplace"])
def test_one_potential_is_exact(engine, potential):
    prior_variance = float((ROW**2 @ PRIOR)[0])

    def weighted(s, k):
        joint = potential.log_density(np.array([s]))[0] - s * s / (2 * prior_variance)
        return s**k * float(np.exp(joint)) / np.sqrt(2 * np.pi * prior_variance)

    mass, first, second = (quad(weighted, -40, 40, args=(k,), points=[0, 1.3], limit=400)[0] for k in range(3))
    posterior = ENGINES[engine](GLM(B=ROW, potentials=potential, prior_covariance=PRIOR))
    mean, variance = posterior.projection_moments(ROW)
    assert posterior.log_evidence == pytest.approx(np.log(mass), abs=1e-7)
    assert mean[0] == pytest.approx(first / mass, abs=1e-7)
    assert variance[0] == pytest.approx(second / mass - (first / mass) ** 2, abs=1e-7)
