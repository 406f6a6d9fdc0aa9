"""The scripts on active learning at scale: quick modes, what they judge, and that their protocols are what they say."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import claims
from experiments.active import active_coverage
from experiments.active.shared import budget_runs, coverage_runs, inclusion_runs
from experiments.script import Script, located
from tests.experiments.scripts import module_of

# What each script judges; in quick mode a script tries fewer strategies.
SCRIPTS = {
    "active_budget": {"ours-budget-margin", "ours-budget-information_gain"},
    "active_coverage": {
        *(f"ours-coverage-{case.replace(',', '').replace(' ', '-').lower()}" for case in active_coverage.CASES),
        "ours-calibration-designed-real-labels",
    },
    "active_inclusion": {
        "nickisch-fig-3.7",
        "nickisch-tab-3.3",
        "ours-inclusion-information_gain-mends",
        "ours-inclusion-predictive_information_gain-mends",
    },
    "active_priors": {"ours-inclusion-late-prior"},
    "batch_quality": set(),  # a table; its verdicts need several sets
    "embedded": {"ours-embedded-labels"},
    "hyper_defaults": {
        "ours-hyper-better-on-average",
        "ours-hyper-beside-logistic-regression",
        "ours-hyper-beside-margin-at-the-mode",
        "ours-hyper-never-worse-than-random",
        "ours-hyper-reliability",
    },
    "hyper_coverage": {"ours-hyper-coverage"},
    "hyper_inclusion": {"ours-hyper-inclusion"},
    "hyper_classes": {"ours-hyper-classes", "ours-hyper-factor-classes"},
    "hyper_mends": {"ours-hyper-separable"},
    "hyper_rivals": {"ours-hyper-beside-rivals"},
    "pending_people": {"ours-pending-exclusion", "ours-pending-one-person"},
    "skills": {"ours-skills-coverage", "ours-skills-crowd", "ours-skills-labels", "ours-skills-prices"},
    "hyper_text": {"ours-hyper-text-factor", "ours-hyper-text-pool"},
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    module = module_of(name)
    module.run(Script(located(name), tmp_path, quick=True))
    found = {entry["id"] for entry in claims.load(tmp_path)}
    assert found == SCRIPTS[name]
    committed = {entry["id"]: entry for entry in claims.load()}
    assert all(committed[id]["script"] == located(name) for id in found)
    for kind in ("figures", "tables"):  # what the page shows comes from scripts that still draw it
        for path in (tmp_path / kind).glob("*"):
            assert path.stat().st_size > 0 and (claims.RESULTS / kind / path.name).is_file(), path.name


def test_the_protocol_splits_and_starts_as_it_says():
    X, y, X_test, y_test, first = budget_runs.split("wdbc", 3)
    assert len(y_test) == round(0.4 * 569) and len(y) + len(y_test) == 569
    assert len(first) == 20 and set(y[first]) == {0, 1} and len(set(first.tolist())) == 20
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    n = budget_runs.moments(len(y))
    assert n[0] == 20 and n[-1] == len(y) and set(np.diff(n[n <= 120])) == {1} and np.diff(n).max() == 5


@pytest.mark.parametrize("strategy", ["random", "core_set", "logistic margin", "svm margin"])
def test_every_strategy_starts_with_the_same_rows_and_asks_each_once(strategy):
    found = budget_runs.run("wdbc", strategy, 0, 26)
    order = found["order"]
    assert order[:20].tolist() == budget_runs.split("wdbc", 0)[4].tolist()
    assert len(order) == 26 == len(set(order.tolist())) and found["n"].tolist() == list(range(20, 27))
    assert all(len(found[task]) == 7 for task in ("bayes", "logistic"))
    assert ("svm" in found) == (strategy in ("random", "svm margin"))


def test_true_probabilities_lie_in_intervals_of_an_exact_posterior():
    """With all the pool told, and the prior that drew the weights, 90% intervals hold about 90%."""
    covered = [
        float(coverage_runs.simulated("digits", "random", "expectation_propagation", "told", seed, 60)["covered"])
        for seed in range(6)
    ]
    assert 0.8 < np.mean(covered) < 0.97


def test_inclusion_runs_measure_what_the_model_knew():
    found = inclusion_runs.run("religion and atheism", "uncertainty", 0, 10)
    of = inclusion_runs.problem("religion and atheism", 0)
    lengths = np.asarray(of.X.multiply(of.X).sum(axis=1)).ravel()
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)
    assert of.X.shape[0] == 856 and of.X_test.shape == (569, of.X.shape[1])
    assert found["n"].tolist() == [100, 110] and len(set(found["position"].tolist())) == 110
    start = inclusion_runs.model_of("religion and atheism", of.X[of.first], of.y[of.first])
    assert inclusion_runs.quality(start, of.X_test, of.y_test)[0] == found["error"][0]
    # uncertainty asks where the latent's mean is nearest to 0
    nearest = start.predictive(of.X[np.setdiff1d(np.arange(856), of.first)]).mean
    assert abs(found["latent"][0, 0]) == pytest.approx(np.abs(nearest).min())
