"""Designed against random inputs for Gaussian processes: rows of a pool to label, and points of a one-dimensional box.

1. Pools. Four sets; each seed splits off 300 rows to ask from and 400 to test on (as far as there are as many), and
   draws ten first questions that all scorers share. `GaussianProcessClassifier` (logit, EP, squared exponential) asks
   60 of them by information gain, predictive information gain (about the pool), uncertainty, or at random. Height (1 to
   10 standard deviations) and length (a fourth to four times the median distance) are learnt by evidence at 10, 20 and
   40 answers. Both were set after two of the seeds ran without them: four to 32 chosen labels then made the evidence
   say that there is nothing to learn, and what was asked next did not contradict it.
2. Boxes, [0, 1]. Simulated functions: 200 random cosines with the covariance of a squared exponential kernel. What to
   ask next comes from a Sobol grid whose best points climb the score (`designs.pool.box`), by information gain or
   predictive information gain (about 64 equispaced points); random is uniform, and a scrambled Sobol sequence shows
   what filling the box alone is worth. Three uniform inputs come first and are shared.
   Regression: height 1, length 0.08, noise 0.1 (told), 30 inputs; height and length by evidence; error of the mean.
   Classification: height 4, length 0.12, labels by the logistic function, 80 inputs; cross-entropy of the predictive
   probabilities to the true ones, less the entropy of those (bits). Once with height and length by evidence, and once
   with both told: ten labels of a box often look like no function at all, whoever chose the inputs.

Judged: the area under the curve (mean over the run), paired difference to random inputs, 95% interval over 20 seeds.

Full mode: a quarter of an hour or so; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.special import expit
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from threadpoolctl import threadpool_limits

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor, SequentialDesign, datasets, plots
from adaptive.loop.comparison import Comparison
from designs.pool import box
from experiments.active.shared.labelling_runs import accuracy, log_loss
from experiments.gaussian_processes.shared.classification_sets import whole
from experiments.runs import kept
from experiments.script import Script, command, panels
from experiments.statistics import standardised

GROUP = "gp_designed"
POOLS = ("banana", "crabs", "ionosphere", "usps")
SCORERS = ("information_gain", "predictive_information_gain", "uncertainty", "random")
BOXES = ("regression", "classification", "classification, kernel told")
INPUTS = ("information_gain", "predictive_information_gain", "Sobol", "random")
INITIAL, FIRST = 10, 3
NOISE = 0.1
TRUTHS = {"regression": (1.0, 0.08), "classification": (4.0, 0.12)}  # height, length
COSINES = 200
TEST = np.linspace(0, 1, 201)
POOL_REASONS = {
    "information_gain": "The function is least known at atypical rows, and those are asked until the hyper-parameters "
    "fit them; predictive_information_gain learns more about the rows of the pool.",
    "predictive_information_gain": "On the other sets it is, and accuracy is higher.",
}
BOX_REASONS = {
    "regression": "",
    "classification": "Height and length are learnt from few labels, and where they are wrong a design follows them; "
    "see the claim with the kernel told. Superseded: ours-hyper-boxes-classification integrates them.",
    "classification, kernel told": "",
}
UNITS = {
    "log_loss": "log loss on test rows (nats)",
    "accuracy": "accuracy on test rows (%)",
    "regression": "rms error of the mean",
    "classification": "excess cross-entropy (bits)",
    "classification, kernel told": "excess cross-entropy (bits)",
}


# ------------------------------------------------------------------------------------------------- pools
def halves(name: str, seed: int, n: int, n_test: int) -> tuple[np.ndarray, ...]:
    """Return pool rows and labels, test rows and labels (0 and 1); columns standardised by the pool, pixels not."""
    X, y = datasets.raetsch(name) if name == "banana" else whole(name)
    n = min(n, len(X) // 2)
    order = np.random.default_rng([seed, 0]).permutation(len(X))
    pool, test = order[:n], order[n : n + n_test]
    if name != "usps":
        X = standardised(X, pool)
    labels = (y == y.max()).astype(int)
    return X[pool], labels[pool], X[test], labels[test]


def labelled(name: str, scorer: str, seed: int, n: int, n_test: int, n_queries: int) -> dict[str, np.ndarray]:
    """Return log loss and accuracy on the test rows after each answer from the tenth on."""
    X, y, new, y_new = halves(name, seed, n, n_test)
    apart = pdist(X)
    typical = float(np.median(apart[apart > 0]))
    kernel = ConstantKernel(4.0, (1.0, 100.0)) * RBF(typical, (0.25 * typical, 4.0 * typical))
    first = np.random.default_rng([seed, 1]).permutation(len(X))[:INITIAL]
    target = X if scorer == "predictive_information_gain" else None
    model = GaussianProcessClassifier(kernel, classes=[0, 1], calibration=None, hyperparameters="mode")
    loop = SequentialDesign(model, X, scorer=scorer, target=target, initial=first, exploration=0, random_state=seed)
    losses, rights = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a parameter at its bound
        query, asked = loop.ask(INITIAL), 0
        while True:
            loop.tell(query, y[query.positions])
            asked += len(query.positions)
            p = loop.estimator_.predict_proba(new)[:, 1]
            losses.append(log_loss(p, y_new))
            rights.append(accuracy(p, y_new))
            if asked >= n_queries:
                return {"log_loss": np.array(losses), "accuracy": np.array(rights)}
            query = loop.ask(1)


# ------------------------------------------------------------------------------------------------- boxes
def truth(kind: str, seed: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of inputs (m,), a sum of random cosines with the covariance of the kernel."""
    height, length = TRUTHS[kind.split(",")[0]]
    rng = np.random.default_rng([seed, 2])
    frequency, phase = rng.standard_normal(COSINES) / length, rng.uniform(0, 2 * np.pi, COSINES)
    weight = rng.standard_normal(COSINES) * height * np.sqrt(2 / COSINES)
    return lambda x: np.cos(np.multiply.outer(x, frequency) + phase) @ weight


