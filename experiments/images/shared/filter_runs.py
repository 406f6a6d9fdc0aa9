"""The runs behind `experiments.images.natural_images`: one photograph, one way to measure and to reconstruct it.

A run is described by (side, name of the photograph, method, rates): ``method`` is "RECONSTRUCTION DESIGN FIRST", as
"EP free 0" or "L1+TV uniform 25", and says

    RECONSTRUCTION   EP, L1+TV, L1 (basis pursuit), L2 (least squares), BCS (sparse Bayesian learning)
    DESIGN           uniform, coloured, noiselet, hadamard: drawn (the last one by sequency); wavelet, search: one
                     coefficient each, coarse to fine or by the tree search; free, coefficients, signs: designed from
                     the posterior; across: "EP free" of five other photographs
    FIRST            measurements before that: 0, or the first so many coefficients coarse to fine

Designs from a posterior begin with a few uniform rows. The k-th measurement of a photograph has the same noise in all
runs.
"""

from __future__ import annotations

import time
import zlib
from functools import cache
from typing import Any

import numpy as np

from adaptive.inference import GLM, expectation_propagation
from adaptive.inference.classic import basis_pursuit, laplace_mode, least_squares, sparse_bayesian_learning
from adaptive.operators import FiniteDifference, Operator, Wavelet
from adaptive.potentials import Laplace
from designs import filters
from experiments.images.shared import photographs
from experiments.images.shared.photographs import photograph
from experiments.runs import kept

NOISE_VARIANCE = 0.005
FRACTION = 0.9
TOLERANCE = 1e-2  # of EP: a site is moved while that changes the posterior by more, in nats
N_RANDOM = 10  # measurements before the first designed one
D = 3  # filters designed at a time
# tau of wavelets and differences, exp(-tau |s| / noise sd); of L1+TV the best on `TUNING`, the source has .075 for both
RATES = {"EP": (0.075, 0.5), "L1+TV": (0.02, 0.15)}
MILESTONES = {16: (20, 40), 32: (25, 40, 100, 115, 200, 300), 64: (100, 200, 400, 700, 1000)}
STEP = {"EP": D, "L2": D, "L1+TV": 25, "L1": 100, "BCS": 100}  # of a fixed design between two reconstructions, at most
N_DONORS = 5
SEED = 0


def cell(side: int, name: str, method: str, last: int, rates: tuple[float, float] | None = None) -> dict[str, Any]:
    """Return `curve` of the arguments, from its file where it ran before."""
    return kept(f"filters-{side}", curve, side, name.replace("/", "_"), method, last, *(rates or ()))


def curve(side: int, name: str, method: str, last: int, *rates: float) -> dict[str, np.ndarray]:
    """Measure a photograph ``last`` times; the error of its reconstruction along the way.

    Returns
    -------
    dict
        measurements, errors (m,); seconds and iterations of each reconstruction (m,); rows of designed filters;
        for methods with a variance, at the milestones, the share of pixels inside their central 90% band.
    """
    reconstruction, design, first = method.split()
    image = photograph(name.replace("_", "/"), side).ravel()
    noise = np.sqrt(NOISE_VARIANCE) * random(name, "noise").standard_normal(last)
    belief = RECONSTRUCTIONS[reconstruction](side, rates or RATES.get(reconstruction))
    if design in POOLS:
        pool, start = POOLS[design]((side, side)), 0 if int(first) else n_random(side, reconstruction)
        rows = pool(belief) if design == "search" else first_rows(side, name, "uniform", int(first), start)
        return _follow(belief, image, noise, rows, pool)
    if design == "across":
        rows = [cell(side, donor, "EP free 0", last)["rows"] for donor in donors(side, name)]
        runs = [_read(RECONSTRUCTIONS["EP"](side, rates or RATES["EP"]), image, noise, one, 30) for one in rows]
        return runs[0] | {"errors": np.mean([run["errors"] for run in runs], axis=0)}
    rows = first_rows(side, name, design, int(first), last - int(first))
    return _read(belief, image, noise, rows, STEP[reconstruction])


