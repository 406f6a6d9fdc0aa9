"""Belief about numbers:  y = f(x) + noise,  f ~ GP(m, k);  several outputs share kernel and noise.

Inside, outcomes are (y - shift) / scale, which is y itself unless they are to be normalised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from adaptive import checks
from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.gaussian_process.latent_process import LatentProcess
from adaptive.estimators.gaussian_process.low_rank import white_noise
from adaptive.estimators.gaussian_process.process_belief import (
    ProcessBelief,
    evidence_state,
    inferred,
    learnt,
    prior_process,
    restored,
)
from adaptive.estimators.gaussian_process.settings import HYPERPARAMETERS, REACH, ProcessSettings
from adaptive.estimators.rows.leave_one_out import LeaveOneOut
from adaptive.estimators.rows.training import Rows
from adaptive.estimators.searches import due
from adaptive.means import as_mean
from adaptive.potentials import Gaussian, Laplace, Logistic, StudentT
from adaptive.predictive import GaussianProjections

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.inference import Posterior
    from adaptive.potentials import LocationDensity, Potential
    from adaptive.types import Inputs, Number, RandomState, State

__all__ = ["RegressorBelief", "RegressorSettings"]

NO_NOISE = 1e-9  # of ``alpha``: not more than what keeps a matrix regular
NOISE, NOISES = 0.3, (1e-6, 3.0)  # variance at the start, of outcomes of variance 1, and where it is looked for
FEW = 50  # rows for which an exact search costs milliseconds
DEFAULT_INFERENCE = {
    "gaussian": "expectation_propagation",  # exact, whatever the engine
    "logistic": "expectation_propagation",
    "laplace": "expectation_propagation",
    "student_t": "laplace_approximation",
}
OF_SCALE: dict[str, Callable[[float], LocationDensity]] = {  # noises that have no other parameter
    "logistic": Logistic,
    "laplace": Laplace,
}


@dataclass(frozen=True, eq=False)
class RegressorSettings(ProcessSettings):
    """Parameters of :class:`~adaptive.GaussianProcessRegressor`, under the same names."""

    likelihood: str = "gaussian"
    likelihood_scale: float | None = None
    df: float = 4.0
    inference: str | Callable[..., Posterior] | None = None
    alpha: Number = 1e-10
    normalize_y: bool | str = "auto"
    n_targets: int | None = None
    max_iter: int = 200
    hyperparameters: str = "auto"

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        checks.choice("hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        checks.choice("likelihood", self.likelihood, DEFAULT_INFERENCE)
        if isinstance(self.normalize_y, str):
            checks.choice("normalize_y", self.normalize_y, ("auto",))
        checks.positive("alpha", self.alpha, or_zero=True)
        checks.positive("df", self.df)
        checks.integer("max_iter", self.max_iter, minimum=1)
        self.check_engine()
        if self.likelihood_scale is not None:
            checks.positive("likelihood_scale", self.likelihood_scale)

    @property
    def learns_noise(self) -> bool:
        """True where neither kernel nor noise was given: Gaussian noise is then a part of the kernel, and learnt."""
        return (
            self.chooses_kernel and self.likelihood == "gaussian" and bool(np.all(np.asarray(self.alpha) <= NO_NOISE))
        )

    @property
    def normalizes(self) -> bool:
        """True where outcomes are taken in units of their own: asked for, or no kernel and no noise given."""
        if isinstance(self.normalize_y, str):
            return self.chooses_kernel and (self.learns_noise or self.likelihood != "gaussian")
        return bool(self.normalize_y)

    def chosen_kernel(self, length: float) -> Kernel:
        """A height of one deviation, a length about a typical distance of the rows, and noise."""
        smooth = ConstantKernel(1.0, (1e-2, 1e2)) * RBF(length, (length / REACH, length * REACH))
        return smooth + WhiteKernel(NOISE, NOISES) if self.learns_noise else smooth

    def units(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shift and scale of every output."""
        if not self.normalizes:
            return np.zeros(y.shape[1:]), np.ones(y.shape[1:])
        deviation = y.std(axis=0)
        return y.mean(axis=0), np.where(deviation > 0, deviation, 1.0)

    def problem(self, X: Inputs, y: np.ndarray, unit: float) -> Evidence:
        """The evidence of normalised outcomes, before any fit; ``unit`` is what y was divided by."""
        columns = y[:, None] if y.ndim == 1 else y
        log_scale, nugget = None, np.asarray(self.alpha, dtype=float)
        if nugget.ndim and nugget.shape != (len(y),):
            raise ValueError(f"alpha must be a number or have one entry per row ({len(y)}), got shape {nugget.shape}.")
        outputs: list[Callable[[float], Potential]]
        if self.likelihood == "gaussian":
            outputs = [partial(_gaussian, nugget, column) for column in columns.T]
            nugget = np.zeros(())
        else:
            given = self.likelihood_scale
            scale = None if given is None else float(checks.positive("likelihood_scale", given)) / unit
            if given is None:
                log_scale = float(np.log(0.3 * float(np.std(columns)) or 1.0))
            outputs = [partial(_robust, self.likelihood, self.df, scale, column) for column in columns.T]
        name = self.inference if self.inference is not None else DEFAULT_INFERENCE[self.likelihood]
        return Evidence(
            self.start_kernel(X),
            as_mean(self.mean).prepared(X),
            X,
            outputs,
            self.engine(name, self.max_iter),
            log_scale=log_scale,
            nugget=nugget,
            low_rank=self.approximation(),
        )


