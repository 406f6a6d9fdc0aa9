"""The script on tree-structured priors: its quick mode, what it judges, and the two tasks it sets."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import claims
from experiments.images import tree_tables
from experiments.images.shared.tree_runs import psnr, task_of
from experiments.script import Script

JUDGED = {
    "ko-alg-3",
    "ko-fig-2.13",
    "ko-tab-2.6",
    "ko-tab-2.7",
    "ours-tree-denoising-over-mode",
    "ours-tree-inpainting-over-mode",
}


def test_the_quick_mode_runs(tmp_path):
    tree_tables.run(Script("experiments/images/tree_tables.py", tmp_path, quick=True))
    entries = {entry["id"]: entry for entry in claims.load(tmp_path)}
    assert set(entries) == JUDGED
    assert entries["ko-alg-3"]["verdict"] == "reproduced"  # of any size
    assert {path.name for path in tmp_path.glob("*/*.*")} >= {"ko-tab-2.6.csv", "ko-tab-2.7.csv", "ko-fig-2.13.png"}


def test_tasks_are_what_their_captions_say():
    truth = np.random.default_rng(0).random((64, 64))
    operator, y, picture = task_of("denoising", truth, 1)
    assert psnr(picture, truth) == pytest.approx(20.0, abs=0.3)
    np.testing.assert_array_equal(operator.forward(truth), truth)
    operator, y, picture = task_of("inpainting", truth, 1)
    assert y.size == truth.size // 4
    assert np.std(y - operator.forward(truth)) == pytest.approx(np.sqrt(1e-5), rel=0.1)
    np.testing.assert_array_equal(task_of("inpainting", truth, 2)[0].forward(truth), operator.forward(truth))
    assert np.sum(picture == y.mean()) == truth.size - y.size


def test_photographs_of_the_figures_are_among_those_of_the_table():
    for task in ("denoising", "inpainting"):
        names = tree_tables.names_of(task, quick=False)
        assert len(set(names)) == len(names) == tree_tables.COUNT[task]
    assert set(tree_tables.FIGURES.values()) <= set(names)
