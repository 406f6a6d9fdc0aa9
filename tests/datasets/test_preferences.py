"""Rankings and ratings: as published, and read from a user's own copy."""

from __future__ import annotations

import numpy as np

from adaptive import datasets


def test_rankings_and_ratings_are_as_published():
    ranks, names = datasets.sushi()
    assert ranks.shape == (5000, 10) and names[7] == "fatty tuna"
    np.testing.assert_array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1.0, 11.0), (5000, 1)))
    assert np.bincount(ranks.argmin(axis=1)).argmax() == 7  # fatty tuna is liked best by most
    ratings = datasets.jester()
    assert ratings.shape == (5000, 100) and np.isfinite(ratings).sum() == 363_209
    assert -10 <= np.nanmin(ratings) and np.nanmax(ratings) <= 10


def test_partial_rankings_of_which_a_user_has_a_copy(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    (tmp_path / "sushi").mkdir()
    (tmp_path / "sushi/sushi3b.5000.10.order").write_text("100 1\n0 3 58 4 3\n0 3 87 74 4\n")
    ranks, names = datasets.sushi("b")
    assert ranks.shape == (2, 100) and len(names) == 100 and np.isfinite(ranks).sum() == 6
    assert ranks[0, [58, 4, 3]].tolist() == [1, 2, 3] and ranks[1, 4] == 3
