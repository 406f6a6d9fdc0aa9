"""The README keeps its word: its lines are there, its example runs, its map and its links lead somewhere."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_english import faults

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = README.split("## Start", 1)[1].split("\n## ", 1)[0]


def test_the_two_lines_set_up_and_run():
    lines = re.findall(r"^```sh\n(.*?)^```$", START, re.DOTALL | re.MULTILINE)
    run, test = (line.strip() for line in lines[:2])
    assert "\n" not in run and "\n" not in test
    assert run.startswith("python3 -m venv .venv && .venv/bin/pip install") and "/adaptive " in run
    assert test.startswith("python3 -m venv .venv && .venv/bin/pip install") and "-m pytest" in test


def test_the_extras_of_the_test_line_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.search(r"'\.\[(.*?)\]'", START)
    assert named is not None and set(named.group(1).split(",")) <= set(extras)


def test_the_python_runs_in_a_process_of_its_own(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    instrument, model = found.stdout.splitlines()
    centre, width, *deviations = map(float, re.findall(r"[\d.e-]+", instrument))
    errors = np.abs(np.subtract([centre, width], [3.1, 0.2]))
    assert (errors < 3 * np.array(deviations) + 0.02).all()
    assert float(model.split()[-1]) > 0.85


def test_it_is_read_in_a_few_minutes():
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.DOTALL | re.MULTILINE)
    assert len(README.split()) <= 900
    first = prose.split(" jobs\n")[0]
    assert max(len(one.split()) for one in re.split(r"(?<=[.!?:])\s", re.sub(r"\(.*?\)|\n    .*", "", first))) < 30


KNOWN = {entry["id"] for entry in json.loads((ROOT / "results/claims.json").read_text())}
BY_ANCHOR = {id.replace(".", ""): id for id in KNOWN}  # as pages of the site have it
NUMBER = re.compile(r"\d%|(?<![\d\w.])\d*\.\d|\btimes (fewer|more|less)")
ASKED = re.compile(  # what somebody sets or asks for is no result
    r"Python 3\.\d+|\d+% (intervals?|bands?|of a classifier's questions|at random)|its\s90%\s(covers|interval)"
    r"|probability 0\.95|more than 30% of the other\s*people|99% of the energy|such as 0\.3|is worth 0\.02 nats"
    r"|a stranger is right in 82% of the cases \(53 to 100%\)"
)
GUIDE = sorted(path.name for path in (ROOT / "docs/guide").glob("*.md"))


def ids_in(text: str) -> set[str]:
    """Claims that a text names, or links to."""
    named = re.findall(r"`((?:ours|serve|nickisch|ko|kokhan|paquet|hennig)-[\w.-]+)`", text)
    linked = re.findall(r"results/(?:domains|sources)/[\w-]+\.md#([\w-]+)", text)
    return {*named, *(BY_ANCHOR.get(one, one) for one in linked)}


def paragraphs(text: str) -> list[str]:
    """Of prose and tables without code: paragraphs, points, and lines of tables, each below the head of its table."""
    prose = re.sub(r"^(```.*?^```|    .*?)$", "", text, flags=re.DOTALL | re.MULTILINE)
    found = []
    for block in re.split(r"\n\s*\n|\n- ", prose):
        head, *lines = block.split("\n") if block.startswith("|") else [block]
        found += [f"{head}\n{line}" for line in lines] or [head]
    return found


@pytest.mark.parametrize("page", ["README.md", *(f"docs/guide/{name}" for name in GUIDE)])
def test_every_number_of_a_run_has_its_claim(page):
    """A paragraph that gives a share, a ratio or a decimal names the claim that it comes from."""
    for paragraph in paragraphs((ROOT / page).read_text(encoding="utf-8")):
        ids = ids_in(paragraph)
        assert ids <= KNOWN, paragraph
        bare = re.sub(r"`[^`]*`|\]\([^)]*\)|\$[^$]*\$|^#.*$", "", paragraph, flags=re.MULTILINE)
        if NUMBER.search(ASKED.sub("", bare)):
            assert ids, f"a number without its claim: {paragraph}"


WRITTEN = ["README.md", "CONTRIBUTING.md", "docs/index.md"] + sorted(
    str(path.relative_to(ROOT))
    for folder in ("guide", "commands", "coming_from", "laboratories")
    for path in (ROOT / "docs" / folder).glob("*.md")
    if path.name != "built.md"  # which a script writes
)
LONGEST = 40  # words of a sentence


def sentences(text: str) -> list[str]:
    """Of prose and tables without code, links and what stands in brackets."""
    found = []
    for paragraph in paragraphs(re.sub(r"^(#|:::).*$", "\n", text, flags=re.MULTILINE)):
        plain = " ".join(re.sub(r"`[^`]*`", "x", re.sub(r"\]\([^)]*\)", "]", paragraph)).split())
        cells = re.split(r"\s\|", plain) if plain.startswith("|") else [plain]
        found += [one for cell in cells for one in re.split(r"(?<=[.?!]) (?=[A-Zx*\[(-])", cell.strip("| "))]
    return [one for one in found if one]


@pytest.mark.parametrize("page", WRITTEN)
def test_pages_are_in_plain_english(page):
    """As help and messages are (``tests/cli/test_english.py``), in sentences that can be read in one breath."""
    for sentence in sentences((ROOT / page).read_text(encoding="utf-8")):
        named = "whoever" in sentence.lower() and page == "CONTRIBUTING.md"  # the word itself is named there
        assert named or not faults(sentence), sentence
        assert sentence.lower().rstrip(".") != "the same", page
        assert len(re.findall(r"[\w'/.-]+", re.sub(r"\([^)]*\)", "", sentence))) <= LONGEST, sentence


def test_the_faults_of_a_page_are_found():
    text = "# No 1 rows\n\nWhoever asks gets `.5` here. There .5 it was.\n\n| a | the same |\n\n    whoever in code\n"
    assert [faults(one) for one in sentences(text)] == [["whoever"], ["a number without its 0"], [], []]
    assert sentences(text) == ["Whoever asks gets x here.", "There .5 it was.", "a", "the same"]


def test_a_default_in_a_docstring_that_was_chosen_or_covers_names_its_claim():
    """Where a docstring says what something was chosen by, or what an interval covers, a number says whence it is."""
    n_found = 0
    for path in [*(ROOT / "adaptive").rglob("*.py"), *(ROOT / "designs").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if re.search(r"[Cc]hosen by|\bcovers?\b", text) else ():
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                continue
            for paragraph in re.split(r"\n\s*\n|\n(?=\w+(?:, \w+)* : )", ast.get_docstring(node) or ""):
                ids = {one for one in ids_in(paragraph) if not one.endswith("-")}  # "ours-hyper-boxes-*": several
                assert ids <= KNOWN, paragraph
                for sentence in re.split(r"(?<=[.;])\s", paragraph):
                    if re.search(r"\bchosen by\b|\bcovers?\b", sentence, re.IGNORECASE) and re.search(
                        r"(?<!\w)\.\d", sentence
                    ):
                        n_found += 1
                        assert ids, f"{path}: a number without its claim: {sentence}"
    assert n_found > 10


def test_every_shell_line_is_run_by_ci_as_it_stands(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    import lines

    found, run = lines.lines(), (ROOT / ".ci/run").read_text() + (ROOT / ".ci/docs").read_text()
    assert any("adaptive kspace --plan" in line for line in found) and any(" label --tell " in line for line in found)
    left = [line for line in README.splitlines() if re.match(r"(    )?(\.venv/bin/|python3 -m venv)", line)]
    for line in left:
        named = lines.bare(line.strip())
        assert any(named in lines.bare(one) for one in found) or ("-m pytest" in named) != ("-m sphinx" in named), line
    assert ".ci/lines.py" in run and "-m sphinx" in run and "second sh block" in run


def test_everything_on_the_map_exists():
    table = (ROOT / "docs/guide/map.md").read_text()
    places = [
        place
        for row in table.splitlines()[3:]
        for place in re.findall(r"`([^`]+)`", row.split("|")[1] if "|" in row else "")
    ]
    assert len(places) > 12
    for place in places:
        inside = [ROOT / place, ROOT / "adaptive" / place, ROOT / "adaptive" / f"{place}.py", ROOT / f"{place}.py"]
        assert any(path.exists() for path in inside), place
    rooms = {
        path.stem for path in (ROOT / "adaptive").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert rooms - {"__init__", "__main__"} <= {place.strip("/").split("/")[-1] for place in places}


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "skeletons/README.md", "results/README.md", "docs/guide/map.md"]
)
def test_links_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), f"{page} links to {link}"


def test_names_of_the_symbol_table_exist():
    import adaptive
    from adaptive import inference, potentials, scorers

    table = (ROOT / "docs/glossary.md").read_text().split("## Symbols of the papers", 1)[1]
    names = {name for row in re.findall(r"`([^`]+)`", table) for name in re.findall(r"[A-Za-z_]{5,}", row)}
    homes = (adaptive, inference, potentials, scorers, adaptive.GLM, adaptive.Posterior, potentials.Potential)
    of_instances = {"noise_variance", "sites", "fraction", "evidence_kind", "log_evidence", "objective_trace", "scale"}
    for name in names - of_instances:
        assert any(hasattr(home, name) for home in homes), name
