"""Query, step, batch and fit from 100 rows to 1,000,000, and of 2 to 20 classes, beside peers in one run.

- Classification: `BayesianLogisticRegression` by its defaults (the prior scale integrated), scorer "entropy", beside
  scikit-activeml (its query refits LogisticRegression, so that it is a step too), modAL, and LogisticRegression's fit
  of the same labels; batches of 20, ours joint, beside scikit-activeml's Badge and modAL's 20 highest.
- Counts of pairs (mean field, 10 components) beside hpfrec; pairs (one sweep, 20 components) beside implicit; topics
  (a single pass, 20 topics) beside tomotopy's LDA, 20 sweeps; an adaptive test of 30 people beside catsim.

A cell is CPU seconds with one BLAS thread, the lower of two rounds in which ours and the peers take turns (one round of
more than two classes, of a million rows, and of what is no classification); a step is the mean of twelve in a row, so
that the refit of every tenth is in it. The floor is what cannot be left out: of a query one product of the pool with 20
columns, of a batch 20 of these, of a fit one product X'X of the labelled rows. The growth is the exponent b of
seconds = a n^b, fitted by least squares of logarithms to the sizes from a thousand on (of classes: to all).

    python -m experiments.benchmarks.beside_peers [--quick]
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from experiments.benchmarks.cpu_seconds import least_seconds
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command, panels

PEERS = Path(__file__).parent / "peers"
SEED, STEPS, BATCH, ROUNDS = 0, 12, 20, 2
#: rows, columns, labels, classes
BY_ROWS = ((100, 20, 50, 2), (1_000, 20, 50, 2), (10_000, 20, 50, 2), (100_000, 20, 50, 2),
           (1_000_000, 20, 50, 2))  # fmt: skip
BY_LABELS = tuple((*size, labels, 2) for size in ((10_000, 20), (100_000, 50)) for labels in (50, 200, 1_000))
BY_CLASSES = tuple((1_000, 20, 100, classes) for classes in (2, 5, 20))
FITS = ((200, 20, 100, 2), (2_000, 20, 1_000, 2), (20_000, 20, 10_000, 2), (200_000, 20, 100_000, 2),
        (1_000_000, 20, 1_000_000, 2))  # fmt: skip
SMALL, LARGE = 1_000, 1_000_000  # from which growth is fitted; of which there is one round
WHY = (
    "Peers hold point estimates: modAL's query is one product of the pool with a model that is fitted already, and "
    "its batch is the highest 20; Badge needs no posterior. Ours integrates the prior scale over nodes, and chooses "
    "batches jointly. optbayesexpt and badge's own code are on no package index (ours-any-model-bench-decision has "
    "the former); adaptivetesting has no locked environment."
)
Cell = tuple[str, int, int, int, int]  # operation, rows, columns, labels, classes


def problem(rows: int, columns: int, labelled: int, classes: int) -> dict[str, np.ndarray]:
    """Return a pool with logistic labels, every class among the labelled."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((rows, columns))
    y = np.argmax(X @ rng.standard_normal((columns, classes)) + rng.gumbel(size=(rows, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return {"X": X, "y": y, "labelled": np.arange(labelled)}


def seconds(act: Callable[[], Any]) -> float:
    """Return CPU seconds of one call."""
    start = time.process_time()
    act()
    return time.process_time() - start


def ours(data: dict[str, np.ndarray], steps: int, wanted: tuple[str, ...]) -> dict[str, float]:
    """Return CPU seconds of ours."""
    from adaptive import BayesianLogisticRegression

    X, y, known = data["X"], data["y"], data["labelled"].tolist()
    found = {}
    if "fit" in wanted:
        found["fit"] = least_seconds(
            lambda: BayesianLogisticRegression(classes=np.unique(y)).fit(X[known], y[known]), 2 if len(y) < LARGE else 1
        )
    if wanted == ("fit",):
        return found
    model = BayesianLogisticRegression(classes=np.unique(y)).fit(X[known], y[known])
    options = {"scorer": "entropy", "random_state": SEED}
    if "query" in wanted:
        found["query"] = seconds(lambda: model.select(X, exclude=known, **options))  # nothing is kept of the pool yet
    if "batch" in wanted:
        found["batch"] = seconds(lambda: model.select(X, BATCH, exclude=known, **options))
    if "step" in wanted:
        model.select(X, exclude=known, **options)
        taken = []
        for _ in range(steps):

            def step() -> None:
                chosen = model.select(X, exclude=known, **options)
                model.partial_fit(X[chosen], y[chosen])
                known.extend(chosen.tolist())

            taken.append(seconds(step))
        found["step"] = float(np.mean(taken))
    return found


def floor_of(data: dict[str, np.ndarray]) -> dict[str, float]:
    """Return CPU seconds of the products that nobody can leave out."""
    X, known = data["X"], data["labelled"]
    A = np.random.default_rng(SEED).standard_normal((X.shape[1], 20))
    product = least_seconds(lambda: X @ A, 3)
    some = X[known]
    return {"query": product, "step": product, "batch": BATCH * product, "fit": least_seconds(lambda: some.T @ some, 3)}


def by_peer(peer: str, data: dict[str, np.ndarray], steps: int) -> dict[str, float]:
    """Return CPU seconds inside the peer's environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "problem.npz")
        np.savez(path, **data)  # type: ignore[arg-type]
        line = [str(python_of(peer)), str(PEERS / "asks.py"), peer, path, str(steps)]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def classification(script: Script) -> dict[Cell, dict[str, float]]:
    """Return by cell the CPU seconds of each contestant."""
    plans: dict[tuple[int, int, int, int], set[str]] = {}
    for sizes, operations in ((BY_ROWS, ("query", "step", "batch")), (BY_LABELS, ("step",)),
                              (BY_CLASSES, ("query", "batch")), (FITS, ("fit",))):  # fmt: skip
        for size in sizes:
            plans.setdefault(size, set()).update(operations)
    if script.quick:
        plans = {(200, 5, 40, 2): {"query", "step", "batch", "fit"}, (100, 5, 40, 3): {"query"}}
    ours(problem(300, 20, 50, 2), 2, ("query", "step", "batch", "fit"))  # compiles
    ours(problem(300, 20, 50, 3), 2, ("query",))
    found: dict[Cell, dict[str, float]] = {}
    for size, operations in plans.items():
        data, wanted = problem(*size), tuple(sorted(operations))
        for _ in range(1 if script.quick or size[3] > 2 or size[0] >= LARGE else ROUNDS):
            mine = ours(data, 3 if script.quick else STEPS, wanted)
            contestants = {"ours": mine, "floor": floor_of(data)}
            if not script.quick:  # the peers need environments
                only_fits = operations == {"fit"}
                peers = ("skactiveml",) if only_fits else ("skactiveml", "modal")
                contestants |= {peer: by_peer(peer, data, 0 if only_fits else 4) for peer in peers}
            for operation in wanted:
                cell = found.setdefault((operation, *size), {})
                for who, times in contestants.items():
                    if operation == "fit" and who == "modal":
                        continue
                    name = "scikit-learn" if operation == "fit" and who == "skactiveml" else who
                    cell[name] = min(cell.get(name, np.inf), times[operation])
        print(size, {o: {w: round(1e3 * s, 2) for w, s in found[o, *size].items()} for o in wanted}, flush=True)
    return found


def others(script: Script) -> dict[Cell, dict[str, float]]:
    """Return cells of counts, pairs, topics and tests."""
    from adaptive import MetadataTopicModel, PoissonFactorization
    from experiments.benchmarks.paired_symbols import simulated, sweep_seconds
    from experiments.benchmarks.questionnaires import by_peer as tested
    from experiments.benchmarks.questionnaires import problem as people
    from experiments.benchmarks.questionnaires import replayed

    found: dict[Cell, dict[str, float]] = {}
    rng, quick = np.random.default_rng(SEED), script.quick
    for n in (300,) if quick else (3_000, 30_000):
        ids = max(30, round(2 * np.sqrt(n)))
        users, items, y = rng.integers(0, ids, n), rng.integers(0, ids, n), rng.poisson(2.0, n) + 1.0
        pairs = np.unique(np.column_stack([users, items]), axis=0)
        y = y[: len(pairs)]
        make = lambda: PoissonFactorization(10, inference="mean_field", random_state=SEED)  # noqa: E731
        make().fit(pairs[:50], y[:50])
        cell = {"ours": seconds(lambda make=make, pairs=pairs, y=y: make().fit(pairs, y))}
        if not quick:
            cell["hpfrec"] = float(_kept("hpfrec", "factorization.py", {"users": pairs[:, 0], "items": pairs[:, 1],
                                                                       "y": y}, "10")["seconds"])  # fmt: skip
        found["fit of counts", len(pairs), 10, 0, 0] = cell
    for n in (300,) if quick else (10_000, 100_000):
        stream = simulated(n)
        cell = {"ours": sweep_seconds(stream, 3)}
        if not quick:
            rows = {"users": stream.rows[0], "items": stream.rows[1]}
            cell["implicit"] = float(_kept("implicit", "paired_symbols.py", rows, "20")["seconds"])
        found["sweep of pairs", n, 20, 0, 0] = cell
    for n in (60,) if quick else (1_000, 4_000):
        counts = sp.csr_array(rng.poisson(0.02, (n, 500)).astype(float))
        group = rng.integers(0, 2, (n, 1)).astype(float)
        model = lambda: MetadataTopicModel(20, learning="single_pass", random_state=SEED)  # noqa: E731
        model().fit(counts[:50], group[:50])
        cell = {"ours": seconds(lambda model=model, c=counts, g=group: model().fit(c, g))}
        if not quick:
            cell["tomotopy"] = _topics(counts, group)
        found["pass of topics", n, 20, 0, 0] = cell
    for n in (5,) if quick else (30, 300):
        data = people(n, 50)
        replayed(data, 2)
        cell = {"ours": replayed(data, 10)}
        if not quick and n == 30:
            cell["catsim"] = tested("catsim", "adaptive_test.py", data, "10")["seconds"]
        found["tests of people", n, 50, 0, 0] = cell
    return found


def _kept(peer: str, script: str, arrays: dict[str, np.ndarray], *more: str) -> dict[str, np.ndarray]:
    """What a peer's script writes."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **arrays)  # type: ignore[arg-type]
        subprocess.run(
            [str(python_of(peer)), str(PEERS / script), str(source), str(target), *more], check=True,
            capture_output=True,
        )  # fmt: skip
        with np.load(target) as stored:
            return {name: stored[name] for name in stored.files}


def _topics(counts: Any, group: np.ndarray) -> float:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        arrays: dict[str, Any] = {"V": counts.shape[1]}
        for part, some in (("train", counts), ("test", counts[:1])):
            table = sp.csr_array(some)
            arrays |= {f"{part}_indptr": table.indptr, f"{part}_indices": table.indices, f"{part}_data": table.data,
                       f"{part}_group": group[: table.shape[0], 0]}  # fmt: skip
        np.savez(source, **arrays)
        line = [str(python_of("tomotopy")), str(PEERS / "topics.py"), "lda", str(source), str(target), "20", "20"]
        subprocess.run([*line, "0.1", "0.01"], check=True, capture_output=True)
        with np.load(target) as stored:
            return float(stored["seconds"])


def growth(cells: dict[Cell, dict[str, float]], operation: str, who: str, sizes: Any, which: int) -> float | None:
    """Return the exponent of the seconds, fitted to the sizes from ``SMALL`` on, or to the classes."""
    some = [(size[which], cells[operation, *size].get(who)) for size in sizes if (operation, *size) in cells]
    some = [(n, s) for n, s in some if s and (which == 3 or n >= SMALL)]
    if len(some) < 2:
        return None
    return round(float(np.polyfit(*np.log(some).T, 1)[0]), 2)


def run(script: Script) -> None:
    """Measure everything, write table and figure, judge."""
    warnings.simplefilter("ignore")
    cells = classification(script) | others(script)
    names = ["ours", "floor", "skactiveml", "modal", "scikit-learn", "hpfrec", "implicit", "tomotopy", "catsim"]
    columns: dict[str, list[Any]] = {
        key: [cell[k] for cell in cells] for k, key in enumerate(("operation", "rows", "columns", "labels", "classes"))
    }
    for name in names:
        columns[f"{name}, ms"] = [
            round(1e3 * of_cell[name], 3) if name in of_cell else None for of_cell in cells.values()
        ]
    versions = {
        name: versions_of(lock, package)[package]
        for name, lock, package in (
            ("skactiveml", "skactiveml", "scikit-activeml"), ("modal", "modal", "modAL-python"),
            ("scikit-learn", "skactiveml", "scikit-learn"), ("hpfrec", "hpfrec", "hpfrec"),
            ("implicit", "implicit", "implicit"), ("tomotopy", "tomotopy", "tomotopy"), ("catsim", "catsim", "catsim"),
        )
    }  # fmt: skip
    script.table(
        columns, "benchmarks",
        f"CPU milliseconds, one thread, the lower of {ROUNDS} rounds in turn (one of others than two classes, and of a "
        "million rows). "
        "Classification: entropy; steps are means of twelve; peers refit LogisticRegression. Other jobs shared the two "
        "cores (load 5 to 9). Columns of the others are "
        f"components, topics or items. {', '.join(f'{name} {one}' for name, one in versions.items())}.",
    )  # fmt: skip
    if script.quick:
        return
    _draw(script, cells)
    exponents = {
        f"{operation} by {words}": {
            who: found
            for who in ("ours", "skactiveml", "modal", "scikit-learn", "floor")
            if (found := growth(cells, operation, who, sizes, which)) is not None
        }
        for operation, sizes, which, words in (
            ("query", BY_ROWS, 0, "rows"), ("step", BY_ROWS, 0, "rows"), ("batch", BY_ROWS, 0, "rows"),
            ("query", BY_CLASSES, 3, "classes"), ("batch", BY_CLASSES, 3, "classes"), ("fit", FITS, 2, "labels"),
        )
    }  # fmt: skip
    worst = max(one["ours"] for name, one in exponents.items() if name.endswith("rows"))
    script.judge(
        "ours-bench-growth", worst <= 1.15, seed=SEED,
        claim="A query, a step and a batch of 20 grow no faster than the pool.",
        target="exponents of the rows, 1,000 to 1,000,000, at most 1.15", value=exponents,
        reason="The largest pool no longer lies in the cache." if worst > 1.15 else "",
    )  # fmt: skip
    ratios = {
        f"{n:,} x {d}, {labels} labels": round(of["ours"] / of["skactiveml"], 2)
        for (operation, n, d, labels, classes), of in cells.items()
        if operation == "step" and (n, d, labels, classes) in BY_LABELS
    }
    script.judge(
        "ours-bench-step", max(ratios.values()) <= 1.0, seed=SEED,
        claim="A step by a named scorer takes at most scikit-activeml's, 10,000 x 20 and 100,000 x 50, 50 to 1,000 "
        "labels.",
        target="at most 1 at every size", value=ratios,
        reason="One step in ten fits all nodes of the prior scale again, whose cost grows with the labels; the mean "
        "of twelve steps includes one such step.",
    )  # fmt: skip
    beside = {}
    for (operation, n, d, labels, classes), of in cells.items():
        peers = {who: one for who, one in of.items() if who not in ("ours", "floor")}
        if peers:
            quickest = min(peers, key=lambda who, peers=peers: peers[who])
            size = f"{n:,} x {d}" + (f", {labels} labels, {classes} classes" if classes else "")
            beside[f"{operation}, {size}"] = f"{of['ours'] / peers[quickest]:.2f} of {quickest}'s"
    slower = [name for name, one in beside.items() if float(one.split()[0]) > 1.0]
    script.judge(
        "ours-bench-beside-peers", not slower, seed=SEED,
        claim="Every operation takes at most the quickest peer's time, on every size.",
        target="at most 1 in every cell", value=beside,
        reason=f"Slower in {len(slower)} of {len(beside)} cells. " + WHY,
    )  # fmt: skip


def _draw(script: Script, cells: dict[Cell, dict[str, float]]) -> None:
    figure, axes = panels(1, 4, width=12.0, height=3.0)
    style = {"ours": ("o-", "#0072B2"), "skactiveml": ("s--", "#D55E00"), "modal": ("^--", "#009E73"),
             "scikit-learn": ("s--", "#D55E00"), "floor": (":", "#777777")}  # fmt: skip
    words = {"skactiveml": "scikit-activeml", "modal": "modAL"}
    plans = (("query", BY_ROWS, 0, "rows"), ("step", BY_ROWS, 0, "rows"), ("batch", BY_ROWS, 0, "rows"),
             ("fit", FITS, 2, "labels"))  # fmt: skip
    for axis, (operation, sizes, which, said) in zip(axes[0], plans, strict=True):
        for who, (mark, colour) in style.items():
            some = [(size[which], cells[operation, *size][who]) for size in sizes if who in cells[operation, *size]]
            if some:
                axis.loglog(*zip(*some, strict=True), mark, color=colour, label=words.get(who, who), markersize=4)
        axis.set_title({"batch": "a batch of 20", "fit": "fit"}.get(operation, f"a {operation}"), fontsize=10)
        axis.set_xlabel(said)
        if operation in ("query", "fit"):
            axis.legend(frameon=False, fontsize=7)
    axes[0, 0].set_ylabel("CPU seconds")
    script.figure(
        figure, "benchmarks",
        "CPU seconds beside peers by rows of the pool (20 columns, 50 labels, two classes), and of a fit by labels. "
        "The floor: one product of the pool with 20 columns, of a batch twenty, of a fit X'X. Simulated rows.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
