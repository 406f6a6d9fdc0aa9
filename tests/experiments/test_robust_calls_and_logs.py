"""The runs of bad calls and of broken logs in quick mode: nothing falls."""

import pytest

from experiments import claims
from experiments.robustness import calls, logs
from experiments.script import Script


@pytest.mark.parametrize("module, name", [(calls, "calls"), (logs, "logs")])
def test_nothing_falls_in_quick_mode(module, name, tmp_path):
    module.run(Script(f"experiments/robustness/{name}.py", tmp_path, quick=True))
    (entry,) = claims.load(tmp_path)
    assert entry["id"] == f"ours-robust-{name}" and entry["verdict"] == "reproduced", entry["reason"]
