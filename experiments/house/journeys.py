"""Journeys through the code: six, each run under a profiler, its files and functions in the order of first entry.

Every function of ``adaptive`` and ``designs`` that is called counts, checks and helpers included; each journey runs
once before, so that what is compiled or imported on first use is no part of it. The last journey is also run in a
process of its own, where every file counts that it loads.

The page "How it is built" of the documentation is written from these runs: ``python -m experiments.house.journeys``
writes it anew, with the picture of the rooms (``rooms.py``).
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import adaptive
from adaptive import BayesianLogisticRegression, ImageReconstructor, PoissonRegression, SequentialDesign, scorers
from adaptive.images import simulate_scan
from designs import kspace
from experiments.house import rooms
from experiments.script import Script, command

ROOT = Path(adaptive.__file__).parents[1]
PAGE = ROOT / "docs" / "guide" / "built.md"
FEWEST_FILES = 90  # of the journey from a DICOM folder to an exported plan, asked for; 209 were entered before

PLAN = ["kspace", "--plan", "--lines", "12", "--initial", "6", "--export", "ismrmrd"]

__all__ = ["PAGE", "Entered", "entered", "journeys", "loaded", "page"]


class Entered(NamedTuple):
    """Function that a journey entered: its file, from the repository root, and its name."""

    file: str
    name: str


def entered(journey: Callable[[], Any], room: str = "") -> list[Entered]:
    """Return the functions under ``room`` that a journey enters, in the order of their first entry."""
    seen: dict[Entered, None] = {}
    inside = tuple(f"{ROOT / top}{os.sep}" for top in ([room] if room else ("adaptive", "designs")))

    def note(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(inside) and not code.co_name.startswith("<"):
            file = Path(code.co_filename).relative_to(ROOT).as_posix()
            seen.setdefault(Entered(file, code.co_qualname.replace(".<locals>", "")))

    journey()
    threading.setprofile(note)  # pages choose in threads of their own
    sys.setprofile(note)
    try:
        journey()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def counted(functions: list[Entered]) -> tuple[int, int]:
    """Numbers of files and of functions."""
    return len({one.file for one in functions}), len(functions)


def journeys(folder: Path) -> dict[str, Callable[[], Any]]:
    """The six, by name; ``folder`` takes what they write."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = (X[:, 0] > 0).astype(int)
    disc = np.add.outer(np.linspace(-1, 1, 16) ** 2, np.linspace(-1, 1, 8) ** 2) < 0.7
    scan, lines = simulate_scan(disc.astype(float), snr=100, largest_phase=0.0, random_state=0), kspace.lines((16, 8))
    centre, line, other = lines.take(range(5, 11)), lines.take([2]), lines.take([12])
    image = ImageReconstructor((16, 8), phase=None, prior="tv", prior_scales=0.1).fit(centre, scan.measure(centre))
    labels = BayesianLogisticRegression(prior_scale=1.0, classes=[0, 1])
    counts = PoissonRegression(prior_scale=1.0).fit(X[:20], rng.poisson(np.exp(X[:20, 0])))

    def gain() -> None:
        scorers.information_gain(copy.deepcopy(labels).fit(X[:20], y[:20]).predictive(X[20:]), 0)

    def determinant() -> None:
        copy.deepcopy(image).partial_fit(line, scan.measure(line)).predictive(other).log_determinant()

    def count() -> None:
        copy.deepcopy(counts).partial_fit(X[20:21], [2]).select(X[21:])

    def log() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            with SequentialDesign(labels, X, log=f"{place}/log") as design:
                query = design.ask()
                design.tell(query, y[query.positions])
            SequentialDesign.load(f"{place}/log", labels, X).close()

    return {
        "rows and labels to an information gain": gain,
        "a k-space line to the log-determinant of another": determinant,
        "a count to the next question": count,
        "an answer to disk, and back": log,
        "an answer on a page to the next item": _answered_page(folder),
        "a DICOM folder to an exported plan": _plan(folder),
    }


def _answered_page(folder: Path) -> Callable[[], Any]:
    """A person begins a test and answers its first item, by the forms of the pages."""
    from starlette.testclient import TestClient

    from adaptive import Questionnaire
    from adaptive.serve import Store, Survey, SurveyItem, application

    ids = [f"i{k}" for k in range(6)]
    items = [SurveyItem(one, f"Item {one}?", ("no", "yes"), (0, 1)) for one in ids]
    person = Questionnaire.from_prior(ids, (0, 1)).respondent()

    def send(client: Any, shown: str, action: str, **more: str) -> str:
        form = re.search(rf'action="{action}"[^>]*>(.*?)</form>', shown, re.DOTALL)
        assert form is not None, shown
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[1]))
        return client.post(action, data=hidden | more).text

    def answer() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as place, Store(place) as store:
            app = application(Survey("A test", items, person), store, rate=1e6)
            with TestClient(app, base_url="http://localhost:8000") as client:
                send(client, send(client, client.get("/").text, "/start", name=""), "/answer", answer="1")

    return answer


