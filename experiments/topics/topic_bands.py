"""Bands of authors' weights in topics, where the topics of words are not known: corpora that were not looked at before.

The corpora of `what_to_read` by other seeds; 90% intervals of the authors' centred weights after a batch, one pass and
a design. Corpora are the units.
"""

from __future__ import annotations

import warnings

import numpy as np

from experiments.script import Script, command
from experiments.statistics import half_width
from experiments.topics.what_to_read import read

FIRST, N = 20, 10  # seeds; those before were looked at while the message was made


def run(script: Script) -> None:
    """Read, judge."""
    warnings.simplefilter("ignore")
    seeds = range(FIRST, FIRST + (2 if script.quick else N))
    found = [read(seed, script.quick) for seed in seeds]
    kinds = ("batch", "designed", "single_pass")
    columns = {kind: np.array([one[f"coverage, {kind}"] for one in found]) for kind in kinds}
    script.table(
        {"seed": list(seeds), **{kind: columns[kind].round(3).tolist() for kind in kinds}}, "topic-bands",
        "Share of authors' centred weights within nominal .90; one row a corpus.",
    )  # fmt: skip
    means = {kind: float(column.mean()) for kind, column in columns.items()}
    missed = [kind for kind, mean in means.items() if not 0.85 <= mean <= 0.95]
    script.judge(
        "ours-bands-topics", not missed,
        claim="90% intervals of authors' weights in topics hold 85 to 95% of them, after a batch, a design, one pass.",
        target="between .85 and .95 in each, on average over corpora",
        value={kind: f"{means[kind]:.3f} +- {half_width(columns[kind]):.3f}" for kind in kinds},
        reason=""
        if not missed
        else f"Outside: {', '.join(missed)}. The message hears that the topics of words are not known; that two true "
        "topics may be found as one, or one as two, stays outside of the intervals.",
        seed=f"{seeds[0]}..{seeds[-1]}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
