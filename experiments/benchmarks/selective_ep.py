"""Expectation propagation at image size: what a selective update, an increment and a whole design cost.

A photograph of 64 x 64 pixels (4,096 unknowns, 12,160 Laplace potentials on differences and wavelets, fraction 0.9) is
measured along ten random filters, then along the three leading eigenvectors of the posterior covariance, 308 times,
with noise of variance 0.005; after every three rows sites are updated, the one first whose update changes the posterior
most, until none changes it by 0.01 nats. CPU seconds of one process with one BLAS thread, beside

- one pass over the matrix (``dsyr``), one product (``dsymv``), one factorisation (``dpotrf`` and ``dpotri``);
- the source's 53 minutes for the same loop on a core of 2.33 GHz.

    python -m experiments.benchmarks.selective_ep [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import time
from typing import Any

import numpy as np
from scipy.linalg.blas import dsymv, dsyr
from scipy.linalg.lapack import dpotrf, dpotri

from adaptive.inference import GLM, Posterior, expectation_propagation
from adaptive.inference.dense.selective_propagation import SelectiveProblem, SelectiveUpdates
from adaptive.operators import Dense, FiniteDifference, Reshaped, Wavelet
from adaptive.plots import PALETTE
from adaptive.potentials import Laplace
from experiments.benchmarks.cpu_seconds import median_seconds
from experiments.images.shared.photographs import photograph
from experiments.script import Script, command, panels
from experiments.shown_by_tests import named

SEED, NOISE, FRACTION, TOL = 0, 0.005, 0.9, 1e-2
RATES = 0.5, 0.075  # of differences and wavelets, in units of the noise's standard deviation
BATCH, FIRST, INCREMENTS = 3, 10, 308
SOURCE_MINUTES, SOURCE_UPDATES = 53.0, 8.8
PHOTOGRAPH, SMALL = "images-set12/01.png", "camera"
FORCED, REPEATS = 48, 7  # updates that are timed together, and how often


class Loop:
    """A photograph, its measurements so far, and the posterior."""

    def __init__(self, side: int, n_rows: int):
        self.side, self.truth = side, photograph(SMALL if side < 64 else PHOTOGRAPH, side).ravel()
        self.rng = np.random.default_rng(SEED)
        self.B = [FiniteDifference((side, side)), Wavelet((side, side), "db2")]
        self.potentials = [Laplace(np.sqrt(NOISE) / rate) for rate in RATES]
        self.rows, self.y = np.zeros((n_rows, side * side)), np.zeros(n_rows)
        self.m, self.posterior = 0, None

    def measure(self, directions: np.ndarray) -> None:
        part = slice(self.m, self.m + len(directions))
        self.rows[part] = directions
        self.y[part] = directions @ self.truth + np.sqrt(NOISE) * self.rng.standard_normal(len(directions))
        self.m = part.stop

    def measure_random(self, n_rows: int) -> None:
        rows = self.rng.standard_normal((n_rows, self.side**2))
        self.measure(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def model(self) -> GLM:
        X = Reshaped(Dense(self.rows[: self.m]), (self.side, self.side))
        return GLM(X, self.y[: self.m], NOISE, B=self.B, potentials=self.potentials)

    def infer(self) -> Posterior:
        self.posterior = expectation_propagation(
            self.model(), update="selective", fraction=FRACTION, tol=TOL, warm_start=self.posterior
        )
        return self.posterior

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.posterior.mean - self.truth))  # type: ignore[union-attr]


def units(precision: np.ndarray) -> dict[str, np.ndarray]:
    """CPU seconds of one pass, one product and one factorisation at this size."""
    n = len(precision)
    matrix, vector = np.asfortranarray(precision), np.random.default_rng(0).standard_normal(n)
    repeats = 15 if n > 2000 else 101

    def invert() -> None:
        nonlocal matrix
        factor, info = dpotrf(matrix, lower=1, overwrite_a=1)
        assert info == 0
        matrix, _ = dpotri(factor, lower=1, overwrite_c=1)

    return {
        "pass": np.array(median_seconds(lambda: dsyr(1e-12, vector, lower=1, a=matrix, overwrite_a=1), repeats)),
        "product": np.array(median_seconds(lambda: dsymv(1.0, matrix, vector, lower=1), repeats)),
        "factorisation": np.array(median_seconds(invert, 1)),
    }


def updates(side: int) -> dict[str, np.ndarray]:
    """CPU seconds of one selective update, choice included: each taken into the matrix at once, and deferred."""
    loop = Loop(side, 2 * FIRST)
    loop.measure_random(FIRST)
    loop.infer()
    loop.measure_random(FIRST)
    precision = np.linalg.inv(loop.posterior.covariance())  # type: ignore[union-attr]
    found = units((precision + precision.T) / 2)
    del precision
    for kind, deferred in (("single", 1), ("deferred", None)):
        problem = SelectiveProblem(loop.model(), loop.infer())
        problem.start()
        held: Any = problem.gaussian.covariance
        held.flush()
        usual = held.deferred
        held.deferred = deferred or usual
        engine = SelectiveUpdates(problem, FRACTION, 0.8, 0.0, 256, np.random.default_rng(SEED))
        engine.run(2)

        def some(engine: SelectiveUpdates = engine, held: Any = held) -> None:
            assert engine.run(FORCED) == FORCED  # and one look at all sites
            held.flush()

        found[kind] = np.array(median_seconds(some, REPEATS) / FORCED)
        held.deferred = usual
    return found


def design(side: int, increments: int) -> dict[str, np.ndarray]:
    """The loop of algorithm 5.1: times, counts and errors after the fit and after every increment."""
    loop = Loop(side, FIRST + BATCH * increments)
    loop.measure_random(FIRST)
    started, start = time.perf_counter(), time.process_time()
    loop.infer()
    fitted = time.process_time() - start
    first = loop.posterior.gaussian.work.factorisations  # type: ignore[union-attr]
    rows: list[tuple[float, ...]] = [(loop.m, loop.posterior.n_iter, 0, loop.error, 0.0, 0.0)]  # type: ignore[union-attr]
    for _ in range(increments):
        begin, before = time.process_time(), loop.posterior.gaussian.work.products  # type: ignore[union-attr]
        values, directions = loop.posterior.leading_directions(BATCH, tol=TOL)  # type: ignore[union-attr]
        searched = time.process_time()
        products = loop.posterior.gaussian.work.products - before  # type: ignore[union-attr]
        loop.measure(directions)
        posterior = loop.infer()
        gain = 0.5 * float(np.log1p(values / NOISE).sum())
        rows.append((loop.m, posterior.n_iter, products, loop.error, gain, searched - begin))
    wall, cpu = time.perf_counter() - started, time.process_time() - start
    work = loop.posterior.gaussian.work  # type: ignore[union-attr]
    loop.posterior.gaussian.refresh()  # type: ignore[union-attr]
    random = Loop(side, loop.m)
    random.measure_random(loop.m)
    random.infer()
    m, n_updates, products, errors, gains, searching = np.array(rows).T
    return {
        "m": m, "updates": n_updates, "products": products, "errors": errors, "gains": gains,
        "searching": searching.sum(), "wall": np.array(wall), "cpu": np.array(cpu), "fit": np.array(fitted),
        "first factorisations": np.array(first), "factorisations": np.array(work.factorisations - 1),
        "drift": np.array(work.drift), "random error": np.array(random.error),
        "mean": loop.posterior.mean, "truth": loop.truth,  # type: ignore[union-attr]
    }  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- results
def judge_updates(script: Script, cost: dict[str, np.ndarray], pixels: int) -> None:
    """Judge one update, single and deferred, in passes over the matrix."""
    single, deferred = (float(cost[kind] / cost["pass"]) for kind in ("single", "deferred"))
    script.judge(
        "ours-selective-ep-update",
        single <= 2.0 and deferred <= 0.4,
        claim="A selective update costs hardly more than one pass over the covariance, deferred ones a fifth of that.",
        kind="must hold",
        target="CPU time, choice of the site included, in passes (dsyr): at most 2 (stretch 1.1), deferred at most 0.4",
        value={
            "single": single, "deferred": deferred, "one pass in ms": 1e3 * float(cost["pass"]), "unknowns": pixels,
            "single / deferred": single / deferred,
        },
        reason="This is a target of speed, measured at one size." if pixels >= 4096 else "A small size, to try the "
        "script.",
        seed=SEED,
    )  # fmt: skip


def judge_design(script: Script, run_: dict[str, np.ndarray], cost: dict[str, np.ndarray], pixels: int) -> None:
    """Judge counts, time and drift of the whole loop."""
    n_updates, products = run_["updates"].sum(), run_["products"].sum()
    factorisations, increments = float(run_["factorisations"]), len(run_["m"]) - 1
    floor = float(n_updates * cost["pass"] + products * cost["product"] + factorisations * cost["factorisation"])
    per_increment = run_["updates"][1:]
    ratio = float(run_["cpu"]) / floor
    first = int(run_["first factorisations"])
    rows = f"{int(run_['m'][0])} to {int(run_['m'][-1])} rows in {increments} increments of {BATCH}"
    script.judge(
        "ours-selective-ep-cost",
        ratio <= 1.5 and first <= 10 and per_increment.mean() <= 15 and float(run_["drift"]) < 1e-8,
        claim=f"At {pixels} unknowns, {rows} cost little more than their updates, products and factorisations.",
        kind="must hold",
        target="CPU time at most 1.5 x (updates x one pass + products x one product + factorisations x one "
        "factorisation); initial fit in at most 10 factorisations; mean updates per increment at most 15; relative "
        "drift of variances below 1e-8",
        value={
            "CPU time / floor": ratio, "CPU s": float(run_["cpu"]), "floor s": floor,
            "factorisations of the first fit": first, "factorisations": int(factorisations),
            "updates per increment": float(per_increment.mean()), "most": int(per_increment.max()),
            "products per increment": float(run_["products"][1:].mean()),
            "share of the search for directions": float(run_["searching"] / run_["cpu"]),
            "drift": float(run_["drift"]),
        },
        seed=SEED,
    )  # fmt: skip
    minutes = SOURCE_MINUTES
    script.judge(
        "ours-selective-ep-time",
        float(run_["cpu"]) <= 3 * minutes,
        claim="The source's run of 53 minutes takes a twentieth of that.",
        target=f"at most {3 * minutes:.0f} s of CPU time (the source: {minutes:.0f} minutes on a core of 2.33 GHz)",
        value={"CPU s": float(run_["cpu"]), "wall s": float(run_["wall"]), "first fit, s": float(run_["fit"]),
               "of the source's time": float(run_["cpu"]) / 60 / minutes},
        reason=f"{rows}, {pixels} pixels; one thread of another machine; wall time is that of a machine with other "
        "work.",
        seed=SEED,
    )  # fmt: skip
    script.judge(
        "nickisch-sys-ep-selective",
        per_increment.mean() <= 15,
        claim="Candidate list scored by exact marginal KL; about 9 updates regain convergence after 3 new rows.",
        target="at most 15 updates per increment in the mean",
        value={"mean": float(per_increment.mean()), "most": int(per_increment.max()), "the source": SOURCE_UPDATES,
               "first fit": int(run_["updates"][0])},
        reason=f"{rows}. The first fit is by parallel sweeps ({first - 1}); the source's took 16,785 updates. "
        f"{named('nickisch-sys-ep-selective')}",
        seed=SEED,
    )  # fmt: skip
    designed, random = float(run_["errors"][-1]), float(run_["random error"])
    script.judge(
        "nickisch-alg-5.1",
        designed < random and bool(np.all(run_["gains"][1:] > 0)),
        claim="Update the potential that changes most until quiet; measure leading eigenvectors, d at a time.",
        target="the loop runs to the end and its design beats as many random rows, inferred alike",
        value={"error, designed": designed, "error, random rows": random, "first error": float(run_["errors"][0]),
               "first gain, nats": float(run_["gains"][1]), "last": float(run_["gains"][-1])},
        reason=f"One photograph, {rows}. {named('nickisch-alg-5.1')}",
        seed=SEED,
    )  # fmt: skip


def show(script: Script, run_: dict[str, np.ndarray]) -> None:
    """Updates, error and gain against the number of rows."""
    figure, axes = panels(1, 3, 9.5, 2.9)
    m = run_["m"]
    axes[0, 0].plot(m[1:], run_["updates"][1:], ".", color=PALETTE[0], markersize=3)
    axes[0, 0].axhline(run_["updates"][1:].mean(), color=PALETTE[1], label="mean")
    axes[0, 0].set_ylabel("selective updates")
    axes[0, 0].legend(frameon=False)
    axes[0, 1].plot(m, run_["errors"], color=PALETTE[1], label="designed")
    axes[0, 1].plot(m[-1:], run_["random error"], "x", color=PALETTE[0], label="random rows")
    axes[0, 1].set_ylabel("error of the image")
    axes[0, 1].set_ylim(bottom=0)
    axes[0, 1].legend(frameon=False)
    axes[0, 2].plot(m[1:], run_["gains"][1:], color=PALETTE[1])
    axes[0, 2].set_ylabel("information of three rows, nats")
    axes[0, 2].set_ylim(bottom=0)
    for ax in axes[0]:
        ax.set_xlabel("rows measured")
    script.figure(
        figure,
        "selective_ep",
        "Selective expectation propagation of one photograph (Set12, number 1, averaged to 64 x 64 pixels), measured "
        "along three leading eigenvectors of the posterior covariance at a time, with noise of variance 0.005 that is "
        "known: updates per increment, error beside that of as many random rows, information of every increment.",
    )


def run(script: Script) -> None:
    """Time updates, run the loop, judge."""
    side, increments = (16, 6) if script.quick else (64, INCREMENTS)
    cost = script.kept("selective_ep_updates", updates, side)
    found = script.kept("selective_ep", design, side, increments)
    judge_updates(script, cost, side**2)
    judge_design(script, found, cost, side**2)
    show(script, found)


if __name__ == "__main__":
    command(run, __doc__, __file__)
