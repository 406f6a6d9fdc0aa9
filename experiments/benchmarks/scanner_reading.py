"""What it costs to read raw samples of eight coils and to plan from them: 256 x 256, an ISMRMRD file of 256 read-outs.

Reading alone is what ismrmrd's own file object takes for all acquisitions, without sorting them. The plan chooses four
lines one by one behind 32 central ones, coil maps and noise estimated; what it costs beyond its own count of products
with the system (a product and an adjoint of eight coils, timed apart) is compared with the reading. Memory is the peak
that Python traces over the size of the samples: of reading, of the receiver's noise and maps, and of planning. That of
the command, `adaptive kspace --plan --reference`, is what its process had resident at most, less that of the same
command on 32 x 32 samples: imports, compiled loops and the picture are the same there.

The floor of the scores of n x n samples in c coils, s posterior samples: for each choice n^2 Cholesky factorisations of
3 c rows in double precision, 8 n^2 (3 c)^3 / 6 operations, and transforms of 2 s c images, 10 n^2 log2 n each. That is
1.5 10^9 at n = 256, c = 8, s = 4: a sixth of a second at 10^10 operations per second. Their bytes: samples and
controls, 16 s n^2, and what 64 lines are in all coils, samples, variances and errors, 64 n c (8 s + 16): 2.5 times the
samples.

    python experiments/benchmarks/scanner_reading.py [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import ImageReconstructor
from adaptive.images import estimate_coils, head_scan, padded, simulate_coils, simulate_scan
from adaptive.operators import Coils, FourierMask, Product, Repeated
from adaptive.scanner import read_scan, write_ismrmrd
from designs.kspace import central, lines
from experiments.benchmarks.cpu_seconds import median_seconds
from experiments.benchmarks.peak_memory import peak_memory
from experiments.script import Script, command

COILS, TURNS = 8, 5
MOST_TIME, MOST_MEMORY = 3.0, 4.0
COMMAND = """import re, sys, time
from adaptive.cli import run
if run(["kspace", *sys.argv[1:]]):
    raise SystemExit(1)
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], time.process_time())
"""  # what resource usage says of a child begins with its parent's


def file_of(folder: Path, n: int) -> Path:
    """Write the scan of a head in eight coils."""
    head = np.kron(padded(head_scan()[12].image, 128), np.ones((2, 2)))
    step = 256 // n
    head = head[::step, ::step]
    scan = simulate_scan(head, snr=50, coils=simulate_coils(head.shape, COILS, random_state=0), random_state=0)
    return write_ismrmrd(folder / "scan.h5", scan.kspace)


def by_library(path: Path) -> int:
    """Read every acquisition as the library does, without putting it anywhere."""
    import ismrmrd

    with ismrmrd.File(str(path), "r") as file:
        return sum(one.data.size for one in file["dataset"].acquisitions)


def planned(path: Path, n_lines: int) -> dict[str, Any]:
    """Read, and choose lines one by one from what is read."""
    scan = read_scan(path)
    shape = (scan.shape[0], scan.shape[1])
    pool, first = lines(shape), central(shape[0], shape[0] // 8)
    covariance = scan.covariance()
    model = ImageReconstructor(shape, coils="estimate", coil_covariance=covariance.matrix, check=False)
    model.fit(pool.take(first), scan.measure(pool.take(first)))
    chosen = first.tolist()
    for _ in range(n_lines):
        further = model.select(pool, exclude=chosen)
        chosen += further.tolist()
        model.partial_fit(pool.take(further), scan.measure(pool.take(further)))
    return {"products": model.n_products_, "lines": chosen[len(first) :]}


def receiver(path: Path) -> tuple[Any, np.ndarray]:
    """Read, and estimate the noise and the coils' maps."""
    scan = read_scan(path)
    return scan.covariance(), estimate_coils(scan.data, 32)


