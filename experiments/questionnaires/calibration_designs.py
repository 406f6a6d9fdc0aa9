"""Whom to ask which item, where items are to be calibrated: information against random pairs. Trait coverage.

Simulated people and items of the two-parameter model; the model is told that the traits are standard normal.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from adaptive import Questionnaire
from adaptive.plots.style import style
from experiments.drawing import BAND, with_interval
from experiments.script import Script, command, panels

SEED = 0
SIZES = {"information, by 40": 40, "information, by 10": 10, "random": 40}  # pairs between two calibrations


def run(script: Script) -> None:
    """Error of the items after rounds of pairs; coverage of the ordinal model's traits."""
    repeats, rounds = (1, 2) if script.quick else (10, 12)
    found = script.kept("calibration_designs", designs, repeats, rounds)
    figure, axes = panels(1, 1, 5.0, 3.2)
    pairs = 120 + 40 * np.arange(rounds + 1)
    for k, name in enumerate(SIZES):
        with_interval(axes[0, 0], pairs, found[name].T, label=name, **style(name, k) | {"marker": ""})
    axes[0, 0].set_xlabel("answers")
    axes[0, 0].set_ylabel("RMSE of slopes and intercepts")
    axes[0, 0].legend(frameon=False)
    script.figure(
        figure, "questionnaire-calibration-designs",
        f"Two-parameter items (20) calibrated with 60 people: 120 random pairs, then those of highest information "
        f"about the items, 40 or 10 between two calibrations, or random ones. {BAND} over {repeats} simulations.",
    )  # fmt: skip
    coverage = script.kept("calibration_designs", coverage_of, 40 if script.quick else 400, 10 if script.quick else 50)
    if script.quick:
        return
    differences = {}
    for name in ("information, by 40", "information, by 10"):
        gain = found[name][:, -1] - found["random"][:, -1]
        differences[name] = (float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(repeats)))
    mean, error = differences["information, by 10"]
    holds = mean + 1.96 * error < 0
    script.judge(
        "ours-calibration-design", holds,
        claim="Pairs of highest information about the items, ten at a time, calibrate them better than random pairs.",
        target="RMSE after 600 answers below random's by more than 1.96 standard errors",
        value=f"{({name: f'{a:+.4f} (s.e. {b:.4f})' for name, (a, b) in differences.items()})}, random "
        f"{found['random'][:, -1].mean():.3f}; {repeats} simulations of 60 people and 20 items", seed=SEED,
        reason="" if holds else "Half of all 1,200 pairs are asked in the end. Information counts nats of slopes and "
        "intercepts, to which few extreme items contribute most of the squared error; people's traits are uncertain "
        "after few answers each, and the items' posteriors hold the other items fixed.",
    )  # fmt: skip
    inside, n = float(coverage["inside"].mean()), len(coverage["inside"])
    script.judge(
        "ours-ordinal-coverage", 0.8 <= inside <= 0.95,
        claim="90% intervals of traits under the ordinal model cover 80 to 95% on data of the model.",
        target="0.80 to 0.95", value=f"{inside:.3f} of {n} people x 50 items (simulated, noise known), "
        f"{int(coverage['sweeps'][0])} sweeps, correlation with the truth {float(coverage['correlation'][0]):.3f}",
        seed=SEED,
    )  # fmt: skip


def designs(repeats: int, rounds: int) -> dict[str, np.ndarray]:
    """(repeats, rounds + 1) error of the items by each design."""
    found = {name: np.zeros((repeats, rounds + 1)) for name in SIZES}
    for seed in range(repeats):
        for name, errors in found.items():
            rng = np.random.default_rng([SEED, seed])
            a, b, x = 1.2 * rng.lognormal(0, 0.3, 20), rng.standard_normal(20), rng.standard_normal(60)
            table = (rng.random((60, 20)) < expit(a * (x[:, None] - b))).astype(float)
            everything = [(int(p), int(i)) for p in range(60) for i in range(20)]
            order = rng.permutation(len(everything))
            asked = {everything[k] for k in order[:120]}
            model = learnt(Questionnaire("two_parameter"), sorted(asked), table)
            for k in range(rounds + 1):
                c = model.bank_.coordinates[np.argsort(model.items_)]  # difficulties have no bound where slopes are 0
                errors[seed, k] = np.sqrt(np.mean(np.r_[c[:, 0] - a, c[:, 1] + a * b] ** 2))
                for _ in range(40 // SIZES[name]):
                    left = [pair for pair in everything if pair not in asked]
                    chosen = rng.permutation(len(left))[: SIZES[name]]
                    if name != "random":
                        chosen = model.select(left, SIZES[name], target="items", joint=False)
                    new = [left[j] for j in chosen]
                    asked |= set(new)
                    model = learnt(model, new, table)
    return found


def learnt(model: Questionnaire, pairs: Any, table: np.ndarray) -> Questionnaire:
    """The model after the answers to these pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.partial_fit(pairs, [table[pair] for pair in pairs])


def coverage_of(n_people: int, n_items: int) -> dict[str, np.ndarray]:
    """Whether 90% intervals hold the traits, on data of the ordinal model."""
    rng = np.random.default_rng(SEED)
    people, items = (np.sort(rng.normal(size=(n, 4)), axis=1) for n in (n_people, n_items))
    x = rng.normal(size=n_people)
    opinion = x[:, None] + rng.normal(size=(n_people, n_items))
    table = 1.0 + sum(
        opinion > people[:, None, k] + items[None, :, k] + 0.2 * rng.normal(size=opinion.shape) for k in range(4)
    )
    model = Questionnaire(trait_noise=1.0).fit(table)
    z = (model.trait_mean_[:, 0] - x) / model.trait_std_[:, 0]
    return {
        "inside": np.abs(z) <= 1.6449,
        "sweeps": np.array([model.n_iter_]),
        "correlation": np.array([np.corrcoef(model.trait_mean_[:, 0], x)[0, 1]]),
    }


if __name__ == "__main__":
    command(run, __doc__, __file__)
