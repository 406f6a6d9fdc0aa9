"""Does ``hyperparameters="mode"`` with ``exploration=0`` repeat the runs of before, to the bit?

Nine seeded designs whose results were written by the library before prior scales were integrated (commit 9dfda50, kept
in `tests/loop/before_rooms`) run again: classifiers, a sparse and a robust regression, a process with a learnt kernel.
Compared are who was asked, scores, moments and probabilities of probes, and the log evidence.

Judged: classifiers of two classes and one-vs-rest repeat every bit; softmax, sparse and robust regression every number
to 1e-8 of the largest of its kind; the process asks the same, and its evidence is the same to 1e-4 nats (its kernel is
searched with coarse fits first, and its labels leave a plateau). Bits are those of one machine: another adds up in
another order.

Full mode: two seconds.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.script import Script, command
from tests.loop.before_rooms import runs

RUNS, RESULTS = runs.RUNS, np.load(Path(runs.__file__).parent / "results.npz")
TO_THE_BIT = ("logistic", "logistic_margin", "logistic_density", "inclusion", "one_vs_rest")
ROUNDED, ROUNDING = ("softmax", "sparse", "regression"), 1e-8
SEARCHED, NATS = "process", 1e-4


def apart(name: str) -> dict[str, float]:
    """Return of every result the largest difference to what was kept, over the largest number kept; 0: every bit."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = RUNS[name]
        found = run.results(run.design().run(run.steps))
    differences: dict[str, float] = {}
    for key, value in found.items():
        kept = np.asarray(RESULTS[f"{name}/{key}"], dtype=float)
        known = np.isfinite(kept)
        largest = float(np.abs(kept[known]).max(initial=0.0)) or 1.0
        differences[key] = float(np.abs(np.asarray(value, dtype=float)[known] - kept[known]).max(initial=0.0)) / largest
    return differences


def run(script: Script) -> None:
    """Run everything; write the verdict."""
    names = ("logistic_margin",) if script.quick else (*TO_THE_BIT, *ROUNDED, SEARCHED)
    found = {name: apart(name) for name in names}
    value: dict[str, Any] = {name: float(f"{max(one.values()):.1e}") for name, one in found.items()}
    off = [name for name in TO_THE_BIT if name in found and any(found[name].values())]
    off += [name for name in ROUNDED if name in found and max(found[name].values()) > ROUNDING]
    if SEARCHED in found:
        nats = found[SEARCHED]["log_evidence"] * abs(float(RESULTS[f"{SEARCHED}/log_evidence"]))
        value[SEARCHED] = {"asked": found[SEARCHED]["position"], "nats": float(f"{nats:.1e}")}
        off += [SEARCHED] if found[SEARCHED]["position"] or nats > NATS else []
    script.judge(
        "ours-hyper-mode-repeats",
        not off,
        kind="must hold",
        claim='hyperparameters="mode" and exploration=0 repeat runs of before: classifiers of two classes and '
        "one-vs-rest to the bit, softmax, sparse and robust regression to rounding, a searched kernel at the same "
        "maximum.",
        target=f"0; at most {ROUNDING:g} of the largest number; nobody else asked and {NATS:g} nats",
        value=value,
        reason=f"Otherwise: {', '.join(off)}." if off else "",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
