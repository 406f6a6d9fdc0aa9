"""The scripts on served pages: what can be tried without a server (tests/serve tries the rest with one)."""

import json

from experiments.script import Script
from experiments.serve import labellers


def test_labellers_in_quick_mode(tmp_path):
    labellers.run(Script("experiments/serve/labellers.py", tmp_path, quick=True))
    judged = {one["id"]: one for one in json.loads((tmp_path / "claims.json").read_text())}
    assert set(judged) == {"serve-labellers", "serve-pending-cost"}
    assert (tmp_path / "figures/serve-labellers.png").exists()