@dataclass(frozen=True, eq=False)
class RegressorBelief(ProcessBelief):
    """One process per output, of one evidence; `ProcessBelief` says the rest.

    Attributes
    ----------
    shift, scale : () or (outputs,) arrays
        Units of the outcomes.
    """

    settings: RegressorSettings
    data: Rows | None
    shift: np.ndarray
    scale: np.ndarray

    @classmethod
    def learnt(cls, settings: RegressorSettings, data: Rows, earlier: RegressorBelief | None = None) -> RegressorBelief:
        """Learn hyper-parameters: from those of an ``earlier`` belief and, where that is due, as without it."""
        y, rows = data.y, len(data)
        shift, scale = settings.units(y)
        start, near = settings.problem(data.X, (y - shift) / scale, float(np.mean(scale))), None
        if earlier is not None:
            near = start.at(earlier.evidence.theta)
            near.warm = None if settings.normalizes else earlier.evidence.warm
        again = True
        if earlier is not None:
            cheap = settings.likelihood == "gaussian" and rows <= FEW
            again = len(start.theta) > 0 and (cheap or _due(earlier, data))
            rows = rows if again else earlier.learnt_rows
        evidence, processes = learnt(settings, start, near, again)
        return cls(settings, data, [evidence], processes, rows, shift, scale)

    @staticmethod
    def problems(settings: RegressorSettings, data: Rows) -> list[Evidence]:
        """The evidence of all outputs, before any fit."""
        shift, scale = settings.units(data.y)
        return [settings.problem(data.X, (data.y - shift) / scale, float(np.mean(scale)))]

    @classmethod
    def at_node(
        cls, settings: RegressorSettings, data: Rows, theta: np.ndarray, near: RegressorBelief | None
    ) -> RegressorBelief:
        """The belief at these hyper-parameters, warm from one ``near``."""
        evidence = cls.problems(settings, data)[0].at(theta)
        if near is not None and not settings.normalizes:
            evidence.warm = near.evidence.warm
        evidence, processes = inferred(settings, evidence, False)
        return cls(settings, data, [evidence], processes, len(data), *settings.units(data.y))

    @classmethod
    def prior(cls, settings: RegressorSettings, X: Inputs) -> RegressorBelief:
        """The belief before any fit."""
        processes = [prior_process(settings, X)] * (settings.n_targets or 1)
        return cls(settings, None, [], processes, 0, np.zeros(()), np.ones(()))

    @property
    def evidence(self) -> Evidence:
        """The evidence of all outputs."""
        return self.evidences[0]

    @property
    def n_iter(self) -> int:
        """Iterations of the longest inference; at least 1, as scikit-learn wants it."""
        return max(1, super().n_iter)

    # -- what is believed --------------------------------------------------------------------------------------------

    def by_output(self) -> list[tuple[LatentProcess, float, float]]:
        """Every output's process, shift and scale."""
        shift, scale = (np.broadcast_to(units, (len(self.processes),)) for units in (self.shift, self.scale))
        return list(zip(self.processes, shift, scale, strict=True))

    def stacked(self, parts: list[np.ndarray]) -> np.ndarray:
        """One array of what every output has: outputs last, where there may be several."""
        several = len(parts) > 1 or (self.data is not None and self.data.y.ndim > 1)
        return np.stack(parts, axis=-1) if several else parts[0]

    def moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the function, (m,) or (m, outputs), in units of y."""
        outputs = self.by_output()
        moments = [process.moments(X) for process, _, _ in outputs]
        means = [a + b * mean for (_, a, b), (mean, _) in zip(outputs, moments, strict=True)]
        return self.stacked(means), self.stacked([b**2 * v for (_, _, b), (_, v) in zip(outputs, moments, strict=True)])

    def covariance(self, X: Inputs) -> np.ndarray:
        """Covariance of the function, (m, m) or (m, m, outputs)."""
        return self.stacked([b**2 * process.covariance(X, X) for process, _, b in self.by_output()])

    def log_predictive(self, X: Inputs, y: np.ndarray) -> np.ndarray:
        """(m,) natural-log predictive densities of outcomes, added over outputs."""
        columns = y[:, None] if y.ndim == 1 else y
        total = np.zeros(len(columns))
        for column, (process, shift, scale) in zip(columns.T, self.by_output(), strict=True):
            mean, variance = process.moments(X)
            white = white_noise(process.kernel, X)
            if self.settings.likelihood == "gaussian":
                variance = np.maximum(variance - white, 0.0)
            potential = self._family(white).observe((column - shift) / scale)
            total += potential.tilted_moments(mean, np.maximum(variance, 1e-300))[0] - np.log(scale)
        return total

    @classmethod
    def prior_predictive(
        cls, settings: RegressorSettings, X: Inputs, *, target: Inputs | None = None, random_state: RandomState = None
    ) -> GaussianProjections:
        """The predictive of the prior."""
        return cls.prior(settings, X).predictive(X, target=target, random_state=random_state)

    def predictive(
        self, X: Inputs, *, target: Inputs | None = None, random_state: RandomState = None
    ) -> GaussianProjections:
        """Jointly Gaussian values of the function, in units of y, and the noise; of one output only."""
        if len(self.processes) > 1:
            raise ValueError(f"predictive needs one output, got {len(self.processes)}.")
        shift, scale = float(np.mean(self.shift)), float(np.mean(self.scale))
        white = white_noise(self.processes[0].kernel, X)
        inner = replace(self.processes[0], noise=white)
        process = _Scaled(inner.kernel, inner.mean, inner.X, inner.posterior, white, inner, shift, scale)
        family = _rescaled(self._family(white), scale)
        return process.predictive(X, family, target=target, random_state=random_state)

    def _family(self, white: float) -> LocationDensity:
        """The family of the noise, in normalised units; ``white`` is the kernel's own."""
        settings, scale = self.settings, 1.0
        if settings.likelihood == "gaussian":
            return Gaussian(max(float(np.mean(settings.alpha)) + white, 1e-300))
        if settings.likelihood_scale is not None:
            scale = float(settings.likelihood_scale) / float(np.mean(self.scale))
        elif self.evidences:
            scale = self.evidence.scale
        return _noise(settings.likelihood, settings.df, scale)

    @property
    def left_out(self) -> LeaveOneOut | None:
        """Log densities of the training rows without themselves, in units of y."""
        found = super().left_out
        return found and LeaveOneOut(None, found.log_score - float(np.sum(np.log(self.scale))))

    @property
    def likelihood_scale(self) -> float | None:
        """Scale of the noise in units of y; None for Gaussian noise."""
        if self.settings.likelihood == "gaussian" or self.settings.likelihood_scale is not None:
            return self.settings.likelihood_scale
        return self.evidence.scale * float(np.mean(self.scale))

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "shift": np.asarray(self.shift),
            "scale": np.asarray(self.scale),
            "learnt_rows": self.learnt_rows,
            **evidence_state(self.evidence, self.processes),
        }

    @classmethod
    def from_state(cls, settings: RegressorSettings, data: Rows, state: State) -> RegressorBelief:
        """The belief that ``state`` described."""
        shift, scale = np.asarray(state["shift"]), np.asarray(state["scale"])
        problem = settings.problem(data.X, (data.y - shift) / scale, float(np.mean(scale)))
        evidence, processes = restored(problem, state)
        return cls(settings, data, [evidence], processes, int(state["learnt_rows"]), shift, scale)


