"""Hyper-parameters of Gaussian processes integrated over nodes: designed against random inputs of a box.

The boxes of `gp_designed.py`: functions simulated on [0, 1], 30 inputs of a regression or 40 labels, three of them
uniform and first; height and length not told. Each run by the parameters of the highest evidence and by nodes; asked at
random, by information gain, and by predictive information gain about the box. The error of a regression is the negative
log predictive density of the function's values on a fine grid (and the rms error of the mean), of labels the excess
cross-entropy (bits).

Judged: integrated, designed inputs are better than random ones (the whole 95% interval over seeds; one that reaches
across 0 cannot tell); the worst run of classification stays below .4 bits.

Full mode: twenty seeds, some eight minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from threadpoolctl import threadpool_limits

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor
from adaptive.loop.comparison import interval
from designs.pool import box
from experiments.equivalence import all_of, inside
from experiments.gaussian_processes.gp_designed import FIRST, NOISE, TEST, error, truth
from experiments.script import Script, command

GROUP = "hyper_boxes"
KINDS = {"regression": 30, "classification": 40}
BELIEFS = ("integrated", "mode")
INPUTS = ("information_gain", "predictive_information_gain", "random")
POINTS, EVERY = 32, 3
WORST = 0.4  # bits


def one_run(kind: str, belief: str, inputs: str, seed: int, n_inputs: int) -> dict[str, np.ndarray]:
    """Return the errors after every third input, from the third on."""
    f = truth(kind, seed)
    rng, answers = np.random.default_rng([seed, 3]), np.random.default_rng([seed, 4])
    kernel = ConstantKernel(1.0, (0.1, 100.0)) * RBF(0.2, (0.02, 2.0))
    model: Any = GaussianProcessRegressor(kernel, alpha=NOISE**2, hyperparameters=belief)
    if kind == "classification":
        kernel = ConstantKernel(4.0, (0.1, 100.0)) * RBF(0.2, (0.02, 2.0))
        model = GaussianProcessClassifier(kernel, classes=[0, 1], hyperparameters=belief, calibration=None)

    def measured(x: np.ndarray) -> np.ndarray:
        if kind == "regression":
            return f(x) + NOISE * answers.standard_normal(len(x))
        return (answers.uniform(size=len(x)) < 1 / (1 + np.exp(-f(x)))).astype(int)

    about = np.linspace(0, 1, 32)[:, None] if inputs.startswith("predictive") else None
    pool = None if inputs == "random" else box([0.0], [1.0], points=POINTS, scorer=inputs, target=about, refine=2)
    found: dict[str, list[float]] = {"n": [], "error": [], "density": []}
    asked = rng.uniform(size=FIRST)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(asked[:, None], measured(asked))
        for n in range(FIRST, n_inputs + 1):
            if n % EVERY == 0:
                found["n"].append(n)
                found["error"].append(error(kind, model, f))
                density = -model.log_predictive(TEST[:, None], f(TEST)).mean() if kind == "regression" else np.nan
                found["density"].append(float(density))
            if pool is None:
                x = rng.uniform()
            else:
                candidates = pool(model)
                x = float(candidates[model.select(candidates, scorer=inputs, target=about, random_state=seed)[0], 0])
            model.partial_fit([[x]], measured(np.array([x])))
    return {key: np.array(values) for key, values in found.items()}


def run(script: Script) -> None:
    """Run everything; write table and verdicts."""
    n_seeds, rows = (2 if script.quick else 20), []
    areas: dict[tuple[str, str, str], np.ndarray] = {}
    for kind, n_inputs in KINDS.items():
        for belief in BELIEFS:
            for inputs in INPUTS:
                n = 4 if script.quick else n_inputs
                runs = [script.kept(GROUP, one_run, kind, belief, inputs, seed, n) for seed in range(n_seeds)]
                metric = "density" if kind == "regression" else "error"
                areas[kind, belief, inputs] = np.array([float(np.mean(one[metric])) for one in runs])
                errors = np.array([float(np.mean(one["error"])) for one in runs])
                rows.append((kind, belief, inputs, errors.mean(), areas[kind, belief, inputs]))
        print(f"{kind}: done", flush=True)
    columns: dict[str, list[Any]] = {
        key: [] for key in ("box", "hyper-parameters", "inputs", "seeds", "error", "judged", "minus random", "lower",
                            "upper", "worst run")
    }  # fmt: skip
    for kind, belief, inputs, mean_error, area in rows:
        difference = interval(area - areas[kind, belief, "random"])
        values = (kind, belief, inputs, n_seeds, mean_error, area.mean(), *difference, area.max())
        for key, value in zip(columns, values, strict=True):
            columns[key].append(value if isinstance(value, (str, int)) else round(float(value), 4))
    script.table(
        columns,
        "hyper-boxes",
        "Simulated functions on [0, 1], means over runs of 3 to 30 inputs (40 labels): error is the rms error of a "
        "regression's mean, and the excess cross-entropy of labels (bits); judged is the negative log density of the "
        f"function's values (nats), and again the bits. Paired differences to random inputs of the same belief, 95% "
        f"intervals over {n_seeds} seeds; the noise of regression was told.",
    )
    for kind in KINDS:
        found = {
            f"{belief}, {inputs}": [round(float(one), 3) for one in interval(_less_random(areas, kind, belief, inputs))]
            for belief in BELIEFS
            for inputs in INPUTS[:2]
        }
        better = {inputs: inside(*found[f"integrated, {inputs}"][1:], most=0.0) for inputs in INPUTS[:2]}
        untold = " and ".join(inputs for inputs, part in better.items() if not part)
        unit = "log density (nats)" if kind == "regression" else "bits"
        script.judge(
            f"ours-hyper-boxes-{kind}",
            all_of(better.values()),
            claim=f"Boxes of {kind}, hyper-parameters integrated: designed inputs beat random ones, in {unit} (paired "
            f"differences over {n_seeds} seeds with 95% limits).",
            target="the interval below 0 for both scorers",
            value=found,
            reason=f"The interval is not below 0: integrated, {untold}." if untold else "",
        )
    worst = {
        f"{belief}, {inputs}": round(float(areas["classification", belief, inputs].max()), 3)
        for belief in BELIEFS
        for inputs in INPUTS
    }
    script.judge(
        "ours-hyper-boxes-worst",
        all(worst[f"integrated, {inputs}"] < WORST for inputs in INPUTS[:2]),
        claim=f"The worst of {n_seeds} designed runs of a classification box stays below {WORST} bits.",
        target=f"below {WORST}",
        value=worst,
    )


def _less_random(areas: dict[tuple[str, str, str], np.ndarray], kind: str, belief: str, inputs: str) -> np.ndarray:
    return areas[kind, belief, inputs] - areas[kind, belief, "random"]


if __name__ == "__main__":
    command(run, __doc__, __file__)
