"""The verdicts and their page: entries are complete, sorted and replaced by id; the committed page is up to date."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from adaptive import plots
from experiments import artifacts, claims, index
from experiments.equivalence import inside
from experiments.report.cells import anchor
from experiments.report.decisive import came_out, slack
from experiments.report.groups import BY_TESTS, books
from experiments.report.measured import PAGE, ROWS, measured
from experiments.script import Script
from tests.cli.test_english import faults

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


def test_the_page_of_what_was_measured_reads_its_numbers_from_claims(tmp_path):
    entries = claims.load()
    for entry in entries:
        if entry["id"] == "ours-bands-logistic":
            entry["value"] = {"one line": "0.111 [0.1, 0.12]", "another": "0.999 [0.9, 1.0]"}
        if entry["id"] == "ours-hyper-better-on-average":
            entry["value"]["accuracy"], entry["verdict"] = [-0.5, -0.75, -0.25], "not reproduced"
    claims.write(entries, tmp_path)
    text = measured(tmp_path)
    assert "labels and latents: 0.111 to 0.999" in text
    page = "../../results/domains/active-scales.md"
    assert f"less random rows': -0.500 [-0.750, -0.250]]({page}#ours-hyper-better-on-average) (not rep" in text
    assert all(f"adaptive.{name}.rst" in text for name in ROWS)
    promised = (PAGE.parent / "promises.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[`(\w+)`", text, re.MULTILINE) == re.findall(r"^\| \[`(\w+)`", promised, re.MULTILINE)


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


def test_pages_show_verdicts_figures_and_tables_under_their_own_claim(tmp_path):
    claims.record("ours-one", **ENTRY, results=tmp_path)
    claims.record("ours-two", **ENTRY | {"verdict": "not run", "reason": "data absent"}, results=tmp_path)
    claims.record("nickisch-fig-5.2-a", **ENTRY | {"verdict": "could not be told", "reason": "wide"}, results=tmp_path)
    claims.record("hennig-alg-1", **ENTRY | {"script": BY_TESTS, "value": {"a::b": "3 passed"}}, results=tmp_path)
    drawing, _ = plots.figure()
    artifacts.save_figure(drawing, "ours-one", "An empty\nfigure.", results=tmp_path)
    artifacts.save_table({"x": [1, 2], "y": np.array([0.1, 1 / 3])}, "ours-one", "Two rows.", results=tmp_path)
    assert index.main([], tmp_path) == 0 and index.main(["--check"], tmp_path) == 0
    page = (tmp_path / "domains" / "inference.md").read_text()
    assert "| [ours-one](#ours-one) | Bound 1 \\| bound 2. | &lt; 1 | 0.25 | **reproduced** |" in page
    assert "**not run**" in page and "![An empty figure.](../figures/ours-one.png)" in page and "Two rows." in page
    source = "".join((tmp_path / "sources" / f"nickisch-{chapter}.md").read_text() for chapter in (4, 5))
    rows = re.findall(r"^(?:\| \[|- )(nickisch-[\w.-]+)", source, re.MULTILINE)
    assert "| [nickisch-fig-5.2-a]" in source and set(rows) > {"nickisch-fig-4.2", "nickisch-fig-4.10"}
    assert rows.index("nickisch-fig-4.2") < rows.index("nickisch-fig-4.10") < rows.index("nickisch-fig-5.2-a")
    assert "**could not be told**" in source and "nothing to compute" in source
    assert "(nickisch-5.md) | 1 |" in (tmp_path / "sources" / "nickisch.md").read_text()
    tested = "".join(path.read_text() for path in (tmp_path / "sources").glob("hennig-*.md"))
    assert "its tests pass | 3 cases of 1 test passed | **shown by tests**" in tested
    assert "| all | 1 |  | 1 | 1 | 1 |" in (tmp_path / "README.md").read_text()
    assert (tmp_path / "tables/ours-one.csv").read_text() == f"x,y\n1,0.1\n2,{1 / 3!r}\n"
    claims.record("ours-zz", **ENTRY, results=tmp_path)
    assert index.main(["--check"], tmp_path) == 1
    index.main([], tmp_path)
    (tmp_path / "domains" / "of-old.md").write_text("nobody's page")
    assert index.main(["--check"], tmp_path) == 1 and index.main([], tmp_path) == 0
    assert not (tmp_path / "domains" / "of-old.md").exists()


def test_an_interval_beyond_the_band_cannot_tell(tmp_path):
    script = Script("experiments/inference/gallery.py", tmp_path)
    for id, limits in (("a", (-0.01, 0.02)), ("b", (-0.06, 0.02)), ("c", (-0.2, -0.1))):
        script.judge(id, inside(*limits, least=-0.05), claim="As good.", target="above -.05", value=list(limits))
    found = {one["id"]: one for one in claims.load(tmp_path)}
    assert [found[id]["verdict"] for id in "abc"] == ["reproduced", "could not be told", "not reproduced"]
    assert "beyond the band" in found["b"]["reason"]


def test_every_link_of_the_pages_leads_somewhere_and_every_figure_is_one_click_from_its_page():
    texts = index.pages()
    places = {name: {anchor(one) for one in re.findall(r"^#+ (.*)$", text, re.M)} for name, text in texts.items()}
    linked = set()
    of_guide = texts.pop(os.path.relpath(PAGE, claims.RESULTS))
    for page, place in re.findall(r"\.\./results/([\w/-]+\.md)#([\w-]+)\)", of_guide):
        assert place in places[page], place
    for name, text in texts.items():
        for link in re.findall(r"(?<!\\)\]\(([^)]+)\)", text):
            path, _, place = link.partition("#")
            target = (claims.RESULTS / name).parent / path if path else claims.RESULTS / name
            assert target.exists(), f"{name} links to {link}"
            if place:
                assert place in places[os.path.relpath(target, claims.RESULTS)], f"{name} links to {link}"
            if name != "README.md":
                linked.add(target.name)
    assert {path.name for path in (claims.RESULTS / "figures").glob("*.png")} <= linked
    assert texts["README.md"].count("\n") <= 200


def test_pages_are_cut_into_chapters_and_no_line_or_sentence_is_a_wall():
    texts = {name: text for name, text in index.pages().items() if not name.startswith("..")}
    assert max(len(line) for text in texts.values() for line in text.splitlines()) < 1000
    cut = [line for text in texts.values() for line in text.splitlines() if re.search(r"\w \.\.\.(\W|$)", line)]
    assert not cut, cut[:3]
    for book in books():
        assert all(len(page.rows) <= 70 for page in book.pages), book.key
        assert sorted(row.id for row in book.rows) == sorted({row.id for row in book.rows})
    for heading in ("- Best: ", "- Worst: ", "- Undecided: "):
        lines = [line for line in texts["README.md"].splitlines() if line.startswith(heading)]
        assert len(lines) >= 15 and all(re.search(r"\*\*[^*]*\d[^*]*\*\*; target: ", line) for line in lines)


LONGEST = 40  # words between the stops of a sentence


def test_claims_targets_and_reasons_are_in_plain_english():
    """As help and pages are; a list in a sentence may be longer where semicolons part it."""
    for entry in claims.load():
        for text in (entry["claim"], entry["target"], entry["reason"]):
            said = re.sub(r"`[^`]*`", "x", text if isinstance(text, str) else "")
            assert not faults(said), (entry["id"], faults(said), text)
            for part in re.split(r"[.;:?!](?=\s|$)", re.sub(r"\([^)]*\)|\[[^\]]*\]", "", said)):
                assert len(re.findall(r"[\w'/-]+", part)) <= LONGEST, (entry["id"], part)


def test_what_came_out_is_the_numbers_that_decide():
    entry = next(one for one in claims.load() if one["id"] == "ours-kspace-pays-half")
    low, mean, high = sorted(entry["value"]["SNR 200"][:3])
    assert came_out(entry) == f"SNR 200: {mean:.3g} [{low:.3g}, {high:.3g}]"
    assert slack(entry) == pytest.approx((0.9 - high) / 0.9)


def test_the_committed_results_are_complete_and_their_page_is_up_to_date():
    for entry in claims.load():
        assert tuple(entry) == claims.FIELDS, entry["id"]
        assert (claims.RESULTS.parent / entry["script"]).is_file(), f"{entry['id']} names no script: {entry['script']}"
    assert index.main(["--check"]) == 0, "run: python -m experiments.index"
    json.dumps(claims.load(), allow_nan=False)
