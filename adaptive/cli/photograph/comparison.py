"""A picture through a single-pixel detector: designed filters beside three designs that look at nothing.

After every three measurements the posterior says which three filters to show next. The others: wavelet coefficients
from coarse to fine, reconstructed by least squares and by expectation propagation, and random filters with total
variation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from adaptive.cli.job import design_in
from adaptive.estimators import ImageReconstructor
from adaptive.inference import GLM
from adaptive.inference.classic import laplace_mode, least_squares
from adaptive.loop import SequentialDesign
from adaptive.operators import FiniteDifference, Wavelet
from adaptive.potentials import Laplace
from designs import filters

__all__ = ["BASELINES", "DESIGNED", "N_RANDOM", "Run", "Settings", "compare"]

NOISE_VARIANCE = 0.005  # of every measurement with a filter of norm one; grey values are in [0, 1]
SCALE = 0.943  # of wavelets and differences in L1 + TV: noise sd / .075, the best in the literature
N_RANDOM = 10  # filters before the first designed ones
AT_A_TIME = 3
DESIGNED = "designed filters"
BASELINES = {
    "coarse to fine": "wavelet coefficients, coarse to fine; least squares",
    "coarse to fine, EP": "the same coefficients; expectation propagation",
    "random, L1 + TV": "random filters; sparse wavelets and differences",
}


@dataclass(frozen=True)
class Settings:
    """Plan of what is measured how often.

    Attributes
    ----------
    size, measurements : int
    noise_variance : float
    seed : int
        Of the first random filters and of the noise.
    """

    size: int = 32
    measurements: int = 200
    noise_variance: float = NOISE_VARIANCE
    seed: int = 0

    def milestones(self) -> np.ndarray:
        """Numbers of measurements at which all designs are compared."""
        return np.unique(np.linspace(N_RANDOM, self.measurements, 9).round().astype(int))


@dataclass
class Run:
    """One way to measure, and what came of it.

    Attributes
    ----------
    measurements, errors : list
        |image - picture| after so many measurements.
    image, std : array
        The last reconstruction; its pixels' standard deviations where there are any.
    rows : array
        The filters, in order.
    """

    measurements: list[int] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    image: Any = None
    std: Any = None
    rows: Any = None

    def note(self, count: int, image: np.ndarray, truth: np.ndarray) -> None:
        """Keep a reconstruction."""
        self.image = image.reshape(truth.shape)
        self.measurements.append(int(count))
        self.errors.append(float(np.linalg.norm(self.image - truth)))


def compare(truth: np.ndarray, settings: Settings, log: Path, report: Callable[[str, float], None]) -> dict[str, Run]:
    """Measure a picture with designed filters, going on from their log, and with the others.

    Parameters
    ----------
    truth : (size, size) array in [0, 1]
    settings : Settings
    log : Path
    report : callable(design, share done)

    Returns
    -------
    dict of name -> Run
    """
    noise = np.sqrt(settings.noise_variance) * np.random.default_rng(settings.seed).standard_normal(
        settings.measurements
    )
    runs = {DESIGNED: _designed(truth, settings, noise, log, lambda share: report(DESIGNED, share))}
    order = np.asarray(filters.wavelets(truth.shape, settings.measurements))
    random = filters.uniform(truth.shape, settings.measurements, random_state=settings.seed)
    for name, rows, solver in (
        ("coarse to fine", order, _least_squares),
        ("coarse to fine, EP", order, _propagation(settings)),
        ("random, L1 + TV", random, _total_variation(truth.shape, settings)),
    ):
        runs[name] = run = Run(rows=rows)
        outcomes = rows @ truth.ravel() + noise
        for k, count in enumerate(milestones := settings.milestones()):
            run.note(count, solver(rows[:count], outcomes[:count]), truth)
            report(name, (k + 1) / len(milestones))
    return runs


def _designed(
    truth: np.ndarray, settings: Settings, noise: np.ndarray, log: Path, report: Callable[[float], None]
) -> Run:
    """A few random filters, then three at a time those along which least is known."""
    run, last = Run(), settings.measurements
    first = filters.uniform(truth.shape, min(N_RANDOM, last), random_state=settings.seed)
    model = _model(settings).fit(first, first @ truth.ravel() + noise[: len(first)])
    run.note(len(first), model.image_, truth)

    def learnt(_: SequentialDesign, event: dict[str, Any]) -> None:
        if event["event"] == "tell":
            run.note(run.measurements[-1] + len(event["rows"]), design.estimator_.image_, truth)
            report(run.measurements[-1] / last)

    pool = filters.LeadingDirections(AT_A_TIME)
    design = design_in(log, model, pool, random_state=settings.seed, callbacks=[learnt])
    if design.iteration:
        _relearn(design, model, truth, run)
    with design:
        while run.measurements[-1] < last:
            query = design.ask(min(AT_A_TIME, last - run.measurements[-1]))
            at = slice(run.measurements[-1], run.measurements[-1] + len(query))
            design.tell(query, np.asarray(query.candidates) @ truth.ravel() + noise[at])
        run.rows, run.std = design.estimator_.measurements_[0], design.estimator_.image_std_
    return run


def _relearn(design: SequentialDesign, model: ImageReconstructor, truth: np.ndarray, run: Run) -> None:
    """Note what a run that was stopped had reconstructed after each of its answers."""
    known = run.measurements[-1]
    rows, outcomes = design.estimator_.measurements_
    history = design.history_["step"]
    again = clone(model).fit(rows[:known], outcomes[:known])
    for step in dict.fromkeys(history):
        n = history.count(step)
        again.partial_fit(rows[known : known + n], outcomes[known : known + n])
        known += n
        run.note(known, again.image_, truth)


def _model(settings: Settings) -> ImageReconstructor:
    return ImageReconstructor(
        (settings.size, settings.size), noise_variance=settings.noise_variance, inference="expectation_propagation"
    )


def _least_squares(rows: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    return least_squares(rows, outcomes).mean


def _propagation(settings: Settings) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    model = _model(settings)

    def solve(rows: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        known = len(model.measurements_[1])
        return model.partial_fit(rows[known:], outcomes[known:]).image_

    return solve


def _total_variation(shape: tuple[int, ...], settings: Settings) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    B = [Wavelet(shape, "db2"), FiniteDifference(shape)]

    def solve(rows: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        noise = settings.noise_variance
        return laplace_mode(GLM(rows, outcomes, noise, B=B, potentials=[Laplace(SCALE)] * 2)).mean

    return solve
