"""Estimators of marginal variances: their errors, what they do to the double loop, and which line they would measure.

Ten models at 32 x 32: slices of nibabel's head scan and photographs of PyWavelets, nine central lines simulated (no
phase, noise .01, which the model is told), Laplace potentials of rate 8 on wavelets and differences. Each runs the
whole double loop with exact, Lanczos and sampled variances and scores the unmeasured lines of one half plane (in the
other one they are the same for a real image) by its own variances; the truth is the joint log-determinant of the exact
one.

The table of single estimates on real and complex models, which the figure draws, is that of
`experiments/benchmarks/variances.py`.

References
----------
Nickisch (2010), algorithm 3.2 and section 6.4; Ko (2017), algorithm 2; Papandreou and Yuille (2010).
"""

from __future__ import annotations

import csv
import itertools
import warnings
from typing import Any

import numpy as np
import pywt.data
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from adaptive.images import head_scan
from adaptive.inference import GLM, map_estimate, variational_bounds
from adaptive.linalg import PrecisionOperator, circulant_preconditioner, variances
from adaptive.operators import FiniteDifference, FourierLines, RealStacked, Wavelet
from adaptive.plots import PALETTE
from adaptive.potentials import Laplace
from designs.kspace import central
from experiments.claims import RESULTS
from experiments.script import Script, command, panels

SEED = 0
NOISE, RATE, OUTER = 0.01, 8.0, 8
SLICES = (7, 9, 11, 12, 13, 15)
ENGINES: dict[str, dict[str, Any]] = {
    "lanczos, 10 steps": {"variances": "lanczos", "n_steps": 10},
    "lanczos, 50 steps": {"variances": "lanczos", "n_steps": 50},
    "lanczos, 250 steps": {"variances": "lanczos", "n_steps": 250},
    "sampled, 8": {"variances": "sampled", "n_samples": 8},
    "sampled, 16": {"variances": "sampled", "n_samples": 16},
    "sampled, 32": {"variances": "sampled", "n_samples": 32},
}


def images(side: int) -> dict[str, np.ndarray]:
    """Return the ten images, scaled to a largest value of 1."""
    heads = head_scan()
    found = {f"head, slice {k}": heads[k].fitted((128, 128)).image for k in SLICES}
    photographs = {"camera": pywt.data.camera(), "ascent": pywt.data.ascent(), "aero": pywt.data.aero()}
    found |= {name: np.asarray(photo, dtype=float)[:512, :512] for name, photo in photographs.items()}
    found["camera, detail"] = np.asarray(photographs["camera"], dtype=float)[64:320, 128:384]
    reduced = {}
    for name, image in found.items():
        step = len(image) // side
        small = image.reshape(side, step, side, step).mean(axis=(1, 3))
        reduced[name] = small / small.max()
    return reduced


