"""The scripts on potentials, bounds, approximations and labelling runs: quick modes, what they judge, their tools."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scipy import integrate

from adaptive.potentials import Gaussian, Laplace
from experiments import claims, runs, shown_by_tests
from experiments.active.shared.calibration import by_chance, expected_calibration_error
from experiments.inference.shared.exact import Problem, exact_posterior, masses
from experiments.script import Script, located
from tests.experiments.scripts import module_of

# What each script judges. "sure": what it finds does not depend on size, so that quick and full mode must agree.
SCRIPTS = {
    "maximum_figures": {
        "sure": {"hennig-fig-A.2", "hennig-fig-A.4", "hennig-fig-A.6"},
        "open": {"hennig-fig-A.7"},
    },
    "go_structure": {"sure": {"hennig-sys-go-engine"}, "open": {"hennig-fig-3.6", "hennig-fig-3.7"}},
    "model_figures": {"open": {"hennig-fig-3.8", "hennig-fig-3.9", "hennig-sys-p-games"}},
    "search_curves": {"open": {"hennig-fig-3.10", "ours-trees-coverage"}},
    "tic_tac_toe": {"sure": {"ours-trees-tic-tac-toe"}},
    "journeys": {"sure": {"ours-house-journeys"}},
    "site": {"sure": {"ours-site-beside-pylops"}, "open": {"ours-site-beside-scikit-activeml"}},
    "gallery": {"sure": {"nickisch-fig-2.2", "nickisch-fig-3.1", "nickisch-fig-3.2", "nickisch-fig-3.4"}},
    "potential_tables": {"sure": {"nickisch-tab-2.2", "nickisch-tab-3.1", "ko-tab-2.5"}},
    "design_costs": {"sure": {"nickisch-tab-2.4"}},
    "bayesian_against_frequentist": {"sure": {"nickisch-sys-d-optimal-v-bayes"}},
    "information_gain": {"sure": {"nickisch-sys-ig-gaussian"}},
    "approximation_errors": {
        "sure": {"ours-approximation-errors", "ours-gp-classification-reference-values"},
        "open": {"ours-ep-is-closest"},
    },
    "multiclass_errors": {
        "open": {
            "ours-multiclass-approximation-errors",
            "ours-multiclass-log-loss",
            "ours-multiclass-designed-digits",
        }
    },
    "double_loop": {
        "sure": {
            "nickisch-alg-3.1",
            "ko-alg-1",
            "nickisch-sys-convexity",
            "ko-sys-dsb",
            "nickisch-sys-student-t-split",
        },
        "open": {"ours-outer-steps"},
    },
    "active_against_random": {
        "open": {
            "nickisch-sys-score-random",
            *(f"ours-calibration-{name}" for name in ("digits", "breast-cancer")),
            *(
                f"ours-active-{name}-{scorer}"
                for name in ("digits", "breast-cancer")
                for scorer in (
                    "information_gain",
                    "variational_information_gain",
                    "predictive_information_gain",
                    "uncertainty",
                )
            ),
        }
    },
    "gp_classification": {
        "sure": {"nickisch-fig-4.3", "nickisch-fig-4.4", "nickisch-fig-4.5", "nickisch-tab-4.8"},
        "open": {"nickisch-fig-4.2"},
    },
    "gp_counts": {"open": {"nickisch-tab-4.10"}},
    "gp_designed": {
        "open": {
            *(f"ours-gp-designed-pools-{scorer}" for scorer in ("information_gain", "predictive_information_gain")),
            *(
                f"ours-gp-designed-box-{kind}"
                for kind in ("regression", "classification", "classification-kernel-told")
            ),
        }
    },
    "hyper_boxes": {"open": {f"ours-hyper-boxes-{what}" for what in ("regression", "classification", "worst")}},
    "hyper_factor": {"open": {"ours-hyper-factor-processes"}},
    "hyper_pools": {"open": {f"ours-hyper-pools-{what}" for what in ("classification", "regression", "factor")}},
    "hyper_sparse": {"open": {"ours-hyper-sparse"}},
    "gp_maps": {"open": {"nickisch-fig-4.9", "nickisch-fig-4.10", "nickisch-fig-4.11"}},
    "gp_splits": {"open": {"ours-gp-splits", "ours-gp-splits-peer"}},
    "gp_marginals": {
        "open": {"nickisch-fig-4.6", "nickisch-fig-4.7", "nickisch-fig-4.8", "ours-gp-evidence-against-sampling"}
    },
    "pixel_bands": {"open": {"ours-pixel-bands", "ours-sign-patterns"}},
    "image_scales": {
        "sure": {"ours-image-scales"},
        "open": {"ours-image-noise", "ours-image-noise-of-the-model"},
    },
    "sparse_regression": {
        "open": {
            "ours-sparse-logistic",
            *(f"ours-sparse-regression-{what}" for what in ("coverage", "density", "weights")),
        }
    },
    "sparse_geometry": {"sure": {"nickisch-fig-5.1"}},
    "sparse_signals": {
        "open": {"nickisch-fig-5.2", *(f"nickisch-fig-5.2-{kind}" for kind in "abcdef"), "ours-signals-rate"}
    },
    "reconstruction_operators": {"open": {"nickisch-tab-6.1", "nickisch-sys-kspace-phase"}},
    "shown_by_tests": {},  # in quick mode it only sees that the tests exist
}


def judged(name):
    return SCRIPTS[name].get("sure", set()) | SCRIPTS[name].get("open", set())


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    module = module_of(name)
    module.run(Script(located(name), tmp_path, quick=True))
    found = {entry["id"]: entry for entry in claims.load(tmp_path)}
    assert set(found) == judged(name)
    committed = {entry["id"]: entry for entry in claims.load()}
    for id in SCRIPTS[name].get("sure", ()):
        assert found[id]["verdict"] == committed[id]["verdict"], found[id]["value"]
    for kind in ("figures", "tables"):  # what the page shows comes from scripts that still draw it
        for path in (tmp_path / kind).glob("*"):
            assert path.stat().st_size > 0 and (claims.RESULTS / kind / path.name).is_file(), path.name


def test_every_row_is_judged_by_its_script():
    committed = {entry["id"]: entry for entry in claims.load()}
    for name in SCRIPTS:
        for id in judged(name):
            assert committed[id]["script"] == located(name)
    for id in shown_by_tests.SYSTEMS:
        assert committed[id]["script"] == "experiments/shown_by_tests.py"
    assert set(shown_by_tests.TESTS) <= set(committed)


def test_a_failing_test_is_counted(tmp_path, monkeypatch):
    (tmp_path / "test_one.py").write_text(
        "import pytest\n\n@pytest.mark.parametrize('x', [1, 2])\ndef test_of_one(x):\n    assert x == 1\n\n"
        "def test_of_two():\n    pass\n"
    )
    found = shown_by_tests.outcomes(["test_one.py::test_of_one", "test_one.py::test_of_two"], tmp_path)
    assert found == {"test_one.py::test_of_one": (1, 1), "test_one.py::test_of_two": (1, 0)}
    monkeypatch.setattr(shown_by_tests, "ROOT", tmp_path)
    monkeypatch.setattr(shown_by_tests, "TESTS", {"a": ("test_one.py::test_of_two", "test_one.py::test_of_nothing")})
    assert shown_by_tests.missing() == ["test_one.py::test_of_nothing"]


def test_a_claim_that_does_not_hold_has_a_reason(tmp_path):
    script = Script("experiments/inference/gallery.py", tmp_path)
    script.judge("one", False, claim="One is two.", target=2, value=1)
    script.judge("two", True, claim="Two is two.", target=2, value=2)
    one, two = claims.load(tmp_path)
    assert (one["verdict"], two["verdict"], two["reason"]) == ("not reproduced", "reproduced", "")
    assert one["reason"]


# ------------------------------------------------------------------------------------------------------------ tools
def test_exact_values_of_gaussian_factors():
    rng = np.random.default_rng(0)
    X, y, K = rng.standard_normal((2, 2)) + 2 * np.eye(2), rng.standard_normal(2), np.array([[2.0, 0.5], [0.5, 1.0]])
    likelihood = Gaussian(np.array([0.5, 0.3]), np.array([1.0, -2.0]))
    exact = exact_posterior(Problem.with_prior(K, likelihood), 20, 10)
    total = K + np.diag(likelihood.variance)
    expected = -0.5 * (
        likelihood.location @ np.linalg.solve(total, likelihood.location) + np.linalg.slogdet(2 * np.pi * total)[1]
    )
    assert exact.log_evidence == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(exact.mean, K @ np.linalg.solve(total, likelihood.location), atol=1e-8)
    covariance = K - K @ np.linalg.solve(total, K)
    np.testing.assert_allclose(exact.deviation, np.sqrt(np.diag(covariance)), atol=1e-8)
    precision = X.T @ X / 0.2 + np.diag(1 / likelihood.variance)
    mean = np.linalg.solve(precision, X.T @ y / 0.2 + likelihood.location / likelihood.variance)
    found = exact_posterior(Problem.with_data(X, y, 0.2, likelihood), 20, 10)
    np.testing.assert_allclose(found.mean, mean, atol=1e-8)
    marginal = 0.2 * np.eye(2) + X @ np.diag(likelihood.variance) @ X.T
    left = y - X @ likelihood.location
    expected = -0.5 * (left @ np.linalg.solve(marginal, left) + np.linalg.slogdet(2 * np.pi * marginal)[1])
    assert found.log_evidence == pytest.approx(expected, abs=1e-9)


def test_exact_values_across_a_kink():
    problem = Problem.with_data(np.array([[0.5]]), np.array([0.4]), 0.3, Laplace(np.array([0.2])))

    def joint(u):
        return np.exp(-((0.4 - 0.5 * u) ** 2) / 0.6) / np.sqrt(2 * np.pi * 0.3) * np.exp(-abs(u) / 0.2) / 0.4

    Z, first, second = (
        integrate.quad(lambda u, k=k: u**k * joint(u), -30, 30, points=[0.0], epsabs=1e-13)[0] for k in range(3)
    )
    exact = exact_posterior(problem, 30, 12)
    assert exact.log_evidence == pytest.approx(np.log(Z), abs=1e-10)
    assert exact.mean[0] == pytest.approx(first / Z, abs=1e-10)
    assert exact.deviation[0] == pytest.approx(np.sqrt(second / Z - (first / Z) ** 2), abs=1e-10)
    nodes, mass = masses(problem)
    assert mass @ nodes == pytest.approx(first / Z, abs=1e-10)


def test_calibration_error_by_hand_and_by_chance():
    p = np.array([0.05, 0.05, 0.55, 0.55, 0.95, 0.95])
    y = np.array([0, 0, 1, 0, 1, 1])
    assert expected_calibration_error(p, y) == pytest.approx((2 * 0.05 + 2 * 0.05 + 2 * 0.05) / 6)
    sure, unsure = np.full(4000, 0.999), np.full(4000, 0.55)
    assert by_chance(sure, 50).max() < 0.01 and by_chance(unsure, 50).max() < 0.05
    assert expected_calibration_error(unsure, np.ones(4000)) == pytest.approx(0.45)


def test_runs_are_kept_until_their_source_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_RUNS", str(tmp_path))
    calls = []
    monkeypatch.setattr(runs.inspect, "getfile", lambda run: str(tmp_path / "source.py"))
    (tmp_path / "source.py").write_text("1")

    def square(x):
        calls.append(x)
        return {"square": np.array([x**2])}

    for _ in range(2):
        assert runs.kept("group", square, 3)["square"][0] == 9
    assert calls == [3]
    (tmp_path / "source.py").write_text("2")
    runs._fingerprint.cache_clear()
    assert runs.kept("group", square, 3)["square"][0] == 9 and calls == [3, 3]
    runs._fingerprint.cache_clear()


@pytest.mark.parametrize("name", ["calibration", "exact", "statistics"])
def test_examples(name):
    outcome = doctest.testmod(module_of(name))
    assert outcome.attempted and not outcome.failed
