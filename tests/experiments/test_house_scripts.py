"""Measures and journeys of the house run, and the page "How it is built" names files and functions that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from experiments import claims
from experiments.house import journeys, measures, second_referee
from experiments.script import Script, located

ROOT = Path(__file__).resolve().parents[2]


def test_the_measures_run_in_quick_mode(tmp_path):
    measures.run(Script(located("measures"), tmp_path, quick=True))
    (entry,) = claims.load(tmp_path)
    assert entry["id"] == "ours-house-measures"
    assert entry["value"]["places of a family, most"] == {"before": 1, "now": 1}  # of this checkout, twice


def test_the_second_referee_draws_the_same_claims_and_compares_numbers_by_their_places(tmp_path):
    second_referee.run(Script(located("second_referee"), tmp_path, quick=True))
    (entry,) = claims.load(tmp_path)
    assert entry["value"]["ended"] == 2 and entry["value"]["share whose numbers all agree"] == 1.0  # with themselves
    known = claims.load(claims.RESULTS)
    drawn = second_referee.sample(known, 40)
    assert len({one["id"] for one in drawn}) == 40 and drawn == second_referee.sample(known, 40)
    value = {"gap": [0.1, 2.0], "n": 3, "said": "a word"}
    assert second_referee.same_numbers(value, value | {"said": "another"}) == 1.0
    assert second_referee.same_numbers(value, {"gap": [0.1, 2.1], "n": 3}) == 2 / 3
    assert second_referee.same_numbers(value, {"gap": [2.0]}) == 0.0
    assert second_referee.same_numbers("same", "same") == 1.0


def test_a_journey_is_in_the_order_of_first_entry(tmp_path):
    gain = journeys.journeys(tmp_path)["rows and labels to an information gain"]
    found = [one.name for one in journeys.entered(gain)]
    assert len(found) == len(set(journeys.entered(gain)))
    fit, scored = found.index("BayesianLogisticRegression._measured"), found.index("information_gain")
    assert fit < scored


def test_every_file_and_function_of_the_page_is_there():
    """Written from a profiled run; a function that was renamed since is found here, and the page written again."""
    rows = re.findall(r"^\| `([\w/]+\.py)` \| (.*) \|$", journeys.PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 100
    astray = []
    for file, functions in rows:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        named = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        named |= {"__init__", "__eq__", "__repr__", "__hash__"}  # of dataclasses, too
        astray += [f"{file}: {one}" for one in re.findall(r"`([^`]+)`", functions) if one.split(".")[-1] not in named]
    assert not astray, "; ".join(astray) + ": run python -m experiments.house.journeys"
