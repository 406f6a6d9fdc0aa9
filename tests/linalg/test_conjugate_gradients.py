import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaptive.linalg import circulant_preconditioner, conjugate_gradients


def spd(n, condition, seed=0):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    return (Q * np.geomspace(1.0, condition, n)) @ Q.T


def columns(matrix):
    return lambda u: np.stack([matrix @ column for column in u])  # one by one: the same bits in every batch


@given(st.integers(1, 30), st.integers(0, 5), st.floats(1.0, 1e5), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_solves_random_systems(n, b, condition, seed):
    A = spd(n, condition, seed)
    right = np.random.default_rng(seed).standard_normal((b, n)) * 10.0 ** np.arange(-2, b - 2)[:, None]
    solution = conjugate_gradients(columns(A), right, tol=1e-10, max_iter=3000)
    assert solution.converged.all()
    np.testing.assert_allclose(solution.x @ A.T, right, atol=1e-8 * np.abs(right).max(initial=1.0))


def test_at_most_n_iterations_in_exact_arithmetic():
    A = spd(12, 50.0)
    solution = conjugate_gradients(columns(A), np.eye(12), tol=1e-7)
    assert solution.n_iter.max() <= 12


def test_a_batch_is_its_columns_and_each_stops_on_its_own():
    A = spd(40, 1e3)
    right = np.random.default_rng(0).standard_normal((4, 40))
    right[1] = 0.0
    tol = np.array([1e-2, 1e-6, 1e-4, 1e-6])
    together = conjugate_gradients(columns(A), right, tol=tol)
    for c in range(4):
        alone = conjugate_gradients(columns(A), right[c : c + 1], tol=tol[c])
        np.testing.assert_array_equal(alone.x[0], together.x[c])
        assert alone.n_iter[0] == together.n_iter[c]
    assert together.n_iter[0] < together.n_iter[2] < together.n_iter[3]
    assert together.n_iter[1] == 0
    assert not together.x[1].any()
    assert together.n_products == together.n_iter.sum()
    residuals = np.linalg.norm(right - together.x @ A, axis=1) / np.where(
        right.any(axis=1), np.linalg.norm(right, axis=1), 1
    )
    np.testing.assert_allclose(together.residuals, residuals, rtol=1e-5, atol=1e-12)
    assert (residuals <= tol * (1 + 1e-6)).all()


def test_chunks_do_not_change_the_result(monkeypatch):
    import sys

    module = sys.modules["adaptive.linalg.conjugate_gradients"]
    A, right = spd(20, 100.0), np.random.default_rng(1).standard_normal((7, 20))
    whole = conjugate_gradients(columns(A), right)
    monkeypatch.setattr(module, "CHUNK_BYTES", 2 * 20 * 8)
    parts = conjugate_gradients(columns(A), right)
    np.testing.assert_array_equal(parts.x, whole.x)
    assert parts.n_products == whole.n_products


def test_warm_start_from_the_solution_costs_one_product():
    A, right = spd(20, 100.0), np.random.default_rng(1).standard_normal((3, 20))
    solution = conjugate_gradients(columns(A), right, tol=1e-6)
    again = conjugate_gradients(columns(A), right, start=solution.x, tol=1e-6)
    assert again.n_products == 3
    np.testing.assert_array_equal(again.x, solution.x)
    near = conjugate_gradients(columns(A * 1.001), right, start=solution.x, tol=1e-5)
    assert near.n_iter.max() < solution.n_iter.min()


def test_exact_preconditioner_needs_one_iteration(model):
    right = np.random.default_rng(2).standard_normal((2, *model.system.input_shape))

    def inverse(r):
        return (r.reshape(len(r), -1) @ model.covariance).reshape(r.shape)

    solution = conjugate_gradients(model.system.apply, right, preconditioner=inverse, tol=1e-7)
    assert solution.n_iter.max() == 1
    assert solution.n_preconditionings == 2


def test_circulant_preconditioner_saves_products(photograph):
    system = photograph(32)
    right = np.random.default_rng(2).standard_normal((4, *system.input_shape))
    plain = conjugate_gradients(system.apply, right)
    inverse = circulant_preconditioner(system).inverse()
    quick = conjugate_gradients(system.apply, right, preconditioner=inverse)
    np.testing.assert_allclose(quick.x, plain.x, atol=1e-5 * np.abs(plain.x).max())
    assert quick.n_products < 0.5 * plain.n_products
    known = conjugate_gradients(system.apply, right, preconditioner=inverse, preconditioned=inverse(right))
    np.testing.assert_allclose(known.x, quick.x, atol=1e-12)
    assert known.n_preconditionings == quick.n_preconditionings - 4


def test_preconditioned_norm_is_the_energy_error_where_the_preconditioner_is_close(photograph):
    system = photograph(32)
    M = circulant_preconditioner(system).inverse()
    right = np.random.default_rng(5).standard_normal((3, *system.input_shape))
    truth = conjugate_gradients(system.apply, right, preconditioner=M, tol=1e-12).x
    counts = []
    for preconditioned in (None, M(right)):
        solution = conjugate_gradients(
            system.apply, right, preconditioner=M, preconditioned=preconditioned, norm="preconditioned", tol=0.02
        )
        assert (solution.residuals <= 0.02).all()
        error = solution.x - truth
        energy = [np.sqrt((e * system.apply(e[None])[0]).sum()) for e in (*error, *truth)]
        ratio = np.array(energy[:3]) / energy[3:]
        assert (ratio < 3 * solution.residuals).all()
        assert (ratio > solution.residuals / 3).all()
        counts.append(solution.n_preconditionings)
    assert counts[0] == counts[1] + 3
    assert counts[1] == solution.n_products  # one to measure each iterate, none for the first
    warm = conjugate_gradients(system.apply, right, start=truth, preconditioner=M, norm="preconditioned", tol=1e-3)
    assert not warm.n_iter.any()
    cold = conjugate_gradients(system.apply, right, preconditioner=M, norm="preconditioned", tol=1e-11)
    np.testing.assert_allclose(cold.x, truth, atol=1e-8 * np.abs(truth).max())


def test_complex_columns_are_real_stacked_ones():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((12, 6)) + 1j * rng.standard_normal((12, 6))
    A = root.conj().T @ root + np.eye(6)
    right = rng.standard_normal((2, 6)) + 1j * rng.standard_normal((2, 6))
    solution = conjugate_gradients(columns(A), right, tol=1e-12)
    np.testing.assert_allclose(solution.x @ A.T, right, atol=1e-9)
    stacked = np.block([[A.real, -A.imag], [A.imag, A.real]])
    real = conjugate_gradients(columns(stacked), np.hstack([right.real, right.imag]), tol=1e-12)
    np.testing.assert_allclose(real.x, np.hstack([solution.x.real, solution.x.imag]), atol=1e-9)


def test_single_precision_reports_its_true_residual():
    A = spd(50, 100.0).astype(np.float32)
    right = np.random.default_rng(4).standard_normal((3, 50)).astype(np.float32)
    solution = conjugate_gradients(columns(A), right, tol=1e-5)
    assert solution.x.dtype == np.float32
    true = np.linalg.norm(right - solution.x.astype(float) @ A.astype(float), axis=1) / np.linalg.norm(right, axis=1)
    assert (true <= 1.5e-5).all()
    with pytest.warns(ConvergenceWarning, match="relative residual"):  # beyond single precision: said, not hidden
        hopeless = conjugate_gradients(columns(A), right, tol=1e-9)
    assert (hopeless.residuals > 1e-9).all()


def test_non_convergence_warns_and_indefinite_matrices_stop():
    A, right = spd(30, 1e4), np.ones((1, 30))
    with pytest.warns(ConvergenceWarning, match="1 of 1 systems stopped after at most 3 iterations"):
        assert not conjugate_gradients(columns(A), right, max_iter=3).converged.any()
    with pytest.warns(ConvergenceWarning):
        assert np.isfinite(conjugate_gradients(columns(np.diag([1.0, -1.0])), [[1.0, 1.0]]).x).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"right_hand_sides": [1.0, 2.0]}, "batch axis first"),
        ({"right_hand_sides": [[1.0, np.nan]]}, "right_hand_sides must be finite"),
        ({"right_hand_sides": [[1.0, 2.0]], "start": [[1.0]]}, "start must have the shape"),
        ({"right_hand_sides": [[1.0, 2.0]], "start": [[np.inf, 0.0]]}, "the product A x must be finite"),
        ({"right_hand_sides": [[1.0, 2.0]], "norm": "energy"}, "norm must be one of"),
        ({"right_hand_sides": [[1.0, 2.0]], "preconditioned": [[1.0]]}, "preconditioned must have the shape"),
        ({"right_hand_sides": [[1.0, 2.0]], "tol": -1.0}, "tol must be >= 0"),
        ({"right_hand_sides": [[1.0, 2.0]], "apply": lambda u: u[:, :1]}, r"came back with shape \(1, 1\)"),
        ({"right_hand_sides": [[1.0, 2.0]], "apply": lambda u: u * np.nan}, "the product A p must be finite"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        conjugate_gradients(**{"apply": lambda u: u, **arguments})
