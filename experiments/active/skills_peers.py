"""Labellers who differ, beside crowd-kit's MACE, cleanlab's ActiveLab and scikit-activeml's interval estimation.

The five sets and drawn people of ``skills.py``. MACE reads random pairs, and a tuned logistic regression learns from
its probabilities; ActiveLab says which row is labelled next, for the first time or again; interval estimation chooses
row and person, and scikit-activeml's own model of annotators learns. They run in a locked environment
(``benchmarks/peers``). Full mode: three quarters of an hour on one core, most of it MACE's; it resumes (``runs.py``).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.loop.comparison import interval
from experiments.active.shared.skill_runs import ARMS, FIRST, MARKS, SETS, one_run, split
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

GROUP = "skills-peers"
OURS = ARMS[0]
PEERS = {
    "random pairs, MACE (crowd-kit)": "mace",
    "ActiveLab (cleanlab)": "activelab",
    "interval estimation (scikit-activeml)": "interval_estimation",
}
JUDGES = {"accuracy": 1.0, "log loss": -1.0}


def run(script: Script) -> None:
    """Label as each package does."""
    n_seeds, names = (1, SETS[:2]) if script.quick else (6, SETS)
    runs = [[script.kept(GROUP, one_run, name, OURS, seed) for seed in range(n_seeds)] for name in names]
    found = {OURS: {metric: np.array([[one[metric] for one in of_set] for of_set in runs]) for metric in JUDGES}}
    for label, arm in PEERS.items():
        tables = [[script.kept(GROUP, peer_run, name, arm, seed) for seed in range(n_seeds)] for name in names]
        found[label] = {metric: np.array([[one[metric] for one in of_set] for of_set in tables]) for metric in JUDGES}
        print(f"{label}: done", flush=True)
    rows: list[dict[str, Any]] = []
    for label, of_arm in found.items():
        row: dict[str, Any] = {"asked": label}
        for k, mark in enumerate(MARKS):
            row |= {f"{metric} at {mark}": round(float(of_arm[metric][:, :, k].mean()), 3) for metric in JUDGES}
        rows.append(row)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]}, "skills-peers",
        f"Labellers who differ, beside other packages: means over {len(names)} sets and {n_seeds} draws of people.",
    )  # fmt: skip
    apart = {
        label: {
            metric: [round(float(one), 4) for one in interval((found[OURS][metric] - of[metric]).mean(axis=(1, 2)))]
            for metric in JUDGES
        }
        for label, of in found.items()
        if label != OURS
    }
    behind = [
        f"{label} ({metric})"
        for label, of in apart.items()
        for metric, sign in JUDGES.items()
        if (of[metric][1] if sign > 0 else -of[metric][2]) <= 0
    ]
    script.judge(
        "ours-skills-peers", not behind,
        claim="Choosing row and person with learnt skills is ahead of what other packages do with the labels of "
        f"several people, by accuracy and log loss (means over {MARKS[0]} to {MARKS[-1]} labels, intervals over "
        f"{len(names)} sets).",
        target="paired 95% intervals on the right side of 0",
        value=apart | {"versions": versions_of("annotators", "crowd-kit", "cleanlab", "scikit-activeml")},
        reason=f"It is not certainly ahead of: {', '.join(behind)}." if behind else "", seed=f"0..{n_seeds - 1}",
    )  # fmt: skip


def peer_run(name: str, arm: str, seed: int) -> dict[str, np.ndarray]:
    """Accuracy and log loss of a peer after each mark, on one draw of people."""
    X, _, X_test, y_test, said = split(name, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.npz"
        np.savez(path, marks=MARKS, first=FIRST + 4, number=1, X0=X, said0=said.astype(float), test0=X_test,
                 truth0=y_test)  # fmt: skip
        peer = Path(__file__).parents[1] / "benchmarks" / "peers" / "annotators.py"
        said_by = subprocess.run(
            [str(python_of("annotators")), str(peer), arm, str(path)], capture_output=True, text=True, check=True
        )
    table = np.array(json.loads(said_by.stdout.splitlines()[-1])[0])
    return {metric: table[:, k] for k, metric in enumerate(JUDGES)}


if __name__ == "__main__":
    command(run, __doc__, __file__)
