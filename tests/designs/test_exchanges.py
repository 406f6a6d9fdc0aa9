"""Exchanges of single lines: what is accepted has less error, what is not confirmed is forgotten."""

import numpy as np
import pytest

from adaptive.images import head_scan, padded
from designs import kspace
from designs.kspace.from_images import exchanges
from designs.kspace.from_images.exchanges import exchanged
from designs.kspace.from_images.given import checked_images
from designs.kspace.from_images.halving import errors_of
from designs.kspace.from_images.tuned import trial_scans

HEAD = padded(head_scan()[12].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3))
POOR = np.r_[5:11, 0, 15]


@pytest.fixture(scope="module")
def scans():
    given = checked_images("images", HEAD)
    return trial_scans(given, 0, 100.0, 2, 0), trial_scans(given, 0, 100.0, 2, 1)


def test_exchanges_lower_the_error_on_both_sets_of_scans_and_keep_the_centre(scans):
    found = exchanged(*scans, 16, POOR, 6, 8, 0)
    assert found.accepted >= 1 and len(np.unique(found.lines)) == 8
    np.testing.assert_array_equal(found.lines[:6], POOR[:6])
    for trials, errors in zip(scans, (found.errors, found.fresh), strict=True):
        both = {"before": np.isin(np.arange(16), POOR), "after": np.isin(np.arange(16), found.lines)}
        again = errors_of(trials, both)
        np.testing.assert_allclose(again["after"], errors, rtol=1e-12)
        ratios = np.log(again["after"] / again["before"])
        assert ratios.mean() < -ratios.std(ddof=1) / np.sqrt(2)
    jobs = exchanged(*scans, 16, POOR, 6, 8, 0, n_jobs=2)
    np.testing.assert_array_equal(jobs.lines, found.lines)


def test_exchanges_that_fresh_scans_do_not_confirm_are_forgotten(scans, monkeypatch):
    monkeypatch.setattr(exchanges, "LEAST", 3.0)  # more than any exchange gains
    found = exchanged(*scans, 16, POOR, 6, 8, 0)
    assert found.accepted == 0 and found.lines is POOR
    np.testing.assert_allclose(found.fresh, errors_of(scans[1], {"as": np.isin(np.arange(16), POOR)})["as"], rtol=1e-12)


def test_nothing_is_exchanged_where_all_lines_are_central(scans):
    found = exchanged(*scans, 16, kspace.central(16, 8), 8, 3, 0)
    assert found.accepted == 0 and found.errors.shape == found.fresh.shape == (2,)


def test_a_tuned_design_of_exchanges_is_ahead_by_its_score_and_expects_what_fresh_scans_show():
    given = {"snr": 200, "n_central": 4, "n_scans": 2, "random_state": 0}
    plain, found = kspace.tuned_lines(HEAD, 9, **given), kspace.tuned_lines(HEAD, 9, exchanges=25, **given)
    assert found.rule == next(iter(found.scores)) and len(found.lines) == 9
    assert found.rule.startswith(f"{plain.rule}, ") and found.rule.endswith(" exchanged")
    assert found.expected[0] == pytest.approx(np.exp(np.log(found.fresh).mean()))
    np.testing.assert_array_equal(found.designs[found.rule], found.lines)
    np.testing.assert_array_equal(found.errors[plain.rule], plain.errors[plain.rule])
