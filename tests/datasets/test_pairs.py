"""Pairs of ids: as published, and read from a user's own copy."""

from __future__ import annotations

from adaptive import datasets


def test_ratings_of_which_a_user_has_a_copy(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    (tmp_path / "movielens").mkdir()
    (tmp_path / "movielens/u.data").write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    (tmp_path / "movielens/ratings.dat").write_text("1::1193::4.5::978300760\n")
    assert datasets.movielens()[0].tolist() == [[196, 242], [186, 302]]
    pairs, ratings = datasets.movielens("movielens/ratings.dat")
    assert pairs.tolist() == [[1, 1193]] and ratings.tolist() == [4.5]


def test_baskets_are_pairs_of_baskets_and_items():
    for name, shape in (("groceries", (43_367, 9835, 169)), ("apparel", (34_898, 14_970, 100))):
        pairs, items = datasets.baskets(name)
        assert (len(pairs), pairs[:, 0].max() + 1, len(items)) == shape and pairs[:, 1].max() + 1 == len(items)
