"""The scripts on served pages: what can be tried without a server (tests/serve tries the rest with one)."""

import json

from adaptive.cli.serve.tests import survey
from experiments.benchmarks.serve import beside_floor
from experiments.script import Script
from experiments.serve import labellers
from experiments.serve.shared.killing import questionnaire


def test_labellers_in_quick_mode(tmp_path):
    labellers.run(Script("experiments/serve/labellers.py", tmp_path, quick=True))
    judged = {one["id"]: one for one in json.loads((tmp_path / "claims.json").read_text())}
    assert set(judged) == {"serve-labellers", "serve-pending-cost"}
    assert (tmp_path / "figures/serve-labellers.png").exists()


def test_a_page_and_its_floor_are_timed(tmp_path):
    source = survey(questionnaire(tmp_path / "test.toml", 100), None, 0)
    assert min(beside_floor(source, tmp_path / "store", 3)) > 0
