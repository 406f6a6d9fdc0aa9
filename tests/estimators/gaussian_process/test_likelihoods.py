"""Six likelihoods by one interface: evidence, belief and predictive density are those of quadrature."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor
from adaptive.estimators.gaussian_process.regressor_belief import DEFAULT_INFERENCE
from adaptive.means import Constant, Linear

KERNEL, X, NEW = 1.5 * RBF(0.8), np.array([[-0.6], [0.3]]), np.array([[0.9]])
SCALE = 0.3
DENSITIES = {
    "gaussian": stats.norm(scale=SCALE).pdf,
    "laplace": stats.laplace(scale=SCALE).pdf,
    "logistic": stats.logistic(scale=SCALE).pdf,
    "student_t": stats.t(4, scale=SCALE).pdf,
}


def grid(means, n=91):
    """Points (N, 3) of the latents at X and NEW, and their prior masses (N,)."""
    axis = np.linspace(-6, 6, n)
    z = np.stack(np.meshgrid(axis, axis, axis[::3], indexing="ij"), axis=-1).reshape(-1, 3)
    mass = np.exp(-0.5 * (z**2).sum(axis=1))
    return means + z @ np.linalg.cholesky(KERNEL(np.concatenate([X, NEW]))).T, mass / mass.sum()


def moments(f, weights):
    mean = weights @ f
    return mean, np.sqrt(weights @ (f - mean) ** 2)


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("name", DEFAULT_INFERENCE)
def test_regression_is_quadrature(name, draw):
    """Squared exponential, linear plus constant mean: the predictive mean and variance, the evidence, a new number."""
    rng, slope, level = np.random.default_rng(draw), 0.7, -0.2
    y = slope * X[:, 0] + level + rng.normal(size=2)
    options = {"alpha": SCALE**2} if name == "gaussian" else {"likelihood": name, "likelihood_scale": SCALE}
    near = 15 if name == "student_t" else 1  # by Laplace's method: expectation propagation needs a concave logarithm
    mean = Linear(slope) + Constant(level)
    model = GaussianProcessRegressor(KERNEL, mean=mean, optimizer=None, **options).fit(X, y)
    f, prior = grid(slope * np.concatenate([X, NEW])[:, 0] + level)
    likelihood = DENSITIES[name](y[0] - f[:, 0]) * DENSITIES[name](y[1] - f[:, 1])
    evidence = prior @ likelihood
    assert model.log_evidence_ == pytest.approx(np.log(evidence), abs=0.02 * near)
    weights = prior * likelihood / evidence
    wanted, deviation = moments(f[:, 2], weights)
    found = model.predictive(NEW)
    assert found.mean[0] == pytest.approx(wanted, abs=0.03 * near * deviation)
    assert found.variance[0] == pytest.approx(deviation**2, rel=0.04 * near)
    new = wanted + 0.4
    assert model.log_predictive(NEW, [new])[0] == pytest.approx(
        np.log(weights @ DENSITIES[name](new - f[:, 2])), abs=0.02 * near
    )


@pytest.mark.parametrize(("link", "cumulative"), [("logit", expit), ("probit", stats.norm.cdf)])
def test_classification_is_quadrature(link, cumulative):
    model = GaussianProcessClassifier(
        KERNEL, link=link, optimizer=None, inference="expectation_propagation", calibration=None
    ).fit(X, ["no", "yes"])
    f, prior = grid(np.zeros(3))
    likelihood = cumulative(-f[:, 0]) * cumulative(f[:, 1])
    evidence = prior @ likelihood
    weights = prior * likelihood / evidence
    assert model.log_evidence_ == pytest.approx(np.log(evidence), abs=0.005)
    assert model.predict_proba(NEW)[0, 1] == pytest.approx(weights @ cumulative(f[:, 2]), abs=0.005)
    wanted, deviation = moments(f[:, 2], weights)
    mean, variance = model.latent_mean_and_variance(NEW)
    assert mean[0] == pytest.approx(wanted, abs=0.03 * deviation) and variance[0] == pytest.approx(
        deviation**2, rel=0.04
    )


@pytest.mark.parametrize("name", [name for name in DEFAULT_INFERENCE if name != "gaussian"])
def test_a_design_by_the_defaults_asks_where_little_is_known(name):
    """Hyper-parameters integrated: entropies of outcomes are those of a mixture of noises with other scales."""
    rows = np.linspace(-3, 3, 25)[:, None]
    known = np.arange(8)
    y = np.sin(rows[known, 0])
    model = GaussianProcessRegressor(RBF(1.0), likelihood=name).fit(rows[known], y)
    chosen, scores = model.select(rows, return_scores=True, random_state=0)
    assert chosen[0] > 12 and np.isfinite(scores).all()
