"""Coils, phases and partial Fourier: what the normal operators of multi-coil blocks are and cost."""

import numpy as np
import pytest
import scipy.fft

from adaptive.linalg import PrecisionOperator
from adaptive.linalg.circulant import circulant_preconditioner
from adaptive.operators import (
    Coils,
    FourierLines,
    FourierMask,
    NonuniformFourier,
    Phase,
    Product,
    RealStacked,
    Repeated,
)
from adaptive.operators import coils as module

RNG = np.random.default_rng(0)
MAPS = RNG.standard_normal((4, 8, 6)) + 1j * RNG.standard_normal((4, 8, 6))
LINES = FourierLines((8, 6), [4, 1, 6])


def test_a_coil_that_sees_everything_alike_is_no_coil():
    block = Product(Repeated(LINES, 1), Coils(np.ones((1, 8, 6))))
    u = RNG.standard_normal((8, 6)) + 1j * RNG.standard_normal((8, 6))
    np.testing.assert_allclose(block.forward(u)[0], LINES.forward(u), atol=1e-14)
    np.testing.assert_allclose(block.normal(u), LINES.normal(u), atol=1e-14)
    np.testing.assert_allclose(block.normal_spectrum(), LINES.normal_spectrum(), atol=1e-12)


def test_maps_whose_squares_add_up_to_one_and_all_samples_give_back_the_image():
    maps = MAPS / np.sqrt((np.abs(MAPS) ** 2).sum(axis=0))
    block = Product(Repeated(FourierLines((8, 6), range(8)), 4), Coils(maps))
    u = RNG.standard_normal((8, 6)) + 1j * RNG.standard_normal((8, 6))
    np.testing.assert_allclose(block.adjoint(block.forward(u)), u, atol=1e-13)
    np.testing.assert_allclose(block.normal(u), u, atol=1e-13)


def test_the_normal_operator_costs_two_transforms_per_coil_and_image(monkeypatch):
    counted = []
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        original = getattr(scipy.fft, name)

        def counting(x, *args, _original=original, _name=name, **options):
            axes = options.get("axes")
            counted.append((_name, len(x), axes))
            return _original(x, *args, **options)

        monkeypatch.setattr(scipy.fft, name, counting)
    block = Product(Repeated(LINES, 4), Coils(MAPS))
    block.normal(np.ones((5, 8, 6), complex))
    assert counted == [("fftn", 20, [1]), ("ifftn", 20, [1])]  # along the lines' own axis only, all coils at once


def test_coil_images_are_made_for_a_few_unknowns_at_a_time(monkeypatch):
    block = Product(Repeated(LINES, 4), Coils(MAPS))
    u = RNG.standard_normal((7, 8, 6))
    whole = block.normal(u)
    monkeypatch.setattr(module, "CHUNK_BYTES", 2**12)
    sizes, original = [], LINES._normal
    monkeypatch.setattr(LINES, "_normal", lambda v, weights: sizes.append(len(v)) or original(v, weights))
    np.testing.assert_allclose(block.normal(u), whole, rtol=1e-13)
    assert sizes == [8, 8, 8, 4]
    assert block.normal(np.ones((0, 8, 6))).shape == (0, 8, 6)


def test_coils_one_after_the_other_give_what_all_give_at_once(monkeypatch):
    block = Product(Repeated(LINES, 4), Coils(MAPS))
    u = RNG.standard_normal((2, 8, 6)) + 1j * RNG.standard_normal((2, 8, 6))
    v, weights = block.forward(u), RNG.uniform(0.5, 1.0, (4, 3, 6))
    adjoint, normal, weighted = block.adjoint(v), block.normal(u), block.normal(u, weights)
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    np.testing.assert_allclose(block.forward(u), v, atol=1e-14)
    np.testing.assert_allclose(block.adjoint(v), adjoint, atol=1e-13)
    np.testing.assert_allclose(block.normal(u), normal, atol=1e-13)
    np.testing.assert_allclose(block.normal(u, weights), weighted, atol=1e-13)


def test_weights_may_differ_between_coils():
    block = Product(Repeated(LINES, 4), Coils(MAPS))
    weights = np.array([1.0, 0.0, 0.0, 0.0])[:, None, None]
    alone = Product(LINES, Phase(np.zeros((8, 6))))
    u = RNG.standard_normal((8, 6)) + 0j
    wanted = MAPS[0].conj() * alone.normal(MAPS[0] * u)
    np.testing.assert_allclose(block.normal(u, weights), wanted, atol=1e-13)


@pytest.mark.parametrize("unknown", ["real", "complex"])
def test_multi_coil_spokes_have_a_circulant_preconditioner(unknown):
    samples = RNG.uniform(-np.pi, np.pi, (60, 2))
    smooth = 1 + 0.1 * np.cos(2 * np.pi * np.arange(8) / 8)[:, None] * np.ones(6)
    maps = np.stack([smooth, 0.5j * smooth])
    X = RealStacked(Product(Repeated(NonuniformFourier((8, 6), samples), 2), Coils(maps)), unknown)
    system = PrecisionOperator(X, 0.1, prior_precision=1.0)
    M, A = circulant_preconditioner(system), system.to_dense()
    inverse = M.inverse()(np.eye(len(A)).reshape(-1, *system.input_shape)).reshape(len(A), -1)
    before, after = np.linalg.eigvalsh(A), np.linalg.eigvals(inverse @ A).real
    assert after.max() / after.min() < 0.7 * before.max() / before.min()


def test_half_of_k_space_determines_a_real_unknown_behind_a_phase():
    phase = 0.3 * RNG.standard_normal((8, 6))
    half = Product(FourierLines((8, 6), range(5)), Phase(phase))  # frequencies -4 to 0: partial Fourier
    X = RealStacked(half).to_dense().reshape(-1, 48)
    assert np.linalg.cond(X) < 1e3
    assert np.linalg.matrix_rank(half.to_dense()) == 30  # a complex unknown is not determined by them
    u = RNG.standard_normal((8, 6))
    samples = RealStacked(half).forward(u)
    np.testing.assert_allclose(np.linalg.lstsq(X, samples.ravel(), rcond=None)[0], u.ravel(), atol=1e-10)


def test_a_phase_cancels_in_its_own_normal_operator():
    P = Phase(RNG.standard_normal((8, 6)))
    u = RNG.standard_normal((2, 8, 6)).astype(np.float32)
    np.testing.assert_array_equal(P.normal(u), u)
    assert P.forward(u).dtype == np.complex64
    block = Product(FourierMask((8, 6), np.ones((8, 6), bool)), P)
    np.testing.assert_allclose(block.adjoint(block.forward(u)), u, atol=1e-6)
