"""Full scores of language models by the adaptive tests of two peers, beside ours, on the same items and systems.

catsim and adaptivetesting have items of one trait: they get those that ours learnt, choose by maximum information at
their estimate of the trait, and estimate that by its expectation under the prior that the calibrating systems have.
Their score of a system is what was answered and, of the items not asked, what the curves say at that estimate. Ours is
the default of `adaptive evaluate`, and by one trait. adaptivetesting needs a tenth of a second an answer: it gets few
systems, and 20 items each.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.equivalence import all_of, inside
from experiments.questionnaires.shared.evaluations import CHOSEN, fitted, said
from experiments.questionnaires.shared.systems import SETS, systems
from experiments.script import Script, command
from experiments.statistics import limits

SPLITS, KNOWN, NEW, AFTER = 5, 500, 120, (5, 10, 20, 40)
FEW, SHORT = 20, (5, 10, 20)
PEERS = Path(__file__).parent.parent / "benchmarks" / "peers"
PROGRAMS = {"catsim": ("adaptive_test.py", "eap"), "adaptivetesting": ("assembled_test.py",)}
ONE_TRAIT = "maximum information, one trait, ours"


def run(script: Script) -> None:
    """Errors by set, and both comparisons."""
    sets, splits = (SETS[-1:], 1) if script.quick else (SETS, SPLITS)
    cells = {name: [script.kept("evaluate-catsim", beside, name, seed, script.quick) for seed in range(splits)]
             for name in sets}  # fmt: skip
    methods = (CHOSEN, ONE_TRAIT, "catsim")
    rows = {
        "set": [name for name in sets for _ in methods], "method": list(methods) * len(sets),
        **{str(k): [round(float(np.mean([cell[method][place] for cell in cells[name]])), 2)
                    for name in sets for method in methods] for place, k in enumerate(AFTER)},
    }  # fmt: skip
    script.table(
        rows, "ours-evaluate-catsim",
        f"Root mean square error of the full score in points after so many items; {KNOWN} systems calibrate, {NEW} of "
        f"other families are asked, {SPLITS} splits.",
    )  # fmt: skip
    few = {name: [script.kept("evaluate-assembled", beside_few, name, seed, script.quick) for seed in range(splits)]
           for name in sets}  # fmt: skip
    if script.quick:
        return
    ratios = ratios_to("catsim", cells, AFTER)
    script.judge(
        "ours-evaluate-catsim", all_of(inside(low, high, most=1.0) for _, low, high in ratios.values()),
        claim="Items that ours chooses leave less error of the full score than those that catsim chooses by maximum "
        "information, both from the same calibrating systems.",
        target="ratio of errors below 1 after 5, 10, 20 and 40 items on each of four sets",
        value={name: "{:.2f} ({:.2f} to {:.2f})".format(*one) for name, one in ratios.items()},
        seed=f"splits 0 to {SPLITS - 1}",
        reason=f"catsim {versions_of('catsim', 'catsim')['catsim']}, with the expectation under a standard normal "
        "prior in the place of its own search for the likeliest trait; it gets the items of one trait as they are "
        "most probable.",
    )  # fmt: skip
    ratios = ratios_to("adaptivetesting", few, SHORT)
    slow = np.mean([cell["milliseconds"] for found in few.values() for cell in found])
    script.judge(
        "ours-evaluate-assembled", all_of(inside(low, high, most=1.0) for _, low, high in ratios.values()),
        claim="Items that ours chooses leave less error of the full score than those that adaptivetesting chooses by "
        "maximum information, both from the same calibrating systems.",
        target="ratio of errors below 1 after 5, 10 and 20 items on each of four sets",
        value={name: "{:.2f} ({:.2f} to {:.2f})".format(*one) for name, one in ratios.items()},
        seed=f"splits 0 to {SPLITS - 1}",
        reason=f"adaptivetesting {versions_of('adaptivetesting', 'adaptivetesting')['adaptivetesting']}, which takes "
        f"{slow:.0f} ms an answer, and so {FEW} systems in each split; its trait by the expectation under a standard "
        "normal prior.",
    )  # fmt: skip


def ratios_to(peer: str, cells: dict[str, list[Any]], after: tuple[int, ...]) -> dict[str, tuple[float, float, float]]:
    """Return our error over a peer's, by set and number of items: means over splits with 95% limits."""
    return {
        f"{name}, {k} items": limits(np.array([cell[CHOSEN][place] / cell[peer][place] for cell in found]))
        for name, found in cells.items()
        for place, k in enumerate(after)
    }


def beside(name: str, seed: int, quick: bool = False) -> dict[str, np.ndarray]:
    """Errors in points after each number of items."""
    one = systems(name, 100 if quick else KNOWN, seed, n_new=10 if quick else NEW)
    most, asked = max(AFTER), np.array(AFTER) - 1
    many, single = fitted(one.known, True), fitted(one.known, False)
    estimates = {
        CHOSEN: said(many, one, most, "information_gain")[..., 0],
        ONE_TRAIT: said(single, one, most, "fisher_information")[..., 0],
        "catsim": tested("catsim", *single.item_parameters_.T[:2], one.new, most)[0],
    }
    return {
        method: np.sqrt(np.mean((values[:, asked] - one.truth[:, None]) ** 2, axis=0))
        for method, values in estimates.items()
    }


def beside_few(name: str, seed: int, quick: bool = False) -> dict[str, np.ndarray]:
    """The same beside adaptivetesting, with few systems; and its milliseconds an answer."""
    one = systems(name, 100 if quick else KNOWN, seed, n_new=2 if quick else FEW)
    most, asked = max(SHORT), np.array(SHORT) - 1
    many, single = fitted(one.known, True), fitted(one.known, False)
    theirs, seconds = tested("adaptivetesting", *single.item_parameters_.T[:2], one.new, most)
    estimates = {CHOSEN: said(many, one, most, "information_gain")[..., 0], "adaptivetesting": theirs}
    return {
        method: np.sqrt(np.mean((values[:, asked] - one.truth[:, None]) ** 2, axis=0))
        for method, values in estimates.items()
    } | {"milliseconds": np.array(1e3 * seconds / (len(one.new) * most))}


def tested(peer: str, a: np.ndarray, b: np.ndarray, answers: np.ndarray, n: int) -> tuple[np.ndarray, float]:
    """(systems, n) full scores in points after each item, and the peer's seconds."""
    turned = a < 0  # none that the able miss are taken: told by wrong answers they are items the other way round
    program, *how = PROGRAMS[peer]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "problem.npz")
        np.savez(path, a=np.abs(a), b=b, answers=np.where(turned, 1 - answers, answers))
        command_line = [str(python_of(peer)), str(PEERS / program), path, str(n), *how]
        done = subprocess.run(command_line, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    traits, items = np.array(told["estimates"]), np.array(told["items"])
    scores, rows = np.zeros(traits.shape), np.arange(len(answers))
    left, known = np.ones(answers.shape, dtype=bool), np.zeros(len(answers))
    for k in range(n):
        left[rows, items[:, k]] = False
        known += answers[rows, items[:, k]]
        scores[:, k] = known + np.where(left, expit(a * (traits[:, k, None] - b)), 0.0).sum(axis=1)
    return np.asarray(100.0 * scores / answers.shape[1]), float(told["seconds"])


if __name__ == "__main__":
    command(run, __doc__, __file__)