def _plan(folder: Path) -> Callable[[], Any]:
    """A slice of a head, 32 by 32 pixels, planned for the next scan and written as ISMRMRD."""
    from adaptive.cli import run as run_command
    from adaptive.images import fitted, head_scan
    from adaptive.scanner import Geometry, write_dicom

    image = fitted(head_scan()[12].image[::4, ::3], (32, 32))
    spacing = np.diag([7.0, 7.0, 5.0, 1.0])
    write_dicom(folder / "series", 1000.0 * image, Geometry.from_affine(spacing, (32, 32, 1)))

    def plan() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            with contextlib.redirect_stdout(io.StringIO()):
                code = run_command([*PLAN, "--reference", str(folder / "series"), "--out", f"{place}/run"])
            assert code == 0

    return plan


def loaded(root: Path, series: Path) -> int:
    """Return how many files of the library in ``root`` a process loads that plans a scan after a ``series``."""
    with tempfile.TemporaryDirectory() as place:
        arguments = [*PLAN, "--reference", str(series), "--out", f"{place}/run"]
        code = f"""
import sys
from adaptive.cli import run
code = run({arguments!r})
ours = [one for one in sys.modules if one.partition(".")[0] in ("adaptive", "designs")]
print(len(ours))
sys.exit(code)
"""
        done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1])


def page(found: dict[str, list[Entered]]) -> str:
    """The page: rooms, then every journey as a table, a row per file in the order of first entry."""
    parts = [
        "# How it is built",
        "",
        "Rooms of the library, and six journeys through them. This page is written by",
        "`python -m experiments.house.journeys`, which runs each journey under a profiler: a row is a file, in the",
        "order of its first entry, with the functions that are called there, checks and helpers included.",
        "",
        "![Rooms of the library, and which imports which: arrows point down](../static/rooms.svg)",
        "",
        "A family of estimators is one folder of `adaptive/estimators/`, which imports no other family; what families",
        "share stands in `rows/`, `views/` and beside them. `tests/test_house.py` holds the arrows.",
        "",
    ]
    for name, functions in found.items():
        files: dict[str, list[str]] = {}
        for one in functions:
            files.setdefault(one.file, []).append(one.name)
        parts += [f"## From {name}", "", f"{len(files)} files, {len(functions)} functions.", ""]
        parts += ["| file | functions |", "|---|---|"]
        parts += [f"| `{file}` | {', '.join(f'`{one}`' for one in names)} |" for file, names in files.items()]
        parts.append("")
    return "\n".join(parts)


def run(script: Script) -> None:
    """Run them, write the page, judge."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = list(journeys(Path(folder)).items())[: 2 if script.quick else None]
        found = {name: entered(journey) for name, journey in chosen}
        n_loaded = 0 if script.quick else loaded(ROOT, Path(folder) / "series")
    numbers = {name: "{} files, {} functions".format(*counted(functions)) for name, functions in found.items()}
    line = [one for one in found["a k-space line to the log-determinant of another"] if "/estimators/" in one.file]
    files, names = counted(line)
    script.judge(
        "ours-house-journeys",
        files <= 8 and names <= 25,
        claim="A k-space line passes at most 8 files and 25 names of the estimators on its way to a log-determinant.",
        target="8 files, 25 names",
        value={**numbers, "a k-space line, in estimators alone": f"{files} files, {names} functions"},
        reason="The main path is 8 files and 25 names; counting every function that is entered (checks, estimates of "
        "noise and phase, the prior) gives more. Before the rooms there were 16 files and 80 functions.",
    )
    if script.quick:
        return
    files, names = counted(found["a DICOM folder to an exported plan"])
    script.judge(
        "ours-house-dicom-to-plan",
        n_loaded < FEWEST_FILES,
        claim="From a DICOM folder to an exported plan a process loads fewer than 90 files of the library.",
        target=f"fewer than {FEWEST_FILES} files; 209 were entered before, imports included",
        value={"files loaded": n_loaded, "files entered once all are loaded": files, "functions entered": names},
        reason=""
        if n_loaded < FEWEST_FILES
        else "Each package imports every engine, operator and potential that people may ask for.",
    )
    PAGE.write_text(page(found), encoding="utf-8")
    rooms.draw(ROOT / "docs" / "static" / "rooms.svg")


if __name__ == "__main__":
    command(run, __doc__, __file__)
