"""Settings until a parameter is known: a resonance, a Ramsey fringe, a dose-response, by five ways of choosing.

    resonance    a Lorentzian of unknown centre, width, height and background; Gaussian noise; the centre wanted
    fringe       excited of 100 shots after a free evolution, decaying; detuning wanted (phase, contrast, decay unknown)
    dose         responders of 10 at a log dose, a Hill curve; the median dose wanted (slope, top, bottom unknown)

by information about the parameter wanted; by optbayesexpt's default, the variance of 30 drawn means (written from its
public source text, on our posterior, for it is on no index); by Optuna's default sampler, which maximises the outcome
as optimisers do (Ax's needs torch, and was not installed); equispaced (van der Corput's order, even at every number);
and at random. All measure the same simulated instruments: the same setting at the same visit answers the same. What is
learnt is the same posterior throughout.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, scorers
from adaptive.images import paired_interval
from adaptive.plots import PALETTE
from experiments.any_model.instrument_settings import variance
from experiments.benchmarks.cpu_seconds import median_seconds
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.equivalence import all_of, inside
from experiments.report.cells import spelled
from experiments.script import Script, command, panels

PEER = Path(__file__).parents[1] / "benchmarks" / "peers" / "optuna_settings.py"
MOST, TRUTHS, SHOTS, PEOPLE = 150, 24, 100.0, 10.0
WAYS = ("information", "variance of 30", "Optuna", "equispaced", "random")


def resonance(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """A line of unknown place, width, height and background."""
    centre, width, height, background = parameters.T[:, :, None]
    return background + height / (1.0 + ((X[:, 0] - centre) / width) ** 2)


def fringe(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The chance of the excited state after a free evolution of X microseconds."""
    detuning, decay, phase, contrast = parameters.T[:, :, None]
    return 0.5 + 0.5 * contrast * np.exp(-X[:, 0] / decay) * np.cos(2.0 * np.pi * detuning * X[:, 0] + phase)


def hill(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The chance of a response at log dose X."""
    median, slope, top, bottom = parameters.T[:, :, None]
    return bottom + (top - bottom) / (1.0 + np.exp(-slope * (X[:, 0] - median)))


def _with(sizes: float, settings: np.ndarray) -> np.ndarray:
    return np.column_stack([settings, np.full(len(settings), sizes)])


INSTRUMENTS: dict[str, dict[str, Any]] = {
    "resonance": {
        "model": resonance, "X": np.linspace(2.0, 4.0, 101)[:, None], "target": "centre", "limit": 0.01,
        "noise": {"noise": 0.15},
        "prior": {"centre": stats.uniform(2.2, 1.6), "width": stats.uniform(0.05, 0.15),
                  "height": stats.uniform(0.5, 1.0), "background": stats.norm(0.0, 0.3)},
    },
    "fringe": {
        "model": fringe, "X": _with(SHOTS, np.linspace(0.02, 4.0, 100)), "target": "detuning", "limit": 0.008,
        "noise": {"noise": "binomial", "trials": 1},
        "prior": {"detuning": stats.uniform(0.3, 1.7), "decay": stats.uniform(1.0, 3.0),
                  "phase": stats.uniform(-0.5, 1.0), "contrast": stats.uniform(0.6, 0.35)},
    },
    "dose": {
        "model": hill, "X": _with(PEOPLE, np.linspace(-3.0, 3.0, 61)), "target": "median", "limit": 0.15,
        "noise": {"noise": "binomial", "trials": 1},
        "prior": {"median": stats.norm(0.0, 1.0), "slope": stats.lognorm(0.5, scale=3.0),
                  "top": stats.uniform(0.8, 0.19), "bottom": stats.uniform(0.01, 0.19)},
    },
}  # fmt: skip


def estimator(name: str, n_particles: int, seed: int) -> ParticleEstimator:
    """Before any answer."""
    about = INSTRUMENTS[name]
    return ParticleEstimator(
        model=about["model"], prior=about["prior"], n_particles=n_particles, random_state=seed, **about["noise"]
    )


def truth_and_outcomes(name: str, k: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth number k (1, d), and what every setting answers at every visit (m, most)."""
    about, rng = INSTRUMENTS[name], np.random.default_rng([42, k])
    truth = np.array([[one.rvs(random_state=rng) for one in about["prior"].values()]])
    model = estimator(name, 2, 0)
    table = model.simulated_outcomes(np.repeat(truth, most, axis=0), about["X"], random_state=rng)
    return truth, np.asarray(table).T


def in_order(m: int, n: int) -> np.ndarray:
    """n positions of m settings in van der Corput's order, again and again."""
    reversed_bits = np.array([int(f"{k:016b}"[::-1], 2) / 2**16 for k in range(n)])
    return np.floor(reversed_bits * m).astype(int)


@cache
def asked_by_optuna(name: str, n: int, most: int) -> tuple[np.ndarray, float]:
    """Positions (n, most) that Optuna asks, and its CPU seconds for one."""
    outcomes = np.array([truth_and_outcomes(name, k, most)[1] for k in range(n)])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, outcomes=outcomes, n=most)
        subprocess.run([str(python_of("laboratories")), str(PEER), str(source), str(target)], check=True)
        with np.load(target) as found:
            return found["chosen"], float(np.median(found["seconds"]))


