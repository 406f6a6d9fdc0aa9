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

FIRST, N = 30, 10  # seeds; those before were looked at while the message was made and starts were counted
STARTS = 5  # of a batch


def run(script: Script) -> None:
    """Read, judge."""
    warnings.simplefilter("ignore")
    seeds = range(FIRST, FIRST + (2 if script.quick else N))
    found = [read(seed, script.quick, n_init=STARTS) for seed in seeds]
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
        claim="90% intervals of authors' weights in topics hold 85 to 95% of them, after a batch of five starts, a "
        "design that began with one, one pass.",
        target="between 0.85 and 0.95 in each, on average over corpora",
        value={kind: f"{means[kind]:.3f} +- {half_width(columns[kind]):.3f}" for kind in kinds},
        reason=""
        if not missed
        else f"Outside: {', '.join(missed)}. The message hears that the topics of words are not known, and of five "
        "starts one finds the true topics; what is left are the weights of topics that an author lacks (below 0.003 of "
        "his words 0.64 of them are held), at whose mode Laplace's message is too narrow. A factor from documents left "
        "out does not see these: 1.00 to 1.13, its logarithm known to 0.2, by five tenths that were taken out and "
        "forecast after 20 passes without them, and 1.00 by cavities. One pass keeps what its first documents made of "
        "topics, and says so when asked for an interval.",
        seed=f"{seeds[0]}..{seeds[-1]}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
