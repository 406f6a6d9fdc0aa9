"""The scripts on spirals, coils and volumes: quick modes, what they judge, their tools."""

import numpy as np
import pytest

from experiments import claims
from experiments.kspace.shared import spiral_runs
from experiments.script import Script, located
from tests.experiments.scripts import module_of

SCRIPTS = {
    "spiral_designs": {
        "nickisch-fig-6.12",
        *(
            f"ours-spiral-{name}"
            for name in ("even-counts", "odd-counts", "half-circle", "random-angles", "transfer", "axial")
        ),
    },
    "spiral_step": {"nickisch-fig-6.3", "ours-spiral-refined-angle"},
    "coil_designs": {"ours-coils-same-slice-quick"},
    "volume_designs": {"ours-volume-same-head", "ours-volume-unseen-heads"},
}
FULL = {
    "coil_designs": {
        *(f"ours-coils-same-slice-{name}" for name in ("simulated", "joint", "raw")),
        *(f"ours-coils-unseen-{name}" for name in ("simulated", "joint")),
        "ours-joint-design-unseen",
    }
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.filterwarnings("ignore:.*has not converged")
def test_a_script_runs_in_quick_mode(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_RUNS", str(tmp_path / "runs"))
    module = module_of(name)
    module.run(Script(located(name), tmp_path, quick=True))
    assert {entry["id"] for entry in claims.load(tmp_path)} == SCRIPTS[name]
    committed = {entry["id"]: entry["script"] for entry in claims.load()}
    for id in FULL.get(name, SCRIPTS[name]):
        assert committed[id] == located(name)
    for kind in ("figures", "tables"):  # what the page shows comes from scripts that still draw it
        for path in (tmp_path / kind).glob("*"):
            assert path.stat().st_size > 0 and (claims.RESULTS / kind / path.name).is_file(), path.name


def test_comparison_designs_of_angles_are_what_the_source_says():
    for setting, period in spiral_runs.PERIODS.items():
        found = spiral_runs.compared("full", setting, 8)
        np.testing.assert_allclose(np.diff(found["equispaced"][0]), period / 8)
        assert len(found["random"]) == spiral_runs.DRAWS["full"]
        for angles in found["random"]:
            assert angles[0] == 0 and len(set(angles.tolist())) == 8 and angles.max() < period
    # 16 interleaves reach the Nyquist rate at every size, as 8 revolutions do at 256.
    assert spiral_runs.shots("full", [0.0]).samples.shape == (1, 1608, 2)
