"""The verdicts and their page: entries are complete, sorted and replaced by id; the committed page is up to date."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from adaptive import plots
from experiments import artifacts, claims, index

ENTRY = {
    "claim": "Bound 1 | bound 2.",
    "kind": "to judge",
    "target": "< 1",
    "value": np.float64(0.25),
    "verdict": "reproduced",
    "script": "experiments/inference/gallery.py",
    "seed": 0,
}


def test_entries_are_sorted_and_replaced_by_id(tmp_path):
    for id, value in (("b", 1.0), ("a", 2.0), ("b", np.array([3.0, 4.0]))):
        claims.record(id, **ENTRY | {"value": value}, results=tmp_path)
    entries = claims.load(tmp_path)
    assert [(entry["id"], entry["value"]) for entry in entries] == [("a", 2.0), ("b", [3.0, 4.0])]
    assert tuple(entries[0]) == claims.FIELDS and "numpy" in entries[0]["environment"]


def test_scripts_that_run_side_by_side_lose_nothing(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: claims.record(f"id-{k:02d}", **ENTRY, results=tmp_path), range(40)))
    assert [entry["id"] for entry in claims.load(tmp_path)] == [f"id-{k:02d}" for k in range(40)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "hope"}, "kind must be one of"),
        ({"verdict": "reproducd"}, "Did you mean 'reproduced'"),
        ({"verdict": "not run"}, "owes a reason"),
        ({"claim": " "}, "claim must be a text"),
        ({"value": np.nan}, "not JSON compliant"),
    ],
)
def test_incomplete_entries_are_refused_and_leave_the_file_alone(tmp_path, change, message):
    claims.record("kept", **ENTRY, results=tmp_path)
    before = (tmp_path / "claims.json").read_bytes()
    with pytest.raises(ValueError, match=message):
        claims.record("new", **ENTRY | change, results=tmp_path)
    assert (tmp_path / "claims.json").read_bytes() == before


def test_the_page_shows_verdicts_figures_and_tables(tmp_path):
    claims.record("fig-1", **ENTRY, results=tmp_path)
    claims.record("sys-2", **ENTRY | {"verdict": "not run", "reason": "data absent"}, results=tmp_path)
    drawing, _ = plots.figure()
    artifacts.save_figure(drawing, "fig-1", "An empty\nfigure.", results=tmp_path)
    artifacts.save_table({"x": [1, 2], "y": np.array([0.1, 1 / 3])}, "numbers", "Two rows.", results=tmp_path)
    assert index.main([], tmp_path) == 0 and index.main(["--check"], tmp_path) == 0
    text = (tmp_path / "README.md").read_text()
    assert "2 verdicts: 1 reproduced, 0 not reproduced, 1 not run." in text
    assert (
        "| fig-1 | Bound 1 \\| bound 2. | < 1 | 0.25 | **reproduced** | "
        "[gallery.py](../experiments/inference/gallery.py) |" in text
    )
    assert "**not run**: data absent" in text and "(figures/fig-1.png)\n\nAn empty figure." in text
    assert "- [numbers](tables/numbers.csv): Two rows." in text
    assert (tmp_path / "tables/numbers.csv").read_text() == f"x,y\n1,0.1\n2,{1 / 3!r}\n"
    claims.record("zz", **ENTRY, results=tmp_path)
    assert index.main(["--check"], tmp_path) == 1


def test_the_committed_results_are_complete_and_their_page_is_up_to_date():
    for entry in claims.load():
        assert tuple(entry) == claims.FIELDS, entry["id"]
        assert (claims.RESULTS.parent / entry["script"]).is_file(), f"{entry['id']} names no script: {entry['script']}"
    assert index.main(["--check"]) == 0, "run: python -m experiments.index"
    json.dumps(claims.load(), allow_nan=False)
