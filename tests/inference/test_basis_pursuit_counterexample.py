"""Basis pursuit after coefficients were measured: one more row can make it worse (Nickisch 2010, appendix G).

Coefficients I of s = W u are known exactly, the others are estimated as zero. A further row x = W'v, v = 0 on I,
measures r = s.v; the estimate becomes r / v_i at i = argmax |v|, and the squared error grows by
(2 r^2 / v_i^2)(1/2 - v_i s_i / r).
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adaptive.inference.classic import basis_pursuit, least_squares
from adaptive.operators import Wavelet


def one_more_row(s, known, v):
    """Errors of basis pursuit before and after measuring v beside the known coefficients, without noise."""
    rows = np.eye(len(s))[known]
    first = basis_pursuit(rows, rows @ s)
    both = np.vstack([rows, v])
    second = basis_pursuit(both, both @ s, warm_start=first)
    return first.mean - s, second.mean - s


def test_the_example_with_32_unknowns():
    u = np.concatenate([np.zeros(10), np.ones(9), np.full(13, 0.3)])
    W = Wavelet(32, "haar", 5)
    s, known = W.forward(u), np.arange(4)
    v = np.zeros(32)
    nonzero = np.flatnonzero(np.abs(s) > 1e-12)
    outside = nonzero[nonzero >= 4]
    assert len(outside) == 5
    v[outside] = 1 / s[outside]
    v /= np.linalg.norm(v)
    i = int(np.argmax(np.abs(v)))
    assert 2 * s[i] * v[i] / (v @ s) == pytest.approx(2 / 5)
    before, after = one_more_row(s, known, v)
    assert np.linalg.norm(before) == pytest.approx(1.555233, abs=5e-7)
    assert np.linalg.norm(after) == pytest.approx(2.063068, abs=5e-7)
    # In the image, with the transform given: the same. Least squares on the same rows never loses.
    rows = W.to_dense()[known]
    both = np.vstack([rows, v @ W.to_dense()])
    assert np.linalg.norm(basis_pursuit(both, both @ u, B=W).mean - u) == pytest.approx(2.063068, abs=5e-7)
    assert np.linalg.norm(least_squares(rows, rows @ u).mean - u) == pytest.approx(1.555233, abs=5e-7)
    assert np.linalg.norm(least_squares(both, both @ u).mean - u) < 1.555233


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(0, 6))
def test_the_error_grows_exactly_as_the_closed_form_says(seed, unknown, n_known):
    rng = np.random.default_rng(seed)
    s, v = rng.standard_normal(unknown + n_known), rng.standard_normal(unknown + n_known)
    known = rng.permutation(len(s))[:n_known]
    v[known] = 0.0
    v /= np.linalg.norm(v)
    i, r = int(np.argmax(np.abs(v))), float(v @ s)
    others = np.delete(np.abs(v), i)
    assume(np.max(others, initial=0.0) < 0.99 * abs(v[i]) and abs(r) > 1e-3)
    before, after = one_more_row(s, known, v)
    expected = before @ before + 2 * r**2 / v[i] ** 2 * (0.5 - v[i] * s[i] / r)
    assert after @ after == pytest.approx(expected, rel=1e-9, abs=1e-9)
    estimate = np.where(np.isin(np.arange(len(s)), known), s, 0.0)
    estimate[i] = r / v[i]
    np.testing.assert_allclose(after + s, estimate, atol=1e-8 * (1 + abs(estimate[i])))


@pytest.mark.parametrize("nonzeros", [2, 3, 5, 20])
def test_rows_inverse_to_the_signal_always_make_it_worse_from_three_nonzeros_on(nonzeros):
    rng = np.random.default_rng(nonzeros)
    s = np.zeros(40)
    s[rng.choice(36, nonzeros, replace=False) + 4] = rng.uniform(0.5, 2.0, nonzeros)
    v = np.divide(1.0, s, out=np.zeros(40), where=s != 0)
    v /= np.linalg.norm(v)
    before, after = one_more_row(s, np.arange(4), v)
    grown = after @ after - before @ before
    assert grown > 1e-3 if nonzeros > 2 else abs(grown) < 1e-9
