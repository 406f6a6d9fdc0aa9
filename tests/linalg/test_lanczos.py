import numpy as np
import pytest

from adaptive.linalg import lanczos_variances, tridiagonalise, variances
from adaptive.operators import FourierLines


def start_of(model, seed=0, columns=1):
    return np.random.default_rng(seed).standard_normal((columns, *model.system.input_shape))


def test_tridiagonal_is_the_projected_matrix(model):
    k = 12
    run = tridiagonalise(model.system.apply, start_of(model, columns=2), k)
    for column in range(2):
        Q = run.basis[column]
        np.testing.assert_allclose(Q @ Q.T, np.eye(k), atol=1e-12)
        off = run.off_diagonal[column, : k - 1]
        T = np.diag(run.diagonal[column]) + np.diag(off, 1) + np.diag(off, -1)
        np.testing.assert_allclose(Q @ model.A @ Q.T, T, atol=1e-9 * np.abs(T).max())


def test_full_rank_reconstructs_exactly(model):
    run = tridiagonalise(model.system.apply, start_of(model), model.n)
    values, residuals, first = run.ritz()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(model.A)[-len(values) :], rtol=1e-8)
    np.testing.assert_allclose((first**2).sum(), 1.0)
    estimate = variances.lanczos(model.system, model.n, random_state=0).estimate
    np.testing.assert_allclose(estimate, model.z, rtol=1e-7)


def test_ritz_residuals_are_those_of_the_ritz_vectors(real_model):
    run = tridiagonalise(real_model.system.apply, start_of(real_model), 15)
    values, residuals, _ = run.ritz()
    T = np.diag(run.diagonal[0]) + np.diag(run.off_diagonal[0, :-1], 1) + np.diag(run.off_diagonal[0, :-1], -1)
    vectors = np.linalg.eigh(T)[1].T @ run.basis[0]
    true = np.linalg.norm(vectors @ real_model.A - values[:, None] * vectors, axis=1)
    np.testing.assert_allclose(residuals, true, atol=1e-9 * values[-1])


def test_variances_grow_and_stay_below_the_truth(model):
    steps = []
    project = model.system.project
    lanczos_variances(
        model.system.apply, project, start_of(model), model.n // 2, trace=lambda i, nu: steps.append(nu.copy())
    )
    assert len(steps) == model.n // 2
    assert (np.diff(steps, axis=0) >= 0).all()  # sums of squares: exactly
    assert (steps[-1] <= model.z * (1 + 1e-10)).all()
    assert steps[-1].sum() < 0.98 * model.z.sum()  # a bound, not an estimate, before the end


def test_recurrence_is_the_projected_inverse(real_model):
    k = 20
    estimate, run = lanczos_variances(real_model.system.apply, real_model.system.project, start_of(real_model), k)
    basis = tridiagonalise(real_model.system.apply, start_of(real_model), k).basis[0]
    root = real_model.B @ basis.T
    expected = np.einsum("qi,ij,qj->q", root, np.linalg.inv(basis @ real_model.A @ basis.T), root)
    np.testing.assert_allclose(estimate, expected, rtol=1e-8)
    assert run.steps[0] == k


def test_inverse_bounds_in_the_loewner_order(real_model):
    """A^-1 >= Q_k T_k^-1 Q_k^T >= Q_j T_j^-1 Q_j^T for j < k."""
    basis = tridiagonalise(real_model.system.apply, start_of(real_model), 30).basis[0]
    previous = np.zeros_like(real_model.A)
    for k in (5, 15, 30):
        Q = basis[:k]
        bound = Q.T @ np.linalg.inv(Q @ real_model.A @ Q.T) @ Q
        assert np.linalg.eigvalsh(bound - previous)[0] > -1e-9
        assert np.linalg.eigvalsh(real_model.covariance - bound)[0] > -1e-9
        previous = bound


