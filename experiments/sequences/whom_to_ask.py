"""Whom to ask what they do next: by information of three kinds, at random, or who was silent longest.

New users of a net that was trained on others, with histories of very different lengths; each answer is one event, after
which the user's own matrix is settled again. The error is that of further sequences of all new users. 20 repetitions
each of two populations, paired. Information is about which member of an ensemble is right; about a user's own matrix
(Laplace); or about what a user does next (Laplace, the user as the target), which counts nothing that no prediction
depends on.
"""

from __future__ import annotations

import numpy as np

from experiments.equivalence import inside
from experiments.script import Script, command, panels
from experiments.sequences.synthetic_runs import DESIGNS, asked
from experiments.statistics import half_width

SEEDS = (101, 102)
COLOURS = {"random": "#999999", "longest silent": "#D55E00", "members": "#56B4E9", "own memory": "#0072B2",
           "next items": "#009E73"}  # fmt: skip


def interval(gain: np.ndarray) -> list[float]:
    """Of a mean over repetitions, 95%."""
    half = half_width(gain, 2.023 if len(gain) == 40 else 12.7)
    return [round(float(gain.mean() - half), 4), round(float(gain.mean() + half), 4)]


def run(script: Script) -> None:
    """Two verdicts and a figure."""
    sizes = (3, 3, 1, 2, 2, 2) if script.quick else (40, 8, 4, 5, 60, 20)
    found = [script.kept("synthetic", asked, seed, *sizes) for seed in SEEDS[: 1 if script.quick else 2]]
    errors, begun, counts = (np.concatenate([one[name] for one in found]) for name in ("errors", "begun", "asked"))
    n_seeds = len(errors)
    n_asked = sizes[2] * sizes[3]
    after = {design: errors[:, 1 + k] for k, design in enumerate(DESIGNS)}
    few = begun < np.median(begun, axis=1, keepdims=True)
    share = {design: round(float((counts[:, k] * few).sum() / (n_asked * n_seeds)), 2)
             for k, design in enumerate(DESIGNS)}  # fmt: skip
    for rival in DESIGNS[:2]:
        gains = {design: interval(after[rival] - after[design]) for design in DESIGNS[2:]}
        script.judge(
            f"ours-sequences-asked-{rival.replace(' ', '-')}", inside(*gains["next items"], least=0.0),
            claim="Asking users whose next event tells most of what they do next lowers the error of all users more "
            f"than asking {'at random' if rival == 'random' else 'those who were silent longest'}.",
            target=f"paired 95% interval of the gain in nats after {n_asked} answers above 0",
            value={"gain, by score": gains, "begun with": round(float(errors[:, 0].mean()), 3),
                   "after": {design: round(float(one.mean()), 3) for design, one in after.items()},
                   "share of questions for the half with fewer events": share},
            reason=f"{n_seeds} repetitions, half of them each of two populations. Simulated: {sizes[1]} new users "
            f"with 2 to 120 events beside {sizes[0]} with 200 that the net was trained on; {sizes[2]} rounds of "
            f"{sizes[3]} users. Information by the Laplace approximation asks users of whom little is known. "
            "Information by the ensemble hardly tells users apart, since its members differ by their starts and not "
            "by what users did. Where all began with 2 to 12 events, and the users' matrices had a prior without "
            "directions, no design was ahead.",
        )  # fmt: skip
    _draw(script, errors, begun, counts)


def _draw(script: Script, errors: np.ndarray, begun: np.ndarray, counts: np.ndarray) -> None:
    figure, axes = panels(1, 2, 9.0, 3.4)
    fell = errors[:, :1] - errors[:, 1:]
    for k, design in enumerate(DESIGNS):
        low, high = interval(fell[:, k])
        axes[0, 0].plot([low, high], [k, k], color=COLOURS[design], linewidth=2)
        axes[0, 0].plot(fell[:, k].mean(), k, "o", color=COLOURS[design])
    axes[0, 0].axvline(0.0, color="#333333", linewidth=0.8, linestyle=":")
    axes[0, 0].set_yticks(range(len(DESIGNS)), DESIGNS)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set(xlabel="nats per event by which the error of all users fell")
    known = np.digitize(begun, (8, 30))
    for k, design in enumerate(DESIGNS):
        rates = [counts[:, k][known == part].mean() if (known == part).any() else np.nan for part in range(3)]
        axes[0, 1].plot(range(3), rates, "o-", color=COLOURS[design], label=design)
    axes[0, 1].set_xticks(range(3), ["2-7", "8-29", "30-120"])
    axes[0, 1].set(xlabel="events of the user before", ylabel="answers of a user", ylim=(0, None))
    axes[0, 1].legend(fontsize=8)
    n_asked = int(counts[0, 0].sum())
    script.figure(figure, "whom-to-ask", f"What users do next, asked one event at a time, {n_asked} in all. Left: how "
                  "far the error of further events of all of them fell, by who is asked (means and 95% intervals of "
                  f"{len(errors)} repetitions). Right: how often users were asked, by how much was known of them. "
                  "Simulated users.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
