"""Transforms of spiral samples: the Toeplitz normal operator, and ours beside finufft, mri-nufft and SigPy.

Eight interleaves of 3,216 samples, 256 x 256 pixels, batches of one and eight images; CPU milliseconds per image on one
thread, median of rounds in which everybody takes a turn. Two questions:

    is X^H X u by the Toeplitz kernel no slower than the transform (type 2) and its adjoint (type 1)?
    what does ``NonuniformFourier`` cost beside finufft's own plan, as finufft would set it up, and beside the peers?

The peers run in a locked environment of their own, beside the same plan of finufft: ratios are compared, not times.

    python experiments/benchmarks/nonuniform_fourier.py [--quick]
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive.operators import NonuniformFourier
from designs.kspace import equispaced_angles, spirals
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

HERE = Path(__file__).parent
SEED = 0
ACCURACY = {"complex64": 3e-5, "complex128": 1e-8}
LINE = "{dtype:10s} {batch:2d}  {what:28s} {ms:8.2f} ms   {beside:24s} {beside_ms:8.2f} ms   {ratio:6.2f}   {error}"
Row = dict[str, Any]


def problem(size: int, batch: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Samples (m, 2) of eight interleaves, and images."""
    samples = spirals((size, size), equispaced_angles(8)).samples.reshape(-1, 2)
    rng = np.random.default_rng(SEED)
    images = rng.standard_normal((batch, size, size)) + 1j * rng.standard_normal((batch, size, size))
    return samples, images.astype(dtype)


def milliseconds(functions: list[Callable[[], object]], rounds: int, images: int) -> list[float]:
    """Median CPU time per image, measured in turn so that a busy machine slows all of them."""
    table = np.empty((rounds, len(functions)))
    for k in range(-2, rounds):  # the first rounds make plans and kernels
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            if k >= 0:
                table[k, i] = time.process_time() - start
    return [float(value) for value in 1e3 * np.median(table, axis=0) / images]


def direct_plans(samples: np.ndarray, images: np.ndarray, accuracy: float) -> tuple[Any, Any]:
    """finufft's own plans with its own choice of oversampling."""
    import finufft

    points = np.ascontiguousarray(samples.T, images.real.dtype)
    plans = [
        finufft.Plan(kind, images.shape[1:], len(images), accuracy, sign, str(images.dtype), nthreads=1)
        for kind, sign in ((2, -1), (1, 1))
    ]
    for plan in plans:
        plan.setpts(*points)
    return plans[0], plans[1]


def ours(size: int, batch: int, dtype: str, rounds: int) -> list[Row]:
    """Times of our transforms, beside finufft's."""
    samples, images = problem(size, batch, dtype)
    F = NonuniformFourier((size, size), samples, accuracy=ACCURACY["complex128"])
    v, u = F.forward(images), images if batch > 1 else images[0]
    type_2, type_1 = direct_plans(samples, images, ACCURACY[dtype])
    w = v if batch > 1 else v[0]
    real = np.ascontiguousarray(images.real)
    times = milliseconds(
        [
            lambda: F.forward(images),
            lambda: type_2.execute(u),
            lambda: F.adjoint(v),
            lambda: type_1.execute(w),
            lambda: F.normal(images),
            lambda: F.adjoint(F.forward(images)),
            lambda: F.normal(real),
            lambda: F.adjoint(F.forward(real)).real,
            lambda: type_1.execute(type_2.execute(u)),
        ],
        rounds,
        batch,
    )
    forward, plan_2, adjoint, plan_1, toeplitz, pair, real_toeplitz, real_pair, plan_pair = times
    exact = direct_plans(samples, images.astype(complex), 1e-12)[0].execute(u.astype(complex)) / size
    error = f"{np.linalg.norm(v.reshape(exact.shape) - exact) / np.linalg.norm(exact):.0e}"
    rows = [
        ("type 2", forward, "finufft plan", plan_2),
        ("type 1", adjoint, "finufft plan", plan_1),
        ("Toeplitz normal", toeplitz, "our type 2 + type 1", pair),
        ("Toeplitz normal", toeplitz, "finufft type 2 + type 1", plan_pair),
        ("Toeplitz normal, real image", real_toeplitz, "our type 2 + type 1", real_pair),
    ]
    return [
        {"dtype": dtype, "batch": batch, "what": what, "ms": mine, "beside": other, "beside_ms": theirs,
         "ratio": mine / theirs, "error": error if what == "type 2" else ""}
        for what, mine, other, theirs in rows
    ]  # fmt: skip


