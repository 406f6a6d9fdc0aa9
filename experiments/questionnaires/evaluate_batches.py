"""Items asked eight at a time: the band of systems that were asked so, beside that of systems asked one at a time."""

from __future__ import annotations

import numpy as np

from adaptive.cli.evaluate.calibration import Calibration, Way, calibrated, one_by_one
from adaptive.tables import Responses
from experiments.equivalence import all_of, inside
from experiments.questionnaires.shared.systems import SETS, systems
from experiments.script import Script, command
from experiments.statistics import limits

SPLITS = 5
KNOWN, NEW, BATCH, ITEMS = 600, 80, 8, 40
AFTER = (8, 16, 24, 32, 40)
WHAT = ("band in batches", "band one by one", "error")


def run(script: Script) -> None:
    """Coverage and errors by set."""
    sets, splits = (SETS[-1:], 1) if script.quick else (SETS, SPLITS)
    cells = {
        name: [script.kept("evaluate-batches", batches, name, seed, script.quick) for seed in range(splits)]
        for name in sets
    }
    rows = [(name, k) for name, found in cells.items() for k in range(len(found[0][WHAT[0]]))]
    script.table(
        {"set": [name for name, _ in rows], "items": [AFTER[k] for _, k in rows],
         **{what: [round(float(np.mean([one[what][k] for one in cells[name]])), 3) for name, k in rows]
            for what in WHAT}},
        "evaluate-batches", f"Bands of the full score where items were asked in batches, means over {splits} splits.",
    )  # fmt: skip
    if script.quick:
        return
    ends = {
        name: {what: [limits(np.array([one[what][k] for one in found])) for k in range(len(AFTER))] for what in WHAT}
        for name, found in cells.items()
    }
    script.judge(
        "ours-evaluate-batches", all_of(
            inside(low, high, least=0.85, most=0.95) for row in ends.values() for _, low, high in row[WHAT[0]]
        ),
        claim="Asked eight items at a time, the band of earlier systems that were asked so covers 85 to 95% of systems "
        "of other families.",
        target="0.85 to 0.95 after 8, 16, 24, 32 and 40 items, on each of four sets",
        value={
            name: {what: ["{:.3f} ({:.3f} to {:.3f})".format(*one) for one in values] for what, values in row.items()}
            for name, row in ends.items()
        },
        seed=f"splits 0 to {SPLITS - 1}",
        reason=f"{NEW} systems in each split; of {KNOWN} earlier ones 100 make the band. The band of systems that were "
        "asked one item at a time is beside it, and so are the errors in points.",
    )  # fmt: skip


def batches(name: str, seed: int, quick: bool = False) -> dict[str, np.ndarray]:
    """Coverage of nominal .90 by both bands, and errors in points, after each batch."""
    one = systems(name, 100 if quick else KNOWN, seed, n_new=10 if quick else NEW)
    most = 8 if quick else ITEMS
    earlier, new = _responses(one.known, one.families), _responses(one.new, None)
    usual, inside = (calibrated(earlier, None, way, seed) for way in (Way(most), Way(most, BATCH)))
    mean, std = _asked(inside, new, Way(most, BATCH), seed)
    truth = one.new.sum(axis=1)
    at = [k for k in AFTER if k <= most]
    far = np.abs(mean - truth[:, None]) / np.maximum(std, 1e-9)
    found = {
        what: np.array([np.mean(far[:, k - 1] <= known.band.deviations(k, 0.9)) for k in at])
        for what, known in (("band in batches", inside), ("band one by one", usual))
    }
    off = np.sqrt(np.mean((mean - truth[:, None]) ** 2, axis=0))
    return found | {"error": np.array([inside.points(off[k - 1]) for k in at])}


def _responses(answers: np.ndarray, families: list[int] | None) -> Responses:
    rows, n = answers.shape
    names = [str(k) for k in (families if families is not None else range(rows))]
    return Responses(
        answers, tuple(f"system {k}" for k in range(rows)), tuple(f"item {k}" for k in range(n)), ("",) * n, ("",) * n,
        tuple(names),
    )  # fmt: skip


def _asked(known: Calibration, new: Responses, way: Way, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of totals of new systems, asked in the same way."""
    return one_by_one(known.learnt, known.scale.codes(new.scores), known.items, way, seed)[1:]


if __name__ == "__main__":
    command(run, __doc__, __file__)
