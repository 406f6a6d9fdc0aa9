"""The questions that the contract asks at full size, in quick mode: nothing falls."""

import pytest

from experiments import claims
from experiments.contract import one_history, thirty_answers
from experiments.script import Script


@pytest.mark.parametrize("module, name", [(thirty_answers, "thirty-answers"), (one_history, "one-history")])
def test_nothing_falls_in_quick_mode(module, name, tmp_path):
    module.run(Script(module.__name__.replace(".", "/") + ".py", tmp_path, quick=True))
    (entry,) = claims.load(tmp_path)
    assert entry["id"] == f"ours-{name}" and entry["verdict"] == "reproduced", entry["reason"]
