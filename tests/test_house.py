"""Rooms of the library: imports point one way, families import no family, and what is not used is not imported.

An import that has to point the other way says why in its line (``# house: the reason``); it is listed here, too.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REASON = "# house: "

# What each room may import, beside itself and what everybody may (checks, citing, files, memory, names, parallel, ...).
BELOW = {"operators", "potentials", "linalg", "gaussians", "inference"}
CONTRACT = {"pool", "predictive", "scorers", "selection"}
MODELS = BELOW | CONTRACT | {"datasets", "images", "kernels", "means", "search", "tables"}
ABOVE = MODELS | {"estimators", "loop", "labelling", "diagnostics", "plots"}
MAY_IMPORT: dict[str, set[str]] = {
    **{room: set() for room in ("operators", "potentials", "datasets", "tables", "pool", "kernels", "means")},
    "images": {"operators"},
    "scanner": {"images", "operators"},
    "predictive": {"potentials"},
    "scorers": {"predictive"},
    "selection": {"predictive", "scorers", "pool"},
    "search": {"predictive", "scorers", "selection"},
    "linalg": {"operators", "potentials"},
    "gaussians": {"operators", "potentials", "linalg"},
    "inference": {"operators", "potentials", "linalg", "gaussians"},
    "estimators": MODELS,
    "loop": {"estimators", "predictive", "scorers", "selection", "pool"},
    "diagnostics": {"estimators", "loop", "predictive", "scorers", "selection", "pool"},
    "plots": {"estimators", "loop", "operators"},
    "labelling": {"estimators", "loop", "pool", "tables"},
    "serve": ABOVE,
    "cli": ABOVE | {"scanner", "serve", "designs"},
    "designs": MODELS | {"estimators", "scanner"},
}
FAMILIES = frozenset(
    path.name
    for path in (ROOT / "adaptive" / "estimators").iterdir()
    if (path / "__init__.py").is_file() and path.name not in ("rows", "views")
)
# True exceptions: (who, whom, why).
FAMILY_IMPORTS = {
    ("counts", "gaussian_process"): "a Cox process is a Gaussian process on a log rate",
}
ROOM_IMPORTS = {
    ("datasets", "tables"): "benchmarks are tables of systems and items",
    ("inference", "predictive"): "quantiles of mixtures are those of predictives",
    ("scorers", "potentials"): "a type only",
    ("search", "potentials"): "a type only",
    ("selection", "linalg"): "bounds are matrices and vectors",
    ("scanner", "estimators"): "the last method is the library's own model",
}


def imports() -> list[tuple[str, str, str]]:
    """Every import of ours by ours: (module, what it imports, the text of the line)."""
    found = []
    for path in sorted([*(ROOT / "adaptive").rglob("*.py"), *(ROOT / "designs").rglob("*.py")]):
        parts = path.relative_to(ROOT).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [(".".join(parts), name, lines[node.lineno - 1]) for name in names]
    return found


def room(dotted: str) -> str | None:
    """The room that a module lies in."""
    parts = dotted.split(".")
    if parts[0] == "designs":
        return "designs"
    return parts[1] if parts[0] == "adaptive" and len(parts) > 1 and parts[1] in MAY_IMPORT else None


def family(dotted: str) -> str | None:
    """The family of estimators that a module belongs to."""
    parts = dotted.split(".")
    return parts[2] if parts[:2] == ["adaptive", "estimators"] and len(parts) > 3 and parts[2] in FAMILIES else None


def test_imports_point_one_way():
    astray = []
    for module, name, line in imports():
        own, other = room(module), room(name)
        if own and other and other != own and other not in MAY_IMPORT[own]:
            reason = ROOM_IMPORTS.get((own, other))
            if not (reason and REASON + reason in line):
                astray.append(f"{module} imports {name}")
    assert not astray, "\n".join(sorted(set(astray)))


def test_families_import_no_family():
    """What two families share stands in a shared room; the exceptions are listed, with their reasons."""
    astray, used = [], set()
    for module, name, line in imports():
        own, other = family(module), family(name)
        if own and other and own != other:
            used.add((own, other))
            if (own, other) not in FAMILY_IMPORTS or REASON not in line:
                astray.append(f"{module} imports {name}")
    assert not astray, "\n".join(sorted(set(astray)))
    assert used == set(FAMILY_IMPORTS)


def test_what_families_share_imports_no_family():
    """Rows, ids, intervals, views, the base classes: below all families."""
    shared = [
        f"{module} imports {name}"
        for module, name, _ in imports()
        if room(module) == "estimators" and not family(module) and family(name)
        if module != "adaptive.estimators.__init__"  # its lazy list, for types
    ]
    assert not shared, "\n".join(shared)


ESTIMATORS = {
    "BayesianLogisticRegression": {"linear"},
    "BradleyTerry": {"preferences"},
    "CollaborativePreference": {"preferences"},
    "CollaborativeRNN": {"sequences"},
    "CoxProcess": {"counts", "gaussian_process"},
    "GameTreeSearch": {"game_trees"},
    "GaussianProcessRegressor": {"gaussian_process"},
    "ImageReconstructor": {"imaging"},
    "MetadataTopicModel": {"topics"},
    "PairedSymbols": {"pairs"},
    "ParticleEstimator": {"particles"},
    "Questionnaire": {"questionnaires"},
}
# A process per estimator, forked once what all of them import is there.
LOADED = """
import os, sys
import joblib, numba, scipy.stats, sklearn.linear_model
import adaptive
for name in sys.argv[1:]:
    sys.stdout.flush()
    if not os.fork():
        getattr(adaptive, name)
        print(name, *(module for module in sys.modules if module.startswith(("adaptive.", "designs"))), flush=True)
        os._exit(0)
    os.wait()
"""


def test_an_estimator_loads_its_own_family_and_no_other():
    """No imaging for topics, no games for images: a family is imported when one of its names is used."""
    command = [sys.executable, "-c", LOADED, *ESTIMATORS]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(found) == len(ESTIMATORS)
    for line in found:
        name, *loaded = line.split()
        assert {family(module) for module in loaded} - {None} == ESTIMATORS[name], name
        rooms = {room(module) for module in loaded}
        assert not rooms & {"scanner", "designs", "cli", "serve", "labelling", "loop"}, name
        assert name == "ImageReconstructor" or "images" not in rooms, name
