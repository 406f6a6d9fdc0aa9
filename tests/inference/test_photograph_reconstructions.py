"""A photograph from few random rows: which prior and which reconstruction come nearest, at the source's settings."""

from __future__ import annotations

import numpy as np
import pytest
import pywt

from adaptive.inference import GLM, expectation_propagation
from adaptive.inference.classic import basis_pursuit, laplace_mode, least_squares, sparse_bayesian_learning
from adaptive.operators import FiniteDifference, Wavelet
from adaptive.potentials import Laplace

NOISE_VARIANCE, SIDE = 0.005, 32
D, W = FiniteDifference((SIDE, SIDE)), Wavelet((SIDE, SIDE))


@pytest.fixture(scope="module")
def measured():
    image = pywt.data.camera().astype(float) / 255
    u = image.reshape(SIDE, 512 // SIDE, SIDE, 512 // SIDE).mean(axis=(1, 3)).ravel()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((250, SIDE**2))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X, X @ u + np.sqrt(NOISE_VARIANCE) * rng.standard_normal(250), u


def model(X, y, **rates):
    """Rates of the source, exp(-(tau / noise sd) |s|)."""
    operators = {"differences": D, "wavelets": W}
    scales = [Laplace(np.sqrt(NOISE_VARIANCE) / tau) for tau in rates.values()]
    return GLM(X, y, NOISE_VARIANCE, B=[operators[name] for name in rates], potentials=scales)


def test_total_variation_is_the_best_point_estimate_from_random_rows(measured):
    X, y, u = measured
    both = laplace_mode(model(X, y, differences=0.075, wavelets=0.075), tol=1e-3)
    others = {
        "least squares": least_squares(X, y),
        "basis pursuit": basis_pursuit(X, y, B=W),
        "sparse Bayesian learning": sparse_bayesian_learning(X, y, NOISE_VARIANCE, B=W, tol=1e-2),
    }
    error = np.linalg.norm(both.mean - u)
    for name, other in others.items():
        assert error < 0.95 * np.linalg.norm(other.mean - u), name


def test_total_variation_carries_most_of_expectation_propagation_and_the_mean_beats_the_mode(measured):
    X, y, u = measured
    errors = {}
    for name, rates in (
        ("both", {"differences": 0.5, "wavelets": 0.075}),
        ("differences", {"differences": 0.5}),
        ("wavelets", {"wavelets": 0.075}),
    ):
        posterior = expectation_propagation(model(X, y, **rates), update="selective", fraction=0.9, tol=1e-2)
        assert posterior.converged
        errors[name] = np.linalg.norm(posterior.mean - u)
    assert errors["differences"] < 1.03 * errors["both"]
    assert errors["wavelets"] > 1.2 * errors["both"]
    mode = laplace_mode(model(X, y, differences=0.075, wavelets=0.075), tol=1e-3)
    assert errors["both"] < np.linalg.norm(mode.mean - u)
