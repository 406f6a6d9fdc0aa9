"""The script on photographs: its quick mode, what it judges, and that its runs are what they say."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.operators import Wavelet
from experiments import claims
from experiments.images import natural_images
from experiments.images.shared import filter_orderings, filter_runs, photographs
from experiments.script import Script
from experiments.statistics import limits


@pytest.fixture(scope="module", autouse=True)
def kept_runs(tmp_path_factory):
    """A folder of runs that the tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADAPTIVE_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


def test_the_quick_mode_runs(tmp_path):
    natural_images.run(Script("experiments/images/natural_images.py", tmp_path, quick=True))
    assert {entry["id"] for entry in claims.load(tmp_path)} == {"nickisch-fig-5.3"}
    assert {path.name for path in tmp_path.glob("*/*.*")} >= {"natural-images-16.csv", "nickisch-fig-5.3.png"}


def test_photographs_are_means_of_blocks_of_the_middle_square():
    import pywt

    whole = pywt.data.camera().astype(float)
    assert whole.shape == (512, 512)
    small = photographs.photograph("camera", 16)
    np.testing.assert_allclose(small[3, 5], whole[96:128, 160:192].mean() / 255)
    assert len(set(photographs.TEST)) == 30
    assert not set(photographs.TEST) & set(photographs.TUNING)


@pytest.mark.parametrize("name", [photographs.TEST[0], photographs.TEST[2]])
def test_photographs_of_the_data_folder_have_any_size(name):
    image = photographs.photograph(name, 32)
    assert image.shape == (32, 32)
    assert 0 <= image.min() < image.max() <= 1


def test_filters_designed_on_other_photographs_beat_random_ones_and_lose_a_little_against_ones_own():
    """By whole intervals over six photographs, each with noise of its own."""
    errors = {"another's": [], "random": [], "own": []}
    designed = filter_runs.cell(16, "ascent", "EP free 0", 40)["rows"].astype(float)
    for name in photographs.TEST[:6]:
        image = photographs.photograph(name, 16).ravel()
        noise = np.sqrt(filter_runs.NOISE_VARIANCE) * filter_runs.random(name, "noise").standard_normal(40)
        for kind, rows in (("another's", designed), ("random", filter_runs.first_rows(16, name, "uniform", 0, 40))):
            belief = filter_runs.ExpectationPropagation(16, filter_runs.RATES["EP"])
            belief.learn(rows, rows @ image + noise)
            errors[kind].append(np.linalg.norm(belief.mean - image))
        errors["own"].append(filter_runs.cell(16, name, "EP free 0", 40)["errors"][-1])
    logs = {kind: np.log(values) for kind, values in errors.items()}
    gain, loss = limits(logs["another's"] - logs["random"]), limits(logs["another's"] - logs["own"])
    assert gain[2] < 0 and loss[2] < -gain[0]
    assert np.exp(gain[0]) < 0.8 and np.exp(loss[0]) < 1.15


def test_a_run_measures_what_its_name_says():
    run = filter_runs.curve(16, "camera", "EP free 8", 20)
    np.testing.assert_array_equal(run["measurements"], [8, 11, 14, 17, 20])
    coefficients = Wavelet((16, 16)).forward(run["rows"].reshape(-1, 16, 16)).reshape(20, -1)
    np.testing.assert_allclose(np.abs(coefficients[:8]).max(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(run["rows"][8:11] @ run["rows"][8:11].T, np.eye(3), atol=1e-5)
    heuristic = filter_runs.curve(16, "camera", "L2 wavelet 0", 40)
    image = photographs.photograph("camera", 16).ravel()
    W = np.asarray(filter_runs.first_rows(16, "camera", "wavelet", 0, 40))
    noise = np.sqrt(filter_runs.NOISE_VARIANCE) * filter_runs.random("camera", "noise").standard_normal(40)
    np.testing.assert_allclose(heuristic["errors"][-1], np.linalg.norm(W.T @ (W @ image + noise) - image))


def test_orderings_are_judged_by_paired_differences(monkeypatch):
    study = filter_orderings.Study(16, ("one", "two", "three"), 40, (8, 20), ())
    errors = {"EP free 0": [1.0, 2.0, 3.0], "L2 wavelet 0": [1.2, 2.1, 3.3]}

    def cell(side, name, method, last):
        k = study.names.index(name)
        return {"measurements": np.array([0, 40]), "errors": np.full(2, errors[method][k])}

    monkeypatch.setattr(filter_orderings, "cell", cell)
    found = filter_orderings.paired(study, "EP free 0", "L2 wavelet 0", 20)
    assert filter_orderings.better(found)
    assert found["better on"] == 1.0
    np.testing.assert_allclose(found["mean difference"], -0.2)
    np.testing.assert_allclose(found["standard error"], 0.1 / np.sqrt(3), atol=1e-4)
    assert not filter_orderings.better(filter_orderings.paired(study, "L2 wavelet 0", "EP free 0", 20))
