"""The shared sets of language models and benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive import datasets

pytestmark = pytest.mark.skipif(not (datasets.folder() / "llm-benchmarks").is_dir(), reason="no data: llm-benchmarks")


def test_a_benchmark_has_models_items_families_and_scores_of_the_whole():
    responses, score = datasets.load_benchmark("mmlu")
    everybody, _ = datasets.load_benchmark("mmlu", copies=True)
    assert everybody.scores.shape == (4278, 102)
    assert len(responses) == len(score) == len(np.unique(everybody.scores, axis=0))
    assert set(np.unique(responses.scores)) == {0.0, 1.0}
    assert np.corrcoef(responses.scores.mean(axis=1), score)[0, 1] > 0.9
    assert responses.items[3] == "mmlu/3"


def test_several_benchmarks_hold_the_models_that_are_in_all():
    responses, score = datasets.load_benchmark(["mmlu", "gsm8k"])
    assert responses.scores.shape[1] == 102 + 249
    assert score.shape == (len(responses), 2)
    alone, whole = datasets.load_benchmark("gsm8k", copies=True)
    for system in responses.systems[:5]:
        at = alone.systems.index(system)
        np.testing.assert_array_equal(responses.scores[responses.systems.index(system), 102:], alone.scores[at])
        assert score[responses.systems.index(system), 1] == pytest.approx(whole[at])


def test_an_unknown_benchmark_is_refused():
    with pytest.raises(ValueError, match="name must be one of"):
        datasets.load_benchmark("arc")
