"""``adaptive kspace --series``: a plan from the volume before is taken where it is ahead, else what stays is."""

import json

import numpy as np
import pytest

from adaptive.cli import run
from adaptive.cli.kspace import series
from adaptive.cli.kspace.reading import read_series
from adaptive.cli.kspace.series import DESIGNED, OFFERED, PLANNED
from adaptive.images import Slice, head_scan, padded
from designs import kspace
from designs.kspace import central
from designs.kspace.from_images import halving, portfolio
from tests.cli.processes import columns

HEAD, OTHER = (padded(head_scan()[k].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3)) for k in (12, 13))


@pytest.fixture(autouse=True)
def few_rules(monkeypatch):
    """Few rules: others are tried elsewhere."""
    monkeypatch.setattr(portfolio, "EXPONENTS", (2.0,))
    monkeypatch.setattr(portfolio, "DENSITIES", ())
    monkeypatch.setattr(halving, "LEFT", (1, 1, 1))
    monkeypatch.setattr(halving, "LAST", 1)


def settings(**told):
    return {"lines": 8, "initial": 6, "axis": 0, "snr": 100.0, "phase": "central", "seed": 0, "volume": None} | told


@pytest.mark.parametrize(("planned", "taken"), [([0, 15], DESIGNED), (None, PLANNED)])
def test_a_plan_is_offered_only_where_simulated_scans_find_it_ahead(planned, taken, monkeypatch):
    """A poor plan is not taken, a good one beside a poor design is."""
    poor = np.r_[central(16, 6), 0, 15]
    if planned is not None:
        monkeypatch.setattr(kspace, "reference_lines", lambda *_, **__: poor)
    else:
        tuned = kspace.tuned_lines
        monkeypatch.setattr(kspace, "tuned_lines", lambda *a, **k: tuned(*a, **k)._replace(lines=poor))
    found = series.follow([Slice(HEAD, "0"), Slice(HEAD, "1")], settings(), 1)
    (one,) = found.volumes
    assert one.taken == taken and one.expected.design == taken
    np.testing.assert_array_equal(one.lines[OFFERED], one.lines[taken])
    assert one.errors[OFFERED] == one.errors[taken] and len(one.lines[OFFERED]) == 8
    assert min(one.errors[DESIGNED][0], one.errors[PLANNED][0]) == one.errors[taken][0]


def test_volumes_follow_each_other_by_the_command_alike_for_any_number_of_jobs(tmp_path):
    volumes = np.stack([HEAD, 0.9 * HEAD, OTHER], axis=-1)[None]
    np.save(tmp_path / "series.npy", volumes)
    read = read_series(str(tmp_path / "series.npy"), 3, None, "axial", None)
    assert read[1].image[8, 8] == pytest.approx(0.9 * read[0].image[8, 8])  # scaled all alike
    common = ["kspace", "--image", str(tmp_path / "series.npy"), "--series", "3", "--lines", "8", "--initial", "6"]
    for jobs in ("1", "2"):
        assert run([*common, "--jobs", jobs, "--out", str(tmp_path / jobs)]) == 0
    table = columns(tmp_path / "1/series.csv")
    assert set(table["design"]) == {OFFERED, PLANNED, DESIGNED, *series.RULES} and set(table["volume"]) == {"1", "2"}
    for name in ("series.csv", "series_lines.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    summary = json.loads((tmp_path / "1/summary.json").read_text())
    assert len(summary["expected error"]) == len(summary["taken"]) == 2
    assert "3 volumes of series.npy" in summary["simulated"] and "the plan was taken" in summary["verdicts"][0]