def measured(name: str, way: str, k: int, n: int, n_particles: int, most: int) -> dict[str, Any]:
    """Measurements until the deviation is reached (``most`` if it is not), the error then, the CPU of a decision."""
    about = INSTRUMENTS[name]
    X, column = about["X"], list(about["prior"]).index(about["target"])
    truth, table = truth_and_outcomes(name, k, most)
    given = positions_of(name, way, k, n, most)
    model, visits = estimator(name, n_particles, k), np.zeros(len(X), dtype=int)
    rng, taken, deviation, step = np.random.default_rng([43, k]), [], np.inf, 0
    while step < most and deviation > about["limit"]:
        begun = time.process_time()
        if way == "information":
            position = int(model.select(X, target=about["target"], random_state=step)[0])
        elif way == "variance of 30":
            position = int(model.select(X, scorer=variance, random_state=step)[0])
        elif way == "random":
            position = int(rng.integers(len(X)))
        else:
            assert given is not None
            position = given[step]
        taken.append(time.process_time() - begun)
        model.partial_fit(X[position : position + 1], table[position, visits[position] : visits[position] + 1])
        visits[position] += 1
        deviation, step = float(model.parameters_.std[column]), step + 1
    error = abs(float(model.parameters_.mean[column] - truth[0, column]))
    return {"n": np.array(step), "error": np.array(error), "seconds": np.array(np.median(taken))}


def positions_of(name: str, way: str, k: int, n: int, most: int) -> list[int] | None:
    """Positions that are known before anything is measured, or that the peer asked."""
    if way == "equispaced":
        return in_order(len(INSTRUMENTS[name]["X"]), most).tolist()
    return asked_by_optuna(name, n, most)[0][k].tolist() if way == "Optuna" else None