def peers(size: int, batch: int, dtype: str, rounds: int) -> list[Row]:
    """Times of the peers relative to finufft's plan in their own process."""
    samples, images = problem(size, batch, dtype)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "problem.npz")
        np.savez(path, samples=samples, images=images)
        script = str(HERE / "peers" / "nonuniform_fourier.py")
        out = subprocess.run(
            [str(python_of("nufft")), script, path, str(ACCURACY[dtype]), str(rounds)],
            check=True,
            capture_output=True,
            text=True,
        )
    found = json.loads(out.stdout)
    floor = found.pop("finufft")
    return [
        {"dtype": dtype, "batch": batch, "what": f"{name}, {what}", "ms": 1e3 * times[k] / batch,
         "beside": "finufft plan", "beside_ms": 1e3 * floor[k] / batch, "ratio": times[k] / floor[k],
         "error": "" if k else f"{times[2]:.0e}"}
        for name, times in found.items()
        for k, what in enumerate(("type 2", "type 1"))
    ]  # fmt: skip


def table(quick: bool = False) -> list[Row]:
    """All rows; in quick mode a small problem without peers."""
    size, rounds = (32, 5) if quick else (256, 11)
    rows = []
    for dtype in ACCURACY:
        for batch in (1, 8):
            found = ours(size, batch, dtype, rounds) + ([] if quick else peers(size, batch, dtype, rounds))
            for row in found:
                print(LINE.format(**row), flush=True)
            rows += found
    return rows


def run(script: Script) -> None:
    """Print the table; without --quick, which takes 32 x 32 and no peers, write it, and the verdicts."""
    rows = table(script.quick)
    if not script.quick:
        write(script, rows)


def write(script: Script, rows: list[Row]) -> None:
    """The table and the verdicts."""
    import finufft

    versions = {"finufft": finufft.__version__, **versions_of("nufft", "mri-nufft", "sigpy")}
    columns = {name: [_short(row[name]) for row in rows] for name in rows[0]}
    script.table(
        columns,
        "nonuniform_fourier",
        "CPU milliseconds per 256 x 256 image, 8 spiral interleaves of 3,216 samples, one thread; accuracy 3e-5 in "
        f"single and 1e-8 in double precision (error: relative, of type 2; SigPy at its defaults). {versions}.",
    )

    def worst(what: str, beside: str) -> float:
        return max(row["ratio"] for row in rows if row["what"] == what and row["beside"] == beside)

    toeplitz = max(worst("Toeplitz normal", "our type 2 + type 1"), worst("Toeplitz normal", "finufft type 2 + type 1"))
    real = worst("Toeplitz normal, real image", "our type 2 + type 1")
    script.judge(
        "ours-toeplitz-normal",
        max(toeplitz, real) <= 1,
        claim="The Toeplitz normal operator of spiral samples is no slower than type 2 plus type 1.",
        kind="must hold",
        target="largest ratio over precisions and batches <= 1",
        value=f"{toeplitz:.2f} for complex images, {real:.2f} for real ones",
        reason="" if max(toeplitz, real) <= 1 else "See the table: where finufft's transforms need less than two FFTs.",
        seed=SEED,
    )
    both = [worst(kind, "finufft plan") for kind in ("type 2", "type 1")]
    theirs = {
        name: max(row["ratio"] for row in rows if row["what"].startswith(name)) for name in ("mri-nufft", "sigpy")
    }
    script.judge(
        "ours-nonuniform-fourier",
        max(both) <= 1.25,
        claim="A transform by NonuniformFourier costs at most 1.25 times finufft's own plan at the same accuracy.",
        target="largest ratio <= 1.25",
        value=f"{max(both):.2f}; beside finufft's plan in their own process: "
        + ", ".join(f"{name} up to {ratio:.2f}" for name, ratio in theirs.items())
        + f" ({versions})",
        reason=""
        if max(both) <= 1.25
        else "Copies, and one oversampling for both directions, which makes them adjoint.",
        seed=SEED,
    )


def _short(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


if __name__ == "__main__":
    command(run, __doc__, __file__)
