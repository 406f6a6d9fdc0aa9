"""One history, one posterior: 30 answers one by one end where all of them at once do.

``experiments/contract/one_history.py`` asks ten seeds of every estimator; here is one, with and without signal.
"""

import pytest

from adaptive import MetadataTopicModel
from experiments.contract.histories import STORIES, gap
from tests.culprits import naming

PROMISED = [story for story in STORIES if story.promised]


@pytest.mark.parametrize("story", PROMISED, ids=lambda story: story.name)
def test_answers_one_by_one_end_where_all_at_once_do(story):
    for signal in (True, False):
        with naming("signal" if signal else "no signal"):
            found = gap(story, 0, signal)
            assert found.kept, found


def test_who_does_not_promise_it_says_so():
    """In the docstring of the class."""
    for kind in {type(story.make()) for story in STORIES if not story.promised} | {MetadataTopicModel}:
        assert "Answers one by one do not lead to the posterior of ``fit``" in kind.__doc__, kind
