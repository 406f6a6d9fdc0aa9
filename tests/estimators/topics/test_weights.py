"""What metadata say of topics' scores: x'm and x'Vx, for numbers of any size, also where a model learns from years."""

import numpy as np
import scipy.sparse as sp

from adaptive import MetadataTopicModel
from adaptive.estimators.topics.weights import Weights

ROWS = np.array([[1.0, 2.5, -3.0], [1.0, 0.0, 0.1]])
RNG = np.random.default_rng(0)
MEAN, ROOT = RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3, 3))


def test_a_forecast_of_independent_weights_has_the_variance_of_their_sum():
    variance = RNG.uniform(0.1, 2.0, size=(3, 2))
    found = Weights(MEAN, variance).forecast(sp.csr_array(ROWS))
    wanted = np.stack([[row @ np.diag(variance[:, k]) @ row for k in range(2)] for row in ROWS])
    assert np.allclose(found[0], ROWS @ MEAN) and np.allclose(found[1], wanted)


def test_a_forecast_of_dependent_weights_has_the_variance_of_their_sum():
    covariances = ROOT @ ROOT.swapaxes(1, 2)
    weights = Weights(MEAN, np.einsum("kff->fk", covariances), covariances)
    wanted = np.stack([[row @ covariances[k] @ row for k in range(2)] for row in ROWS])
    assert np.allclose(weights.forecast(sp.csr_array(ROWS))[1], wanted)


def test_a_model_is_twice_as_uncertain_twice_as_far_from_the_years_that_it_read():
    years = np.linspace(-1.0, 1.0, 30)[:, None]
    counts = np.random.default_rng(1).poisson(np.where(years > 0, [5.0, 1.0, 1.0], [1.0, 1.0, 5.0]))
    model = MetadataTopicModel(2, learning="single_pass", random_state=0).fit(counts, years)
    at = [model.belief_.forecast(np.array([[year]]))[1] for year in (0.0, 300.0, 600.0)]
    assert np.allclose(at[2] - at[0], 4 * (at[1] - at[0]), rtol=0.05) and np.all(at[1] > at[0])
