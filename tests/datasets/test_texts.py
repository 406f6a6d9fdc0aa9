"""Texts: shapes, classes and metadata as published."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive import datasets


def test_newsgroups_come_in_pairs_of_known_groups():
    X, y = datasets.newsgroups("rec.sport.baseball", "rec.sport.hockey", "test")
    assert X.shape == (796, 61188) and X.data.min() >= 1 and set(y) == {"rec.sport.baseball", "rec.sport.hockey"}
    X, y = datasets.newsgroups("alt.atheism", "talk.religion.misc")
    assert X.shape == (856, 61188) and (np.sum(y == "alt.atheism"), np.sum(y == "talk.religion.misc")) == (480, 376)
    for pair, message in [
        (("rec.sport.basebal", "sci.med"), "Did you mean 'rec.sport.baseball'"),
        (("sci.med", "sci.med"), "two different groups"),
    ]:
        with pytest.raises(ValueError, match=message):
            datasets.newsgroups(*pair)


def test_texts_come_with_their_metadata():
    X, leaning, words = datasets.poliblog()
    assert X.shape == (773, 1290) == (len(leaning), len(words)) and np.sum(leaning == "liberal") == 464
    X, cites, words = datasets.cora()
    assert X.shape == (2410, 2961) and len(words) == 2961 and cites.shape == (4356, 2) and cites.max() < 2410
    X, groups, words = datasets.all_newsgroups("test")
    assert X.shape == (7505, 61188) == (len(groups), len(words)) and len(set(groups)) == 20
    table = datasets.addresses()
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(table, 240)
    assert (min(table["year"]), max(table["year"])) == (1790, 2020) and "Republican" in table["party"]
    assert len(datasets.addresses(paragraphs=True)["text"]) > 10_000
