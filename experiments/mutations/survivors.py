"""Sixty mutations over all rooms, drawn by a seed: which ones no test notices.

A mutation exchanges one operator, comparison, number, condition or loop of a module (cosmic-ray's operators, in an
environment of their own). Every room is drawn once, the rest by lines of code. The tests of the room run first, with
the examples of the module; what survives them meets every test that names the module or one of its public names, and
then the tests of every module that imports it. (The tests of a whole top room, which took hours more, are left out.) A
test that fails without the mutation too has noticed nothing, and is left out. Each mutation runs in a copy of what is
committed, and what came out is kept: a run that was stopped goes on.

Survivors are read by a person: some change nothing that anybody could notice (a faster path not taken, a block's size).
Those stand in ``equivalent.json``, under the module and what was changed, each with its sentence; they still count as
survivors in the table, and the verdict says both shares.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.benchmarks.peers.environments import python_of
from experiments.script import Script, command

ROOT = Path(__file__).resolve().parents[2]
MUTATE = ROOT / "experiments/benchmarks/peers/mutate.py"
SEED = 0
NUMBER = 60
NOT_RUN: tuple[str, ...] = (  # modules of those drawn for which the time was too short
    "designs/kspace/from_images/growth.py",
    "adaptive/gaussians/projection_rows.py",
    "adaptive/estimators/particles/inference/compiled.py",
    "adaptive/serve/export.py",
    "adaptive/cli/photograph/command.py",
    "adaptive/scanner/pulseq/exchange.py",
    "adaptive/search/pairs.py",
    "adaptive/plots/sampling.py",
    "adaptive/cli/sequences/report.py",
    "adaptive/cli/recommend/command.py",
    "adaptive/cli/label/rows.py",
    "adaptive/operators/coils.py",
    "designs/optimal/problem.py",
    "adaptive/cli/evaluate/report.py",
    "adaptive/cli/serve/studio.py",
    "adaptive/estimators/sequences/histories.py",
    "adaptive/potentials/poisson.py",
    "adaptive/images/receiver.py",
    "adaptive/cli/topics/documents.py",
    "adaptive/estimators/views/classifier_view.py",
    "adaptive/cli/label/report.py",
    "adaptive/scanner/slicing.py",
    "adaptive/predictive/gaussian.py",
    "adaptive/estimators/imaging/trees/forest.py",
    "adaptive/selection/choosing.py",
)
PATIENCE = 1200  # seconds of a processor for a test run: a loop without end is noticed by the reader who waits for it

# They survived when the same mutations first met the tests (drawn at commit 2cc2050e); they have had tests since.
MENDED = (
    "adaptive/estimators/rows/tables.py", "adaptive/labelling/label_studio.py",
    "adaptive/selection/bounds/certificates.py", "adaptive/estimators/preferences/strengths/propagation.py",
    "adaptive/estimators/topics/belief.py", "adaptive/tables/cells.py",
)  # fmt: skip
SINCE = "Each of these has a test since, which fails with the mutation"
EQUIVALENT = Path(__file__).with_name("equivalent.json")  # "module: what was changed" -> why nobody could notice


def run(script: Script) -> None:
    """Draw, mutate, test, tell."""
    drawn = [one for one in draws(2 if script.quick else NUMBER) if one[0] not in NOT_RUN]
    found = [(module, script.kept("mutations", tried, module, pick, script.quick)) for module, pick in drawn]
    read = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    found = [(module, one) for module, one in found if str(one["operator"])]
    alive = [(module, one) for module, one in found if str(one["noticed"]) == ""]
    gaps = [(module, one) for module, one in alive if _key(module, one) not in read]
    script.table(
        {
            "module": [module for module, _ in found],
            "line": [int(one["line"]) for _, one in found],
            "changed": [str(one["diff"]) for _, one in found],
            "noticed by": [str(one["noticed"]) or read.get(_key(module, one), "no test") for module, one in found],
            "seconds": [round(float(one["seconds"]), 1) for _, one in found],
        },
        "mutations",
        f"{len(found)} of {NUMBER} mutations drawn by seed {SEED}, and the first test that noticed each.",
    )
    where = [f"{module}, line {int(one['line'])}" for module, one in gaps]
    few = f"Of {NUMBER} mutations drawn {len(found)} were run" if len(found) < NUMBER else ""
    at_first = len(gaps) + (0 if script.quick else len(MENDED))
    told = (
        few,
        f"{len(MENDED)} survived when they first met the tests, in {', '.join(MENDED)}, and are noticed by tests "
        "written since",
        f"Survive: {', '.join(where)}. {SINCE}" if where else "",
    )
    script.judge(
        "ours-house-mutations",
        at_first < 0.05 * len(found),
        claim="A mistake in one place of the code is noticed by a test.",
        target=f"fewer than 5% of {NUMBER} drawn mutations survive, equivalent ones left out",
        value={
            "mutations": len(found),
            "survive": len(alive),
            "of these, equivalent": len(alive) - len(gaps),
            "share that survived at first and is not equivalent": at_first / len(found),
        },
        reason=". ".join(filter(None, told)),
        seed=SEED,
    )


def _key(module: str, one: dict[str, np.ndarray]) -> str:
    return f"{module}: {one['diff']}"


def draws(number: int) -> list[tuple[str, float]]:
    """Return modules, each with a number between 0 and 1: every room once, then rooms by lines of code."""
    rng = np.random.default_rng(SEED)
    rooms = {room: modules for room, modules in _rooms().items() if sum(modules.values()) >= 200}
    names = sorted(rooms)
    sizes = np.array([sum(rooms[name].values()) for name in names], dtype=float)
    chosen = [*rng.permutation(names), *rng.choice(names, size=max(NUMBER - len(names), 0), p=sizes / sizes.sum())]
    drawn = []
    for room in chosen:
        modules, lines = zip(*sorted(rooms[str(room)].items()), strict=True)
        module = str(rng.choice(modules, p=np.array(lines) / sum(lines)))
        drawn.append((module, float(round(rng.uniform(), 6))))
    return drawn[:number]


def tried(module: str, pick: float, quick: bool) -> dict[str, np.ndarray]:
    """Mutate one module of a copy, and return what was changed and the first test that noticed."""
    near = [*_of_the_room(module), module]
    return _mutated(module, pick, () if quick else (near, _that_name(module), _of_importers(module)))


def _mutated(module: str, pick: float, rounds: Sequence[list[str]]) -> dict[str, np.ndarray]:
    """Mutate, and return what was changed and the first test of the rounds that noticed."""
    line = [str(python_of("cosmic_ray")), str(MUTATE), module, str(pick)]
    told = json.loads(subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    if told["operator"] is None:
        return {"operator": np.array("")}
    with tempfile.TemporaryDirectory(prefix="adaptive-mutation-") as folder:
        copy = Path(folder) / "tree"
        _copied(copy)
        begun, noticed = time.perf_counter(), ""
        texts = ((copy / module).read_text(encoding="utf-8"), str(told["text"]))
        for tests in rounds:
            noticed = noticed or _noticed(copy, module, texts, tests)
    changed = "\n".join(line for line in told["diff"].splitlines() if not line.startswith("@@"))
    return {
        "operator": np.array(told["operator"]), "line": np.array(told["line"]), "diff": np.array(changed),
        "noticed": np.array(noticed), "seconds": np.array(time.perf_counter() - begun),
    }  # fmt: skip


def _rooms() -> dict[str, dict[str, int]]:
    """Folders of the library, with the lines of their modules."""
    rooms: dict[str, dict[str, int]] = {}
    for package in ("adaptive", "designs"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).parts
            depth = 3 if parts[1] in ("estimators", "cli") and len(parts) > 3 else 2
            if path.name != "__init__.py" and len(parts) > 2:
                module = path.relative_to(ROOT).as_posix()
                rooms.setdefault("/".join(parts[:depth]), {})[module] = len(path.read_text().splitlines())
    return rooms


def _copied(copy: Path) -> None:
    """Copy what is committed; what a notebook or a build left beside it is not looked at."""
    copy.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x"], cwd=copy, input=archive, check=True)


def _noticed(copy: Path, module: str, texts: tuple[str, str], tests: list[str]) -> str:
    """The first test that passes with the right text of the module and fails with the other one."""
    right, wrong = texts
    left_out: list[str] = []
    while True:
        (copy / module).write_text(wrong, encoding="utf-8")
        failed = _failed(copy, [*tests, *left_out])
        if "::" not in failed:  # none, or one that cannot be run alone
            (copy / module).write_text(right, encoding="utf-8")
            slow = failed == "time" and _failed(copy, [*tests, *left_out]) == "time"  # so many tests, not a loop
            return "" if slow else failed
        (copy / module).write_text(right, encoding="utf-8")
        if not _failed(copy, [failed]):
            return failed
        left_out += ["--deselect", failed]


def _failed(copy: Path, tests: list[str]) -> str:
    """The first test that fails on the copy; "time" where one does not end."""
    if not tests:
        return ""
    folder = subprocess.run(
        [sys.executable, "tests/compiled_folder.py"], cwd=copy, capture_output=True, text=True
    ).stdout
    environment = os.environ | {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": folder.strip(), "CI": "true"}
    line = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", *tests]
    limit = (resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    found = subprocess.run(
        line, cwd=copy, env=environment, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(*limit)
    )
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", found.stdout, re.MULTILINE)
    if failed:
        return failed.group(1)
    if found.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "time"
    return "" if found.returncode in (0, 5) else f"exit {found.returncode}"


def _of_the_room(module: str) -> list[str]:
    """The tests that lie where the module lies: ``adaptive/a/b/c.py`` in ``tests/a/b``, or the nearest above."""
    parts = Path(module).parts
    parts = parts[1:] if parts[0] == "adaptive" else parts
    named = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests").rglob(f"test_{parts[-1]}"))]
    for depth in range(len(parts) - 1, 0, -1):
        folder = Path("tests").joinpath(*parts[:depth])
        files = [
            path.as_posix() for path in (folder, folder.with_name(f"test_{folder.name}.py")) if (ROOT / path).exists()
        ]
        if files:
            return list(dict.fromkeys([*named, *files]))
    return named


def _that_name(module: str) -> list[str]:
    """Every test file that names the module, or one of its public names."""
    dotted = module.removesuffix(".py").replace("/", ".")
    text = (ROOT / module).read_text(encoding="utf-8")
    names = re.findall(r"^(?:class|def) ([A-Za-z]\w+)", text, re.MULTILINE)
    wanted = re.compile("|".join([re.escape(dotted), *(rf"\b{name}\b" for name in names if len(name) > 5)]))
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [path.relative_to(ROOT).as_posix() for path in paths if wanted.search(path.read_text(encoding="utf-8"))]


def _of_importers(module: str) -> list[str]:
    """The test files called after a module that imports this one."""
    dotted = module.removesuffix(".py").replace("/", ".")
    wanted = re.compile(rf"^\s*(?:from {re.escape(dotted)} import|import {re.escape(dotted)}\b)", re.MULTILINE)
    found: set[str] = set()
    for package in ("adaptive", "designs"):
        for path in (ROOT / package).rglob("*.py"):
            if path.name != "__init__.py" and wanted.search(path.read_text(encoding="utf-8")):
                found |= {one.relative_to(ROOT).as_posix() for one in (ROOT / "tests").rglob(f"test_{path.name}")}
    return sorted(found)


if __name__ == "__main__":
    command(run, __doc__, __file__)