def n_random(side: int, reconstruction: str) -> int:
    """Return how many random filters come before the first designed one; BCS needs more, 100 of 4,096 in the source."""
    return max(N_RANDOM, 100 * side**2 // 4096) if reconstruction == "BCS" else N_RANDOM


def _follow(
    belief: Reconstruction, image: np.ndarray, noise: np.ndarray, rows: np.ndarray, pool: Any
) -> dict[str, Any]:
    """Design filters one batch after the other, ``rows`` first."""
    record, last = _Record(image), len(noise)
    while True:
        m = len(belief.measurements_[1])
        record.learn(belief, rows, rows @ image + noise[m : m + len(rows)])
        m += len(rows)
        if m >= last:
            return record.result(belief) | {"rows": belief.measurements_[0].astype(np.float32)}
        rows = pool(belief)[: next_milestone(len(image), m, last) - m]


def _read(belief: Reconstruction, image: np.ndarray, noise: np.ndarray, rows: np.ndarray, step: int) -> dict[str, Any]:
    """Reconstruct from the first rows of a fixed design, more and more of them."""
    record, rows = _Record(image), np.asarray(rows, dtype=float)
    outcomes = rows @ image + noise[: len(rows)]
    m = min(N_RANDOM, len(rows))
    record.learn(belief, rows[:m], outcomes[:m])
    while m < len(rows):
        end = min(m + step, next_milestone(len(image), m, len(rows)))
        record.learn(belief, rows[m:end], outcomes[m:end])
        m = end
    return record.result(belief)


def next_milestone(pixels: int, m: int, last: int) -> int:
    """Return the next number of measurements that every run visits."""
    return min((k for k in MILESTONES[int(np.sqrt(pixels))] if k > m), default=last) if m < last else last


class _Record:
    """What a run notes after every reconstruction."""

    def __init__(self, image: np.ndarray):
        self.image, self.lines, self.coverage = image, [], []

    def learn(self, belief: Reconstruction, rows: np.ndarray, outcomes: np.ndarray) -> None:
        began = time.process_time()
        belief.learn(rows, outcomes)
        m = len(belief.measurements_[1])
        error = np.linalg.norm(belief.mean - self.image)
        self.lines.append((m, error, time.process_time() - began, belief.n_iter))
        if m in MILESTONES[int(np.sqrt(len(self.image)))] and (variance := belief.pixel_variances()) is not None:
            inside = np.abs(belief.mean - self.image) < 1.6448536 * np.sqrt(variance)
            self.coverage.append((m, inside.mean()))

    def result(self, belief: Reconstruction) -> dict[str, np.ndarray]:
        m, errors, seconds, iterations = np.array(self.lines).T
        coverage = np.array(self.coverage).reshape(-1, 2)
        return {"measurements": m.astype(int), "errors": errors, "seconds": seconds, "iterations": iterations,
                "coverage": coverage, "image": belief.mean.astype(np.float32)}  # fmt: skip


# ------------------------------------------------------------------------------------------------------ reconstructions
class Reconstruction:
    """What is believed of a photograph after some measurements, with what callable pools of filters ask for."""

    n_iter = 0

    def __init__(self, side: int, rates: Any):
        self.shape, self.rates = (side, side), rates
        self.D, self.W = operators(side)
        self.measurements_ = np.empty((0, side * side)), np.empty(0)
        self.posterior: Any = None

    def learn(self, rows: np.ndarray, outcomes: np.ndarray) -> None:
        """Take further measurements into account."""
        X, y = self.measurements_
        self.measurements_ = np.concatenate([X, rows]), np.concatenate([y, outcomes])
        self.posterior = self.solved(*self.measurements_)
        self.n_iter = self.posterior.n_iter

    def solved(self, X: np.ndarray, y: np.ndarray) -> Any:
        """Return the posterior, or the point that stands for it."""
        raise TypeError(f"{type(self).__name__} must define solved(X, y).")

    @property
    def mean(self) -> np.ndarray:
        return self.posterior.mean

    def model(self, X: np.ndarray, y: np.ndarray) -> GLM:
        """Differences of neighbours and wavelet coefficients have Laplace priors."""
        wavelets, differences = (Laplace(np.sqrt(NOISE_VARIANCE) / tau) for tau in self.rates)
        return GLM(X, y, NOISE_VARIANCE, B=[self.D, self.W], potentials=[differences, wavelets])

    def pixel_variances(self) -> np.ndarray | None:
        """Return the variances of the pixels, where there are any."""
        return None


class ExpectationPropagation(Reconstruction):
    """The posterior mean by expectation propagation."""

    def solved(self, X: np.ndarray, y: np.ndarray) -> Any:
        return expectation_propagation(
            self.model(X, y), update="selective", fraction=FRACTION, tol=TOLERANCE, warm_start=self.posterior
        )

    def leading_directions(self, n: int) -> np.ndarray:
        """Directions in which the photograph is most uncertain, (n, pixels)."""
        return self.posterior.leading_directions(n)[1]

    def variances_along(self, operator: Operator) -> np.ndarray:
        """Posterior variances of the coefficients."""
        return self.posterior.variances(operator)

    def pixel_variances(self) -> np.ndarray:
        return self.posterior.variances()


class LaplaceMode(Reconstruction):
    """L1+TV: the mode of the same model."""

    def solved(self, X: np.ndarray, y: np.ndarray) -> Any:
        return laplace_mode(self.model(X, y), tol=1e-4, warm_start=self.posterior)  # four digits of the error


class BasisPursuit(Reconstruction):
    """L1: the fewest absolute wavelet coefficients that explain the measurements exactly."""

    def solved(self, X: np.ndarray, y: np.ndarray) -> Any:
        return basis_pursuit(X, y, B=self.W, warm_start=self.posterior)


class LeastSquares(Reconstruction):
    """L2: the shortest vector that explains the measurements exactly."""

    def solved(self, X: np.ndarray, y: np.ndarray) -> Any:
        return least_squares(X, y, warm_start=self.posterior)


class SparseBayesianLearning(Reconstruction):
    """BCS: every wavelet coefficient has a precision of its own, most of them infinite."""

    def solved(self, X: np.ndarray, y: np.ndarray) -> Any:
        # changes of the evidence below 1e-3 nats cost five times the time and leave the errors as they are
        return sparse_bayesian_learning(X, y, NOISE_VARIANCE, B=self.W, tol=1e-3, warm_start=self.posterior)

    def leading_directions(self, n: int) -> np.ndarray:
        """Leading directions of its own posterior, which knows only the coefficients that it kept."""
        return self.posterior.leading_directions(n)[1]

    def pixel_variances(self) -> np.ndarray:
        return self.posterior.variances()


RECONSTRUCTIONS = {
    "EP": ExpectationPropagation,
    "L1+TV": LaplaceMode,
    "L1": BasisPursuit,
    "L2": LeastSquares,
    "BCS": SparseBayesianLearning,
}


@cache
def operators(side: int) -> tuple[FiniteDifference, Wavelet]:
    """Return differences of neighbours and the wavelets of four taps."""
    return FiniteDifference((side, side)), Wavelet((side, side))


# -------------------------------------------------------------------------------------------------------------- designs
POOLS = {
    "free": lambda shape: filters.LeadingDirections(D),
    "coefficients": lambda shape: filters.UncertainWavelets(shape, D),
    "signs": lambda shape: filters.LeadingSigns(D),
    "search": lambda shape: filters.TreeSearch(shape, 4),
}


def first_rows(side: int, name: str, ensemble: str, n_wavelets: int, n_rows: int) -> np.ndarray:
    """Return ``n_wavelets`` coefficients coarse to fine, then ``n_rows`` rows of an ensemble."""
    shape, seed = (side, side), random(name, ensemble)
    if ensemble == "wavelet":
        return np.asarray(filters.wavelets(shape, n_wavelets + n_rows))
    draw = {
        "uniform": filters.uniform,
        "coloured": filters.coloured,
        "noiselet": filters.noiselets,
        "hadamard": lambda *arguments, random_state: filters.hadamard(*arguments),
    }[ensemble]
    drawn = np.asarray(draw(shape, n_rows, random_state=seed))
    return np.concatenate([np.asarray(filters.wavelets(shape, n_wavelets)), drawn])


def donors(side: int, name: str) -> list[str]:
    """Return five other photographs, drawn at random."""
    known = photographs.SHIPPED if side == 16 else photographs.TEST[: COUNTS[side]]
    others = [one for one in known if one.replace("/", "_") != name]
    return [others[k] for k in random(name, "donors").permutation(len(others))[:N_DONORS]]


COUNTS = {32: 25, 64: 5}  # photographs by side


def random(name: str, purpose: str) -> np.random.Generator:
    """Return the random numbers of a photograph for one purpose, the same in all runs."""
    return np.random.default_rng([SEED, zlib.crc32(name.encode()), zlib.crc32(purpose.encode())])
