"""Wrong orientation and scaling of k-space are named; right ones pass, with any lines, phase and noise."""

import numpy as np
import pytest

from adaptive import images
from adaptive.operators import FourierLines
from designs import kspace


@pytest.fixture(scope="module")
def heads():
    pytest.importorskip("nibabel", reason="needs nibabel: pip install 'adaptive-designs[mri]'")
    stack = images.head_scan()
    return [images.simulate_scan(stack[k].image, snr=30, random_state=k) for k in (2, 12, 22)]


def masks(shape):
    for lines in (
        np.arange(shape[0]),
        kspace.central(shape[0], 16),
        kspace.variable_density(shape[0], 40, 16, random_state=0),
        kspace.half_plane_variable_density(shape[0], 40, 16, random_state=0),
    ):
        mask = np.zeros(shape, bool)
        mask[lines] = True
        yield mask


def test_right_kspace_passes(heads):
    photograph = images.simulate_scan(np.random.default_rng(0).uniform(0, 1, (64, 64)) + 0.5, random_state=1)
    for scan in [*heads, photograph]:
        for mask in masks(scan.kspace.shape):
            assert images.kspace_problem(scan.kspace * mask, mask, natural=True) is None
            for known in (scan.image, scan.acquired):
                assert images.kspace_problem(scan.kspace * mask, mask, image=known) is None
        images.check_kspace(scan.kspace)


@pytest.mark.parametrize("shape", [(8, 8), (32, 24), (64, 64)])
def test_white_noise_passes(shape):
    # An image without any structure is unusual, not wrong: the tests of other modules use such images.
    rng = np.random.default_rng(0)
    for _ in range(20):
        kspace_of_noise = FourierLines(shape, range(shape[0])).forward(rng.standard_normal(shape))
        assert images.kspace_problem(kspace_of_noise) is None


@pytest.mark.parametrize("axes, told", [((0, 1), "axes 0 and 1"), ((0,), "axis 0"), ((1,), "axis 1")])
def test_a_forgotten_shift_is_named_with_its_axis(heads, axes, told):
    for scan in heads:
        shifted = np.fft.ifftshift(scan.kspace, axes=axes)
        problem = images.kspace_problem(shifted)
        assert f"kspace is not centred along {told}" in problem and "np.fft.fftshift" in problem
        for mask in list(masks(shifted.shape))[1:]:
            with pytest.raises(ValueError, match="kspace is not centred along|kspace has no centre"):
                images.check_kspace(shifted * mask, mask, natural=True)


def test_a_shift_by_any_amount_is_named(heads):
    moved = np.roll(heads[1].kspace, 25, axis=0)
    problem = images.kspace_problem(moved)
    assert "along axis 0" in problem and "move DC there" in problem and "fftshift" not in problem


@pytest.mark.parametrize("known", [False, True])
def test_a_wrong_normalisation_is_named(heads, known):
    scan = heads[1]
    root = np.sqrt(scan.kspace.size)
    image = scan.acquired if known else None
    for mask in masks(scan.kspace.shape):
        problem = images.kspace_problem(root * scan.kspace * mask, mask, image=image)
        assert "not orthonormal" in problem and f"divide by {root:.3g}" in problem
        problem = images.kspace_problem(scan.kspace * mask / root, mask, image=image)
        assert 'norm="forward"' in problem and f"multiply by {root:.3g}" in problem
    assert "divide by" in images.kspace_problem(3000 * scan.kspace, image=image)
    assert images.kspace_problem(3000 * scan.kspace, largest=3000.0) is None
    if known:
        assert "has 2 times the norm" in images.kspace_problem(2 * scan.kspace, image=image)


def test_swapped_halves_are_named(heads):
    scan = heads[1]
    signs = (-1.0) ** np.arange(scan.kspace.shape[0])[:, None]
    assert "halves are swapped along axis 0" in images.kspace_problem(scan.kspace * signs)


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda u: u[::-1], "flipped along axis 0"),
        (lambda u: u[:, ::-1], "flipped along axis 1"),
        (lambda u: u[::-1, ::-1], "turned by 180 degrees"),
        (lambda u: u.T, "transposed"),
        (np.conj, "conjugated"),
        (lambda u: np.roll(u, 48, 0), "with halves swapped along axis 0"),
        (lambda u: np.roll(u, (48, 48), (0, 1)), "with halves swapped along both axes"),
    ],
)
def test_a_wrong_orientation_is_named_where_the_image_is_known(heads, change, told):
    known = heads[0].acquired[16:112]
    samples = FourierLines(known.shape, range(96)).forward(change(known))
    assert f"the image {told}" in images.kspace_problem(samples, image=known)


def test_shapes_are_compared(heads):
    scan = heads[0]
    assert "transpose one of them" in images.kspace_problem(scan.kspace.T, image=scan.image)
    assert "cannot belong to" in images.kspace_problem(scan.kspace[1:], image=scan.image)
    assert "two-dimensional" in images.kspace_problem(scan.kspace[None])
    assert "measured must have the shape" in images.kspace_problem(scan.kspace, np.ones((2, 2), bool))
    assert images.kspace_problem(np.zeros((4, 4))) == "kspace is zero wherever it was measured."
    with pytest.raises(ValueError, match=r"kspace contains .*nan.* at position \(0, 0\)"):
        images.kspace_problem(np.full((4, 4), np.nan))


@pytest.mark.parametrize("axis", [0, 1])
def test_blocks_are_put_on_the_grid(heads, axis):
    scan = heads[1]
    pool = kspace.lines(scan.kspace.shape, axis).take(kspace.central(scan.kspace.shape[axis], 9))
    grid, measured = images.gridded(list(pool), scan.measure(pool))
    np.testing.assert_allclose(grid, scan.kspace * measured, atol=1e-12)
    assert measured.sum() == 9 * scan.kspace.shape[1 - axis]


def test_blocks_that_do_not_fit_are_refused():
    shape = (12, 8)
    pool, rng = kspace.lines(shape), np.random.default_rng(0)
    blocks = [pool[6], pool[7]]
    samples = [rng.standard_normal(block.output_shape) + 0j for block in blocks]
    with pytest.raises(ValueError, match=r"Line\(\(12, 8\), 6, axis=0\) is measured twice"):
        images.gridded([blocks[0], pool[6]], samples)
    with pytest.raises(ValueError, match=r"no central lines: the sample at DC, index \(6, 4\)"):
        images.gridded([pool[2], pool[7]], samples)
    with pytest.raises(ValueError, match="rows and columns of k-space seem to be swapped"):
        images.gridded(blocks, [np.ones((1, 12)), samples[1]])
    with pytest.raises(ValueError, match=r"must have shape .*, got \(1, 5\)\.$"):
        images.gridded(blocks, [np.ones((1, 5)), samples[1]])
    with pytest.raises(ValueError, match=r"the samples of Line.* contains .*nan.* at position \(0, 0\)"):
        images.gridded(blocks, [samples[0], np.nan * samples[1]])
    with pytest.raises(ValueError, match="each block needs its samples: got 2 blocks and 1 samples"):
        images.gridded(blocks, samples[:1])
