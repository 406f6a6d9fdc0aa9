"""Lines of a small image and how much more any could tell."""

import numpy as np
import pytest

from adaptive.images import head_scan
from designs import kspace
from designs.optimal import optimal_design

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


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="lines must hold the 6 central ones, 13 to 18"):
        kspace.line_certificate(HEAD, [1, 2, 3], 6)
    with pytest.raises(ValueError, match="nothing is chosen else"):
        kspace.line_certificate(HEAD, 6, 6)


def test_bayesian_optimal_designs_have_a_certificate_and_others_none():
    X = np.vander(np.linspace(-1, 1, 21), 4)
    for n, more in ((3, {}), (9, {}), (3, {"max_replicates": 1}), (9, {"allowed": np.arange(21) % 2 == 0})):
        design = optimal_design(X, n, prior_precision=[1.0, 2.0, 1.0, 0.5], random_state=0, **more)
        rows = X[design.positions] / np.sqrt([1.0, 2.0, 1.0, 0.5])
        told = 0.5 * np.linalg.slogdet(np.eye(n) + rows @ rows.T)[1]
        assert design.certificate.information == pytest.approx(told) and design.certificate.share > 0.95
        assert design.certificate.kind == "bound"
    assert optimal_design(X, 9, random_state=0).certificate is None
    assert optimal_design(X, 8, prior_precision=1.0, blocks=[4, 4], random_state=0).certificate is None
