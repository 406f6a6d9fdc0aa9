"""Expected error reduction over a pool of 1,000 rows, beside scikit-activeml: CPU seconds per candidate.

Both know 100 labels of a pool of 1,000 x 20 and score each of the other 900 rows by the errors that its label would
save on all 1,000. scikit-activeml refits logistic regression once per candidate and class, in its own locked
environment; ours, in the same run and in turn with it, takes the joint probabilities of all pairs of outcomes from one
Gaussian belief and refits nothing. One BLAS thread, median of the rounds.

    python experiments/benchmarks/expected_error_reduction.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
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

HERE = Path(__file__).parent
SEED = 0
TARGET = 1 / 100


def ours(data: dict[str, np.ndarray]) -> tuple[float, np.ndarray]:
    """Return CPU seconds per candidate, predictive and all, and the scores of the unlabelled rows."""
    from adaptive import BayesianLogisticRegression, scorers

    X, y, labelled = data["X"], data["y"], data["labelled"]
    candidates = np.setdiff1d(np.arange(len(y)), labelled)
    model = BayesianLogisticRegression().fit(X[labelled], y[labelled])
    start = time.process_time()
    scores = scorers.expected_error_reduction(model.predictive(X[candidates], target=X))
    return (time.process_time() - start) / len(candidates), scores


def theirs(path: str) -> dict[str, dict]:
    """Return what the peer's script measured."""
    command = [str(python_of("skactiveml")), str(HERE / "peers" / "expected_error_reduction.py"), path]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Measure in turn, print medians and ratios, write the verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="ours only, a small pool, nothing written")
    quick = parser.parse_args().quick
    data = problem(300 if quick else 1_000, 20, 100, SEED)
    ours(data)  # compiles
    if quick:
        print(f"ours: {1e6 * ours(data)[0]:.1f} microseconds a candidate")
        return
    seconds: dict[str, list[float]] = {"ours": [], "MonteCarloEER": [], "ValueOfInformationEER": []}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "problem.npz")
        np.savez(path, **data)
        for _ in range(3):
            own, scores = ours(data)
            found = theirs(path)
            seconds["ours"].append(own)
            for name, measured in found.items():
                seconds[name].append(measured["seconds"])
    for name, values in seconds.items():
        print(f"{name:22s} {1e6 * np.median(values):9.1f} us   ({', '.join(f'{1e6 * v:.1f}' for v in values)})")
    agreement = {name: float(spearmanr(scores, one["utilities"])[0]) for name, one in found.items()}
    print("rank correlation of ours with theirs:", {name: round(value, 3) for name, value in agreement.items()})
    ratios = {name: float(np.median(np.array(seconds["ours"]) / seconds[name])) for name in agreement}
    versions = versions_of("skactiveml", "scikit-activeml", "scikit-learn")
    from experiments import claims

    claims.record(
        "ours-expected-error-reduction",
        claim="Per candidate, expected error reduction costs at most 1/100 of scikit-activeml's, in the same run.",
        kind="must hold",
        target=f"<= {TARGET}",
        value={
            **{f"ratio to {name}": f"1/{1 / ratio:.0f}" for name, ratio in ratios.items()},
            "microseconds per candidate": {name: round(1e6 * float(np.median(v)), 1) for name, v in seconds.items()},
            "rank correlation of scores": {name: round(value, 3) for name, value in agreement.items()},
            "versions": versions,
        },
        verdict="reproduced" if max(ratios.values()) <= TARGET else "not reproduced",
        reason="" if max(ratios.values()) <= TARGET else "The joint table of 1,000 target inputs costs more than that.",
        script="experiments/benchmarks/expected_error_reduction.py",
        seed=SEED,
    )


if __name__ == "__main__":
    main()
