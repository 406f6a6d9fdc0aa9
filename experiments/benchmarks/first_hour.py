"""What a person waits for before anything happens: CPU seconds of imports and of a command's help.

    python -m experiments.benchmarks.first_hour

Each is the median of five processes of its own, warm files, one BLAS thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median

from experiments.script import ROOT, Script, command

STATEMENTS = {
    "sklearn.linear_model and sklearn.gaussian_process": "import sklearn.linear_model, sklearn.gaussian_process",
    "adaptive": "import adaptive",
    "adaptive and three of its estimators": (
        "from adaptive import BayesianLogisticRegression, GaussianProcessClassifier, SequentialDesign"
    ),
    "adaptive --help": "from adaptive.cli import run; run(['--help'])",
}
TIMED = "import os, sys, time; sys.stdout = open(os.devnull, 'w'); begun = time.process_time(); {}\n"
TOLD = "print(time.process_time() - begun, file=sys.__stdout__)"


def seconds(statement: str, repeats: int) -> float:
    """Median CPU time of a statement in a fresh process."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    found = [
        subprocess.run(
            [sys.executable, "-c", TIMED.format(statement) + TOLD],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(repeats)
    ]  # fmt: skip
    return median(map(float, found))


def run(script: Script) -> None:
    found = {name: seconds(statement, 1 if script.quick else 5) for name, statement in STATEMENTS.items()}
    floor, library, used, shown = found.values()
    script.judge(
        "ours-first-hour-import", library <= 1.3 * floor, kind="must hold",
        claim="Importing adaptive costs at most 1.3 times importing scikit-learn's linear models and processes.",
        target="at most 1.3",
        value={"ratio": round(library / floor, 3), "ratio with three estimators": round(used / floor, 2)},
        reason="Estimators are imported when they are asked for (SPEC 1); the value lists what three of them cost.",
    )  # fmt: skip
    script.judge(
        "ours-first-hour-help", shown <= 0.5, kind="must hold",
        claim="`adaptive --help` costs at most half a second of CPU.",
        target="at most 0.5 s", value={"seconds": round(shown, 3)},
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
