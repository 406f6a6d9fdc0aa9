"""The scripts on designs of lines for whole heads: quick modes, what they judge, their tools."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.images import l2_error
from designs.kspace import central, mirror
from experiments import claims
from experiments.kspace import kspace_beyond, kspace_sparsity
from experiments.kspace.shared import kspace_heads
from experiments.script import Script, located
from tests.experiments.scripts import module_of

JUDGED = {
    "kspace_curves": {"nickisch-fig-6.8", "nickisch-fig-6.9", "nickisch-fig-6.10", "nickisch-fig-6.11",
                      "ours-kspace-curves-mirror-free-snr-200", "ours-kspace-curves-mirror-free-snr-50"},
    "kspace_beyond": {"ours-kspace-beats-half-plane-at-64"},
    "kspace_rivals": {"ours-kspace-oracle", "ours-kspace-diagonal-variance", "ours-kspace-seconds-per-decision",
                      "ours-kspace-coverage"},
    "kspace_sparsity": {"nickisch-fig-6.4", "nickisch-fig-6.5"},
    "lines_pay": {"ours-kspace-pays-everywhere", "ours-kspace-pays-half", "ours-kspace-pays-half-unseen-heads"},
    "first_command": {"ours-kspace-pays-first-command", "ours-kspace-pays-first-other",
                      "ours-kspace-pays-first-own-centre"},
    "exchanges": {"ours-tuned-lines-exchanged"},
    "by_defaults": {"ours-kspace-defaults-50"},
    "information_member": {"ours-tuned-lines-information"},
    "reference_prior": {"ours-kspace-pays-reference-lines", "ours-kspace-pays-reference-prior",
                        "ours-kspace-pays-on-the-fly"},
    "bands": {"ours-kspace-pays-bands", "ours-bands-kspace-heads"},
    "tuned_further": {"ours-tuned-lines-rough", "ours-tuned-lines-range-further"},
    "tuned_portfolio": {"ours-tuned-lines", "ours-tuned-lines-ahead", "ours-tuned-lines-range",
                        "ours-tuned-lines-transfer"},
    "design_cost": {"ours-tuned-lines-seconds", "ours-plan-reconstructions"},
    "figures_again": set(),
    "series": set(),
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder of runs that the quick modes share."""
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_RUNS", str(runs))
    module_of(name).run(Script(located(name), tmp_path, quick=True))
    assert {entry["id"] for entry in claims.load(tmp_path)} == JUDGED[name]
    assert (tmp_path / "tables").is_dir()
    committed = {entry["id"]: entry for entry in claims.load()}
    for id in JUDGED[name] & set(committed):
        assert committed[id]["script"] == located(name)
    assert all(path.stat().st_size for kind in ("figures", "tables") for path in (tmp_path / kind).glob("*"))


def test_zero_filling_of_all_lines_returns_the_image():
    acquired = kspace_heads.scan("scan 12", 1e6)
    found = kspace_heads.linear(acquired, np.arange(32), 6)
    assert l2_error(acquired.image, found) < 0.05 * np.linalg.norm(acquired.image)  # what the phase estimate costs


def test_images_of_a_set_differ_in_phase_noise_and_draws():
    names = (*kspace_heads.HEADS["heads"].training, *kspace_heads.HEADS["heads"].unseen)
    assert len({kspace_heads.seed_of(name) for name in names}) == len(names)
    assert not set(kspace_heads.HEADS["heads"].training) & set(kspace_heads.HEADS["heads"].unseen)


def test_graded_lines_waste_none_on_a_mirror():
    for stretch in kspace_beyond.STRETCHES:
        for power in kspace_beyond.POWERS:
            design = kspace_beyond.graded("heads", stretch, power)
            further = np.setdiff1d(design, central(256, 32))
            assert len(np.unique(design)) == 64 and not np.isin(mirror(256, further), design).any()


def test_fits_tell_gaussian_from_laplace_samples():
    rng = np.random.default_rng(0)
    gaussian, laplace = kspace_sparsity.fits(rng.normal(size=20000)), kspace_sparsity.fits(rng.laplace(size=20000))
    assert abs(gaussian["kurtosis"] - 3) < 0.2 and gaussian["gaussian"] > gaussian["laplace"]
    assert abs(laplace["kurtosis"] - 6) < 1.0 and laplace["laplace"] > laplace["gaussian"]


def test_details_of_all_levels_are_all_details():
    u = np.random.default_rng(1).random((64, 64))
    W = kspace_sparsity.Wavelet(u.shape, kspace_sparsity.WAVELET)
    levels = [kspace_sparsity.details_of_level(W.forward(u), k) for k in range(1, W.level + 1)]
    assert np.isclose(sum(np.sum(s**2) for s in levels), np.sum(kspace_sparsity.details(u) ** 2))
