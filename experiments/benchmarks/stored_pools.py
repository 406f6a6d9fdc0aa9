"""Rows of a file that are asked about: memory beyond what Python and one chunk take, rows a second beside a product.

A `.npy` of 20 columns in single precision, 100 labels, one row chosen by the default scorer's committee and by
information gain, each in a process of its own after a first call on a hundred thousand rows. Beside it X @ A, A of
20 x 20, over the same mapped file in parts of 16,384 rows; and the Parquet file of the same rows.
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


def measured(path: str, short: str, scorer: str, queue: Any) -> None:
    """Put (MiB, processor seconds, position) of one choice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((LABELS, COLUMNS))
    model = BayesianLogisticRegression().fit(X, X[:, 0] + X[:, 1] > 0)
    model.select(stored(short), scorer=scorer, random_state=0)
    pool, found = stored(path), []
    begun = time.process_time()
    rose = peak_of(lambda: found.append(model.select(pool, scorer=scorer, random_state=0)[0]))
    queue.put((rose, time.process_time() - begun, int(found[0])))


def product(path: Path) -> float:
    """Processor seconds of X @ A over the file."""
    X, A = np.load(path, mmap_mode="r"), np.ones((COLUMNS, COLUMNS), dtype=np.float32)
    begun = time.process_time()
    for start in range(0, len(X), PART):
        _ = np.asarray(X[start : start + PART]) @ A
    return time.process_time() - begun


def run(script: Script) -> None:
    """Write the files, choose, compare."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    m = 20_000 if script.quick else 4_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, n in (("pool", m), ("short", min(m, 100_000))):
            rows = np.lib.format.open_memmap(folder / f"{file}.npy", "w+", np.float32, (n, COLUMNS))
            rng = np.random.default_rng(1)
            for start in range(0, n, PART):
                part = rows[start : start + PART]
                part[:] = rng.standard_normal(part.shape)
            rows.flush()
            fields = pa.schema([(f"x{j}", pa.float32()) for j in range(COLUMNS)])
            with pq.ParquetWriter(folder / f"{file}.parquet", fields) as writer:
                for start in range(0, n, 4 * PART):
                    part = np.ascontiguousarray(rows[start : start + 4 * PART].T)
                    writer.write_table(pa.table(list(part), schema=fields))
        seconds = product(folder / "pool.npy")
        columns: dict[str, list[Any]] = {name: [] for name in ("file", "scorer", "MiB", "rows a second", "of X @ A")}
        chosen: dict[str, set[int]] = {scorer: set() for scorer in SCORERS}
        context = multiprocessing.get_context("spawn")
        for kind in ("npy", "parquet"):
            for scorer in SCORERS:
                queue = context.Queue()
                files = [str(folder / f"{file}.{kind}") for file in ("pool", "short")]
                process = context.Process(target=measured, args=(*files, scorer, queue))
                process.start()
                rose, took, position = queue.get(timeout=1800)
                process.join()
                chosen[scorer].add(position)
                row = (kind, scorer, round(rose, 1), round(m / took), round(seconds / took, 3))
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    script.table(
        columns, "stored-pools",
        f"One choice among {m:,} rows of {COLUMNS} columns in a file: memory beyond that before (anonymous), rows per "
        f"processor second, share of the rows a second of X @ A ({m / seconds:,.0f}).",
    )  # fmt: skip
    script.judge(
        "ours-scale-stored-memory", max(columns["MiB"]) <= ALLOWED_MIB,
        claim="A choice among four million rows in a file takes no memory that grows with them.",
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
            f"{file} {scorer} {share}"
            for file, scorer, share in zip(columns["file"], columns["scorer"], columns["of X @ A"], strict=True)
        ],
        reason="The product with A is a twentieth of what four nodes ask of a row: products with 84 columns, and four "
        "integrals or shares of votes. On the machine of the prototype X @ A took eight times as long.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
