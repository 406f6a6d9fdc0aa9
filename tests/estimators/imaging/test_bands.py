"""Bands are scaled by what held-out lines say: one where the posterior is true, and nearer to their level elsewhere."""

import numpy as np
import pytest

from adaptive import ImageReconstructor
from adaptive.estimators.imaging.reconstruction import band_factor, held_out_lines
from adaptive.images import head_scan, padded, simulate_scan
from designs import kspace

HEAD = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
SCAN = simulate_scan(HEAD, snr=50, random_state=1)
POOL = kspace.lines((32, 32))


@pytest.fixture(scope="module")
def fitted():
    design = POOL.take(kspace.variable_density(32, 16, 6, random_state=0))
    return ImageReconstructor((32, 32), check=False, n_samples=40).fit(design, SCAN.measure(design))


def test_mirrors_go_together_and_the_centre_stays(fitted):
    measured = fitted.measured_
    out = held_out_lines(measured)
    assert len(out) >= 2 and set(out) <= set(measured.lines) and not set(out) & set(kspace.central(32, 6))
    assert all((32 - line) % 32 in out for line in out if (32 - line) % 32 in measured.lines)
    left = measured.of_lines(out, but=True)
    assert sorted([*left.lines, *out]) == measured.lines.tolist()
    assert len(held_out_lines(measured.of_lines(kspace.central(32, 6)))) == 0


def test_of_an_image_drawn_from_the_posterior_the_factor_is_one_and_else_it_is_not(fitted):
    found, rng = fitted.belief_.reconstruction, np.random.default_rng(0)
    model, posterior, lines = found.model, found.posterior, held_out_lines(fitted.measured_)
    factors = {1.0: [], 3.0: []}
    for times, kept in factors.items():
        for one in posterior.samples[:8]:
            drawn = found.unknown + times * (one[0] + 1j * one[1])
            block = POOL.take(lines)
            clean = [block[k].forward(drawn * np.exp(1j * model.phase)) for k in range(len(block))]
            sd = times * np.sqrt(model.noise_variance)
            noisy = [y + sd * (rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)) for y in clean]
            measured = fitted.measured_.of_lines([])
            measured = measured.with_blocks(block, noisy)
            one_model = type(model)(measured, model.phase, model.noise_variance, model.prior, model.dtype)
            kept.append(band_factor(one_model, lines, found.unknown, posterior))
    assert 0.85 < np.sqrt(np.mean(np.square(factors[1.0]))) < 1.15
    assert 2.6 < np.sqrt(np.mean(np.square(factors[3.0]))) < 3.4


def test_the_bands_are_those_of_the_posterior_times_the_factor(fitted):
    reconstruction = fitted.belief_.reconstruction
    assert 1 <= reconstruction.band_factor < 3
    few = POOL.take(kspace.central(32, 8))
    assert ImageReconstructor((32, 32), check=False).fit(few, SCAN.measure(few)).belief_.reconstruction.band_factor == 1
