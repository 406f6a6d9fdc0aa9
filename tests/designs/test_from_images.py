"""Designs from fully sampled images: nested, distinct, the same for any number of jobs, better than chance."""

import numpy as np
import pytest

from adaptive.images import head_scan, padded
from designs import kspace
from designs.kspace.from_images.growth import batch_size, best_apart, grown, mirrored
from designs.kspace.from_images.variants import inverted, moved

HEAD = padded(head_scan()[12].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3))
OTHER = padded(head_scan()[8].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3))
COMPLEX = HEAD * np.exp(0.5j * np.linspace(-1, 1, 16))
CHEAP = {"n_variants": 1, "motion": (0, 0), "contrasts": False}


def test_lines_of_a_reference_are_nested_distinct_and_hold_the_centre():
    longer = kspace.reference_lines(HEAD, 11, 6, **CHEAP)
    assert len(set(longer.tolist())) == 11 and longer.dtype.kind == "i"
    np.testing.assert_array_equal(longer[:6], kspace.central(16, 6))
    np.testing.assert_array_equal(kspace.reference_lines(HEAD, 8, 6, **CHEAP), longer[:8])
    np.testing.assert_array_equal(kspace.as_lines(16, longer, 6), np.sort(longer))
    assert len(kspace.reference_lines(HEAD.T, 7, 6, axis=1, phase=np.zeros((16, 16)), **CHEAP)) == 7


def test_points_of_a_reference_are_nested_distinct_and_the_same_for_any_jobs():
    longer = kspace.reference_points([HEAD, OTHER], 45, 6, n_variants=2)  # rounds end at 40 and 45
    assert len({tuple(one) for one in longer.tolist()}) == 45
    assert (np.abs(longer[:36] - 8) <= 3).all()
    np.testing.assert_array_equal(kspace.reference_points([HEAD, OTHER], 43, (6, 6), n_variants=2), longer[:43])
    np.testing.assert_array_equal(kspace.reference_points([HEAD, OTHER], 40, 6, n_variants=2, n_jobs=2), longer[:40])
    kspace.as_encodes((16, 16), longer, 9)


def test_what_is_known_of_the_next_scan_changes_the_design():
    plain = kspace.reference_points(COMPLEX, 45, 6, **CHEAP)
    for more in (
        {"phase": "reference"},
        {"population": [OTHER]},
        {"coils": np.stack([np.linspace(0.5, 1.5, 16)[:, None] * np.ones((16, 16)), 1j * np.ones((16, 16))])},
        {"random_state": 1},
    ):
        other = kspace.reference_points(COMPLEX, 45, 6, **CHEAP, **more)
        assert len(np.unique(other, axis=0)) == 45 and not np.array_equal(other, plain)


def test_learnt_designs_are_nested_distinct_and_the_same_for_any_jobs():
    settings = {"n_candidates": 2, "n_swaps": 1}
    longer = kspace.learnt_lines([HEAD, OTHER], 10, 6, **settings)
    assert len(set(longer.tolist())) == 10
    np.testing.assert_array_equal(longer[:6], kspace.central(16, 6))
    np.testing.assert_array_equal(kspace.learnt_lines([HEAD, OTHER], 8, 6, **settings, n_jobs=2), longer[:8])
    points = kspace.learnt_points([HEAD, OTHER], 44, 6, n_candidates=2)  # rounds end at 40 and 45
    assert len(np.unique(points, axis=0)) == 44
    np.testing.assert_array_equal(kspace.learnt_points([HEAD, OTHER], 39, 6, n_candidates=2), points[:39])