@dataclass(frozen=True)
class _Scaled(LatentProcess):
    """The function in units of y: shift + scale f, without the noise that the kernel adds to observations."""

    process: Any = None
    shift: float = 0.0
    scale: float = 1.0

    def moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = self.process.moments(X)
        return self.shift + self.scale * mean, self.scale**2 * variance

    def covariance(self, X: Inputs, Z: Inputs) -> np.ndarray:
        return self.scale**2 * self.process.covariance(X, Z)


def _due(earlier: RegressorBelief, data: Rows) -> bool:
    """True where hyper-parameters are to be sought from the start again."""
    assert earlier.data is not None
    first = len(earlier.data)
    said = None if len(earlier.processes) > 1 else (lambda: earlier.predictive(data.X[first:]))
    return due(len(data), earlier.learnt_rows, said, data.y[first:])


def _noise(name: str, df: float, scale: float) -> LocationDensity:
    return StudentT(df, scale) if name == "student_t" else OF_SCALE[name](scale)


def _rescaled(family: LocationDensity, scale: float) -> Potential:
    """The same noise in other units."""
    if isinstance(family, Gaussian):
        return Gaussian(family.variance * scale**2)
    return family._with(scale=family.parameters["scale"] * scale)


def _gaussian(variance: np.ndarray, y: np.ndarray, scale: float) -> Gaussian:
    """Gaussian potentials of the observations; their noise is no hyper-parameter."""
    return Gaussian(np.maximum(np.broadcast_to(variance, y.shape), 1e-12), y)


def _robust(name: str, df: float, given: float | None, y: np.ndarray, scale: float) -> Potential:
    return _noise(name, df, scale if given is None else given).observe(y)
