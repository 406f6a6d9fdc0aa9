"""Estimators of marginal variances side by side: error, share of the variance found, and how well lines are scored.

A photograph (64 x 64, PyWavelets' camera), a quarter of its lines measured around the centre, prior of wavelets and
differences with Laplace potentials; site precisions from the double loop. Every estimator gives z = diag(B A^-1 B^T)
and a score of each unmeasured line, the sum over its samples of ln(1 + var / (2 noise variance)), to be compared with
the exact joint log-determinant. The settings: as in the measurements that the project started from (rate 8, noise .01),
a weak prior, the stiff low-noise model that designs best, and a complex unknown (32 x 32) with the prior on both parts.

    python experiments/benchmarks/variances.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pywt.data
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive.linalg import (
    Perturbations,
    PrecisionOperator,
    circulant_preconditioner,
    conjugate_gradients,
    controlled_variance,
    tridiagonalise,
    variances,
)
from adaptive.operators import FiniteDifference, FourierLines, Identity, RealStacked, Wavelet
from experiments.equivalence import all_of, inside
from experiments.script import Script, command
from experiments.statistics import limits

SEED = 0
SETTINGS = {
    "table": {"n": 64, "rate": 8.0, "noise": 1e-2},
    "weak prior": {"n": 64, "rate": 1.0, "noise": 1e-2},
    "stiff, low noise": {"n": 64, "rate": 300.0, "noise": 1e-3},
    "complex": {"n": 32, "rate": 8.0, "noise": 1e-2, "phase": True},
}


def posterior(n: int, rate: float, noise: float, phase: bool = False, outer: int = 6) -> SimpleNamespace:
    """Double loop with 32 samples: measured lines, the precision at its end, its dense covariance and the truths."""
    rng = np.random.default_rng(SEED)
    step = 512 // n
    image = pywt.data.camera().reshape(n, step, n, step).mean(axis=(1, 3)) / 255.0
    lines = np.arange(n // 2 - n // 8, n // 2 + n // 8)
    F, others = FourierLines((n, n), lines), np.setdiff1d(np.arange(n), lines)
    groups: list[Any] = [Wavelet((n, n), "db4"), FiniteDifference((n, n))]
    X: Any = F
    truth = image
    if phase:  # what a magnitude image is given: a smooth phase, and nothing told to the model
        angle = np.add.outer(np.linspace(-1, 1, n) ** 2, np.linspace(0, 1, n))
        truth = np.stack([image * np.cos(angle), image * np.sin(angle)])
        X, groups = RealStacked(F, "complex"), [RealStacked(group, "complex") for group in groups]
    y = X.forward(truth)
    y = y + noise * (rng.standard_normal(y.shape) + (0 if phase else 1j * rng.standard_normal(y.shape)))
    data = X.adjoint(y).real / noise**2
    system = PrecisionOperator(X, noise**2, B=groups, site_precision=rate / 0.1)
    fixed, z, u = Perturbations(32, SEED), np.full(system.n_projections, 1e-2), np.zeros_like(truth)
    for _ in range(outer):
        for _ in range(3):  # reweighted least squares
            system = system.with_sites(rate / np.sqrt(z + system.project(u[None])[0] ** 2))
            M = circulant_preconditioner(system).inverse()
            u = conjugate_gradients(system.apply, data[None], start=u[None], preconditioner=M).x[0]
        z = variances.sampled(system, fixed, circulant=circulant_preconditioner(system)).estimate
    covariance = np.linalg.inv(system.to_dense())
    frequencies = RealStacked(FourierLines((n, n), np.arange(n)), "complex" if phase else "real")
    pixels = RealStacked(Identity((n, n)), "complex") if phase else Identity((n, n))
    scores = [joint_score(covariance, system, line, noise) for line in others]
    return SimpleNamespace(
        system=system,
        z=variances.exact(system).estimate,
        frequencies=frequencies,
        pixels=pixels,
        pixel=np.diag(covariance).copy(),
        condition=extreme(system.apply, system) * extreme(lambda u: u.reshape(1, -1) @ covariance, system),
        lines=others,
        line_scores=np.array(scores),
        noise=noise,
        shape=(n, n),
    )


def extreme(product: Any, system: PrecisionOperator) -> float:
    """The largest eigenvalue, to the accuracy of 60 Lanczos steps."""
    start = np.random.default_rng(SEED).standard_normal((1, *system.input_shape))
    return float(tridiagonalise(product, start, 60).ritz()[0][-1])


def joint_score(covariance: np.ndarray, system: PrecisionOperator, line: int, noise: float) -> float:
    """1/2 ln|I + X* Cov X*^T / noise variance|, X* the rows of a line in real stacking."""
    n = system.input_shape[-1]
    rows = RealStacked(FourierLines((n, n), [line]), "complex" if len(system.input_shape) == 3 else "real")
    half = rows.forward(covariance.reshape(-1, *system.input_shape)).reshape(len(covariance), -1)
    block = rows.forward(half.T.reshape(-1, *system.input_shape)).reshape(2 * n, 2 * n)
    return 0.5 * float(np.linalg.slogdet(np.eye(2 * n) + block / noise**2)[1])


def diagonal_scores(model: SimpleNamespace, power: np.ndarray) -> np.ndarray:
    """The same from the variances of single samples, a row of ``power`` per line."""
    power = np.maximum(power.reshape(model.shape)[model.lines], 0.0)
    return np.log1p(power / (2 * model.noise**2)).sum(axis=1)


def sampled_power(model: SimpleNamespace, samples: np.ndarray, control: np.ndarray | None, M: Any) -> np.ndarray:
    """E |F u|^2 of all frequencies, from the samples that there are already."""

    def transformed(u: np.ndarray) -> np.ndarray:
        parts = model.frequencies.forward(u)
        return (parts[:, 0] + 1j * parts[:, 1]).reshape(len(u), -1)

    if control is None:
        return controlled_variance(transformed(samples))[0]
    return controlled_variance(transformed(samples), transformed(control), M.inverse().spectrum().ravel())[0]


def estimators(quick: bool, n: int) -> list[tuple[str, dict[str, Any]]]:
    """Name and settings of each row; Lanczos steps in parts of 4096 unknowns."""
    rows: list[tuple[str, dict[str, Any]]] = []
    for kind in ("full", "none"):
        steps = (50, 200) if quick else (50, 200, 800, 1500)
        rows += [(f"lanczos, reorthogonalisation {kind}", {"n_steps": k * n // 4096, "kind": kind}) for k in steps]
    for name, controlled in (("sampled", False), ("sampled, control variate", True)):
        rows += [
            (name, {"n_samples": N, "controlled": controlled}) for N in ((8, 32) if quick else (4, 8, 16, 32, 128))
        ]
    return rows


def measure(model: SimpleNamespace, settings: dict[str, Any]) -> dict[str, float]:
    """One run of an estimator of z and of the lines' scores."""
    system, before = model.system, model.system.n_products
    start = time.process_time()
    if "n_steps" in settings:
        both = [*system.groups, model.frequencies]
        estimate = variances.lanczos(
            system, settings["n_steps"], rows=both, reorthogonalise=settings["kind"], random_state=SEED
        ).estimate
        z, power = estimate[: len(model.z)], estimate[len(model.z) :].reshape(2, -1).sum(axis=0)
    else:
        M = circulant_preconditioner(system)
        kind = {"circulant": M} if settings["controlled"] else {"preconditioner": M.inverse()}
        z, _, info = variances.sampled(system, settings["n_samples"], random_state=settings["seed"], **kind)
        power = sampled_power(model, info["samples"], info["control"] if settings["controlled"] else None, M)
    seconds, products = time.process_time() - start, system.n_products - before
    scores = diagonal_scores(model, power)
    picked = model.line_scores[np.argmax(scores)]
    return {
        "products": products,
        "relative_error": _error(z, model.z),
        "ratio": float(z.sum() / model.z.sum()),
        "spearman": float(spearmanr(scores, model.line_scores).statistic),
        "regret": max(0.0, float(1 - picked / model.line_scores.max())),
        "cpu_seconds": seconds,
    }


