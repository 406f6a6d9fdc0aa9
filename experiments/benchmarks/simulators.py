"""Costs of a simulator without a likelihood: simulations and CPU time of an answer and a decision, memory, and a peer.

The floor is what the user's simulator takes for the same simulations by itself, here counts of a decay (NumPy draws
them in 60 ns each, so that nearly everything is ours) and the epidemic of the gallery (4 microseconds). The peer is
ELFI's Bayesian synthetic likelihood (a Metropolis chain, 50 simulations of all outcomes at each step). It chooses no
settings, so that its posterior is compared, at the budget of ours. One thread, CPU seconds, medians.

    python experiments/benchmarks/simulators.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import copy
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import SimulatorEstimator
from experiments.any_model.honest_loop import DECAY
from experiments.any_model.simulated_loop import decay
from experiments.benchmarks.peak_memory import peak_memory
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

PEER = Path(__file__).parent / "peers" / "synthetic_likelihood.py"
PEOPLE, PER_DAY, REPEATS, DATASETS = 200, 3, 11, 8


def infected(parameters: np.ndarray, x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Count of infected people on day x, as in the gallery."""
    infects, recovers = parameters.T
    ill, well = np.full(len(parameters), 5), np.full(len(parameters), PEOPLE - 5)
    for _ in range(int(x[0] * PER_DAY)):
        new = generator.binomial(well, 1.0 - np.exp(-infects * ill / PEOPLE / PER_DAY))
        ill, well = ill + new - generator.binomial(ill, 1.0 - np.exp(-recovers / PER_DAY)), well - new
    return ill.astype(float)


RATES = {"infects": stats.gamma(4.0, scale=0.2), "recovers": stats.gamma(4.0, scale=0.08)}
CASES: dict[str, tuple[Callable[..., Any], dict[str, Any], np.ndarray, list[float]]] = {
    "decay": (decay, DECAY, np.linspace(0.0, 1.0, 20)[:, None], [17.0, 9.0]),
    "epidemic": (infected, RATES, np.arange(1.0, 25.0, 3.0)[:, None], [9.0, 40.0]),
}


