"""One history, one posterior: 30 answers one at a time against all at once, for every estimator that learns.

Thirty answers, with signal and without it, ten seeds each. Kept where the log evidence after single answers is at most
.1 nat below that after all at once, and predictions (means and deviations of outcomes) are within a tenth of their
deviation, or the evidence is more than .1 nat higher, when the two stand at different tops. Where single answers take
long they come in blocks of 7, 1, 9, 5 and 8. Estimators that do not promise it are in the table, with the reason.

Full mode: some minutes on one core. Quick mode: one seed of three estimators.
"""

from __future__ import annotations

import numpy as np

from experiments.contract.histories import STORIES, gap
from experiments.script import Script, command

SEEDS = 10
QUICK = ("PoissonRegression", "SparseLinearRegression gaussian", "GaussianProcessRegressor")


def run(script: Script) -> None:
    """Learn every history in both ways."""
    stories = [story for story in STORIES if not script.quick or story.name in QUICK]
    columns: dict[str, list[object]] = {
        name: []
        for name in ("estimator", "kept", "of", "lowest evidence", "highest evidence", "prediction", "promised")
    }
    broken: dict[str, str] = {}
    for story in stories:
        found = [gap(story, seed, signal) for seed in range(1 if script.quick else SEEDS) for signal in (True, False)]
        kept = sum(one.kept for one in found)
        evidences = np.array([one.evidence for one in found])
        row = (
            story.name,
            kept,
            len(found),
            round(float(evidences.min()), 3),
            round(float(evidences.max()), 3),
            round(max(one.prediction for one in found), 3),
            "yes" if story.promised else f"no: {story.why}",
        )
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
        print(*row, flush=True)
        if story.promised and kept < len(found):
            broken[story.name] = f"{kept} of {len(found)}"
    script.table(
        columns,
        "one-history",
        "Thirty answers one at a time (or in five uneven blocks) less all at once: histories in which that led to the "
        "same posterior, lowest and highest difference of log evidences (nats; nan: there is none), largest difference "
        f"of means or deviations, in deviations of the outcome. {SEEDS} seeds, with and without signal, simulated.",
    )
    script.judge(
        "ours-one-history",
        not broken,
        claim="Answers told one by one lead to the posterior of all at once: the evidence is within 0.1 nat or "
        f"higher, and predictions are within a tenth of a deviation, for {sum(story.promised for story in stories)} "
        "estimators that promise it.",
        target="every history",
        value=broken or "every history",
        reason=f"{', '.join(broken)}Where the evidence is flat, answers told one by one end at a maximum that is "
        "higher than fit's by less than 0.1 nat (Laplace noise 0.09, Cox process 0.04), and predictions differ there.",
        kind="must hold",
        seed=0,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
