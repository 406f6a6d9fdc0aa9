"""The model: what it accepts, what it refuses and in which words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

from adaptive.inference import GLM, expectation_propagation, laplace_approximation, variational_bounds
from adaptive.operators import Dense, FiniteDifference, Identity, RealStacked, Wavelet
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Poisson

X, Y = np.array([[1.0, 0.5], [0.0, 1.0], [2.0, -1.0]]), np.array([1.0, 0.5, -0.3])
L = Laplace(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": X, "y": Y, "noise_variance": 0.0}, "noise_variance must be > 0, got 0.0"),
        ({"X": X, "y": Y, "noise_variance": -1.0}, "noise_variance must be > 0, got -1.0"),
        ({"X": X, "y": Y, "noise_variance": [1.0, 2.0]}, r"noise_variance must be one number > 0, got .*\(2,\)"),
        ({"X": X, "y": Y, "noise_variance": np.nan}, "noise_variance contains nan"),
        ({"X": X, "y": Y[:2]}, r"y must have one value per row of X, shape \(3,\), got \(2,\)"),
        ({"X": X, "y": [1.0, np.nan, 0.0]}, "y contains nan at position 1"),
        ({"X": np.where(X > 1, np.inf, X), "y": Y}, r"X contains inf at position \(2, 0\)"),
        ({"X": X}, "X and y belong together, y is missing"),
        ({"y": Y}, "X and y belong together, X is missing"),
        ({"X": X, "y": Y + 1j}, "y is complex but X is real"),
        ({"X": X, "y": Y, "B": np.ones((2, 3))}, "X speaks about 2 unknowns but B about 3"),
        ({"B": X, "prior_covariance": np.ones(3)}, "B speaks about 2 unknowns but prior_covariance about 3"),
        ({"B": X, "prior_covariance": -1.0}, "prior_covariance must be > 0"),
        ({"B": X, "prior_covariance": [[1.0, 2.0], [2.0, 1.0]]}, "prior_covariance must be positive definite.* -1"),
        ({"B": X, "prior_covariance": [[1.0, 2.0], [0.0, 1.0]]}, "prior_covariance must be symmetric"),
        ({"B": X, "prior_covariance": 1.0, "prior_mean": [1.0, 2.0, 3.0]}, "unknowns"),
        ({"B": X, "prior_mean": [1.0, 2.0]}, "prior_mean was given without prior_covariance"),
        ({"B": X, "prior_covariance": [1.0, np.inf]}, "prior_covariance contains inf at position 1"),
        ({}, "number of unknowns is not given"),
        ({"B": [X, X], "prior_covariance": 1.0}, r"one entry per entry of B \(2\), got 1"),
        ({"B": X + 1j, "prior_covariance": 1.0}, "B must be real"),
        ({"B": X, "potentials": [L, L], "prior_covariance": 1.0}, r"one entry per entry of B \(1\), got 2"),
        (
            {"B": X, "potentials": "laplace", "prior_covariance": 1.0},
            "potentials must be a Potential or a list of them",
        ),
        (
            {"B": X, "potentials": Laplace([1.0, 2.0]), "prior_covariance": 1.0},
            r"one potential per row of B \(3\), got 2",
        ),
        (
            {"B": [X, None], "potentials": [L, Laplace([1.0] * 3)], "prior_covariance": 1.0},
            r"potentials\[1\] must hold one potential per row of B \(2\), got 3",
        ),
        (
            {"B": X, "potentials": BernoulliLogit(), "prior_covariance": 1.0},
            r"without outcomes; pass BernoulliLogit\(y\)",
        ),
        ({"B": X, "potentials": Poisson(), "prior_covariance": 1.0}, r"without outcomes; pass Poisson\(y\)"),
        ({"B": X[:1]}, "the design is singular.*rank 2.*unknown [01]"),
        ({"X": [[1.0, 0.0, 0.0]], "y": [1.0], "B": [[0.0, 0.0, 1.0]]}, "design is singular.*rank 3.*unknown 1"),
        ({"B": np.c_[X, X[:, 0] - X[:, 1]]}, "design is singular"),
    ],
)
def test_bad_input_ends_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message) as error:
        GLM(**{"potentials": L, **arguments})
    assert "\n" not in str(error.value)


def test_all_kinds_of_matrices_mean_the_same():
    reference = expectation_propagation(GLM(X, Y, 0.5, B=X, potentials=L), tol=1e-10)
    for convert in (
        np.asarray,
        np.ndarray.tolist,
        scipy.sparse.csr_array,
        scipy.sparse.coo_matrix,
        aslinearoperator,
        Dense,
    ):
        posterior = expectation_propagation(GLM(convert(X), Y, 0.5, B=convert(X), potentials=L), tol=1e-10)
        np.testing.assert_allclose(posterior.mean, reference.mean, atol=1e-12)
        assert posterior.log_evidence == pytest.approx(reference.log_evidence, abs=1e-12)


def test_groups_are_the_rows_one_after_the_other():
    y = np.array([1, -1, 1])
    together = GLM(B=X, potentials=BernoulliLogit(y), prior_covariance=1.0)
    apart = GLM(B=[X[:1], X[1:]], potentials=[BernoulliLogit(y[:1]), BernoulliLogit(y[1:])], prior_covariance=1.0)
    a, b = laplace_approximation(together), laplace_approximation(apart)
    np.testing.assert_allclose(a.mean, b.mean, atol=1e-12)
    assert a.log_evidence == pytest.approx(b.log_evidence)
    assert apart.group_lengths == [1, 2]
    s = np.array([0.3, -1.0, 2.0])
    for name in ("log_density", "derivatives", "third_derivative", "tight_width", "height", "inner"):
        np.testing.assert_allclose(getattr(apart.potential, name)(s + 5), getattr(together.potential, name)(s + 5))
    np.testing.assert_allclose(apart.potential[[2, 0]].tilt, [0.5, 0.5])
    np.testing.assert_allclose(apart.potential[1:].log_density(s[1:]), together.potential[1:].log_density(s[1:]))


def test_gaussian_potentials_are_measurements():
    """Moved into the data rows: exact, whatever else is in the model, and recorded among the sites."""
    y = np.array([1, -1, 1])
    as_data = GLM(X, Y, 0.5, B=X, potentials=BernoulliLogit(y), prior_covariance=2.0)
    as_potential = GLM(B=[X, X], potentials=[BernoulliLogit(y), Gaussian(0.5, Y)], prior_covariance=2.0)
    for engine in (laplace_approximation, expectation_propagation):
        a, b = engine(as_data), engine(as_potential)
        np.testing.assert_allclose(a.mean, b.mean, atol=1e-12)
        assert a.log_evidence == pytest.approx(b.log_evidence, abs=1e-11)
        np.testing.assert_allclose(b.sites[0][3:], 2.0)
        np.testing.assert_allclose(b.sites[1][3:], 2.0 * Y)
    only = laplace_approximation(GLM(B=X, potentials=Gaussian(0.5, Y), prior_covariance=2.0))
    assert only.evidence_kind == "exact"
    V = np.linalg.inv(X.T @ X / 0.5 + np.eye(2) / 2)
    np.testing.assert_allclose(only.covariance(), V)
    np.testing.assert_allclose(only.mean, V @ X.T @ Y / 0.5)
    total = X @ X.T * 2.0 + 0.5 * np.eye(3)
    expected = -0.5 * Y @ np.linalg.solve(total, Y) - 0.5 * np.linalg.slogdet(2 * np.pi * total)[1]
    assert only.log_evidence == pytest.approx(expected)


def test_complex_measurements_of_a_real_latent_are_two_real_ones():
    F = np.fft.fft(np.eye(4))[:3]
    u = np.array([1.0, 0.5, -1.0, 0.0])
    y = F @ u
    a = expectation_propagation(GLM(F, y, 0.1, potentials=L))
    b = expectation_propagation(GLM(np.vstack([F.real, F.imag]), np.r_[y.real, y.imag], 0.1, potentials=L))
    assert a.log_evidence == pytest.approx(b.log_evidence)
    np.testing.assert_allclose(a.mean, b.mean, atol=1e-12)
    assert GLM(F, y, 0.1, potentials=L).measurements == 6
    assert a.information_gain(F[:1], 0.1) == pytest.approx(a.information_gain(np.vstack([F[:1].real, F[:1].imag]), 0.1))


def test_complex_latents_are_real_stacked():
    rng = np.random.default_rng(0)
    F = np.fft.fft(np.eye(3))
    u = rng.normal(size=3) + 1j * rng.normal(size=3)
    stacked = RealStacked(F, unknown="complex")
    measured = stacked.forward(np.stack([u.real, u.imag]))
    np.testing.assert_allclose(measured, [(F @ u).real, (F @ u).imag])
    model = GLM(stacked, measured, 1e-8, B=Identity(stacked.input_shape), potentials=Laplace(1.0))
    assert model.n == 6
    posterior = expectation_propagation(model)
    np.testing.assert_allclose(posterior.mean, np.r_[u.real, u.imag], atol=1e-6)


def test_repr_names_the_parts():
    model = GLM(X, Y, B=[X, None], potentials=[BernoulliLogit([1, 1, -1]), L], prior_covariance=np.eye(2))
    assert repr(model) == "GLM(n=2, measurements=3, projections=3 BernoulliLogit, 2 Laplace, prior covariance full)"


@pytest.mark.parametrize("engine", [laplace_approximation, variational_bounds, expectation_propagation])
@pytest.mark.parametrize("likelihood", [BernoulliLogit, BernoulliProbit])
@pytest.mark.filterwarnings("ignore")
def test_separable_classes_without_a_prior_are_improper(engine, likelihood):
    """Nothing stops the mean from running away; one row on the wrong side does."""
    rows = np.array([[1.0, 0.2], [0.8, -0.5], [-1.0, 0.3], [-0.7, -0.4]])
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    with pytest.raises(ValueError, match="improper"):
        engine(GLM(B=rows, potentials=likelihood(labels)))
    mixed = GLM(B=np.vstack([rows, rows]), potentials=likelihood(np.concatenate([labels, -labels])))
    assert np.isfinite(engine(mixed).mean).all()


def test_a_basis_needs_no_check_of_the_rank(monkeypatch):
    monkeypatch.setattr(np.linalg, "eigh", None)  # whose cost grows with the cube of the unknowns
    for B in (Wavelet((8, 8)), [FiniteDifference((8, 8)), Wavelet((8, 8))], None):
        potentials = [Laplace(1.0)] * 2 if isinstance(B, list) else Laplace(1.0)
        assert GLM(np.ones((1, 64)), [1.0], B=B, potentials=potentials).n == 64