def model(image: np.ndarray, seed: int) -> GLM:
    """Return the model with the simulated central lines."""
    shape = image.shape
    X = FourierLines(shape, central(len(image), len(image) * 9 // 32))
    rng = np.random.default_rng(seed)
    y = X.forward(image)
    y = y + NOISE * (rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape))
    B = [Wavelet(shape, "db4"), FiniteDifference(shape)]
    return GLM(X, y.ravel(), NOISE**2, B=B, potentials=[Laplace(1 / RATE)] * 2)


def candidates(side: int) -> np.ndarray:
    """Return the unmeasured lines of negative frequency."""
    return np.setdiff1d(np.arange(side // 2), central(side, side * 9 // 32))


def exact_scores(covariance: np.ndarray, shape: tuple[int, int], lines: np.ndarray) -> np.ndarray:
    """Return 1/2 ln|I + X* Cov X*' / noise variance| of each line."""
    scores = []
    for line in lines:
        rows = RealStacked(FourierLines(shape, [line]))
        half = rows.forward(covariance.reshape(-1, *shape)).reshape(len(covariance), -1)
        block = rows.forward(half.T.reshape(-1, *shape)).reshape(half.shape[1], -1)
        scores.append(0.5 * np.linalg.slogdet(np.eye(len(block)) + block / NOISE**2)[1])
    return np.array(scores)


def own_scores(posterior: Any, settings: dict[str, Any], lines: np.ndarray) -> np.ndarray:
    """Return the scores from a posterior's own variances of the lines' samples."""
    shape = posterior.system.input_shape
    rows = RealStacked(FourierLines(shape, np.arange(shape[0])))
    if settings["variances"] == "lanczos":
        found = variances.lanczos(posterior.system, settings["n_steps"], rows=rows, random_state=SEED).estimate
    else:
        found = posterior.variances(rows)
    power = found.reshape(2, *shape).sum(axis=0)[lines]
    return np.log1p(power / (2 * NOISE**2)).sum(axis=1)


def compare(name: str, image: np.ndarray, seed: int, engines: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row per engine for one image."""
    glm, lines = model(image, seed), candidates(len(image))
    exact = variational_bounds(glm, max_iter=10, tol=1e-5)
    mode = map_estimate(glm, smoothing=1e-6, tol=1e-5).mean
    truth = exact_scores(exact.covariance(), image.shape, lines)
    best = np.argsort(-truth)
    rows = []
    for engine, settings in engines.items():
        posterior = variational_bounds(glm, max_iter=OUTER, tol=0.0, random_state=SEED, **settings)
        scores = own_scores(posterior, settings, lines)
        pick = int(np.argmax(scores))
        size = np.linalg.norm(exact.mean)
        rows.append(
            {
                "image": name,
                "variances": engine,
                "products": posterior.n_products,
                "mean_error": float(np.linalg.norm(posterior.mean - exact.mean) / size),
                "median_precision_ratio": float(np.median(posterior.sites[0] / exact.sites[0])),
                "score_ratio": float(scores.sum() / truth.sum()),
                "spearman": float(spearmanr(scores, truth).statistic),
                "rank_of_pick": int(np.flatnonzero(best == pick)[0]) + 1,
                "regret": float(1 - truth[pick] / truth.max()),
                "distance_to_mode": float(np.linalg.norm(posterior.mean - mode) / size),
                "distance_to_mode_exact": float(np.linalg.norm(exact.mean - mode) / size),
                "error_to_truth": float(np.linalg.norm(posterior.mean - image.ravel())),
                "error_to_truth_exact": float(np.linalg.norm(exact.mean - image.ravel())),
            }
        )
    return rows


# --------------------------------------------------------------------------------------------------------- verdicts
def judge_choice(script: Script, rows: list[dict[str, Any]]) -> None:
    """Judge how often the top line is among the exact top two, and report regrets."""
    value = {}
    for engine in dict.fromkeys(row["variances"] for row in rows):
        own = [row for row in rows if row["variances"] == engine]
        value[engine] = {
            "top two": f"{sum(row['rank_of_pick'] <= 2 for row in own)} of {len(own)}",
            "mean regret": round(float(np.mean([row["regret"] for row in own])), 5),
            "largest regret": round(max(row["regret"] for row in own), 5),
            "mean Spearman": round(float(np.mean([row["spearman"] for row in own])), 3),
            "median site precision / exact": round(float(np.median([r["median_precision_ratio"] for r in own])), 2),
            "score / exact": round(float(np.mean([row["score_ratio"] for row in own])), 3),
        }
    sampled = [row for row in rows if row["variances"].startswith("sampled, 16")]
    hits = sum(row["rank_of_pick"] <= 2 for row in sampled)
    script.judge(
        "ours-top-line",
        hits >= 0.9 * len(sampled),
        claim="With sampled variances (16 samples, the default) the top-scored line is among the exact top two.",
        target="in at least 9 of 10 models at 32 x 32",
        value=value,
        reason="" if hits >= 0.9 * len(sampled) else "Scores of the leading lines differ by less than their error.",
        kind="must hold",
        seed=SEED,
    )


def judge_lanczos(script: Script, rows: list[dict[str, Any]], side: int) -> None:
    """Judge that Lanczos variances grow, stay below the truth, and pull the mean towards the mode."""
    found = [row for row in rows if row["variances"].startswith("lanczos")]
    pulled = [row["distance_to_mode"] < row["distance_to_mode_exact"] for row in found]
    system = fitted_system(side)
    truth = variances.exact(system).estimate
    steps = [k for k in (10, 25, 50, 100, 200, 400, 800) if k < system.n]
    estimates = [variances.lanczos(system, k, random_state=SEED).estimate for k in steps]
    fall = min(float(np.min(b - a)) for a, b in itertools.pairwise(estimates))
    above = max(float(np.max(one / truth)) for one in estimates)
    script.judge(
        "nickisch-sys-lanczos-variances",
        fall >= -1e-12 and above <= 1 + 1e-9 and all(pulled),
        claim="Monotone lower bounds of all marginal variances; underestimation pulls the mean towards MAP.",
        target="every variance grows with the steps and stays below the truth; with Lanczos variances the mean is "
        "nearer to the mode than with exact ones in every model",
        value={"steps": steps, "share of the variance found": [float(one.sum() / truth.sum()) for one in estimates],
               "smallest growth": fall, "largest estimate / truth": above,
               "nearer to the mode": f"{sum(pulled)} of {len(pulled)}",
               "mean distance to the mode, exact": float(np.mean([r["distance_to_mode_exact"] for r in found])),
               "with Lanczos": float(np.mean([row["distance_to_mode"] for row in found]))},
        reason="Tests: tests/linalg/test_lanczos.py::test_variances_grow_and_stay_below_the_truth, "
        "::test_recurrence_is_the_projected_inverse.",
        seed=SEED,
    )  # fmt: skip


def judge_sampling(script: Script, side: int, n_samples: int) -> None:
    """Judge that perturb-and-MAP samples have the right variances where they are squared in the wavelet domain."""
    system = fitted_system(side)
    W = system.groups[0]
    truth = variances.exact(system, rows=W).estimate
    z, error, info = variances.sampled(
        system,
        n_samples,
        rows=W,
        preconditioner=circulant_preconditioner(system).inverse(),
        tol=1e-8,
        random_state=SEED,
    )
    u = info["samples"]
    scores = (info["raw"] - truth) / error
    printed = np.abs(W.forward(u).reshape(n_samples, -1).mean(axis=0))
    pixels = np.abs(W.forward(np.mean(u**2, axis=0)[None])[0].ravel())
    ratio = float(z.sum() / truth.sum())
    value: dict[str, Any] = {
        "squares of wavelet coefficients / exact": ratio,
        "standardised deviations: mean, standard deviation": [float(scores.mean()), float(scores.std())],
        "as printed, without squares / exact standard deviations": float(printed.sum() / np.sqrt(truth).sum()),
        "squares of pixels, then wavelets: relative error": _relative(pixels, truth),
        "relative error": _relative(z, truth),
        "samples": n_samples,
        "expected relative error, sqrt(2 / samples)": float(np.sqrt(2 / n_samples)),
    }
    holds = abs(ratio - 1) < 0.02 and abs(scores.mean()) < 0.1 and abs(scores.std() - 1) < 0.1
    script.judge(
        "ko-alg-2",
        bool(holds and value["squares of pixels, then wavelets: relative error"] > 0.5),
        claim="Exact Gaussian samples from perturbed systems give marginal variances; they must be squared in the "
        "wavelet domain (the printed line omits it).",
        target="ratio to the exact variances within 2%, deviations standard normal within their standard errors",
        value=value,
        reason="Tests: tests/linalg/test_perturbations.py::test_covariance_is_the_precision, "
        "tests/linalg/test_variances.py::test_unbiased_within_the_standard_error.",
        seed=SEED,
    )


def fitted_system(side: int) -> PrecisionOperator:
    """Return the precision of the middle head slice's posterior."""
    glm = model(images(side)["head, slice 12"], SEED)
    return variational_bounds(glm, variances="sampled", max_iter=4, tol=0.0, random_state=SEED).system


def _relative(estimate: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(estimate - truth) / np.linalg.norm(truth))


# ----------------------------------------------------------------------------------------------------------- figure
def draw(script: Script) -> None:
    """Draw errors against products from the benchmark's table."""
    path = RESULTS / "tables" / "variance-estimators.csv"
    with path.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    figure, (axes,) = panels(1, 2, 9.6, 4.2)
    styles = {
        "lanczos, reorthogonalisation full": (PALETTE[1], "s", "Lanczos"),
        "sampled": (PALETTE[5], "o", "sampled"),
        "sampled, control variate": (PALETTE[0], "^", "sampled, control variate"),
        "pixels: probing": (PALETTE[4], "v", "probing (pixels)"),
        "pixels: probing, control variate": (PALETTE[2], "D", "probing (pixels), control variate"),
    }
    sizes = {}
    for ax, setting in zip(axes, ("table", "complex"), strict=True):
        for name, (colour, marker, text) in styles.items():
            own = [row for row in rows if row["setting"] == setting and row["estimator"] == name]
            x, y = ([float(row[key]) for row in own] for key in ("products", "relative_error"))
            ax.plot(x, y, marker, color=colour, linestyle="-", linewidth=1.3, markersize=5, label=text)
        sizes[setting] = next(row["n"] for row in rows if row["setting"] == setting)
        ax.set(xscale="log", yscale="log", xlabel="products", xlim=(9, 2500), ylim=(0.01, 1.4))
        ax.set_title("real image" if setting == "table" else "complex image, phase not told")
    axes[0].set_ylabel("relative error of the variances")
    axes[0].legend(frameon=False, fontsize=8, loc="lower left")
    script.figure(
        figure,
        "variance-estimators",
        f"Relative L2 error of marginal variances against products with the precision, on posteriors of a photograph "
        f"(left: {sizes['table']} unknowns; right: {sizes['complex']}, real and imaginary part). A quarter of the "
        "lines, noise and, right, a smooth phase were simulated; the model was told the noise. Potentials on wavelets "
        "and differences; probing estimates variances of pixels. Numbers: table variance-estimators.",
    )


# ---------------------------------------------------------------------------------------------------------- the run
def run(script: Script) -> None:
    """Compare on ten images, judge, draw."""
    side = 16 if script.quick else 32
    chosen = dict(list(images(side).items())[:1]) if script.quick else images(side)
    engines = {k: v for k, v in ENGINES.items() if not script.quick or k in ("lanczos, 50 steps", "sampled, 16")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of outer steps
        rows = [
            row for k, (name, image) in enumerate(chosen.items()) for row in compare(name, image, SEED + k, engines)
        ]
        judge_lanczos(script, rows, side)
        judge_sampling(script, side, 512 if script.quick else 1024)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "variance-estimators-double-loop",
        f"Whole double loops ({OUTER} outer steps) with Lanczos and sampled variances at {side} x {side} against exact "
        "ones: products, relative error of the mean, site precisions, scores of the unmeasured lines, rank of the line "
        "picked among the exact scores and its regret, distances to the mode and to the image. Nine central lines of "
        f"32 and noise of standard deviation {NOISE:g} were simulated, which the model was told.",
    )
    judge_choice(script, rows)
    draw(script)


if __name__ == "__main__":
    command(run, __doc__, __file__)
