"""Small models of every kind, and their exact posteriors by quadrature."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adaptive.inference import GLM, compatible
from adaptive.potentials import (
    BernoulliLogit,
    BernoulliProbit,
    ExponentialPower,
    Gaussian,
    Laplace,
    Logistic,
    Poisson,
    Step,
    StudentT,
)


def _models():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(3, 2))
    y = np.array([1, -1, 1])
    X, t = rng.normal(size=(4, 2)), rng.normal(size=4)
    full = np.array([[1.5, 0.6], [0.6, 1.0]])
    X3, t3, B3 = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=(3, 3))
    return {
        "logit": GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=2.0),
        "logit, full prior": GLM(B=B, potentials=BernoulliLogit(y), prior_covariance=full, prior_mean=[0.5, -1.0]),
        "logit, kernel": GLM(potentials=BernoulliLogit([1, -1]), prior_covariance=full),
        "logit, 3 unknowns": GLM(X3, t3, 0.8, B=B3, potentials=BernoulliLogit([1, 1, -1])),
        "probit": GLM(B=B, potentials=BernoulliProbit(y), prior_covariance=[2.0, 0.5]),
        "probit, data": GLM(X, t, 0.5, B=B, potentials=BernoulliProbit(y)),
        "logistic": GLM(X, t, 0.5, B=B, potentials=Logistic(0.7, [0.3, -1.0, 2.0])),
        "logistic, no Gaussian part": GLM(B=np.vstack([B, B[:1]]), potentials=Logistic(0.7, [0.3, -1.0, 2.0, 1.0])),
        "laplace": GLM(X, t, 0.5, potentials=Laplace([0.5, 1.0])),
        "laplace, fewer rows": GLM(X[:1], t[:1], 0.3, B=B, potentials=Laplace(0.8, [0.0, 0.5, 0.0])),
        "exponential power": GLM(X, t, 0.5, potentials=ExponentialPower(1.5, 0.7)),
        "student": GLM(X, t, 0.5, B=B, potentials=StudentT(3.0, 0.8, [0.0, 1.0, -1.0])),
        "poisson exp": GLM(B=B, potentials=Poisson([0, 3, 1]), prior_covariance=1.0),
        "poisson softplus": GLM(B=B, potentials=Poisson([0, 3, 1], "softplus"), prior_covariance=full),
        "poisson rectified": GLM(B=B, potentials=Poisson([0, 3, 1], "rectified"), prior_covariance=full),
        "step": GLM(B=B[:2], potentials=Step([0.0, -0.5]), prior_covariance=full),
        "mixed": GLM(
            X, t, 0.5, B=[B, None, B[:1]], potentials=[BernoulliLogit(y), Laplace(0.6), Gaussian(0.5, location=1.0)]
        ),
    }


MODELS = _models()


def log_joint(model, points):
    """ln P(y, u) with all normalisers at the points (k, n)."""
    total = np.zeros(len(points))
    if model.X is not None:
        X, y = model.measurement_rows()
        gap = points @ np.asarray(X).T - y
        total -= 0.5 * (gap**2).sum(1) / model.noise_variance
        total -= 0.5 * len(y) * np.log(2 * np.pi * model.noise_variance)
    if model.has_prior:
        S = model.prior_covariance
        S = S if np.ndim(S) == 2 else np.diag(np.broadcast_to(S, model.n))
        gap = points - model.prior_mean
        total -= 0.5 * np.einsum("ij,ij->i", gap, np.linalg.solve(S, gap.T).T)
        total -= 0.5 * np.linalg.slogdet(2 * np.pi * S)[1]
    for b, p in model.groups:
        total += p.log_density(b.forward(points)).sum(1)
    return total


def grid(centre, covariance, points, width=8.0):
    """Points (k, n) and the volume of a cell of a grid along the principal axes."""
    n = len(centre)
    axis = np.linspace(-width, width, points)
    t = np.stack(np.meshgrid(*[axis] * n, indexing="ij"), -1).reshape(-1, n)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(values)
    return centre + t @ root.T, (axis[1] - axis[0]) ** n * abs(np.linalg.det(root))


def integrate(function, centre, covariance, points=None):
    """ln of the integral of exp(function)."""
    points = points or {1: 4001, 2: 401, 3: 71}[len(centre)]
    u, cell = grid(np.asarray(centre), np.asarray(covariance), points)
    value = function(u)
    top = value.max()
    return top + np.log(np.exp(value - top).sum() * cell)


def exact(model, guess):
    """ln Z, mean and covariance by quadrature around a Gaussian guess, three times as wide."""
    u, cell = grid(guess.mean, 6.0 * guess.covariance(), {1: 4001, 2: 401, 3: 101}[model.n])
    value = log_joint(model, u)
    weights = np.exp(value - value.max())
    log_evidence = value.max() + np.log(weights.sum() * cell)
    weights /= weights.sum()
    mean = weights @ u
    return SimpleNamespace(
        log_evidence=log_evidence, mean=mean, covariance=(u - mean).T @ ((u - mean) * weights[:, None])
    )


@pytest.fixture(scope="session")
def brute():
    return SimpleNamespace(log_joint=log_joint, integrate=integrate, exact=exact, models=MODELS)


ENGINES = {
    "laplace_model": "laplace_approximation",
    "ep_model": "expectation_propagation",
    "vb_model": "variational_bounds",
    "kl_model": "variational_gaussian",
}


def pytest_generate_tests(metafunc):
    """``laplace_model``, ``ep_model``, ...: each model that the engine accepts; ``any_model``: each."""
    if "any_model" in metafunc.fixturenames:
        metafunc.parametrize("any_model", MODELS)
    for argument, engine in ENGINES.items():
        if argument in metafunc.fixturenames:
            names = [k for k, model in MODELS.items() if compatible([p for _, p in model.groups], engine)]
            metafunc.parametrize(argument, names)


def _haar(size):
    """One level: means above differences."""
    H, i = np.zeros((size, size)), np.arange(size // 2)
    H[i, 2 * i] = H[i, 2 * i + 1] = H[size // 2 + i, 2 * i] = 2**-0.5
    H[size // 2 + i, 2 * i + 1] = -(2**-0.5)
    return H


@pytest.fixture(scope="module")
def image():
    """The image problem with 32 unknowns of nickisch-adaptive-cs.md, section 16."""
    random = np.random.RandomState(5)
    W = np.eye(32)
    for level in range(5):
        S, size = np.eye(32), 32 >> level
        S[:size, :size] = _haar(size)
        W = S @ W
    B = np.vstack([np.diff(np.eye(32), axis=0), W])
    u = np.r_[np.zeros(10), np.ones(9), np.full(13, 0.3)]
    X = random.randn(8, 32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = X @ u + np.sqrt(0.005) * random.randn(8)
    assert y.sum() == pytest.approx(0.2163702167, abs=1e-10)
    rate = np.r_[np.full(31, 5.0), np.ones(32)]

    def model(X, y):
        return GLM(X, y, 0.005, B=B, potentials=Laplace(1 / rate))

    # the reference leaves the normalisers rate/2 out of ln Z
    return SimpleNamespace(u=u, X=X, y=y, B=B, model=model, log_constant=np.sum(np.log(rate / 2)))