def test_the_centre_grows_with_the_image_or_is_chosen():
    """Known from a prescan the phase needs no centre: fewer central lines than where it is read from them."""
    large = np.kron(HEAD, np.ones((3, 3)))
    assert len(np.intersect1d(kspace.reference_lines(large, 6, **CHEAP), kspace.central(48, 6))) == 6
    assert len(kspace.reference_points(HEAD, 16, **CHEAP)) == 16  # 4 x 4
    head = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    settings = {"sizes": [4, 8, 12], "random_state": 1}
    known, read = (kspace.centre_size(head, 14, prescan=one, **settings) for one in (True, False))
    assert known == 4 and read in (4, 8, 12)
    assert kspace.centre_size(head, 14, n_jobs=2, **settings) == read
    chosen = kspace.learnt_lines(head, 14, "auto", n_candidates=1, n_swaps=0, random_state=2)
    assert len(set(chosen.tolist())) == 14
    for told, message in (({"sizes": [16]}, "at most n_lines = 14"), ({"sizes": []}, "sizes must be numbers of lines")):
        with pytest.raises(ValueError, match=message):
            kspace.centre_size(head, 14, **told)
    with pytest.raises(ValueError, match="n_lines must be between 4 and 32"):
        kspace.centre_size(head, 2)
    with pytest.raises(ValueError, match="n_central must be one of 'auto'"):
        kspace.learnt_lines(head, 14, "best")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([HEAD, HEAD[:, :8]], 60), r"references\[1\] has shape \(16, 8\), expected \(16, 16\)"),
        (([HEAD[:, :8], HEAD[:8]], 60, 4), r"turned: is its phase-encode axis another one"),
        ((np.where(HEAD > 0.5, np.nan, HEAD), 60), r"references\[0\] contains nan"),
        ((-HEAD, 60), "must hold magnitudes >= 0"),
        ((0 * HEAD, 60), "zero everywhere"),
        (([], 60), "one image or a list of them, got none"),
        ((HEAD, 30), "n_points counts the centre too: it must be at least 36, got 30"),
        ((HEAD, 257), "n_points must be at most 256"),
        ((HEAD, 60, (6, 6, 6)), "one for each of the 2 axes"),
        ((HEAD, 60, 20), "the centre must be at most 16 wide, got 20"),
    ],
)
def test_bad_references_are_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        kspace.reference_points(*arguments, *([] if len(arguments) > 2 else [6]))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"phase": "reference"}, r"references\[0\] has no phase \(it holds magnitudes\)"),
        ({"phase": np.zeros((4, 4))}, r"phase must have the shape of the images, \(16, 16\), got \(4, 4\)"),
        ({"phase": "own"}, 'phase must be "reference", an array'),
        ({"coils": np.ones((2, 16, 8))}, r"coils must be maps of shape \(coils, 16, 16\), got \(2, 16, 8\)"),
        ({"voxel_sizes": [(1.0, 1.0), (1.0, 0.9)]}, r"the new scan has voxels of \[1.0, 0.9\], not \[1.0, 1.0\]"),
        ({"voxel_sizes": [1.0, 1.0, 1.0]}, "voxel_sizes must hold those of each of the 1 references"),
        ({"population": [np.ones((8, 8))]}, r"population\[0\] has shape \(8, 8\)"),
        ({"snr": 0}, "snr must be > 0"),
        ({"motion": (-1, 0)}, "motion must be"),
        ({"axis": 2}, "axis must be one of"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        kspace.reference_lines(HEAD, 10, 6, **settings)
    if set(settings) & {"coils", "axis", "snr"}:
        with pytest.raises(ValueError, match=message):
            kspace.learnt_lines(HEAD, 10, 6, **settings)


# What they are made of -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(8,), (7,), (6, 8), (5, 6)])
def test_mirrors_are_opposite_frequencies(shape):
    k = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"))
    opposite = np.stack([(2 * (n // 2) - axis) % n for n, axis in zip(shape, k, strict=True)])
    values = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_array_equal(mirrored(values), values[tuple(opposite)])


def test_a_batch_has_no_neighbours_and_no_mirrors():
    rng = np.random.default_rng(1)
    chosen = np.zeros((12, 12), bool)
    chosen[5:8, 5:8] = True
    batch = np.stack(np.unravel_index(best_apart(rng.random((12, 12)), chosen, 20), chosen.shape), axis=1)
    assert not chosen[tuple(batch.T)].any()
    for i, one in enumerate(batch):
        for other in batch[:i]:
            assert np.abs(one - other).max() > 1 and not np.array_equal((12 - one) % 12, other)
    assert len(best_apart(rng.random(6), np.arange(6) != 2, 5)) == 1  # one is left


def test_growth_takes_the_largest_residual_first():
    energy = np.array([0, 9, 1, 0, 0, 0, 2, 5.0])
    order = grown(np.arange(8) == 4, 4, lambda chosen, step: np.where(chosen, 0.0, energy))
    assert order[0] == 1 and batch_size(1, 1) == 1 and len(set(order)) == 3


def test_growth_stays_on_one_side_where_the_phase_has_errors():
    energy = np.array([0, 9, 1, 0, 3, 0, 0, 8.0, 9.5, 2])  # -4 and +3 say most; DC at 5

    def left(chosen, step):
        return np.where(chosen | mirrored(chosen), 0.0, energy)

    changed = CHEAP | {"motion": (0.5, 0.5)}  # where nothing may have changed both sides are looked at
    order = grown(np.arange(10) == 5, 5, left, one_side=True)
    assert sorted(order) == [1, 2, 3, 4] and sorted(grown(np.arange(10) == 5, 5, left)) != [1, 2, 3, 4]
    for design in (
        kspace.reference_lines(HEAD, 10, 6, **changed),
        kspace.learnt_lines([HEAD, OTHER], 10, 6, n_candidates=2, n_swaps=0),
    ):  # the centre, 5 to 10, has one more line on the lower side
        assert all(line < 8 or 16 - line in design[:k] for k, line in enumerate(design[6:].tolist(), 6))
    points = [tuple(one) for one in kspace.reference_points(HEAD, 44, 6, **changed).tolist()]
    for k, (a, b) in enumerate(points[36:], 36):
        assert (a, b) < (8, 8) or ((16 - a) % 16, (16 - b) % 16) in points[:k]


def test_a_moved_head_is_the_same_head_elsewhere():
    np.testing.assert_allclose(moved(HEAD, (2.0, -3.0), 0.0), np.roll(HEAD, (2, -3), (0, 1)), atol=1e-12)
    there = moved(moved(HEAD, (0.3, 0.2), 0.0), (-0.3, -0.2), 0.0)
    assert np.abs(there - HEAD).max() < 0.2  # what the highest frequency loses, and moduli at the edges
    bright, dark = HEAD > 0.7, HEAD < 0.02
    assert inverted(HEAD)[bright].mean() < 0.4 and inverted(HEAD)[dark].mean() < 0.2


def test_points_of_a_reference_beat_the_same_number_by_chance():
    from adaptive.images import simulate_scan
    from designs.kspace.from_images.simulated import TrialScan

    scan = TrialScan(simulate_scan(HEAD, snr=100, random_state=9), None)

    def error(points):
        mask = np.zeros((16, 16), bool)
        mask[tuple(points.T)] = True
        return scan.error(mask)

    centre = np.argwhere(np.add.outer(abs(np.arange(16) - 7.5), 0 * np.arange(16)) < 3)
    chosen = error(kspace.reference_points(HEAD, 70, 6, **CHEAP))
    inside = centre[np.abs(centre[:, 1] - 7.5) < 3]
    rest = np.array([p for p in np.argwhere(np.ones((16, 16), bool)) if not (inside == p).all(axis=1).any()])
    by_chance = [error(np.concatenate([inside, np.random.default_rng(k).permutation(rest)[:34]])) for k in range(4)]
    assert chosen < 0.9 * min(by_chance)