def product_seconds(n: int) -> float:
    """Return the CPU seconds of one product and one adjoint of the system that designs."""
    mask = np.zeros((n, n), bool)
    mask[central(n, n // 8)] = True
    maps = simulate_coils((n, n), COILS, random_state=0).astype(np.complex64)
    system = Product(Repeated(FourierMask((n, n), mask), COILS), Coils(maps))
    image = np.ones((n, n), np.complex64)
    return median_seconds(lambda: system.adjoint(system.forward(image)), 9)


def judge_reading(script: Script, path: Path, n: int) -> None:
    """Time and memory of reading, and of what the receiver is asked."""
    by_library(path), receiver(path)  # imports
    size, turns = COILS * n * n * np.dtype(np.complex64).itemsize, 1 if script.quick else TURNS
    alone, own = median_seconds(lambda: by_library(path), turns), median_seconds(lambda: read_scan(path), turns)
    memory = {
        "reading": peak_memory(lambda: read_scan(path)) / size,
        "noise and maps": peak_memory(lambda: receiver(path)) / size,
    }
    script.judge(
        "ours-scanner-reading-time",
        bool(own <= MOST_TIME * alone),
        claim=f"Reading and sorting {n} x {n} samples of eight coils takes at most 3 times the library's reading.",
        target=f"<= {MOST_TIME}",
        value={"ratio": own / alone, "CPU seconds": {"read_scan": own, "library": alone}},
        reason="Samples are read 64 acquisitions at a time, not one by one.",
    )
    script.judge(
        "ours-scanner-memory-reading",
        bool(max(memory.values()) <= MOST_MEMORY),
        claim=f"Reading, the noise and the coils' maps of {n} x {n} samples of eight coils take at most 4 times the "
        "memory of the samples.",
        target=f"<= {MOST_MEMORY}",
        value={"times the samples": memory, "megabytes of samples": size / 1e6},
        reason="The maps are in double precision and take twice the samples; the rest is made coil by coil and row by "
        "row.",
    )


def judge_planning(script: Script, path: Path, n: int, n_lines: int) -> None:
    """Time and memory of reading and planning."""
    size, alone = COILS * n * n * np.dtype(np.complex64).itemsize, median_seconds(lambda: by_library(path), 1)
    if not script.quick:
        planned(path, 1)  # compiles
        alone = median_seconds(lambda: by_library(path), TURNS)
    start = time.process_time()
    plan = planned(path, n_lines)
    both, one = time.process_time() - start, product_seconds(n)
    beyond = (both - plan["products"] * one) / alone
    script.judge(
        "ours-scanner-planning-time",
        bool(beyond <= MOST_TIME),
        claim=f"Reading {n} x {n} samples of eight coils and planning takes at most 3 times the reading beyond the "
        "design's own products.",
        target=f"<= {MOST_TIME}",
        value={
            "ratio": beyond,
            "CPU seconds": {"both": both, "library's reading": alone, "a product": one},
            "products": plan["products"],
            "size": f"{n_lines} lines behind {n // 8} central ones",
        },
        reason="Scores of all lines, maps, phase and prior are no products with the system; the scores alone need at "
        "least a sixth of a second for each line, twice the reading. Other work used the same cores in this run.",
    )
    memory = peak_memory(lambda: planned(path, 1)) / size
    told = command_of(path, n, size, script.quick)
    script.judge(
        "ours-scanner-memory",
        bool(max(memory, told["times the samples"]) <= MOST_MEMORY),
        claim=f"Reading {n} x {n} samples of eight coils and planning takes at most 4 times the memory of the samples, "
        "in Python and as a command.",
        target=f"<= {MOST_MEMORY}",
        value={"times the samples": memory, "the command": told, "megabytes of samples": size / 1e6},
        reason="A reconstruction takes 8.1 times the samples. The maps, and the maps times the phase, take 1 each; "
        "scales, values and weights of the sites take 2; outcomes, spectra and directions 2; a product 1.5. Outcomes "
        "and scales are in double precision in every model; in single precision 4.4 would be left. While a line is "
        "learnt there are two posteriors, each with several numbers for each of 8 sites a pixel. The command "
        "simulates a scan when it is tried and keeps none.",
    )


def resident(arguments: list[str]) -> tuple[float, float]:
    """Run the command; return the bytes that it had resident at most (Linux says so), and its CPU seconds."""
    child = subprocess.run([sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True, check=True)
    kilobytes, cpu = child.stdout.split()[-2:]
    return 1024.0 * float(kilobytes), float(cpu)


def command_of(path: Path, n: int, size: int, quick: bool) -> dict[str, float]:
    """What the command that plans a line behind central ones takes, beside the same command on few samples."""
    if quick:
        found, least = resident(["--help"]), resident(["--help"])
    else:
        folder = path.parent / "few"
        folder.mkdir()
        few = file_of(folder, 32)
        runs = []
        for file, side in ((few, 32), (path, n), (few, 32)):  # the first compiles
            with tempfile.TemporaryDirectory() as out:
                lines_of = ["--lines", str(side // 8 + 1), "--initial", str(side // 8), "--jobs", "1"]
                runs.append(resident(["--plan", "--reference", str(file), *lines_of, "--out", f"{out}/run"]))
        found, least = runs[1], runs[2]
    return {
        "times the samples": (found[0] - least[0]) / size,
        "megabytes resident": found[0] / 1e6,
        "of them on 32 x 32 samples": least[0] / 1e6,
        "CPU seconds": found[1],
    }


def run(script: Script) -> None:
    """Measure, judge."""
    n, n_lines = (32, 1) if script.quick else (256, 4)
    with tempfile.TemporaryDirectory() as name:
        path = file_of(Path(name), n)
        judge_reading(script, path, n)
        judge_planning(script, path, n, n_lines)


if __name__ == "__main__":
    command(run, __doc__, __file__)
