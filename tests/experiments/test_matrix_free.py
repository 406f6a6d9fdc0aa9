"""The scripts on variances, operation counts and k-space designs: quick modes, what they judge, their tools."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import claims
from experiments.inference import lanczos_figures, operation_counts, variance_estimators
from experiments.kspace.shared import kspace_runs
from experiments.script import Script, located
from tests.experiments.scripts import module_of

# What each script judges. "sure": what it finds does not depend on size, so that quick and full mode must agree.
SCRIPTS = {
    "lanczos_figures": {"sure": {"nickisch-alg-3.2"}, "open": {"nickisch-fig-3.5", "nickisch-fig-6.7"}},
    "variance_estimators": {"sure": {"nickisch-sys-lanczos-variances", "ko-alg-2"}, "open": {"ours-top-line"}},
    "operation_counts": {
        "sure": {"nickisch-tab-3.2", "nickisch-sys-irls", "nickisch-sys-lcg", "nickisch-sys-glm-ie-operators"},
        "open": {"nickisch-sys-fwtn"},  # a time
    },
    "kspace_scores": {"open": {"ours-kspace-scores-complex-spiral"}},
}
EVERY_SET = {f"ours-kspace-{where}{kind}" for where in ("same-slice", "unseen") for kind in ("", "-mirror-free")}
BY_ESTIMATOR = {"ours-map-against-mean", "ours-evidence-against-tuned-scales"}


def judged(name):
    return SCRIPTS[name].get("sure", set()) | SCRIPTS[name].get("open", set())


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """Run a script's quick mode and return its entries by id."""
    monkeypatch.setenv("ADAPTIVE_RUNS", str(tmp_path / "runs"))

    def run(name):
        module = module_of(name)
        module.run(Script(located(name), tmp_path, quick=True))
        return {entry["id"]: entry for entry in claims.load(tmp_path)}

    return run


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_in_quick_mode(name, quick, tmp_path):
    found, committed = quick(name), {entry["id"]: entry for entry in claims.load()}
    assert set(found) == judged(name)
    for id in found:
        assert committed[id]["script"] == located(name)
    for id in SCRIPTS[name].get("sure", ()):
        assert found[id]["verdict"] == committed[id]["verdict"], found[id]["value"]
    for kind in ("figures", "tables"):
        for path in (tmp_path / kind).glob("*"):
            assert path.stat().st_size > 0 and (claims.RESULTS / kind / path.name).is_file(), path.name


def test_kspace_designs_run_in_quick_mode(quick, tmp_path):
    found, committed = quick("kspace_designs"), {entry["id"]: entry for entry in claims.load()}
    assert set(found) == {f"{id}-quick-snr-50" for id in EVERY_SET} | BY_ESTIMATOR
    for dataset in ("default", "whole-head"):
        assert {f"{id}-{dataset}-snr-50" for id in EVERY_SET} | BY_ESTIMATOR <= set(committed)
    for name in ("figures/kspace-designs.png", "tables/kspace-designs.csv", "tables/kspace-tuning.csv"):
        assert (tmp_path / name).is_file() and (claims.RESULTS / name).is_file(), name


def test_every_row_of_the_sources_has_an_entry():
    ids = {
        "nickisch-fig-3.5", "nickisch-tab-3.2", "nickisch-alg-3.2", "nickisch-fig-6.7", "nickisch-sys-glm-ie-operators",
        "nickisch-sys-irls", "nickisch-sys-lcg", "nickisch-sys-lanczos-variances", "nickisch-sys-fwtn", "ko-alg-2",
    }  # fmt: skip
    assert ids <= {entry["id"] for entry in claims.load()}


# ------------------------------------------------------------------------------------------------------------ tools
def test_line_searches_cost_no_products():
    counts = operation_counts.line_search(16)
    assert counts["step sizes tried"] > 2 * counts["line searches"]
    assert counts["forward products of line searches"] == counts["line searches"]
    assert counts["adjoint products of line searches"] == 0


def test_storage_is_what_numpy_holds():
    array, numbers = operation_counts.peak(lambda: np.zeros(100_000))
    assert array.size <= numbers < 1.05 * array.size


def test_spectra_and_images():
    for omega in lanczos_figures.spectra(30).values():
        assert np.all(np.diff(omega) > 0) and 0 < omega[0] and omega[-1] <= 1
    found = variance_estimators.images(32)
    assert len(found) == 10
    assert all(image.shape == (32, 32) and image.max() == 1 and image.min() >= 0 for image in found.values())
    lines = variance_estimators.candidates(32)
    assert len(np.unique(np.abs(lines - 16))) == len(lines) == 12  # no line and its mirror


def test_exact_scores_are_those_of_the_posterior():
    image = variance_estimators.images(16)["camera"]
    posterior = variance_estimators.variational_bounds(variance_estimators.model(image, 0), max_iter=2, tol=1e9)
    lines = variance_estimators.candidates(16)[-2:]
    scores = variance_estimators.exact_scores(posterior.covariance(), image.shape, lines)
    for line, score in zip(lines, scores, strict=True):
        rows = variance_estimators.RealStacked(variance_estimators.FourierLines(image.shape, [line]))
        gain = posterior.information_gain(rows.to_dense(), variance_estimators.NOISE**2)
        assert gain == pytest.approx(score, rel=1e-9)


def test_designs_hold_the_centre_and_are_of_one_size():
    setting = kspace_runs.SETTINGS["default"]
    n = setting.shape[0]
    for draws in kspace_runs.comparisons("default").values():
        for design in draws:
            assert len(design) == setting.n_lines
            assert np.isin(kspace_runs.central(n, setting.n_central), design).all()
    sets = [kspace_runs.SETTINGS[name] for name in ("default", "whole-head")]
    assert all(len(set(one.names)) == len(one.names) >= 7 for one in sets)
