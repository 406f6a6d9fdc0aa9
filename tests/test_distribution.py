"""What is installed: the other distribution of that name is refused in one line, metadata are complete."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_other_distribution_named_adaptive_is_refused_in_one_line(tmp_path):
    info = tmp_path / "adaptive-1.3.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: adaptive\nVersion: 1.3.2\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    found = subprocess.run(
        [sys.executable, "-c", "import adaptive"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    last = found.stderr.strip().splitlines()[-1]
    assert found.returncode == 1 and last.startswith("ImportError: the distribution 'adaptive' 1.3.2 is installed")


def test_versions_agree_and_the_command_is_declared():
    import adaptive

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == adaptive.__version__ == metadata.version("adaptive-designs")
    assert project["scripts"] == {"adaptive": "adaptive.cli:main"}
    assert (ROOT / "adaptive/py.typed").exists() and (ROOT / "designs/py.typed").exists()
    assert "BSD 3-Clause" in (ROOT / "LICENSE").read_text()


def test_the_oldest_versions_that_are_tried_are_those_that_are_promised():
    """``.ci/oldest.txt`` pins the lower bounds of all that is imported (not of the tools in ``dev``)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    promised = dict(line.split(">=") for line in [*project["dependencies"], *extras["mri"], *extras["dev"]])
    lines = (ROOT / ".ci/oldest.txt").read_text().splitlines()
    tried = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    for name, version in tried.items():
        assert version == promised[name] or version == f"{promised[name]}.0", name
    assert set(tried) >= {line.split(">=")[0] for line in [*project["dependencies"], *extras["mri"]]}


def test_the_recipe_of_conda_and_the_citation_say_what_the_package_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / ".ci/conda/meta.yaml").read_text()
    run = recipe[recipe.index("  run:") : recipe.index("test:")]
    needed = dict(line.strip("- ").split(" >=") for line in run.splitlines() if ">=" in line)
    names = {"matplotlib-base": "matplotlib", "pywavelets": "PyWavelets"}
    asked = {names.get(name, name): version for name, version in needed.items()}
    assert asked.pop("python") == project["requires-python"].removeprefix(">=")
    assert asked == dict(line.split(">=") for line in project["dependencies"])
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {project['version']}\n" in citation and project["urls"]["Homepage"] in citation
