"""Lines of a small image and how much more any could tell."""

import numpy as np
import pytest

from adaptive.images import head_scan, simulate_coils
from designs import kspace

HEAD = head_scan()[12].image[::4, ::4]


def test_lines_by_information_tell_more_than_low_ones_and_the_share_says_it():
    lines, found = kspace.line_certificate(HEAD, 14, 6)
    assert lines[:6].tolist() == kspace.central(32, 6).tolist() and len(set(lines)) == 14
    assert found.n == 8 and found.kind == "estimate" and 0 < found.share <= 1 and "tangent" in found.bounds
    rng = np.random.default_rng(0)
    others = rng.choice(np.setdiff1d(np.arange(32), lines[:6]), 8, replace=False)
    given, other = kspace.line_certificate(HEAD, np.concatenate([lines[:6], others]), 6)
    assert given[6:].tolist() == others.tolist()
    assert other.information < found.information
    assert found.information <= other.bound * 1.05  # both are estimates of the same


def test_the_bound_counts_mirrors_once_and_is_above_every_half_plane_of_lines():
    """Lines of a real image, of which every other set of as many tells no more than the bound, estimates included."""
    _, found = kspace.line_certificate(HEAD, 14, 6)
    assert found.bound <= 1.15 * found.information
    rng = np.random.default_rng(1)
    for _ in range(6):
        others = rng.choice(np.setdiff1d(np.arange(32), kspace.central(32, 6)), 8, replace=False)
        _, other = kspace.line_certificate(HEAD, np.concatenate([kspace.central(32, 6), others]), 6)
        assert other.information <= 1.03 * found.bound


def test_lines_of_several_coils_are_certified_too():
    maps = simulate_coils(HEAD.shape, 4)
    lines, found = kspace.line_certificate(HEAD, 14, 6, coils=maps)
    assert set(found.bounds) == {"prefixes", "tangent"} and found.kind == "estimate" and 0.7 < found.share <= 1
    rule = kspace.half_plane_quantiles(32, 14, 6)
    given, other = kspace.line_certificate(HEAD, rule, 6, coils=maps)
    assert set(given.tolist()) == set(rule.tolist()) and other.share < found.share
    assert other.bound <= found.bound * 1.001  # that of lines which tell more holds for these, too
    with pytest.raises(ValueError, match=r"coils must have shape \(any, 32, 24\)"):
        kspace.line_certificate(HEAD, 14, 6, coils=maps[:, :4])


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="lines must hold the 6 central ones, 13 to 18"):
        kspace.line_certificate(HEAD, [1, 2, 3], 6)
    with pytest.raises(ValueError, match="otherwise nothing is chosen"):
        kspace.line_certificate(HEAD, 6, 6)