def pixel_errors(model: SimpleNamespace, quick: bool) -> list[dict[str, Any]]:
    """Variances of the pixels, diag(A^-1): samples and probes, with and without the control variate."""
    rows = []
    M = circulant_preconditioner(model.system)
    for N in (8,) if quick else (32, 128):
        for name in ("sampled", "probing"):
            for controlled in (False, True):
                kind = {"circulant": M} if controlled else {"preconditioner": M.inverse()}
                runs = []
                for seed in range(1 if quick else 3):
                    start = time.process_time()
                    run = getattr(variances, name)(model.system, N, rows=model.pixels, random_state=seed, **kind)
                    runs.append(
                        (run.info["n_products"], _error(run.info["raw"], model.pixel), time.process_time() - start)
                    )
                products, error, seconds = np.mean(runs, axis=0)
                label = f"pixels: {name}" + (", control variate" if controlled else "")
                rows.append(
                    {
                        "estimator": label,
                        "size": N,
                        "products": products,
                        "relative_error": error,
                        "cpu_seconds": seconds,
                    }
                )
    return rows


def _error(estimate: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(estimate - truth) / np.linalg.norm(truth))


def table(quick: bool) -> list[dict[str, Any]]:
    """All rows; sampled ones are means over five seeds."""
    rows = []
    for setting, arguments in SETTINGS.items():
        if quick and setting != "table":
            continue
        model = posterior(**(arguments | {"n": 32, "outer": 3} if quick else arguments))
        print(f"{setting}: n = {model.system.n}, condition number {model.condition:.0f}")
        for name, choice in estimators(quick, model.system.n):
            seeds = range(1 if quick or "n_steps" in choice else 5)
            runs = [measure(model, choice | {"seed": seed}) for seed in seeds]
            mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
            size = choice.get("n_steps", choice.get("n_samples"))
            rows.append({"setting": setting, "n": model.system.n, "estimator": name, "size": size} | mean)
            rows[-1]["errors"] = [run["relative_error"] for run in runs]
        rows += [{"setting": setting, "n": model.system.n} | row for row in pixel_errors(model, quick)]
        for row in rows:
            if row["setting"] == setting:
                print(
                    "  "
                    + "  ".join(f"{key} {_short(value)}" for key, value in row.items() if key not in ("setting", "n"))
                )
    return rows


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def run(script: Script) -> None:
    """Print the table; without --quick, which takes 32 x 32 and one setting, write it, and the verdict."""
    rows = table(script.quick)
    if script.quick:
        return
    keys = [
        "setting",
        "n",
        "estimator",
        "size",
        "products",
        "relative_error",
        "ratio",
        "spearman",
        "regret",
        "cpu_seconds",
    ]
    script.table(
        {key: [row.get(key, "") for row in rows] for key in keys},
        "variance-estimators",
        """Marginal variances z = diag(B A^-1 B') of a photograph's posterior (a quarter of the lines, wavelets and
        differences with Laplace potentials; noise, and in the complex setting a smooth phase, were simulated): relative
        L2 error, mean ratio to the truth, Spearman correlation of the line scores with the exact joint
        log-determinants, regret of the best line. Sampled rows are means over five seeds, pixels over three; size is
        samples, probes or Lanczos steps.""",
    )
    base = [row for row in rows if row["setting"] == "table"]
    plain = next(row for row in base if row["estimator"] == "sampled" and row["size"] == 32)
    ours = next(row for row in base if row["estimator"] == "sampled, control variate" and row["size"] == 8)
    judge(script, ours, plain)


def judge(script: Script, ours: dict[str, Any], plain: dict[str, Any]) -> None:
    """Record the verdict by intervals over samplings of this one posterior, which is all that is claimed."""
    mine, apart = limits(np.array(ours["errors"])), limits(np.array(ours["errors"]) - np.array(plain["errors"]))
    held = all_of((inside(*mine[1:], most=0.25), inside(*apart[1:], most=0.0)))
    script.judge(
        "ours-variance-control-variate",
        held,
        claim="With the circulant control variate 8 samples estimate all variances of a photograph's posterior better "
        "than 32 plain ones.",
        kind="to judge",
        target="relative error at most 0.25 for 32 products, and below that of 32 plain samples (128 products): whole "
        "95% intervals over samplings",
        value={
            "with": list(mine),
            "products": ours["products"],
            "plain, 32 samples": list(limits(np.array(plain["errors"]))),
            "with less plain": list(apart),
            "samplings": len(ours["errors"]),
        },
        reason="" if held else "see the table",
        seed=SEED,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
