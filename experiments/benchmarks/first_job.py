"""The first job of a newcomer in three packages: lines, seconds, and what is said at the first mistake.

    python -m experiments.benchmarks.first_job

30 labels by margin for a random forest on the breast cancer table, then the same with four usual mistakes; ours,
scikit-activeml and modAL, each in an environment of its own. Accuracies are of one seed, and say only that each works.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.benchmarks.peers.first_job import MISTAKES
from experiments.script import ROOT, Script, command

JOB = Path(__file__).parent / "peers/first_job.py"
PEERS = {"skactiveml": ("skactiveml", "scikit-activeml"), "modal": ("modal", "modAL-python")}


def tried(name: str, python: str, mistake: str) -> dict[str, Any]:
    """One run of a package's program in its environment."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = str(ROOT) if name == "adaptive" else ""
    found = subprocess.run(
        [python, str(JOB), name, mistake], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(found.stdout.strip().splitlines()[-1])


def run(script: Script) -> None:
    pythons = {"adaptive": sys.executable}
    if not script.quick:
        pythons |= {name: str(python_of(lock)) for name, (lock, _) in PEERS.items()}
    plain = {name: tried(name, python, "") for name, python in pythons.items()}
    said = {
        mistake: {name: tried(name, python, mistake)["error"] or "(nothing)" for name, python in pythons.items()}
        for mistake in (MISTAKES[:1] if script.quick else MISTAKES)
    }
    names = list(pythons)
    script.table(
        {
            "what": ["lines of code", "CPU seconds", "accuracy", *said],
            **{
                name: [plain[name]["lines"], round(plain[name]["seconds"], 2), plain[name]["accuracy"],
                       *(one[name] for one in said.values())]
                for name in names
            },
        },
        "first-job",
        "The same first job in three packages, and what each says to four usual mistakes ('(nothing)': accepted). "
        "Lines without imports and definition; one seed.",
    )  # fmt: skip
    versions = {name: versions_of(lock, package)[package] for name, (lock, package) in PEERS.items()}
    fewest = min(plain[name]["lines"] for name in names)
    script.judge(
        "ours-first-hour-first-job", plain["adaptive"]["lines"] == fewest,
        claim="The first job takes fewest lines here.",
        target="fewest lines", value={"lines": {name: plain[name]["lines"] for name in names},
                                      "seconds": {name: round(plain[name]["seconds"], 2) for name in names},
                                      "peers": versions},
        reason="The table first-job lists what each says to usual mistakes.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