def numbers(script: Script) -> None:
    """How many measurements, by all ways."""
    n, n_particles, most = (2, 150, 3) if script.quick else (TRUTHS, 1000, MOST)
    ways = tuple(way for way in WAYS if not (script.quick and way == "Optuna"))
    table: dict[str, list[Any]] = {
        key: [] for key in ("instrument", "choice", "measurements", "median", "unreached", "of information", "error")
    }
    ratios: dict[str, dict[str, list[float]]] = {}
    figure, axes = panels(1, len(INSTRUMENTS), 10.0, 3.4)
    for ax, name in zip(axes[0], INSTRUMENTS, strict=True):
        found = {}
        for way in ways:
            found[way] = [script.kept("settings", measured, name, way, k, n, n_particles, most) for k in range(n)]
        counts = {way: np.array([float(one["n"]) for one in of]) for way, of in found.items()}
        ratios[name] = {}
        for colour, way in zip(PALETTE, ways, strict=False):
            log_ratio = paired_interval(np.log(counts[way]), np.log(counts["information"]), of="difference")
            ratios[name][way] = [round(float(np.exp(x)), 3) for x in (log_ratio.mean, log_ratio.low, log_ratio.high)]
            error = float(np.sqrt(np.mean([float(one["error"]) ** 2 for one in found[way]])))
            row = name, way, counts[way].mean(), np.median(counts[way]), int((counts[way] >= most).sum())
            for key, value in zip(table, (*row, ratios[name][way][0], error), strict=True):
                table[key].append(value)
            ax.plot(np.sort(counts[way]), (np.arange(n) + 1) / n, color=colour, label=way)
        ax.set(title=name, xlabel="measurements", ylabel="share of instruments known", xscale="log")
    axes[0, 0].legend(fontsize=8)
    caption = (
        f"Measurements until the parameter wanted has the deviation asked for, {n} simulated instruments each, truths "
        f"drawn from the prior that the model is told; at most {most}. Ratios are geometric means."
    )
    script.figure(figure, "ours-bridge-settings", caption)
    script.table(table, "ours-bridge-settings", caption)
    others = [of[way] for of in ratios.values() for way in ways if way not in ("information", "variance of 30")]
    value = {"measurements over those by information": ratios, "truths": n, "particles": n_particles}
    reached_none = f"Runs end at {most} measurements, which flatters the others. "
    script.judge(
        "ours-bridge-settings", all(low > 1.0 for _, low, _ in others),
        claim="Settings chosen by information about the parameter wanted need fewer measurements to the same deviation "
        "than equispaced ones, random ones and those of Optuna's default, for a resonance, a Ramsey fringe and a "
        "dose-response.",
        target="geometric mean of measurements over those by information: 95% interval above 1, everywhere",
        value=value,
        reason=reached_none + "Optuna stands for Ax, whose torch was too heavy to install. Both maximise the outcome, "
        "which is another question: the ratio says what people pay who use an optimiser to measure.", seed=42,
    )  # fmt: skip
    default = [of["variance of 30"] for of in ratios.values()]
    no_more = True if all(low > 0.95 for _, low, _ in default) else None
    script.judge(
        "ours-bridge-settings-default", False if any(high < 0.95 for _, _, high in default) else no_more,
        claim="They need no more measurements than optbayesexpt's default, which looks at all parameters.",
        target="geometric mean of measurements over those by information: 95% interval above 0.95, everywhere",
        value={name: of["variance of 30"] for name, of in ratios.items()},
        reason="Its default was written from its public source text, on our posterior, with our own noise at each "
        "setting.", seed=42,
    )  # fmt: skip


def theirs_of_30(model: ParticleEstimator, name: str, rng: np.random.Generator) -> int:
    """The peer's default decision, with nothing of ours in it but the draws: 30 means, their variances, the largest."""
    about, cloud = INSTRUMENTS[name], model.parameters_
    draws = cloud.values[rng.choice(len(cloud.weights), 30, p=cloud.weights)]
    return int(np.argmax(np.log1p(about["model"](draws, about["X"]).var(axis=0))))


def of_a_decision(name: str, n_particles: int, repeats: int) -> tuple[dict[str, float], float]:
    """Milliseconds of one decision after ten answers, and the information of the default's choice over ours."""
    about, model, rng = INSTRUMENTS[name], estimator(name, n_particles, 0), np.random.default_rng(0)
    X, target = about["X"], about["target"]
    _, table = truth_and_outcomes(name, 0, 3)
    for position in in_order(len(X), 10):
        model.partial_fit(X[position : position + 1], table[position, :1])
    gains = scorers.information_gain(model.predictive(X))
    chosen = [theirs_of_30(model, name, rng) for _ in range(40)]
    by_all = estimator(name, n_particles, 0).set_params(screening=0).restore(model.state())
    taken = {
        "information, all parameters": median_seconds(lambda: model.select(X), repeats),
        "information, target": median_seconds(lambda: model.select(X, target=target), repeats),
        "all settings by all particles": median_seconds(lambda: by_all.select(X), repeats),
        "all settings by all particles, target": median_seconds(lambda: by_all.select(X, target=target), repeats),
        "the model alone, all particles": median_seconds(lambda: about["model"](model.parameters_.values, X), repeats),
        "variance of 30, bare": median_seconds(lambda: theirs_of_30(model, name, rng), repeats),
    }
    return {key: round(1e3 * one, 3) for key, one in taken.items()}, round(float(gains[chosen].mean() / gains.max()), 3)