def boxed(kind: str, inputs: str, seed: int, points: int, n_queries: int) -> dict[str, np.ndarray]:
    """Return the error on a fine grid after each answer from the third on, and the inputs."""
    f, rng, answers = truth(kind, seed), np.random.default_rng([seed, 3]), np.random.default_rng([seed, 4])

    def measure(x: np.ndarray) -> np.ndarray:
        if kind == "regression":
            return f(x) + NOISE * answers.standard_normal(len(x))
        return (answers.uniform(size=len(x)) < expit(f(x))).astype(int)

    kernel = ConstantKernel(1.0, (0.1, 100.0)) * RBF(0.2, (0.02, 2.0))
    if kind.endswith("told"):
        height, length = TRUTHS["classification"]
        kernel = ConstantKernel(height**2, "fixed") * RBF(length, "fixed")
    model: Any = (
        GaussianProcessRegressor(kernel, alpha=NOISE**2, hyperparameters="mode")
        if kind == "regression"
        else GaussianProcessClassifier(kernel, classes=[0, 1], calibration=None, hyperparameters="mode")
    )
    about = np.linspace(0, 1, 64)[:, None] if inputs == "predictive_information_gain" else None
    pool: Any = None
    if inputs in SCORERS and inputs != "random":
        pool = box([0.0], [1.0], points=points, scorer=inputs, target=about, refine=4, random_state=seed)
    sequence = qmc.Sobol(1, scramble=True, seed=np.random.default_rng([seed, 5])).random_base2(7)[:, 0]
    asked = rng.uniform(size=FIRST)
    errors: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(asked[:, None], measure(asked))
        while True:
            errors.append(error(kind, model, f))
            if len(asked) >= n_queries:
                return {"error": np.array(errors), "inputs": asked}
            if inputs == "random":
                x = rng.uniform()
            elif inputs == "Sobol":
                x = sequence[len(asked) - FIRST]
            else:
                candidates = pool(model)
                x = float(candidates[model.select(candidates, scorer=inputs, target=about, random_state=seed)[0], 0])
            asked = np.append(asked, x)
            model.partial_fit([[x]], measure(asked[-1:]))


def error(kind: str, model: Any, f: Callable[[np.ndarray], np.ndarray]) -> float:
    """Return how far the predictions on a fine grid are from the truth."""
    if kind == "regression":
        return float(np.sqrt(np.mean((model.predict(TEST[:, None]) - f(TEST)) ** 2)))
    p = expit(f(TEST))
    q = np.clip(model.predict_proba(TEST[:, None])[:, 1], 1e-12, 1 - 1e-12)
    floor = np.clip(p, 1e-300, 1 - 1e-16)
    return float(np.mean(p * np.log2(floor / q) + (1 - p) * np.log2((1 - floor) / (1 - q))))


# ------------------------------------------------------------------------------------------------- verdicts
def draw(script: Script, found: dict[tuple[str, str], Comparison]) -> None:
    """Draw the learning curves: pools above (log loss), boxes below."""
    figure, axes = panels(2, 4, 13.0, 6.4)
    axes[1, 3].set_axis_off()
    for ax, (name, metric) in zip(axes.flat, [key for key in found if key[1] != "accuracy"], strict=False):
        plots.learning_curve(found[name, metric].curve(), ax=ax, ylabel=UNITS[metric], percent=False)
        ax.get_legend().remove()
        ax.set_title(f"box: {name}" if metric in BOXES else name)
        if metric in BOXES:
            ax.set_yscale("log")
    for ax in (axes[0, 0], axes[1, 0]):
        ax.legend(frameon=False, fontsize=7)
    script.figure(
        figure,
        "ours-gp-designed",
        "Gaussian processes that choose their inputs: log loss on rows never asked (four pools), and error in "
        f"one-dimensional boxes of simulated functions; means and 95% intervals over {_count(found)} seeds.",
    )


