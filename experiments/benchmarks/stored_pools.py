"""Rows of a file that are asked about: memory beyond what Python and one chunk take, rows a second beside a product.

A `.npy` of 20 columns in single precision, 100 labels, one row chosen by the default scorer's committee and by
information gain, each in a process of its own after a first call on a hundred thousand rows. Beside it X @ A, A of
20 x 20, over the same file in parts of 16,384 rows (what reading takes is in both); and the Parquet file of the same
rows. `--full` also asks about a hundred million rows, a file of 8 GB.

    python -m experiments.benchmarks.stored_pools [--quick | --full]
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from adaptive import BayesianLogisticRegression
from designs.pool import stored
from experiments.script import Script, command

COLUMNS, LABELS, PART = 20, 100, 16_384
SCORERS = ("query_by_committee", "information_gain")
LONG = 100_000_000
KEYS = ("file", "rows", "scorer", "of X @ A")
ALLOWED_MIB, LEAST_SHARE = 200.0, 0.2


def anonymous() -> float:
    """Memory of this process that is no file, MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("RssAnon"))) / 1024.0


def peak_of(work: Any) -> float:
    """MiB by which anonymous memory rose at most while ``work()`` ran, looked at every five milliseconds."""
    import threading

    before, most, done = anonymous(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            most[0] = max(most[0], anonymous() - before)

    thread = threading.Thread(target=watch)
    thread.start()
    work()
    done.set()
    thread.join()
    return most[0]


def measured(path: str, short: str, scorer: str, times: int, queue: Any) -> None:
    """Put (MiB, processor seconds, position) of one choice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((LABELS, COLUMNS))
    model = BayesianLogisticRegression().fit(X, X[:, 0] + X[:, 1] > 0)
    model.select(stored(short), scorer=scorer, random_state=0)
    pool, found, taken = stored(path), [], []

    def choose() -> None:
        for _ in range(times):
            begun = time.process_time()
            found.append(model.select(pool, scorer=scorer, random_state=0)[0])
            taken.append(time.process_time() - begun)

    rose = peak_of(choose)
    queue.put((rose, min(taken), int(found[0])))


def product(path: Path) -> float:
    """Processor seconds of X @ A over the file, the least of three."""
    pool, A = stored(path), np.ones((COLUMNS, COLUMNS), dtype=np.float32)
    taken = []
    for _ in range(3):
        begun = time.process_time()
        for start in range(0, len(pool), PART):
            _ = np.asarray(pool.read(start, min(start + PART, len(pool)))) @ A
        taken.append(time.process_time() - begun)
    return min(taken)


def write(path: Path, n: int) -> None:
    """Write n rows of normal numbers, the first of which are those of any other file."""
    rng = np.random.default_rng(1)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (n, COLUMNS))
    for start in range(0, n, PART):
        part = rows[start : start + PART]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    rows.flush()


def chosen_from(path: Path, short: Path, scorer: str, times: int) -> tuple[float, float, int]:
    """(MiB, processor seconds, position) of one choice, the least seconds of some, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=measured, args=(str(path), str(short), scorer, times, queue))
    process.start()
    found: tuple[float, float, int] = queue.get(timeout=1800)
    process.join()
    return found


def run(script: Script) -> None:
    """Write the files, choose, compare."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    m = 20_000 if script.quick else 4_000_000
    columns: dict[str, list[Any]] = {
        name: [] for name in ("file", "rows", "scorer", "MiB", "rows a second", "of X @ A")
    }
    chosen: dict[str, set[int]] = {scorer: set() for scorer in SCORERS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, n in (("pool", m), ("short", min(m, 100_000))):
            write(folder / f"{file}.npy", n)
            rows = np.load(folder / f"{file}.npy", mmap_mode="r")
            fields = pa.schema([(f"x{j}", pa.float32()) for j in range(COLUMNS)])
            with pq.ParquetWriter(folder / f"{file}.parquet", fields) as writer:
                for start in range(0, n, 4 * PART):
                    part = np.ascontiguousarray(rows[start : start + 4 * PART].T)
                    writer.write_table(pa.table(list(part), schema=fields))
        files = [("pool.npy", m), ("pool.parquet", m)]
        if script.full:
            write(folder / "long.npy", LONG)
            files.append(("long.npy", LONG))
        for file, n in files:
            seconds, kind = product(folder / file), file.split(".")[1]
            for scorer in SCORERS:
                rose, took, position = chosen_from(folder / file, folder / f"short.{kind}", scorer, 3 if n == m else 1)
                if n == m:
                    chosen[scorer].add(position)
                row = (kind, n, scorer, round(rose, 1), round(n / took), round(seconds / took, 3))
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    script.table(
        columns, "stored-pools",
        f"One choice among rows of {COLUMNS} columns in a file: memory beyond that before (anonymous), rows per "
        "processor second, share of the rows a second of X @ A over the same file, reading included in both.",
    )  # fmt: skip
    script.judge(
        "ours-scale-stored-memory", max(columns["MiB"]) <= ALLOWED_MIB,
        claim=f"A choice among {max(columns['rows']):,} rows in a file takes no memory that grows with them.",
        target=f"at most {ALLOWED_MIB:g} MiB beyond what the process had", value=max(columns["MiB"]),
    )  # fmt: skip
    script.judge(
        "ours-scale-stored-choice", all(len(one) == 1 for one in chosen.values()),
        claim="A mapped file and the Parquet file of its rows give the same choice.", target="the same position",
        value={scorer: sorted(one) for scorer, one in chosen.items()},
    )  # fmt: skip
    script.judge(
        "ours-scale-stored-rate", min(columns["of X @ A"]) >= LEAST_SHARE,
        claim="Rows of a file are asked about at a fifth of the rate of X @ A (A of 20 x 20) at least.",
        target=LEAST_SHARE, value=[
            f"{file} {n:,} {scorer} {share}"
            for file, n, scorer, share in zip(*(columns[key] for key in KEYS), strict=True)
        ],
        reason="Each row is checked, multiplied with 24 columns and bounded; the few that may be best are scored. On "
        "the prototype's machine X @ A took eight times as long.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__, full=f"also {LONG:,} rows")