def seconds(script: Script) -> None:
    """CPU of one decision, after ten answers."""
    n_particles, repeats = (150, 2) if script.quick else (2000, 41)
    found = {name: of_a_decision(name, n_particles, repeats) for name in INSTRUMENTS}
    times, worth = ({name: one[k] for name, one in found.items()} for k in (0, 1))
    ratios = {
        name: round(of["information, all parameters"] / of["variance of 30, bare"], 1) for name, of in times.items()
    }
    floors = {
        name: round(of["the model alone, all particles"] / of["variance of 30, bare"], 1) for name, of in times.items()
    }
    script.judge(
        "ours-bridge-decision-time", all(ratio <= 5.0 for ratio in ratios.values()),
        claim="A decision by information costs at most 5 times one by optbayesexpt's default (variance of 30 draws).",
        target="ratio of CPU seconds at most 5, 2,000 particles, about 100 settings",
        value={"ratio": ratios, "ms": times, "information of the default's choice over ours": worth},
        reason="256 particles rank the settings, and all of them score the best eight (ours-bridge-screening). What "
        "is left costs more than the default's whole decision, which asks the model about 30 particles and is taken "
        "bare: draws, model, variance, argmax. Much of ours is checks of the table, entropies of mixtures (twice), "
        "and the bookkeeping of a choice. The model alone, of all particles, takes so many times the default: "
        f"{spelled(floors)}.",
    )  # fmt: skip


SHOWN = (1, 3, 6, 12, 25)  # answers after which a choice is looked at


def shares_of_best(name: str, k: int, n_particles: int, shown: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Information of what `select` chooses over the most there is, after ``shown`` equispaced answers."""
    about, model = INSTRUMENTS[name], estimator(name, n_particles, k)
    X, (_, table) = about["X"], truth_and_outcomes(name, k, 3)
    found: dict[str, list[float]] = {"all parameters": [], "target": []}
    for step, position in enumerate(in_order(len(X), max(shown)), start=1):
        model.partial_fit(X[position : position + 1], table[position, :1])
        if step in shown:
            for which, target in (("all parameters", None), ("target", about["target"])):
                gains = scorers.information_gain(model.predictive(X, target=target))
                found[which].append(float(gains[model.select(X, target=target)[0]] / gains.max()))
    return {which: np.array(values) for which, values in found.items()}


def screened(script: Script) -> None:
    """What is lost where few particles rank the settings."""
    n, n_particles, shown = (2, 600, (1, 3)) if script.quick else (12, 2000, SHOWN)
    shares: dict[str, dict[str, list[float]]] = {name: {} for name in INSTRUMENTS}
    worst: dict[str, dict[str, float]] = {name: {} for name in INSTRUMENTS}
    for name in INSTRUMENTS:
        runs = [script.kept("screening", shares_of_best, name, k, n_particles, shown) for k in range(n)]
        for which in ("all parameters", "target"):
            each = paired_interval(np.array([run[which].mean() for run in runs]), np.ones(n), of="difference")
            shares[name][which] = [round(1.0 + float(x), 4) for x in (each.mean, each.low, each.high)]
            worst[name][which] = round(float(min(run[which].min() for run in runs)), 3)
    bands = [inside(low, high, least=0.99) for of in shares.values() for _, low, high in of.values()]
    script.judge(
        "ours-bridge-screening", all_of(bands),
        claim="Settings ranked by 256 particles (512 about a target), of which the best eight are scored by all 2,000, "
        "keep the information of the choice.",
        target="information of the chosen setting over the most, mean: 95% interval above 0.99, everywhere",
        value={"share": shares, "worst of all": worst, "truths": n, "after answers": list(shown)},
        reason="Both figures are computed from all particles.", seed=42,
    )  # fmt: skip


def run(script: Script) -> None:
    screened(script)
    numbers(script)
    seconds(script)
    if not script.quick:
        print(versions_of("laboratories", "optuna"))


if __name__ == "__main__":
    command(run, __doc__, __file__)
