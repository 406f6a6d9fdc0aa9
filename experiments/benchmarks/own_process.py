"""Measuring memory: a benchmark's ``measure`` in a process of its own, and what a process holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["measured", "memory"]

ROOT = Path(__file__).resolve().parents[2]


def memory(field: str) -> float:
    """Resident memory of this process, MiB: now (VmRSS), or its peak (VmHWM)."""
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith(field))
    return int(line.split()[1]) / 1024


def measured(benchmark: str, *arguments: str | int | None) -> dict[str, float]:
    """``measure(*arguments)`` of a module of this folder, in a new process with one BLAS thread."""
    code = (
        f"import json; from experiments.benchmarks import {benchmark}; "
        f"print(json.dumps({benchmark}.measure(*{arguments!r})))"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])
