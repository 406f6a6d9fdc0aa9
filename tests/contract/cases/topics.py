"""Texts that a reader asks for, by their metadata."""

from __future__ import annotations

import numpy as np

from adaptive import MetadataTopicModel
from tests.contract.case import Case

TEXTS = np.random.default_rng(0).dirichlet(np.full(9, 0.2), 5)  # words of five authors' documents
BY_AUTHOR = np.eye(5)[np.arange(12) % 5]


def read_texts(rows):
    rows = np.asarray(rows)
    return list(np.random.default_rng(0).poisson(8.0 * rows @ TEXTS + 0.5).astype(float))


def reader():
    return MetadataTopicModel(3, learning="single_pass", random_state=0).reader(words_expected=10)


CASES = [
    Case(
        "MetadataTopicModel's reader", reader, BY_AUTHOR, (BY_AUTHOR[:3], read_texts(BY_AUTHOR[:3])), read_texts,
        target=BY_AUTHOR[:2], given="blocks",
    )
]  # fmt: skip
