"""Whom to ask what they do next: by information about users' own matrices, at random, or who was silent longest.

New users of a net that was trained on others; each answer is one event, after which the user's own matrix is settled
again. The error is that of fixed further sequences of all new users. 20 repetitions, paired.
"""

from __future__ import annotations

import numpy as np

from experiments.script import Script, command, panels
from experiments.sequences.synthetic_runs import DESIGNS, asked

STYLE = {"random": ("#999999", "--"), "longest silent": ("#D55E00", "-."), "information": ("#0072B2", "-")}


def run(script: Script) -> None:
    """Curves and two verdicts."""
    n_seeds = 2 if script.quick else 20
    sizes = (3, 3, 1, 2, 2) if script.quick else (40, 8, 3, 5, 60)
    found = script.kept("synthetic", asked, *sizes, n_seeds)
    curves = np.asarray(found["curves"])
    n_asked = sizes[2] * sizes[3]
    last = curves[:, :, -1]
    begun = np.asarray(found["begun"])
    few = begun < np.median(begun, axis=1, keepdims=True)
    share = float((np.asarray(found["asked"])[:, 2] * few).sum() / (n_asked * n_seeds))
    for k, rival in enumerate(DESIGNS[:2]):
        gain = last[:, k] - last[:, 2]
        half = (2.093 if n_seeds == 20 else 12.7) * gain.std(ddof=1) / np.sqrt(n_seeds)
        interval = [round(float(gain.mean() - half), 4), round(float(gain.mean() + half), 4)]
        script.judge(
            f"ours-sequences-asked-{rival.replace(' ', '-')}", interval[0] > 0,
            claim=f"Asking those whose next event tells most of their own memory lowers the error of all users more "
            f"than asking {'at random' if k == 0 else 'who was silent longest'}.",
            target=f"paired 95% interval of the gain in nats after {n_asked} answers above 0",
            value={"gain": interval, "begun with": round(float(curves[:, 0, 0].mean()), 3),
                   "after": dict(zip(DESIGNS, last.mean(axis=0).round(3).tolist(), strict=True)),
                   "share of questions for the half with fewer events": round(share, 2)},
            reason=f"{n_seeds} repetitions. Simulated: {sizes[1]} new users with 2 to 12 events beside {sizes[0]} with "
            f"200 that the net was trained on; {sizes[2]} rounds of {sizes[3]} users, two events more of each on "
            "average. Whoever is asked, so few events move the error by .05 nats (the level, above the log of the "
            "items, 3.40, says that the prior of own matrices is surer than it should be), and the gain of a design is "
            "less than can be told; information asks less often those of whom least is known.",
        )  # fmt: skip
    figure, axes = panels(1, 1, 5.5, 3.6)
    for k, design in enumerate(DESIGNS):
        colour, dash = STYLE[design]
        axes[0, 0].plot(np.arange(curves.shape[2]) * sizes[3], curves[:, k].mean(axis=0), dash, color=colour,
                        label=design)  # fmt: skip
    axes[0, 0].set(xlabel="answers", ylabel="nats per event of all new users")
    axes[0, 0].legend(fontsize=8)
    script.figure(figure, "whom-to-ask", "What users do next, asked one event at a time: the error of further events "
                  f"of all of them, by who is asked. Means of {n_seeds} repetitions; simulated users.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
