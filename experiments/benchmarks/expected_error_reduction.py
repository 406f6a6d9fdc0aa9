"""Expected error reduction over a pool of 1,000 rows, beside scikit-activeml: CPU seconds per candidate.

Both know 100 labels of a pool of 1,000 x 20 and score each of the other 900 rows by the errors that its label would
save on all 1,000. scikit-activeml refits logistic regression once per candidate and class, in its own locked
environment; ours, in the same run and in turn with it, takes the joint probabilities of all pairs of outcomes from one
Gaussian belief and refits nothing: by a series for two classes, by 1,024 joint draws for three (softmax). One BLAS
thread, median of the rounds.

    python experiments/benchmarks/expected_error_reduction.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parents[2]))

from experiments.benchmarks.active_step import problem
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

HERE = Path(__file__).parent
SEED = 0
TARGET = 1 / 100


def settings(rows: int = 1_000) -> dict[str, dict[str, np.ndarray]]:
    """Return the pools: two classes, and three of about one size on the same rows."""
    two = problem(rows, 20, 100, SEED)
    noise = np.random.default_rng(SEED).logistic(size=rows)
    latent = 2.0 * two["X"][:, 0] + two["X"][:, 1] + noise
    return {"two classes": two, "three classes": {**two, "y": np.digitize(latent, np.quantile(latent, [1 / 3, 2 / 3]))}}


def ours(data: dict[str, np.ndarray]) -> tuple[float, np.ndarray]:
    """Return CPU seconds per candidate, predictive and all, and the scores of the unlabelled rows."""
    from adaptive import BayesianLogisticRegression, scorers

    X, y, labelled = data["X"], data["y"], data["labelled"]
    candidates = np.setdiff1d(np.arange(len(y)), labelled)
    options = {"multi_class": "softmax", "prior_scale": 1.0} if len(np.unique(y)) > 2 else {}
    model = BayesianLogisticRegression(**options).fit(X[labelled], y[labelled])
    start = time.process_time()
    scores = scorers.expected_error_reduction(model.predictive(X[candidates], target=X))
    return (time.process_time() - start) / len(candidates), scores


def theirs(path: str) -> dict[str, dict]:
    """Return what the peer's script measured."""
    command = [str(python_of("skactiveml")), str(HERE / "peers" / "expected_error_reduction.py"), path]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run(script: Script) -> None:
    """Measure in turn, print medians and ratios, write the verdict; in quick mode ours only, a small pool."""
    pools = settings(300 if script.quick else 1_000)
    for name, data in pools.items():
        ours(data)  # compiles
        if script.quick:
            print(f"{name}: {1e6 * ours(data)[0]:.1f} microseconds a candidate")
        else:
            measure(script, name, data, rounds=3 if name == "two classes" else 1)


def measure(script: Script, name: str, data: dict[str, np.ndarray], rounds: int) -> None:
    """Print the seconds of ours and theirs, and write the verdict."""
    seconds: dict[str, list[float]] = {"ours": [], "MonteCarloEER": [], "ValueOfInformationEER": []}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "problem.npz")
        np.savez(path, **data)
        for _ in range(rounds):
            own, scores = ours(data)
            found = theirs(path)
            seconds["ours"].append(own)
            for peer, measured in found.items():
                seconds[peer].append(measured["seconds"])
    for who, values in seconds.items():
        print(f"{name}, {who:22s} {1e6 * np.median(values):9.1f} us   ({', '.join(f'{1e6 * v:.1f}' for v in values)})")
    agreement = {peer: round(float(spearmanr(scores, one["utilities"])[0]), 3) for peer, one in found.items()}
    print("rank correlation of ours with theirs:", agreement)
    ratios = {peer: float(np.median(np.array(seconds["ours"]) / seconds[peer])) for peer in agreement}
    two = name == "two classes"
    held = max(ratios.values()) <= TARGET
    script.judge(
        "ours-expected-error-reduction" + ("" if two else "-three-classes"),
        held,
        claim=f"Of {name}, expected error reduction costs per candidate at most 1/100 of scikit-activeml's, same run.",
        kind="must hold" if two else "to judge",
        target=f"<= {TARGET}",
        value={
            **{f"ratio to {peer}": f"1/{1 / ratio:.0f}" for peer, ratio in ratios.items()},
            "microseconds per candidate": {who: round(1e6 * float(np.median(v)), 1) for who, v in seconds.items()},
            "rank correlation of scores": agreement,
            "versions": versions_of("skactiveml", "scikit-activeml", "scikit-learn"),
        },
        reason=""
        if held
        else "Three classes have no series; the work is products of 1,024 joint draws with 1,000 target inputs.",
        seed=SEED,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