def _count(found: dict[tuple[str, str], Comparison]) -> int:
    return len(next(iter(found.values())).seeds)


def judge(script: Script, found: dict[tuple[str, str], Comparison]) -> None:
    """Write the areas with their paired differences; judge pools and boxes."""
    rows: list[dict[str, Any]] = []
    for (name, metric), comparison in found.items():
        area = comparison.area()
        rows += [
            {"set": name, "metric": metric} | {key: column[k] for key, column in area.items()}
            for k in range(len(area["scorer"]))
        ]
    script.table(
        {key: [_short(row[key]) for row in rows] for key in rows[0]},
        "ours-gp-designed",
        "Area under the curve (mean over the run) of designed and random inputs for Gaussian processes, and its paired "
        f"difference to random inputs with 95% intervals over {_count(found)} seeds. Regression and classification: "
        "simulated functions on [0, 1]; the noise of regression was told.",
    )
    seeds = list(range(_count(found)))

    def differences(name: str, metric: str) -> dict[str, str]:
        return {
            row["scorer"]: f"{row['difference']:+.4f} [{row['difference_lower']:+.4f}, {row['difference_upper']:+.4f}]"
            for row in rows
            if (row["set"], row["metric"]) == (name, metric) and row["scorer"] != "random"
        }

    def wins(name: str, metric: str, scorer: str) -> bool:
        return any(
            (row["set"], row["metric"], row["scorer"]) == (name, metric, scorer) and row["difference_upper"] < 0
            for row in rows
        )

    designed = SCORERS[:2]
    for scorer in designed:
        lost = [name for name in POOLS if not wins(name, "log_loss", scorer)]
        script.judge(
            f"ours-gp-designed-pools-{scorer}",
            not lost,
            claim=f"Rows of a pool chosen by {scorer} teach a Gaussian process classifier faster than random ones.",
            target="area under the curve of log loss minus random's: 95% interval below 0 on every set",
            value={f"{name}, {m}": differences(name, m) for m in ("log_loss", "accuracy") for name in POOLS},
            reason=f"The interval is not below 0 on {', '.join(lost)}. {POOL_REASONS[scorer]}" if lost else "",
            seed=seeds,
        )
    for kind in BOXES:
        lost = [scorer for scorer in designed if not wins(kind, kind, scorer)]
        script.judge(
            f"ours-gp-designed-box-{kind.replace(', ', '-').replace(' ', '-')}",
            not lost,
            claim=f"Inputs of a box chosen by information gain, refined uphill, teach a Gaussian process ({kind}) "
            "faster than uniform ones.",
            target="area under the curve of errors minus random's: 95% interval below 0, for information gain and "
            "predictive information gain",
            value=differences(kind, kind),
            reason=BOX_REASONS[kind] if lost else "",
            seed=seeds,
        )


def _short(value: Any) -> Any:
    return round(value, 5) if isinstance(value, float) else value


def run(script: Script) -> None:
    """Run, draw, judge."""
    n_seeds, size, n_labels = (2, (40, 40), 12) if script.quick else (20, (300, 400), 60)
    lengths = dict(zip(BOXES, (6, 6, 6) if script.quick else (30, 80, 80), strict=True))
    label: Any = labelled if script.quick else partial(kept, GROUP, labelled)
    ask: Any = boxed if script.quick else partial(kept, GROUP, boxed)
    seeds = range(n_seeds)
    found: dict[tuple[str, str], Comparison] = {}
    with threadpool_limits(1):
        for kind in BOXES:
            own = {
                i: [ask(kind, i, s, 8 if script.quick else 64, lengths[kind])["error"] for s in seeds] for i in INPUTS
            }
            found[kind, kind] = _compared(kind, list(INPUTS), own, FIRST)
        for name in POOLS:
            runs = {s: [label(name, s, seed, *size, n_labels) for seed in seeds] for s in SCORERS}
            for metric in ("log_loss", "accuracy"):
                curves = {scorer: [one[metric] for one in many] for scorer, many in runs.items()}
                found[name, metric] = _compared(metric, list(SCORERS), curves, INITIAL)
    ordered = {key: found[key] for key in sorted(found, key=lambda key: key[1] in BOXES)}
    draw(script, ordered)
    judge(script, ordered)


def _compared(metric: str, names: list[str], curves: dict[str, list[np.ndarray]], first: int) -> Comparison:
    values = {name: np.stack(curves[name]) for name in names}
    n_seeds, length = values["random"].shape
    return Comparison(metric, list(range(n_seeds)), names, first + np.arange(length), values, {})


if __name__ == "__main__":
    command(run, __doc__, __file__)
