"""Kept odds: the inverse of a fit's bias, and true odds from a stream drawn by them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from adaptive import PairedSymbols
from adaptive.estimators.pairs.symbols.kept_odds import MOST, KeptOdds


@pytest.mark.parametrize(("stream", "shown", "ratio"), [(900.0, 0.0, 0.5), (900.0, 200.0, 2.0), (5.0, 900.0, 3.0)])
def test_the_map_takes_back_what_a_fit_makes_of_true_odds(stream, shown, ratio):
    p = np.linspace(0.01, 0.99, 50)
    kept = stream * (1.0 + ratio) * p + shown * p  # per share of the draws
    fitted = kept / (kept + ratio * stream + shown * (1.0 - p))
    np.testing.assert_allclose(KeptOdds(stream, shown, ratio).of(fitted), p, rtol=1e-12)


def test_expected_odds_are_those_of_draws_and_a_stream_of_nothing_changes_none():
    kept, normals = KeptOdds(900.0, 30.0, 1.0), np.random.default_rng(0).standard_normal(200_000)
    mean, variance = np.array([-2.0, 0.3]), np.array([0.7, 0.2])
    drawn = [kept.of(expit(m + np.sqrt(v) * normals)).mean() for m, v in zip(mean, variance, strict=True)]
    np.testing.assert_allclose(kept.mean(mean, variance), drawn, atol=3e-3)
    np.testing.assert_array_equal(KeptOdds(0.0, 30.0, 1.0).of(np.array([0.2, 1.0])), [0.2, 1.0])
    assert kept.of(np.array([1.0]))[0] == MOST


def test_odds_are_the_true_ones_where_censored_pairs_are_spread_whatever_they_are():
    """Of a long stream of two kinds of users and items, all about alike, the ratio known: fitted odds are .5, .25."""
    true = np.where(np.equal.outer(np.arange(40) < 20, np.arange(20) < 10), 0.6, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PairedSymbols(
            1, censored_ratio=1.5, selection="constant", user_precision=1.0, item_precision=1.0, bias_precision=1.0,
            tol=1e-9, max_iter=500, random_state=0,
        ).fit(sparse.csr_matrix(np.round(400 * true)))  # fmt: skip
    pairs = [(7, item) for item in range(20)]
    taken = model.predict_proba(pairs)[:, 1]
    np.testing.assert_allclose(taken, true[7], atol=0.02)
    np.testing.assert_allclose(
        model.predictive(pairs).probabilities[:, 1], np.where(true[7] > 0.5, 0.5, 0.25), atol=0.02
    )
    low, high = model.interval(pairs)
    assert np.all(low < taken) and np.all(taken < high)
    np.testing.assert_allclose(np.exp(model.log_predictive(pairs, [1] * 20)), taken)
    assert np.exp(model.log_predictive(pairs)).sum() == pytest.approx(1.0)
