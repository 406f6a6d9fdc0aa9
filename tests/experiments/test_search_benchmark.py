"""The benchmarks of exact search and of expected error reduction, at a small size."""

import numpy as np
import pytest

from experiments.benchmarks import exact_search, expected_error_reduction


def test_the_search_finds_the_ten_of_brute_force():
    rng = np.random.default_rng(0)
    row = exact_search.of_pairs("drawn", exact_search.drawn(400, rng), exact_search.drawn(500, rng))
    assert row["the same ten"] and row["scored"] < row["how many"] == 200_000
    counts = exact_search.sparse.random(
        60, 90, 0.1, format="csr", random_state=0, data_rvs=lambda n: 1.0 + np.arange(n)
    )
    users, artists = exact_search.factors(counts, sweeps=2)
    row = exact_search.of_pairs("learnt", users, artists, counts)
    assert row["the same ten"]
    assert (users[0] @ artists[0].T)[counts.toarray() > 0].mean() > 2 * (users[0] @ artists[0].T).mean()


@pytest.mark.parametrize("name", ["two classes", "three classes"])
def test_errors_saved_are_scored_for_every_candidate(name):
    seconds, scores = expected_error_reduction.ours(expected_error_reduction.settings(150)[name])
    assert scores.shape == (50,) and scores.max() > 0 and seconds > 0
