import numpy as np
import pytest

from adaptive.linalg import Perturbations, PrecisionOperator
from adaptive.operators import (
    Coils,
    FourierLines,
    FourierMask,
    Identity,
    Product,
    RealStacked,
    Repeated,
    Scaled,
    Stacked,
)


def test_covariance_is_the_precision(model):
    N = 20_000
    g = Perturbations(N, 0).right_hand_sides(model.system).reshape(N, -1)
    # Each entry of the sample covariance is Gaussian with variance (A_ii A_jj + A_ij^2) / N.
    variance = (np.outer(np.diag(model.A), np.diag(model.A)) + model.A**2) / N
    scores = (g.T @ g / N - model.A) / np.sqrt(variance)
    assert np.abs(scores).max() < 6
    assert 0.9 < np.sqrt(np.mean(scores**2)) < 1.1


@pytest.mark.parametrize("prior", [2.0, np.array([1.0, 2.0, 3.0]), np.array([[2.0, 1, 0], [1, 2, 0], [0, 0, 1]])])
def test_covariance_with_a_prior(prior):
    system = PrecisionOperator(Scaled(2.0, np.ones((1, 3))), prior_precision=prior)
    g = Perturbations(50_000, 1).right_hand_sides(system)
    np.testing.assert_allclose(g.T @ g / 50_000, system.to_dense(), atol=0.15)


def test_numbers_stay_when_only_the_sites_change(real_model):
    fixed = Perturbations(3, 5)
    first = fixed.right_hand_sides(real_model.system)
    fixed.right_hand_sides(real_model.system.with_sites(7.0))
    np.testing.assert_array_equal(fixed.right_hand_sides(real_model.system), first)
    np.testing.assert_array_equal(Perturbations(3, 5).right_hand_sides(real_model.system), first)
    assert not np.array_equal(Perturbations(3, 6).right_hand_sides(real_model.system), first)


def test_old_lines_keep_their_numbers_when_one_is_added():
    def perturbed(lines, X=None):
        return Perturbations(4, 0).right_hand_sides(PrecisionOperator(X or FourierLines((6, 6), lines)))

    old, new = perturbed([3, 2]), perturbed([2, 5, 3])
    only_old = FourierLines((6, 6), [3, 2])
    np.testing.assert_allclose(only_old.forward(new)[:, 0], only_old.forward(old)[:, 0], atol=1e-12)
    np.testing.assert_allclose(only_old.forward(new), only_old.forward(old), atol=1e-12)
    mask = FourierLines((6, 6), [3, 2]).mask
    np.testing.assert_allclose(perturbed(None, FourierMask((6, 6), mask)), old, atol=1e-12)


def test_a_further_block_keeps_the_numbers_of_the_first_ones():
    a, b = np.eye(3), np.ones((2, 3))
    fixed = Perturbations(4, 0)
    one = fixed.right_hand_sides(PrecisionOperator(Stacked([a])))
    two = fixed.right_hand_sides(PrecisionOperator(Stacked([a, b])))
    added = two - one
    assert np.linalg.matrix_rank(added) == 1  # multiples of (1, 1, 1): the rows of the new block
    np.testing.assert_allclose(added, added[:, :1] @ np.ones((1, 3)))


def test_single_precision_and_complex_unknowns(complex_model):
    g = Perturbations(2, 0, dtype=np.float32).right_hand_sides(complex_model.system)
    assert g.dtype == np.float32
    assert g.shape == (2, *complex_model.system.input_shape)


def test_real_view_of_a_complex_operator_has_the_same_law():
    F = FourierLines(8, [1, 4])
    plain = Perturbations(5, 0).right_hand_sides(PrecisionOperator(F))
    wrapped = Perturbations(5, 0).right_hand_sides(PrecisionOperator(RealStacked(F)))
    np.testing.assert_allclose(plain, wrapped)


def test_numbers_too_many_to_store_are_drawn_again(monkeypatch):
    import adaptive.linalg.perturbations as module

    system = PrecisionOperator(Identity(5), B=Identity(5))
    stored = Perturbations(3, 0).right_hand_sides(system)
    monkeypatch.setattr(module, "LARGEST_STORE", 4)
    redrawn = Perturbations(3, 0)
    for _ in range(2):
        np.testing.assert_array_equal(redrawn.right_hand_sides(system), stored)


def test_one_sample_is_refused():
    with pytest.raises(ValueError, match="n_samples must be at least 2"):
        Perturbations(1)


def test_every_coil_has_noise_of_its_own():
    """Cov g = X^H X for two coils; with one noise for both the terms between them would be added."""
    rng = np.random.default_rng(0)
    maps = rng.standard_normal((2, 3, 4)) + 1j * rng.standard_normal((2, 3, 4))
    X = RealStacked(Product(Repeated(FourierLines((3, 4), [0, 2]), 2), Coils(maps)))
    system = PrecisionOperator(X)
    N = 40_000
    g = Perturbations(N, 0).right_hand_sides(system).reshape(N, -1)
    A = system.to_dense()
    scores = (g.T @ g / N - A) / np.sqrt((np.outer(np.diag(A), np.diag(A)) + A**2) / N)
    assert np.abs(scores).max() < 6
