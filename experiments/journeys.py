"""Where a number comes from: five journeys through the code, and how many files and functions each of them enters.

Counted by running them under a profiler: every function of `adaptive` that is called, checks and helpers included.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import adaptive
from adaptive import GLM, BayesianLogisticRegression, ImageReconstructor, SequentialDesign, inference, scorers
from adaptive.images import simulate_scan
from adaptive.potentials import Laplace
from designs import kspace
from experiments.script import Script, command

ROOT = Path(adaptive.__file__).parents[1]


def entered(journey: Callable[[], Any], room: str) -> tuple[int, int]:
    """Files and functions under ``adaptive/room`` that a journey enters."""
    seen = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT / room)) and not code.co_name.startswith("<"):
            seen.add((code.co_filename, code.co_qualname))

    journey()  # once before: what is compiled or imported on first use is no part of it
    sys.setprofile(note)
    try:
        journey()
    finally:
        sys.setprofile(None)
    return len({file for file, _ in seen}), len(seen)


def journeys(folder: Path) -> dict[str, tuple[Callable[[], Any], str]]:
    """The five, by name, with the room in which each is counted."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = (X[:, 0] > 0).astype(int)
    disc = np.add.outer(np.linspace(-1, 1, 16) ** 2, np.linspace(-1, 1, 8) ** 2) < 0.7
    scan, lines = simulate_scan(disc.astype(float), snr=100, largest_phase=0.0, random_state=0), kspace.lines((16, 8))
    centre, line, other = lines.take(range(5, 11)), lines.take([2]), lines.take([12])
    image = ImageReconstructor((16, 8), phase=None, prior="tv", prior_scales=0.1).fit(centre, scan.measure(centre))
    labels = BayesianLogisticRegression(prior_scale=1.0, classes=[0, 1])

    def gain() -> None:
        scorers.information_gain(copy.deepcopy(labels).fit(X[:20], y[:20]).predictive(X[20:]), 0)

    def determinant() -> None:
        copy.deepcopy(image).partial_fit(line, scan.measure(line)).predictive(other).log_determinant()

    def log() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            with SequentialDesign(labels, X, log=f"{place}/log") as design:
                query = design.ask()
                design.tell(query, y[query.positions])
            SequentialDesign.load(f"{place}/log", labels, X).close()

    return {
        "X, y to an information gain": (gain, "adaptive/estimators"),
        "a k-space line to its log-determinant": (determinant, "adaptive/estimators"),
        'scorer="margin" to its function': (lambda: SequentialDesign(labels, X, scorer="margin"), "adaptive/scorers"),
        "a Laplace potential through EP": (
            lambda: inference.expectation_propagation(GLM(X, y.astype(float), 0.1, potentials=Laplace(1.0))),
            "adaptive",
        ),
        "tell to disk to load": (log, "adaptive/loop"),
    }


def run(script: Script) -> None:
    """Count them."""
    with tempfile.TemporaryDirectory() as folder:
        counts = {name: entered(*journey) for name, journey in journeys(Path(folder)).items()}
    files, names = counts["a k-space line to its log-determinant"]
    script.judge(
        "ours-house-journeys",
        files <= 8 and names <= 25,
        claim="A k-space line passes at most 8 files and 25 names on its way to a log-determinant.",
        target="8 files, 25 names",
        value={name: f"{a} files, {b} functions" for name, (a, b) in counts.items()},
        reason="The path that CONTRIBUTING lists is 8 files and 25 names; every function that is entered, checks, "
        "estimates of noise and phase and the prior included, is more. Before the rooms: 16 files and 80 functions.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
