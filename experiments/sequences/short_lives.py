"""Short histories: nats of the next event by what is known, and whether stated probabilities are kept.

One net, an ensemble of five, and draws of users' own matrices (Laplace), on the same synthetic users, each in 32
further contexts; what comes next is averaged over its true probabilities, so that no luck is in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.equivalence import inside
from experiments.script import Script, command, panels
from experiments.sequences.order_two import FLOOR, N_ITEMS
from experiments.sequences.synthetic_runs import LENGTHS, MODELS, short_histories

COLOURS = {"one net": "#999999", "ensemble": "#D55E00", "laplace": "#0072B2"}
BAND = 0.05  # of a group's probability, that stated and true may be apart on average


def gaps(bins: np.ndarray) -> np.ndarray:
    """Means, by length of history, of how far a bin's true probability is off: expected calibration errors."""
    return np.abs(bins[:, 0] - bins[:, 1]).sum(axis=1) / bins[:, 2].sum(axis=1)


def run(script: Script) -> None:
    """Figure and verdicts."""
    sizes = (4, 1, 3, 2) if script.quick else (20, 6, 32, 60)
    seeds = range(200, 202 if script.quick else 210)
    n_seeds = len(seeds)
    found: dict[str, list[dict[str, Any]]] = {
        name: [script.kept("synthetic", short_histories, seed, name, *sizes) for seed in seeds] for name in MODELS
    }
    nats = {name: np.stack([one["nats"] for one in parts]) for name, parts in found.items()}
    stated = {name: np.stack([one["stated"] for one in parts]) for name, parts in found.items()}
    _draw(script, nats, found)
    t = 2.262 if n_seeds == 10 else 12.7
    told = {name: dict(zip(map(str, LENGTHS), nats[name].mean(axis=0).round(2).tolist(), strict=True)) for name in nats}
    size = (
        f"Simulated: {sizes[1]} users each with {', '.join(map(str, LENGTHS))} events beside {sizes[0]} with 200, "
        f"{sizes[2]} further contexts of each, {n_seeds} populations, tanh, 12 components; only groups of items can "
        "be known. "
    )
    for name in ("ensemble", "laplace"):
        every = np.stack([gaps(np.asarray(one["bins"])) for one in found[name]])
        errors = every.mean(axis=1)
        half = t * errors.std(ddof=1) / np.sqrt(n_seeds)
        interval = [round(float(errors.mean() - half), 3), round(float(errors.mean() + half), 3)]
        surer = (nats[name] - stated[name]).mean(axis=0)
        script.judge(
            f"ours-sequences-calibration-{name}", inside(interval[0], interval[1], most=BAND),
            claim=f"At short histories, what the {name.replace('laplace', 'Laplace approximation')} states is what "
            "happens.",
            target=f"95% interval of the expected calibration error of six groups, mean over lengths, at most {BAND}",
            value={"calibration error": interval,
                   "by events": dict(zip(map(str, LENGTHS), every.mean(axis=0).round(3).tolist(), strict=True)),
                   "nats less stated entropy, by events": dict(zip(map(str, LENGTHS), surer.round(2).tolist(),
                                                                   strict=True))},
            reason=size + "A positive difference means that the model is surer than it should be. Both take the "
            "shared matrices as found; the ensemble's members agree in what early stopping made of too few events.",
        )  # fmt: skip
    ahead = (nats["ensemble"] - nats["laplace"]).mean(axis=1)
    half = t * ahead.std(ddof=1) / np.sqrt(n_seeds)
    interval = [round(float(ahead.mean() - half), 3), round(float(ahead.mean() + half), 3)]
    script.judge(
        "ours-sequences-short-histories", inside(*interval, least=0.0),
        claim="At short histories draws of a user's own matrix predict better than an ensemble of five nets.",
        target="paired 95% interval of ensemble less Laplace, nats of the next event, above 0",
        value={"ensemble less laplace": interval, "nats by events": told, "floor": round(FLOOR, 2),
               "uniform": round(float(np.log(N_ITEMS)), 2)},
        reason=size + "With 5 and 10 events the draws are ahead, with 40 and 80 the ensemble. The Gaussian prior of "
        "the users' matrices knows which entries go together, but not that patterns are permutations. Shared "
        "matrices trained beside many short histories stop early, which five starts even out.",
    )  # fmt: skip


def _draw(script: Script, nats: dict[str, np.ndarray], found: dict[str, list[dict[str, Any]]]) -> None:
    figure, axes = panels(1, 2, 9.0, 3.6)
    for name, values in nats.items():
        axes[0, 0].plot(LENGTHS, values.mean(axis=0), "o-", color=COLOURS[name], label=name)
        bins = np.sum([np.asarray(one["bins"]).sum(axis=0) for one in found[name]], axis=0)
        some = bins[2] > 10
        axes[0, 1].plot(bins[0][some] / bins[2][some], bins[1][some] / bins[2][some], "o-", color=COLOURS[name])
    axes[0, 0].axhline(FLOOR, color="#333333", linewidth=0.8, linestyle="--")
    axes[0, 0].axhline(np.log(N_ITEMS), color="#333333", linewidth=0.8, linestyle=":")
    axes[0, 0].set(xscale="log", xlabel="events of the user so far", ylabel="nats of the next event")
    axes[0, 0].set_xticks(LENGTHS, [str(n) for n in LENGTHS])
    axes[0, 0].minorticks_off()
    axes[0, 0].legend(fontsize=8)
    axes[0, 1].plot([0, 1], [0, 1], color="#333333", linewidth=0.8)
    axes[0, 1].set(xlabel="stated probability of a group", ylabel="true probability")
    script.figure(figure, "nats-by-length", "Short histories. Left: expected nats of the next event by how many events "
                  "of the user are known (dashed: everything known; dotted: nothing). Right: true against stated "
                  "probabilities of the six groups, in ten bins. Simulated users.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