def test_without_reorthogonalisation_the_first_steps_are_the_same(real_model):
    full = tridiagonalise(real_model.system.apply, start_of(real_model), 8)
    none = tridiagonalise(real_model.system.apply, start_of(real_model), 8, reorthogonalise="none")
    np.testing.assert_allclose(none.diagonal, full.diagonal, rtol=1e-8)
    assert none.basis is None


def test_an_invariant_space_ends_the_recurrence():
    run = tridiagonalise(lambda u: u * np.array([1.0, 1.0, 4.0, 4.0]), [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]], 4)
    assert run.steps.tolist() == [2, 1]
    np.testing.assert_allclose(run.ritz(0)[0], [1.0, 4.0])
    np.testing.assert_allclose(run.ritz(1)[0], [1.0])


def spectra(n):
    i = np.arange(1, n + 1)
    return {
        "linear": i / n,
        "logarithmic": 10 ** (-3 + 3 * (i - 1) / (n - 1)),
        "sigmoid": 1 / (1 + np.exp(-20 * (i / n - 0.5))),
    }


@pytest.mark.parametrize("name", ["linear", "logarithmic", "sigmoid"])
def test_eigenvalues_settle_from_the_ends_and_at_wide_gaps(name):
    """Figure 3.5 of Nickisch (2010): n = 300, k = 100; counts in the thirds of the spectrum as in the specification."""
    n, k = 300, 100
    omega = spectra(n)[name]
    counts = np.zeros(3)
    for seed in range(5):
        run = tridiagonalise(lambda u: u * omega, np.random.default_rng(seed).standard_normal((1, n)), k)
        settled = run.ritz()[0][run.converged(0.01, spread=omega[-1] - omega[0])]
        third = np.searchsorted(omega, settled) * 3 // (n + 1)
        counts += np.bincount(third, minlength=3) / 5
    low, middle, high = counts
    expected = {"linear": (14, 0, 13), "logarithmic": (8, 13, 55), "sigmoid": (10, 27, 10)}[name]
    np.testing.assert_allclose(counts, expected, atol=4)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="start must have no zero columns"):
        tridiagonalise(lambda u: u, [[0.0, 0.0]], 1)
    with pytest.raises(ValueError, match="start must have a batch axis"):
        tridiagonalise(lambda u: u, [1.0, 0.0], 1)
    with pytest.raises(ValueError, match="reorthogonalise must be one of"):
        tridiagonalise(lambda u: u, [[1.0]], 1, reorthogonalise="half")
    with pytest.raises(ValueError, match="a pivot was not positive"):
        lanczos_variances(lambda u: u * [1.0, -3.0], lambda u: u, [[1.0, 1.0]], 2)
    with pytest.raises(ValueError, match="finite"):
        tridiagonalise(lambda u: u * np.nan, [[1.0, 1.0]], 2)
    with pytest.raises(ValueError, match="Lanczos vectors of 100000 numbers need 80.0 GB|need"):
        tridiagonalise(lambda u: u, np.ones((1, 10**5)), 10**5)


def test_complex_rows_give_the_power_of_fourier_samples(real_model):
    F = FourierLines(real_model.system.input_shape, [0, 2, 5])
    rows = F.to_dense()
    power = np.einsum("ij,jk,ik->i", rows, real_model.covariance, rows.conj()).real
    np.testing.assert_allclose(variances.exact(real_model.system, rows=F).estimate, power, rtol=1e-9)
    full = variances.lanczos(real_model.system, real_model.n, rows=F, random_state=0).estimate
    np.testing.assert_allclose(full, power, rtol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_basis_stays_orthogonal_beyond_twelve_decades(seed):
    """Where what is new is rounding, a single projection leaves more of the old directions than of anything else."""
    n = 300
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = vectors[:, :100] * np.geomspace(1e-12, 1.0, 100) @ vectors[:, :100].T
    run = tridiagonalise(lambda u: u @ (A + A.T) / 2, rng.standard_normal((1, n)), n, tol=0.0)
    np.testing.assert_allclose(run.basis[0] @ run.basis[0].T, np.eye(n), atol=1e-13)
