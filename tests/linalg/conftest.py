"""Small precisions of every kind, with their dense matrices."""

from types import SimpleNamespace

import numpy as np
import pytest
import pywt.data

from adaptive.linalg import PrecisionOperator
from adaptive.operators import (
    Convolution,
    Diagonal,
    FiniteDifference,
    FourierLines,
    FourierMask,
    Identity,
    Product,
    RealStacked,
    Wavelet,
)


def lines():
    shape = (8, 16)
    return FourierLines(shape, [3, 4, 5, 1]), [Wavelet(shape, "db2", 1), FiniteDifference(shape)]


def mask():
    shape = (8, 8)
    return FourierMask(shape, np.random.default_rng(0).random(shape) < 0.4), [FiniteDifference(shape), Identity(shape)]


def blur():
    kernel = np.outer([1, 2, 1], [1, 2, 1]) / 16
    return Convolution((8, 8), kernel), [Wavelet((8, 8), "haar", 2), FiniteDifference((8, 8))]


def signal():
    return Identity(32), [FiniteDifference(32)]


def complex_image():
    shape = (8, 8)
    X = RealStacked(FourierLines(shape, [3, 4, 5, 6]), "complex")
    return X, [RealStacked(Wavelet(shape, "haar", 2), "complex"), RealStacked(FiniteDifference(shape), "complex")]


def phase_map():
    shape = (8, 8)
    angle = np.add.outer(np.linspace(-1, 1, 8), np.linspace(0, 2, 8) ** 2)
    X = Product(FourierLines(shape, [3, 4, 5, 6]), Diagonal(np.exp(1j * angle)))
    return X, [Wavelet(shape, "haar", 2), FiniteDifference(shape)]


def build(X, B, seed=0):
    """The precision, its dense matrix, that of B, and the true variances."""
    rng = np.random.default_rng(seed)
    q = sum(group.shape[0] for group in B)
    system = PrecisionOperator(X, 0.05, B=B, site_precision=3 * np.exp(rng.standard_normal(q)))
    A = system.to_dense()
    rows = np.vstack([group.to_dense() for group in B])
    covariance = np.linalg.inv(A)
    z = np.einsum("ij,jk,ik->i", rows, covariance, rows)
    return SimpleNamespace(system=system, A=A, B=rows, covariance=covariance, z=z, n=len(A))


MODELS = [lines, mask, blur, signal, complex_image, phase_map]


@pytest.fixture(params=MODELS, ids=lambda make: make.__name__, scope="session")
def model(request):
    return build(*request.param())


@pytest.fixture(scope="session")
def real_model():
    return build(*lines())


@pytest.fixture(scope="session")
def complex_model():
    return build(*complex_image())


@pytest.fixture(scope="session")
def photograph():
    """size -> a quarter of the lines of a photograph, with the precisions of a Laplace prior near that image."""

    def make(n):
        step = 512 // n
        image = pywt.data.camera().reshape(n, step, n, step).mean(axis=(1, 3)) / 255.0
        B = [Wavelet((n, n), "db2", 3), FiniteDifference((n, n))]
        s = np.concatenate([group.forward(image).ravel() for group in B])
        X = FourierLines((n, n), np.arange(n // 2 - n // 8, n // 2 + n // 8))
        return PrecisionOperator(X, 0.01**2, B=B, site_precision=8 / np.sqrt(s**2 + 0.05**2))

    return make
