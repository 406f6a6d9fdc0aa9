"""The site keeps its word: code of the guide runs, every public name has its page, every estimator a picture.

The gallery is run by the site's build, which also checks links and that nothing is fetched (``docs/check_built.py``).
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import adaptive
from adaptive.cli import app

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted((*DOCS.glob("guide/*.md"), *DOCS.glob("coming_from/*.md"), DOCS / "index.md"))
WITH_CODE = [path for path in PAGES if "```python" in path.read_text(encoding="utf-8")]


@pytest.fixture
def site(monkeypatch):
    """What makes pages of the API."""
    monkeypatch.syspath_prepend(str(DOCS))
    for name in [one for one in sys.modules if one.startswith("site_pages")]:
        monkeypatch.delitem(sys.modules, name)
    from site_pages import api

    return api


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


def test_every_public_name_has_one_page_that_says_what_it_is(site, tmp_path):
    site.write(tmp_path)
    promised = {
        f"{package}.{name}"
        for package, names in _promised().items()
        for name in names
        if not package.startswith("designs.box")
    }
    listed = {one.listed: one for names in site.names().values() for one in names}
    assert promised <= set(listed), sorted(promised - set(listed))
    for one in listed.values():
        page = tmp_path / (f"{one.page}.rst" if isinstance(one.thing, ModuleType) else f"names/{one.page}.rst")
        assert page.is_file(), one.listed
        assert isinstance(one.thing, ModuleType) or one.page in page.read_text()


def test_the_index_of_the_api_says_who_needs_a_package(site):
    groups = site.grouped(site.names())
    listed = [package for inside in groups.values() for package in inside]
    assert sorted(listed) == sorted(site.names()) and len(groups) == len(site.NEEDED)
    assert not {one for inside in site.NEEDED.values() for one in inside} - set(listed)


def test_names_in_the_guide_are_links_where_they_can_be_nothing_else(site):
    from site_pages import references

    targets, commands = references._targets(), references._commands()
    for text, page, anchor in (
        ("BayesianLogisticRegression", "adaptive.BayesianLogisticRegression", ""),
        ("SequentialDesign.load", "adaptive.SequentialDesign", ""),
        ("predictive_information_gain", "adaptive.scorers.predictive_information_gain", ""),
        ("SequentialDesign._next", "", ""),
        ("margin", "", ""),
        ("model.no_such", "", ""),
        ("random_state=0", "", ""),
    ):
        assert references.place_of(text, targets, commands) == (page, anchor), text
    assert references.place_of("adaptive label TABLE.csv --batch 5", targets, commands)[0].endswith("label")


def test_cells_of_a_table_know_their_heading(site):
    from site_pages.narrow import labelled

    table = (
        "<table><thead><tr><th>one</th><th>two</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    )
    assert '<td data-label="one">1</td><td data-label="two">2</td>' in labelled(table)
    assert labelled("<p>no table</p>") == "<p>no table</p>"


def test_the_gallery_is_drawn_in_the_look_of_all_figures(site):
    import matplotlib
    from site_pages import gallery

    from adaptive.plots import PALETTE
    from adaptive.plots.style import SHEET

    assert '"site_pages.gallery.one_look"' in (DOCS / "conf.py").read_text(encoding="utf-8")
    with matplotlib.rc_context():
        gallery.one_look({}, "")
        assert [one["color"] for one in matplotlib.rcParams["axes.prop_cycle"]] == list(PALETTE)
        assert {name: matplotlib.rcParams[name] for name in SHEET} == SHEET
    for path in DOCS.glob("examples/**/*.py"):  # no colours of another sheet
        assert not re.search(r"tab:|rcParams|style\.use", path.read_text(encoding="utf-8")), path.name


def test_a_page_that_is_too_wide_or_too_faint_is_found(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DOCS))
    import check_looks

    if check_looks.chromium() is None:
        pytest.skip("no Chromium: apt-get install chromium")
    dark = "@media (prefers-color-scheme: dark) { .dark { background: #111 } }"
    pages = {
        "good": "<style>p { color: #555; background: #fff }</style><p>read me</p><p style='opacity: 0'>unseen</p>",
        "wide": "<p style='width: 500px'>wide</p>",
        "faint": f"<style>p {{ color: #777; background: #fff }} {dark}</style><p>faint</p><p class='dark'>well</p>",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(f"<!doctype html>{text}")
    from experiments.serve.shared import chromium

    with chromium.browser() as browser:
        said = check_looks.problems([(name, (tmp_path / f"{name}.html").as_uri()) for name in pages], browser)
    assert [line.split(",")[0] for line in said] == [
        "wide: scrolls sideways", "faint: faint in light", "faint: faint in dark", "faint: faint in dark",
    ]  # fmt: skip
    assert "4.48: rgb(119" in said[1] and "4.2" in said[3]


def test_an_initial_is_no_list(site):
    from site_pages.docstrings import as_rst

    assert as_rst("References\n----------\nT. Scheffer (2001).\nSee D. MacKay.").split("\n")[2:] == [
        r"\T. Scheffer (2001).", "See D. MacKay.",
    ]  # fmt: skip


def test_the_page_of_a_command_has_its_options_and_its_example(site):
    from site_pages import commands

    for command in app.registered_commands:
        name, text = command.callback.__name__, "\n".join(commands.page(command.callback))
        assert f"    adaptive {name} " in text and ":doc:`/commands/" in text, name
        assert "exit code 0" in text and "None" not in text, name
        assert "``--out FOLDER``" in text or name in ("serve", "forget", "example"), name
    assert commands.page(site.names) == []


def test_formulas_in_docstrings_are_not_taken_for_markup(site):
    from site_pages.docstrings import as_rst

    said = as_rst("The density exp(-|s|) of image_.\n\n    T(s) = a * b\n\n``kept_`` and `x_`.\n\n>>> 2 * 3\n6")
    assert said.split("\n") == [
        r"The density exp(-\|s\|) of image\_.", "", "::", "", "    T(s) = a * b", "", "``kept_`` and `x_`.", "",
        ">>> 2 * 3", "6",
    ]  # fmt: skip


def test_every_estimator_and_command_has_an_example_with_a_picture():
    texts = {path: path.read_text(encoding="utf-8") for path in DOCS.glob("examples/estimators/*.py")}
    for path, text in texts.items():
        said = ast.get_docstring(ast.parse(text))
        assert said and "====" in said and "plt." in text, path.name
    everything = "\n".join(texts.values())
    estimators = [name for name in adaptive.__all__ if hasattr(getattr(adaptive, name), "select")]
    assert len(estimators) >= 12
    for name in estimators:
        assert name in everything, f"no example uses {name}"
    pages = {path: path.read_text(encoding="utf-8") for path in DOCS.glob("commands/*.md") if path.stem != "index"}
    listed = (DOCS / "commands" / "index.md").read_text(encoding="utf-8")
    for path, text in pages.items():
        assert "```{shell}\n" in text and f"\n{path.stem}\n" in listed, path.name
    for command in app.registered_commands:
        line = re.compile(rf"^(.*\| )?adaptive {command.callback.__name__} ", re.MULTILINE)
        assert any(line.search(text) for text in pages.values()), command.callback


def test_the_table_of_promises_has_every_estimator():
    table = (DOCS / "guide" / "promises.md").read_text(encoding="utf-8")
    for name in adaptive.__all__:
        if inspect.isclass(getattr(adaptive, name)) and hasattr(getattr(adaptive, name), "select"):
            assert f"`{name}`" in table, name


def _promised() -> dict[str, list[str]]:
    text = (ROOT / "tests" / "public_names.txt").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\n ", " ").split("\n")
    return {package: names.split() for package, _, names in (line.partition(":") for line in lines) if names}
