"""What a decision costs now and before: score 224 lines of 256, add one, refit; and a reference design of many points.

The decisions are those of `kspace_rounds` (256 x 256, 32 central lines, SNR 50, the phase estimated), made by this
version and, in turns, by the one of commit 96036d4, taken out of the repository's history. The reference design has
2,700 points of 128 x 128; it is compared with one reconstruction from these points.

    python experiments/benchmarks/kspace_decision.py [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from experiments.script import ROOT, Script, command

BEFORE = "96036d4"
MOST_PRODUCTS, MOST_TIME, MOST_RECONSTRUCTIONS = 60, 0.5, 100
TURNS, ROUNDS = 3, 6
DECISIONS = """
import json, sys, time
import numpy as np
from experiments.benchmarks.kspace_rounds import acquired, scan
n, n_rounds = int(sys.argv[1]), int(sys.argv[2])
model, pool, first, image, maps = scan("lines", n)
rng, chosen, seconds, products = np.random.default_rng(0), list(first), [], []
model.fit(pool.take(first), acquired(pool.take(first), image, maps, rng))
for _ in range(n_rounds):
    free = np.setdiff1d(np.arange(n), chosen)
    start, before = time.process_time(), model.n_products_
    best = free[[int(np.argmax(model.predictive(pool.take(free)).log_determinant()[0]))]]
    middle = time.process_time()
    samples = acquired(pool.take(best), image, maps, rng)
    again = time.process_time()
    model.partial_fit(pool.take(best), samples)
    seconds.append(middle - start + time.process_time() - again)
    products.append(model.n_products_ - before)
    chosen += best.tolist()
print(json.dumps({"seconds": seconds[1:], "products": products, "lines": [int(k) for k in chosen[len(first):]]}))
"""


def decisions(folder: Path, n: int, n_rounds: int) -> dict[str, Any]:
    """Return seconds, products and lines of the version in a folder, the first decision, which compiles, left out."""
    run, paths = [sys.executable, "-c", DECISIONS, str(n), str(n_rounds)], {"PYTHONPATH": str(folder)}
    done = subprocess.run(run, cwd=folder, env={**os.environ, **paths}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def taken_out(commit: str, folder: Path) -> Path:
    """Return a folder with the version of a commit."""
    parts = ("adaptive", "designs", "experiments")
    packed = subprocess.run(["git", "archive", commit, *parts], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def reference(n: int, n_points: int, centre: int) -> dict[str, float]:
    """Return CPU seconds of a reference design, and of one reconstruction from it."""
    from adaptive.images import simulate_scan
    from designs.kspace import reference_points
    from designs.kspace.from_images.simulated import TrialScan
    from experiments.kspace.pays.shared import image

    head = image("nibabel 12" if n == 128 else "small 12")
    trial = TrialScan(simulate_scan(head, snr=100, random_state=1), None)
    chosen = np.zeros(head.shape, bool)
    chosen[n // 4 : -n // 4, n // 4 : -n // 4] = True
    trial.found(chosen)  # compiles
    start = time.process_time()
    points = reference_points(head, n_points, centre)
    design, start = time.process_time() - start, time.process_time()
    chosen[:] = False
    chosen[tuple(points.T)] = True
    trial.found(chosen)
    return {"design": design, "reconstruction": time.process_time() - start}


def run(script: Script) -> None:
    """Measure, judge."""
    n, turns, n_rounds = (32, 1, 2) if script.quick else (256, TURNS, ROUNDS)
    found: dict[str, list[dict[str, Any]]] = {"now": [], "before": []}
    with tempfile.TemporaryDirectory() as folder:
        before = ROOT if script.quick else taken_out(BEFORE, Path(folder))
        for _ in range(turns):
            for version, where in (("now", ROOT), ("before", before)):
                found[version].append(decisions(where, n, n_rounds))
    seconds = {k: float(np.median([s for one in v for s in one["seconds"]])) for k, v in found.items()}
    products = {k: max(found[k][0]["products"]) for k in found}
    lines = {k: found[k][0]["lines"] for k in found}
    script.judge(
        "ours-kspace-decision-products",
        products["now"] <= MOST_PRODUCTS,
        claim=f"A decision (score all lines, add one, refit) at {n} x {n} costs at most {MOST_PRODUCTS} products.",
        target=f"<= {MOST_PRODUCTS} in every round",
        value=products,
        reason="Four samples replace eight, and in a step among many there are two least-squares problems and samples "
        "to 5%.",
    )
    script.judge(
        "ours-kspace-decision-time",
        seconds["now"] <= MOST_TIME * seconds["before"],
        claim=f"A decision at {n} x {n} costs at most half of the CPU time that it cost at commit {BEFORE}.",
        target="ratio of median CPU seconds at most 0.5",
        value={
            "ratio": round(seconds["now"] / seconds["before"], 3),
            "CPU seconds": {k: round(v, 4) for k, v in seconds.items()},
            "lines": lines,
        },
        reason="Timed in turns on a busy machine, both in single precision on one thread.",
    )
    times = reference(*((32, 300, 16) if script.quick else (128, 2700, 16)))
    ratio = times["design"] / times["reconstruction"]
    script.judge(
        "ours-kspace-reference-time",
        ratio <= MOST_RECONSTRUCTIONS,
        claim="A reference design of 2,700 points of 128 x 128 takes at most the time of 100 reconstructions.",
        target=f"<= {MOST_RECONSTRUCTIONS} reconstructions from its points",
        value={"reconstructions": round(ratio, 1), "CPU seconds": {k: round(v, 2) for k, v in times.items()}},
        reason="Every round has four variants.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
