"""Trials of ``adaptive kspace``: a head that wraps around has two sets of coil maps; the noise by what is held out."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from adaptive.cli.kspace import trial
from adaptive.cli.kspace.trial_designs import DESIGNED, Tried, choose
from adaptive.cli.kspace.trial_report import verdict
from adaptive.cli.kspace.trial_setup import replayed
from adaptive.images import head_scan, simulate_coils
from adaptive.operators import FourierLines
from adaptive.scanner import Scan

N, WIDE = 48, 60


@pytest.fixture(scope="module", autouse=True)
def coarse():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trial, "_TOL", 1e-2)
        yield


def scan_of(columns, noise=2e-3):
    """A head of so many columns that a field of view of 48 columns shows, by six coils."""
    head = head_scan()[12].image[::2, 1:91]
    at = np.linspace(0, 89, columns)
    head = np.stack([np.interp(at, np.arange(90), row) for row in head])
    seen = simulate_coils(head.shape, 6, random_state=0) * head
    beyond = abs(columns - N) // 2
    if columns < N:
        images = np.pad(seen, ((0, 0), (0, 0), (beyond, beyond)))
    else:
        images = seen[..., beyond : beyond + N].copy()
        images[..., :beyond] += seen[..., beyond + N :]
        images[..., N - beyond :] += seen[..., :beyond]
    rng = np.random.default_rng(0)
    images = images + noise * (rng.standard_normal(images.shape) + 1j * rng.standard_normal(images.shape))
    lines = FourierLines((64, N), range(64))
    return Scan(lines.forward(images).reshape(images.shape).astype(np.complex64), "kspace", coils=0, source="scan")


@pytest.fixture(scope="module")
def wrapped():
    return replayed(scan_of(WIDE), trajectory="lines", axis=1, initial=24)


def test_two_sets_of_maps_where_the_head_is_wider_than_the_field_of_view(wrapped):
    assert wrapped.sets == 2 and "wider than the field of view" in wrapped.statements[-1]
    assert wrapped.maps.shape == (2, 6, 64, N) and wrapped.candidates.image_shape == (64, 2 * N)
    inside = replayed(scan_of(44), trajectory="lines", axis=1, initial=24)
    assert inside.sets == 1 and inside.candidates is inside.pool and len(inside.statements) == 3


def test_the_larger_image_explains_what_one_set_of_maps_cannot(wrapped):
    """All lines give the image back; with one set they do not."""
    everything = np.arange(N)
    errors = [wrapped.judged(one.reconstruct(everything))["nmse"] for one in (wrapped, replace(wrapped, sets=1))]
    assert errors[0] < 2e-3 and errors[0] < 0.2 * errors[1]


def test_lines_are_chosen_on_the_larger_image_and_named_on_the_scan(wrapped, tmp_path):
    chosen = choose(wrapped, 26, 0, tmp_path / "log.jsonl", os.getpid())
    assert len(np.unique(chosen.positions)) == 26 and chosen.positions[:24].tolist() == wrapped.first.tolist()
    assert chosen.before.shape == (N,) and chosen.maps.shape == wrapped.maps.shape


@pytest.mark.parametrize("told, wanted", [(1.0, 1.0), (0.01, 10.0)])
def test_the_factor_of_the_noise_is_what_explains_samples_that_were_held_out(told, wanted):
    """Not the truth: a noise that was told too small is found out."""
    one = replayed(scan_of(44, noise=0.05), trajectory="lines", axis=1, initial=24)
    one = replace(one, noise_variance=told * one.noise_variance, truth=np.full(one.shape, np.nan))
    assert one.slack(np.arange(0, N), (1.0, 10.0)) == wanted
    assert one.slack(one.first, (3.0, 10.0)) == 3.0  # nothing to hold out


@pytest.mark.parametrize(
    ("errors", "looks", "said"),
    [
        ((0.0081, 0.01), (0.9, 0.9), "design pays: it has 0.90 times the error of the best simple rule (low pass)"),
        ((0.0081, 0.01), (0.9, 0.93), "(low pass); its SSIM is lower, 0.900 against 0.930"),
        ((0.01, 0.01), (0.9, 0.93), "tie: the design has 1.00 times its error; its SSIM is lower, 0.900 against 0.930"),
        ((0.0144, 0.01), (0.9, 0.93), "does better: the design has 1.20 times the error of the best one (low pass)"),
    ],
)
def test_the_verdict_is_of_the_error_and_says_where_the_rule_looks_better(errors, looks, said):
    names = (DESIGNED, "low_pass")
    tried = [
        Tried(name, [np.array([0])], [{"nmse": nmse, "ssim": ssim}], np.zeros((1, 1)), 1.0, [])
        for name, nmse, ssim in zip(names, errors, looks, strict=True)
    ]
    assert verdict(tried).endswith(said)
