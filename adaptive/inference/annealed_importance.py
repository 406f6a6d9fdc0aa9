"""Annealed importance sampling: the evidence and the posterior's moments to any accuracy, for time.

    P_tau(u) ~ base(u) prod_j site_j(s_j)^(1 - tau) T_j(s_j)^tau,    tau_0 = 0 < ... < tau_T = 1,
    ln Z_run = ln Z_0 + sum_t (tau_t - tau_{t-1}) r(u_t),    r(u) = sum_j [ ln T_j(s_j) - ln site_j(s_j) ],

u_t moved by steps that leave P_{tau_{t-1}} unchanged. The mean of Z_run over runs is unbiased for Z. Without sites runs
start from the Gaussian part of the model; from an approximation's sites, r varies less and so does Z_run.

Thermodynamic integration takes the same runs as ln Z = ln Z_0 + int_0^1 E_tau[r] dtau, by the trapezoid rule with its
correction, since dE/dtau = Var_tau[r].
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, generator, integer, positive
from adaptive.gaussians.empirical_form import EmpiricalForm
from adaptive.inference.dense.elliptical_slice import elliptical_slice
from adaptive.inference.dense.hamiltonian import hamiltonian
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.linalg.matrices import covariance_root, dense

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["annealed_importance"]

_BLOCKS = 20  # of temperatures that share a step size
_PILOTS = 10  # chains that step sizes are tuned on
_TRIALS = 20  # moves by which the step size of a block is tuned
_LONGEST_STEP, _START_STEP = 1.0, 0.5


def annealed_importance(
    model: GLM,
    *,
    n_runs: int = 100,
    n_samples: int = 10,
    estimator: str = "annealed",
    moves: str = "auto",
    n_moves: int = 1,
    max_iter: int = 400,
    tol: float = 0.0,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """Evidence, mean and covariance by annealed importance sampling or thermodynamic integration.

    Parameters
    ----------
    model : GLM
        Its Gaussian part (with the sites of ``warm_start``) must determine the latent. Any potential.
    n_runs : int, default 100
        Independent runs through all temperatures, all at once.
    n_samples : int, default 10
        Draws of the posterior per run, one move apart, after the last temperature.
    estimator : {"annealed", "thermodynamic"}
        How the evidence is computed from the runs.
    moves : {"auto", "hamiltonian", "slice"}
        Hamiltonian Monte Carlo, or elliptical slice sampling; "auto": the latter where a potential has a kink or an
        edge.
    n_moves : int, default 1
        Per temperature.
    max_iter : int, default 400
        Temperatures.
    tol : float, default 0
        Standard error of the log evidence, in nats, that is enough: it warns where this is missed. 0 asks for none.
    random_state : None, int, Generator or RandomState
    warm_start : Posterior, optional
        Its sites are where runs start (expectation propagation's are good ones); None: the Gaussian part alone.
    form : {"precision", "covariance"}, optional
        Representation of the Gaussian that runs start from.

    Returns
    -------
    Posterior
        Of weighted draws. ``log_evidence_std`` is its standard error, ``evidence_kind`` "approximation";
        ``objective_trace`` has minus the mean of r at each temperature.

    Warns
    -----
    ConvergenceWarning
        Where the effective number of runs is below a tenth of them, or ``tol`` is missed.

    References
    ----------
    Neal (2001), Annealed importance sampling; Friel, Hurn and Wyse (2014), Improving power posterior estimation of
    statistical evidence; Nickisch (2010), section 4.10.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliLogit
    >>> model = GLM(B=[[1.0], [1.0]], potentials=BernoulliLogit([1, 1]), prior_covariance=4.0)
    >>> posterior = annealed_importance(model, max_iter=100, random_state=0)
    >>> bool(abs(posterior.log_evidence - np.log(0.3486)) < 4 * posterior.log_evidence_std)
    True
    """
    n_runs, n_samples = integer("n_runs", n_runs, minimum=2), integer("n_samples", n_samples, minimum=1)
    n_moves, steps = integer("n_moves", n_moves, minimum=1), integer("max_iter", max_iter, minimum=1)
    choice("estimator", estimator, ("annealed", "thermodynamic"))
    choice("moves", moves, ("auto", "hamiltonian", "slice"))
    tol, rng = float(positive("tol", tol, or_zero=True)), generator(random_state)
    problem = DenseProblem(model, "annealed_importance", warm_start, form)
    if problem.size == 0:
        return problem.exact()
    chains = _Chains(problem, moves, n_moves)
    temperatures = np.linspace(0.0, 1.0, steps + 1)
    if problem.warm_sites is None:  # r changes most where the prior begins to feel the potentials
        temperatures = temperatures**4
    chains.tune(temperatures, rng)
    runs = chains.anneal(temperatures, n_runs, rng)
    log_evidence, std, weights = _evidence(runs, temperatures, chains.log_start, estimator)
    effective = 1.0 / float(weights @ weights)
    draws = np.concatenate(chains.draw(runs.w, n_samples, rng))
    posterior = Posterior(
        EmpiricalForm(draws, np.tile(weights / n_samples, n_samples)),
        sites=(chains.pi, chains.nu),
        group_lengths=model.group_lengths,
        log_evidence=log_evidence,
        log_evidence_std=std,
        evidence_kind="approximation",
        objective_trace=-runs.ratios.mean(axis=1),
        n_iter=steps,
        converged=effective >= n_runs / 10 and (tol == 0 or std <= tol),
        engine="annealed_importance",
    )
    if not posterior.converged:
        warnings.warn(
            f"annealed_importance: {effective:.1f} of {n_runs} runs carry the weight and the standard error of the log "
            f"evidence is {std:.2g}; raise max_iter, n_moves or n_runs, or start from an approximation (warm_start).",
            ConvergenceWarning,
            stacklevel=2,
        )
    return posterior


@dataclass(frozen=True)
class _Runs:
    """End points of the runs (runs, r), and r before every change of temperature (steps, runs)."""

    w: np.ndarray
    ratios: np.ndarray


class _Chains:
    """Chains in coordinates w in which the starting Gaussian is N(0, I): u = mean + root w, s = s0 + G w."""

    def __init__(self, problem: DenseProblem, moves: str, n_moves: int):
        zero = np.zeros(problem.size)
        sites = (zero, zero) if problem.warm_sites is None else problem.warm_sites
        self.pi: np.ndarray = sites[0]
        self.nu: np.ndarray = sites[1]
        if problem.warm_sites is None and not problem.gaussian.determined:
            raise ValueError(
                "annealed_importance starts from the Gaussian part of the model, which must determine every unknown; "
                "give prior_covariance, or start from an approximation (warm_start)."
            )
        problem.refit(self.pi, self.nu)
        gaussian, rows = problem.gaussian, problem.rows
        self.s0 = np.array(gaussian.projections)
        self.log_start = float(gaussian.log_volume + self.nu @ self.s0 - 0.5 * self.pi @ self.s0**2)
        self.mean, self.latent = gaussian.mean, None
        if problem.size < problem.model.n:  # the chains move the projections; the latent follows at the end
            covariance = gaussian.project_covariance(rows, rows)
            self.G = covariance_root(covariance)
            inverse = np.linalg.pinv(self.G)
            pull = gaussian.project_covariance(None, rows) @ inverse.T
            self.root, self.latent = pull, covariance_root(gaussian.project_covariance(None, None) - pull @ pull.T)
        else:
            self.root = covariance_root(gaussian.project_covariance(None, None))
            self.G = dense(rows @ self.root)
        self.potential, self.n_moves = problem.potential, n_moves
        smooth = bool(np.all(self.potential.smooth))
        self.hamiltonian = moves == "hamiltonian" or (moves == "auto" and smooth)
        self.steps = np.full(_BLOCKS, _START_STEP)

    def ratio(self, w: np.ndarray) -> np.ndarray:
        """r, (chains,)."""
        s = self.s0 + w @ self.G.T
        return np.sum(self.potential.log_density(s) - s * (self.nu - 0.5 * self.pi * s), axis=-1)

    def slope(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """r and its gradient in w."""
        s = self.s0 + w @ self.G.T
        first = self.potential.derivatives(s)[0] - (self.nu - self.pi * s)
        value = np.sum(self.potential.log_density(s) - s * (self.nu - 0.5 * self.pi * s), axis=-1)
        return value, first @ self.G

    def move(self, w: np.ndarray, temperature: float, block: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """``n_moves`` moves at a temperature; the chains, and the share of moves accepted."""
        accepted = 1.0
        for _ in range(self.n_moves):
            if self.hamiltonian:
                w, accepted = hamiltonian(w, self.slope, temperature, self.steps[block], rng)
            else:
                w = elliptical_slice(w, self.ratio, temperature, rng)
        return w, accepted

    def tune(self, temperatures: np.ndarray, rng: np.random.Generator) -> None:
        """Step sizes per block of temperatures, on chains of their own: tuning within a weighted run biases Z."""
        if not self.hamiltonian:
            return
        w = rng.standard_normal((_PILOTS, self.G.shape[1]))
        parts = np.array_split(temperatures[1:], _BLOCKS)
        for block, part in enumerate(parts):
            self.steps[block:] = self.steps[max(block - 1, 0)]
            for temperature in np.repeat(part[len(part) // 2 :][:1] if len(part) else temperatures[-1:], _TRIALS):
                w, accepted = self.move(w, float(temperature), block, rng)
                if accepted > 0.9:
                    self.steps[block] = min(1.1 * self.steps[block], _LONGEST_STEP)
                elif accepted < 0.6:
                    self.steps[block] *= 0.8

    def anneal(self, temperatures: np.ndarray, n_runs: int, rng: np.random.Generator) -> _Runs:
        """Weigh, then move, at every temperature."""
        w = rng.standard_normal((n_runs, self.G.shape[1]))
        steps = len(temperatures) - 1
        ratios = np.empty((steps + 1, n_runs))
        for t in range(steps + 1):
            if t:
                w, _ = self.move(w, float(temperatures[t]), min((t - 1) * _BLOCKS // steps, _BLOCKS - 1), rng)
            ratios[t] = self.ratio(w)
        return _Runs(w, ratios)

    def draw(self, w: np.ndarray, n_samples: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Draws of the latent, (runs, n) each, a move apart."""
        found = []
        for k in range(n_samples):
            if k:
                w, _ = self.move(w, 1.0, _BLOCKS - 1, rng)
            u = self.mean + w @ self.root.T
            if self.latent is not None:
                u = u + rng.standard_normal((len(u), self.latent.shape[1])) @ self.latent.T
            found.append(u)
        return found


def _evidence(
    runs: _Runs, temperatures: np.ndarray, log_start: float, estimator: str
) -> tuple[float, float, np.ndarray]:
    """Log evidence, its standard error, and the weights of the runs."""
    change, n_runs = np.diff(temperatures), runs.ratios.shape[1]
    with np.errstate(invalid="ignore"):
        log_z = np.nan_to_num(change @ runs.ratios[:-1], nan=-np.inf, neginf=-np.inf)
    if not np.isfinite(log_z).any():
        raise ValueError(
            "annealed_importance: no run stayed in the support of the potentials; start from an approximation."
        )
    total = logsumexp(log_z)
    weights = np.exp(log_z - total)
    if estimator == "annealed":
        spread = np.sqrt(max(n_runs * float(weights @ weights) - 1.0, 0.0) / (n_runs - 1))
        return log_start + total - np.log(n_runs), float(spread), weights
    variance = runs.ratios.var(axis=1, ddof=1)
    single = change @ (0.5 * (runs.ratios[1:] + runs.ratios[:-1]))
    corrected = single - np.sum(change**2 * np.diff(variance)) / 12
    return log_start + float(corrected.mean()), float(corrected.std(ddof=1) / np.sqrt(n_runs)), weights
