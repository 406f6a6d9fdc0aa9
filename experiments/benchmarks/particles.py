"""Costs of particles: a decision about 200 settings beside optbayesexpt, answers early and late in a run, memory.

The peer runs in an environment of its own. It is on no package index: ADAPTIVE_OPTBAYESEXPT names the folder that holds
a copy of it. One thread, CPU seconds, medians.

    python experiments/benchmarks/particles.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import ParticleEstimator, scorers
from experiments.benchmarks.cpu_seconds import median_seconds
from experiments.benchmarks.peak_memory import peak_memory
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

PEER = Path(__file__).parent / "peers" / "particle_decision.py"
PRIOR = {
    "centre": stats.uniform(2.0, 2.0),
    "width": stats.uniform(0.05, 0.2),
    "height": stats.uniform(0.5, 1.0),
    "background": stats.norm(0.0, 0.2),
}
NOISE, REPEATS = 0.1, 21
SETTINGS = np.linspace(2.0, 4.0, 200)[:, None]
TRUTH = np.array([[2.9, 0.1, 1.0, 0.0]])


def resonance(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """A line of unknown place, width, height and background."""
    centre, width, height, background = parameters.T[:, :, None]
    return background + height / (1.0 + ((X[:, 0] - centre) / width) ** 2)


def answers(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Measurements."""
    return resonance(TRUTH, X)[0] + NOISE * np.random.default_rng(seed).standard_normal(len(X))


def estimator(n_particles: int) -> ParticleEstimator:
    """Before any answer."""
    return ParticleEstimator(model=resonance, prior=PRIOR, noise=NOISE, n_particles=n_particles, random_state=0)


DECISION = (  # claim, target
    "A decision by information over 200 settings with 5,000 particles costs at most half of optbayesexpt's time for "
    "its full utility, the information by as many draws. Its default, the variance of 30 draws, is more than a "
    "hundred times faster than ours, at 0.97 of the information.",
    "at most half of the CPU seconds of its full_kld_utility; its default, variance_30, is given beside it, and ours "
    "is not faster than that",
)


def decision(script: Script) -> None:
    """After five answers, 200 settings, 5,000 particles."""
    k, repeats = (300, 2) if script.quick else (5000, REPEATS)
    model = estimator(k)
    for x in SETTINGS[20::40]:
        model.partial_fit(x[None], answers(x[None]))
    chosen = int(model.select(SETTINGS)[0])
    ours = median_seconds(lambda: model.select(SETTINGS), repeats)
    gains = scorers.information_gain(model.predictive(SETTINGS))
    home = os.environ.get("ADAPTIVE_OPTBAYESEXPT")
    if script.quick or home is None:
        print(f"{1e3 * ours:.1f} ms; the peer was not asked")
        return
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        cloud = model.parameters_
        np.savez(source, particles=cloud.values, weights=cloud.weights, settings=SETTINGS[:, 0], noise=NOISE,
                 repeats=repeats)  # fmt: skip
        environment = os.environ | {"PYTHONPATH": home}
        subprocess.run(
            [str(python_of("optbayesexpt")), str(PEER), str(source), str(target)], check=True, env=environment
        )
        with np.load(target) as stored:
            theirs = {name: stored[name] for name in stored.files}
    ways = [name.removesuffix("_seconds") for name in theirs if name.endswith("_seconds")]
    times = {name: float(np.median(theirs[f"{name}_seconds"])) for name in ways}
    worth = {name: float(gains[theirs[f"{name}_chosen"]].mean() / gains[chosen]) for name in times}
    versions = versions_of("optbayesexpt", "numpy", "scipy")
    script.judge(
        "ours-any-model-bench-decision", ours <= 0.5 * times["full_kld_all"], kind="must hold", claim=DECISION[0],
        target=DECISION[1],
        value={
            "ours, ms": round(1e3 * ours, 2),
            **{f"{name}, ms": round(1e3 * one, 2) for name, one in times.items()},
            "information of the setting it chooses over ours": {name: round(one, 4) for name, one in worth.items()},
        },
        reason="optbayesexpt is on no package index, so its code comes from the text of its repository (commits "
        f"052f9e7, 24b13b9: the methods that a decision enters); numpy {versions['numpy']}, scipy "
        f"{versions['scipy']}. One thread, median of {repeats}.",
    )  # fmt: skip


def early_and_late(script: Script) -> None:
    """An answer without a move, and a decision, after 10 answers and after 200."""
    k, many = (200, 30) if script.quick else (2000, 200)
    model, rng = estimator(k), np.random.default_rng(1)
    found: dict[int, list[float]] = {}
    for n in range(many + 10):
        x = SETTINGS[rng.integers(0, 200, 1)]
        moves, begun = model.n_iter_ if n else 0, time.process_time()
        model.partial_fit(x, answers(x, n))
        learnt = time.process_time() - begun
        if model.n_iter_ == moves:
            begun = time.process_time()
            model.select(SETTINGS)
            found[n] = [learnt, time.process_time() - begun]
    steps = np.array(sorted(found))
    early, late = ([found[n] for n in part] for part in (steps[:25], steps[-25:]))
    medians = np.median(early, axis=0), np.median(late, axis=0)
    ratios = medians[1] / medians[0]
    script.judge(
        "ours-any-model-bench-flat", bool(np.all(ratios <= 1.25)), kind="must hold",
        claim="Between moves, an answer and a decision cost as much after 200 answers as after the first.",
        target="medians of 25 late over 25 early ones at most 1.25",
        value={
            "an answer, late over early": round(float(ratios[0]), 3), "a decision": round(float(ratios[1]), 3),
            "ms": [round(1e3 * float(one), 3) for one in medians[1]], "moves": int(model.n_iter_),
            "answers": many + 10,
        },
        reason=f"{k} particles, 200 settings, one thread, CPU seconds.",
    )  # fmt: skip


def memory(script: Script) -> None:
    """The fields of very many settings."""
    k, m = (100, 2000) if script.quick else (2000, 50_000)
    model = estimator(k)
    settings = np.linspace(2.0, 4.0, m)[:, None]
    scorers.information_gain(model.predictive(settings[:10]))
    largest = peak_memory(lambda: scorers.information_gain(model.predictive(settings)))
    script.judge(
        "ours-any-model-bench-memory", largest <= 3e8, kind="must hold",
        claim="The information of 50,000 settings with 2,000 particles needs no more memory than a few blocks.",
        target="at most 300 MB, where one table of all has 800",
        value={"MB": round(largest / 1e6), "a table of all, MB": round(8 * k * m / 1e6)},
        reason="Peak of what Python allocates, including the model's own tables.",
    )  # fmt: skip


def run(script: Script) -> None:
    decision(script)
    early_and_late(script)
    memory(script)


if __name__ == "__main__":
    command(run, __doc__, __file__)
