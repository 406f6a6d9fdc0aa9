"""Designs are judged by their lines alone, draws are averaged, and tuning sees one slice."""

import numpy as np
import pytest

from adaptive import images
from adaptive.operators import FourierLines
from designs import kspace

pytest.importorskip("skimage", reason="needs scikit-image: pip install 'adaptive-designs[mri]'")


@pytest.fixture(scope="module")
def scans():
    y, x = np.mgrid[-1:1:32j, -1:1:24j]
    pictures = [(x**2 + y**2 < size) * (0.5 + 0.5 * (x > 0)) for size in (0.5, 0.6)]
    return {
        name: images.simulate_scan(u, random_state=0) for name, u in zip(("same", "neighbour"), pictures, strict=True)
    }


def zero_filled(scan, lines):
    block = FourierLines(scan.image.shape, lines)
    return block.adjoint(scan.samples(block))


def test_one_row_per_design_and_slice_with_means_over_draws(scans):
    designs = kspace.comparison_designs(32, 14, 6, n_draws=3, random_state=0)
    rows = images.compare_designs(designs, scans, zero_filled)
    assert [tuple(row) for row in rows] == [images.COLUMNS] * 2 * len(designs)
    assert [(row["design"], row["slice"]) for row in rows] == [(d, s) for d in designs for s in scans]
    assert all(type(row[name]) is float for row in rows for name in ("error", "psnr", "ssim"))
    for row in rows:
        scan, draws = scans[row["slice"]], designs[row["design"]]
        found = [zero_filled(scan, lines) for lines in draws]
        assert row["lines"] == 14
        assert row["error"] == pytest.approx(np.mean([images.l2_error(scan.image, u) for u in found]))
        assert row["psnr"] == pytest.approx(np.mean([images.psnr(scan.image, u) for u in found]))
        assert row["ssim"] == pytest.approx(np.mean([images.ssim(scan.image, u) for u in found]))
        errors = [images.l2_error(scan.image, u) for u in found]
        low, high = (
            images.paired_interval(errors, np.zeros(len(errors)), of="difference")[1:3] if len(draws) > 1 else (0, 0)
        )
        assert row["error_95"] == pytest.approx((high - low) / 2)


def test_peaks_and_similarity_are_of_the_object_alone_where_that_is_wanted(scans):
    lines = np.arange(10, 22)
    whole, head = (images.compare_designs({"low": [lines]}, scans, zero_filled, inside=inside) for inside in (0, 1))
    for row, other in zip(whole, head, strict=True):
        scan = scans[row["slice"]]
        inside, found = images.foreground(scan.image), zero_filled(scan, lines)
        assert row["error"] == other["error"] and row["psnr"] > other["psnr"]  # the air is easy
        assert other["psnr"] == images.psnr(scan.image, found, inside=inside)
        assert other["ssim"] == images.ssim(scan.image, found, inside=inside)


def test_tuning_takes_the_least_mean_error(scans):
    def draws(p):
        rng = np.random.default_rng(0)
        return [kspace.variable_density(32, 14, 6, exponent=p, random_state=rng) for _ in range(3)]

    best, errors = images.best_parameter([1, 2, 6], draws, scans["same"], zero_filled)
    assert list(errors) == [1, 2, 6] and errors[best] == min(errors.values())
    expected = np.mean([images.l2_error(scans["same"].image, zero_filled(scans["same"], lines)) for lines in draws(2)])
    assert errors[2] == pytest.approx(expected)


def test_bad_input_is_named(scans):
    with pytest.raises(
        ValueError, match=r"design 'mixed' must have one draw at least, and draws of one size, got sizes \[2, 3\]"
    ):
        images.compare_designs({"mixed": [[1, 2], [1, 2, 3]]}, scans, zero_filled)
    with pytest.raises(ValueError, match=r"design 'none' must have one draw at least.* got sizes \[\]"):
        images.compare_designs({"none": []}, scans, zero_filled)
    with pytest.raises(ValueError, match="values must hold at least one parameter"):
        images.best_parameter([], lambda p: [[1]], scans["same"], zero_filled)