class Counted:
    """A simulator that notes how many outcomes it was asked for, and the CPU seconds that they took."""

    def __init__(self, simulate: Callable[..., Any]) -> None:
        self.simulate, self.outcomes, self.seconds = simulate, 0, 0.0

    def __call__(self, parameters: np.ndarray, x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        begun = time.process_time()
        found = self.simulate(parameters, x, generator)
        self.seconds += time.process_time() - begun
        self.outcomes += len(parameters)
        return found

    def of(self, work: Callable[..., object], *given: Any) -> tuple[int, float, float]:
        """Outcomes, CPU seconds of the simulator and of all, of one piece of work."""
        self.outcomes, self.seconds, begun = 0, 0.0, time.process_time()
        work(*given)
        return self.outcomes, self.seconds, time.process_time() - begun


def costs(script: Script) -> None:
    """A decision about all settings, and an answer between moves, with default sizes."""
    small = {"n_particles": 60, "n_simulations": 10, "n_nested": 32} if script.quick else {}
    repeats = 2 if script.quick else REPEATS
    value: dict[str, Any] = {}
    for name, (simulate, prior, settings, outcomes) in CASES.items():
        simulator = Counted(simulate)
        model = SimulatorEstimator(simulator, prior, resample=0.0, random_state=0, **small)
        model.fit(settings[[1, len(settings) // 2]], outcomes)
        rows: dict[str, list[tuple[int, float, float]]] = {"decision": [], "answer": []}
        for _ in range(repeats):
            rows["decision"].append(simulator.of(model.select, settings))
            rows["answer"].append(simulator.of(copy.copy(model).partial_fit, settings[[2]], outcomes[:1]))
        value[name] = {"settings": len(settings)}
        for what, each in rows.items():
            made, alone, whole = np.median(each, axis=0)
            value[name][what] = {
                "simulations": int(made), "ms": round(1e3 * whole, 2), "simulations alone, ms": round(1e3 * alone, 2),
                "over the simulations": round(whole / alone, 2),
            }  # fmt: skip
    most = 256 * 50
    script.judge(
        "ours-any-model-bench-simulations",
        all(
            (script.quick or value[name]["decision"]["simulations"] <= (len(CASES[name][2]) + 1) * most)
            and value["epidemic"][what]["over the simulations"] <= 1.5
            for name in CASES
            for what in ("decision", "answer")
        ),
        claim="A decision simulates at most the 256 nested particles, 50 times each, at each setting; beside a "
        "simulator that takes microseconds our own share is small.",
        target="at most n_nested x n_simulations outcomes a setting; at most 1.5 times the simulations alone by the "
        "epidemic of the gallery",
        value=value,
        reason=f"One thread, CPU time, median of {repeats}; 500 particles. Where NumPy draws counts in 60 ns each, "
        "most of the time is ours.",
    )  # fmt: skip


def memory(script: Script) -> None:
    """A decision about very many settings."""
    m = 60 if script.quick else 3000
    settings = np.linspace(0.0, 1.0, m)[:, None]
    small = {"n_particles": 60, "n_nested": 32} if script.quick else {}
    model = SimulatorEstimator(decay, DECAY, random_state=0, **small).fit([[0.0]], [17.0])
    model.select(settings[:5])
    largest = peak_memory(lambda: model.select(settings))
    script.judge(
        "ours-any-model-bench-simulator-memory", largest <= 1e8,
        claim=f"A decision about {m} settings by simulations needs no more memory than a few of them.",
        target="at most 100 MB, where all simulations have 300 MB and more",
        value={"MB": round(largest / 1e6, 1), "all simulations, MB": round(8 * 256 * 50 * m / 1e6)},
        reason="Peak of what Python allocates.",
    )  # fmt: skip


def exact(settings: np.ndarray, outcomes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariance of start and rate given counts at settings, on a grid."""
    start, rate = np.meshgrid(np.linspace(1e-3, 60, 600), np.linspace(1e-3, 10, 600), indexing="ij")
    log_density = stats.gamma(9.0, scale=2.0).logpdf(start) + stats.gamma(4.0, scale=0.5).logpdf(rate)
    for x, y in zip(settings, outcomes, strict=True):
        log_density += stats.poisson.logpmf(y, start * np.exp(-rate * x))
    weights = np.exp(log_density - log_density.max()).ravel()
    points = np.column_stack([start.ravel(), rate.ravel()])
    return np.average(points, axis=0, weights=weights), np.cov(points.T, aweights=weights)


def beside_peer(script: Script) -> None:
    """The posterior of eight counts, by as many simulated outcomes."""
    if script.quick:
        print("the peer was not asked")
        return
    settings, rng = np.linspace(0.0, 1.0, 8), np.random.default_rng(0)
    truths = np.column_stack([one.rvs(DATASETS, random_state=rng) for one in DECAY.values()])
    outcomes = rng.poisson(truths[:, :1] * np.exp(-truths[:, 1:] * settings)).astype(float)
    mean, covariance = (np.array(part) for part in zip(*[exact(settings, one) for one in outcomes], strict=True))
    deviation = np.sqrt(np.einsum("kii->ki", covariance))
    ours, means, stds = [], [], []
    for one in outcomes:
        simulator = Counted(decay)
        model = SimulatorEstimator(simulator, DECAY, random_state=0)
        ours.append(simulator.of(model.fit, settings[:, None], one))
        means.append(model.parameters_.mean)
        stds.append(model.parameters_.std)
    budget = int(np.median([row[0] for row in ours]))
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, outcomes=outcomes, settings=settings, start=mean, proposal=covariance * 2.38**2 / 2,
                 n_samples=budget // (50 * len(settings)), n_simulations=50, seed=1)  # fmt: skip
        subprocess.run([str(python_of("elfi")), str(PEER), str(source), str(target)], check=True)
        with np.load(target) as stored:
            theirs = {name: stored[name] for name in stored.files}

    def errors(found: Any, spread: Any) -> dict[str, float]:
        off = np.sqrt(np.mean(np.square((np.array(found) - mean) / deviation)))
        return {"error of means, deviations": round(float(off), 3),
                "deviation over the exact one": round(float(np.mean(np.array(spread) / deviation)), 3)}  # fmt: skip

    value = {
        "ours": {**errors(means, stds), "simulated outcomes": budget,
                 "CPU s": round(float(np.median([row[2] for row in ours])), 3)},
        "ELFI": {**errors(theirs["draws"].mean(axis=1), theirs["draws"].std(axis=1)),
                 "simulated outcomes": int(np.median(theirs["simulated"])),
                 "CPU s": round(float(np.median(theirs["seconds"])), 3)},
    }  # fmt: skip
    script.judge(
        "ours-any-model-bench-simulator-peer",
        value["ours"]["error of means, deviations"] <= value["ELFI"]["error of means, deviations"]
        and value["ours"]["CPU s"] <= value["ELFI"]["CPU s"],
        claim="By as many simulated outcomes the posterior of eight counts is at least as near to the exact one as by "
        "ELFI's synthetic likelihood, in less CPU time.",
        target="error of posterior means and CPU seconds at most those of elfi.BSL",
        value=value, seed=[0, 1],
        reason=f"elfi {versions_of('elfi', 'elfi')['elfi']}, {DATASETS} data sets; its chain starts at the exact mean "
        "and proposes by the exact covariance, which flatters it. It has no sequential choice of settings to compare.",
    )  # fmt: skip


def run(script: Script) -> None:
    costs(script)
    memory(script)
    beside_peer(script)


if __name__ == "__main__":
    command(run, __doc__, __file__)
