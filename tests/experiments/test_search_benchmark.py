"""The benchmarks of exact search and of expected error reduction, at a small size."""

import numpy as np

from experiments.benchmarks import exact_search, expected_error_reduction
from experiments.benchmarks.active_step import problem


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


def test_errors_saved_are_scored_for_every_candidate():
    seconds, scores = expected_error_reduction.ours(problem(150, 5, 40))
    assert scores.shape == (110,) and scores.max() > 0 and seconds > 0
