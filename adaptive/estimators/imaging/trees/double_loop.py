"""The double loop with tree-structured scale mixtures, and its counterpart without variances, the mode.

    y = X u + noise,  s = W u,  P(s, d) a `TreeMixture`;      Q(u) Gaussian, Q(d) a forest, independent

    ln P(y) >= F = n/2 ln 2 pi - 1/2 ln|A| - m/2 ln(2 pi noise) - 1/2 [ |y - X u|^2 / noise + s' diag(pi) s ]
                   - 1/2 sum_j E h(gamma_j) - KL(Q(d) || P(d)),          A = X'X / noise + W' diag(pi) W

where pi is the precision of the Gaussian bounds, expected over the states. The outer loop bounds ln|A| by z' pi, tight
at the variances z of s. The inner loop minimises what is left, smoothed penalised least squares and a tree,

    |y - X u|^2 / noise - 2 sum_j E ln T(r_j) + 2 KL(Q(d) || P(d)),       r_j^2 = z_j + s_j^2,

over u (reweighted least squares) and Q(d) (sum-product) in turn; then it moves the parameters of the prior uphill. No
step lowers F where variances are exact. With z = 0 the same steps find a mode.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, integer, positive
from adaptive.estimators.imaging.trees.forest import ForestBeliefs
from adaptive.estimators.imaging.trees.gaussian_problem import GaussianProblem, gaussian_problem
from adaptive.estimators.imaging.trees.learning import learnt_parameters, starting_parameters
from adaptive.estimators.imaging.trees.mixture import TreeMixture
from adaptive.estimators.imaging.trees.tree_posterior import TreePosterior
from adaptive.gaussians.gaussian_part import LOG_2PI
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.estimators.imaging.trees.coefficients import Coefficients, DirectCoefficients
    from adaptive.types import ArrayLike, DType, RandomState, Rows

__all__ = ["tree_bounds", "tree_mode"]

STARTS = ("data", "prior")
MANY, FEW = 100, 15  # outer steps: a step that divides is cheap, and scales near that of the noise are fitted slowly
_SMOOTHING = 1e-7  # of the mode, in units of the wide state's squared scale
_REDUCTION = 0.1  # of the residual in each least-squares problem


def tree_bounds(
    X: Rows | ArrayLike | None,
    y: ArrayLike | None,
    noise_variance: float,
    prior: TreeMixture,
    *,
    learn: bool = True,
    variances: str | None = None,
    start: str = "data",
    max_iter: int | None = None,
    tol: float = 1e-4,
    random_state: RandomState = None,
    warm_start: TreePosterior | None = None,
    n_samples: int = 30,
    rounds: int = 3,
    inner_steps: int | None = None,
    sample_tol: float = 2e-2,
    dtype: DType = float,
) -> TreePosterior:
    """Gaussian posterior of an image under a tree-structured scale mixture, by the double loop.

    Parameters
    ----------
    X : Operator, matrix or None
        Measurements of images of the wavelet's shape; of complex ones real and imaginary part count. None: nothing was
        measured.
    y : array or None
        Of the operator's output shape, or flat.
    noise_variance : float
        Per real component.
    prior : TreeMixture
    learn : bool, default True
        Maximise the bound over the prior's scales and transition probabilities, too.
    variances : {"exact", "sampled"}, optional
        Exact ones cost a Cholesky factor of all coefficients in each outer step (nothing where X is the identity, which
        is always exact). Default: exact up to 1,024 coefficients.
    start : {"data", "prior"}, default "data"
        Whether the parameters of ``prior`` are first fitted to the coefficients of the image of least norm that
        explains the data, or taken as they are.
    max_iter : int, optional
        Outer steps; default 100 where they are solved directly, else 15 (of the source).
    tol : float, default 1e-4
        Stop when an outer step changes the image by less, relative to its length.
    random_state : None, int or Generator
        Draws the samples.
    warm_start : TreePosterior, optional
        Of fewer measurements of the same image: its states, mean and samples, and the parameters from which to learn.
    n_samples : int, default 30
        Behind sampled variances.
    rounds : int, default 3
        Of least squares and sum-product in each outer step.
    inner_steps : int, optional
        Reweighted least-squares problems in each round, at most; default 10 where they are solved directly, else 3.
    sample_tol : float, default 2e-2
        Relative residual of the samples.
    dtype : {float32, float64}, default float64
        Precision of images that are solved for by products.

    Returns
    -------
    TreePosterior
        ``evidence_kind`` is "lower_bound" with exact variances; ``objective_trace`` is minus that bound, then, and
        never rises. With sampled ones it is what the inner loop minimises, at the variances of each step.

    References
    ----------
    Ko (2017), Applications of approximate learning and inference for probabilistic models, algorithm 3.

    Examples
    --------
    >>> from adaptive.operators import Identity, Wavelet
    >>> prior = TreeMixture.generic(Wavelet((8, 8), "haar"), scale=0.05)
    >>> image = np.repeat([0.2, 0.8], 4)[:, None] * np.ones(8)
    >>> noisy = image + 0.1 * np.random.default_rng(0).standard_normal((8, 8))
    >>> posterior = tree_bounds(Identity((8, 8)), noisy, 0.01, prior, tol=1e-2)
    >>> bool(np.mean((posterior.mean - image.ravel()) ** 2) < 0.5 * np.mean((noisy - image) ** 2))
    True
    """
    problem = gaussian_problem(X, y, noise_variance, prior.wavelet, n_samples, dtype, random_state, warm_start)
    coefficients = problem.coefficients(variances, sample_tol, warm_start)
    max_iter, tol = _stopping(coefficients, max_iter, tol)
    loop = _Loop(problem, coefficients, prior, start, warm_start, learn, rounds, inner_steps)
    change, trace = loop.run(max_iter, tol)
    _warn("tree_bounds", change, tol, len(trace))
    return TreePosterior(
        problem.system.with_sites(loop.pi),
        mean=problem.image(loop.s),
        perturbations=problem.perturbations,
        coefficient_samples=coefficients.samples,
        sample_tol=sample_tol,
        variance_estimates=loop.z,
        prior=loop.prior,
        beliefs=loop.beliefs,
        sites=(loop.pi, np.zeros_like(loop.pi)),
        group_lengths=[problem.system.n],
        log_evidence=-loop.objective if coefficients.exact else np.nan,
        evidence_kind="lower_bound" if coefficients.exact else "none",
        objective_trace=trace,
        n_iter=len(trace),
        n_products=coefficients.n_products,
        converged=change <= tol,
        engine="tree_bounds",
    )


def tree_mode(
    X: Rows | ArrayLike | None,
    y: ArrayLike | None,
    noise_variance: float,
    prior: TreeMixture,
    *,
    learn: bool = False,
    start: str = "data",
    max_iter: int | None = None,
    tol: float = 1e-4,
    rounds: int = 3,
    inner_steps: int = 10,
    dtype: DType = float,
) -> Posterior:
    """The mode of the image under a tree-structured scale mixture: `tree_bounds` with all variances zero.

    Learning parameters at a mode makes them worse, as a rule: what was set to zero looks certain.

    Parameters
    ----------
    X, y, noise_variance, prior, start, max_iter, tol, rounds, inner_steps, dtype
        As in `tree_bounds`.
    learn : bool, default False
        Learn the parameters of the prior.

    Returns
    -------
    Posterior
        A point estimate.

    References
    ----------
    Ko (2017), Applications of approximate learning and inference for probabilistic models, algorithm 3.

    Examples
    --------
    >>> from adaptive.operators import Identity, Wavelet
    >>> prior = TreeMixture.generic(Wavelet((8, 8), "haar"), scale=0.05)
    >>> image = np.repeat([0.2, 0.8], 4)[:, None] * np.ones(8)
    >>> tree_mode(Identity((8, 8)), image, 0.01, prior).mean.shape
    (64,)
    """
    problem = gaussian_problem(X, y, noise_variance, prior.wavelet, 2, dtype, 0, None)
    coefficients = problem.coefficients("sampled", 1.0, None)
    max_iter, tol = _stopping(coefficients, max_iter, tol)
    loop = _Loop(problem, coefficients, prior, start, None, learn, rounds, inner_steps, mode=True)
    change, trace = loop.run(max_iter, tol)
    _warn("tree_mode", change, tol, len(trace))
    return Posterior(
        None,
        mean=problem.image(loop.s),
        sites=(loop.pi, np.zeros_like(loop.pi)),
        group_lengths=[problem.system.n],
        objective_trace=trace,
        n_iter=len(trace),
        n_products=coefficients.n_products,
        converged=change <= tol,
        engine="tree_mode",
    )


class _Loop:
    """Mean and variances of the coefficients, their states and the prior; methods are steps of the double loop."""

    def __init__(
        self,
        problem: GaussianProblem,
        coefficients: DirectCoefficients | Coefficients,
        prior: TreeMixture,
        start: str,
        warm: TreePosterior | None,
        learn: bool,
        rounds: int,
        inner_steps: int | None,
        mode: bool = False,
    ):
        self.problem, self.gaussian, self.learn, self.mode = problem, coefficients, learn, mode
        self.rounds = integer("rounds", rounds, minimum=1)
        steps = (10 if coefficients.direct else 3) if inner_steps is None else inner_steps
        self.inner_steps = integer("inner_steps", steps, minimum=1)
        choice("start", start, STARTS)
        self.objective = np.nan
        if warm is not None:
            self.prior, self.beliefs = warm.prior if learn else prior, warm.beliefs
            self.s, self.z = problem.of_image(warm.mean), np.asarray(warm.variance_estimates)
        else:
            self.s = problem.first_guess()
            self.prior = starting_parameters(prior, self.s) if start == "data" and problem.measured else prior
            self.z = self._smoothing() if mode else self.prior.typical_squares()
            self.beliefs = self._states()
        self._weigh()
        self._measure()

    def run(self, max_iter: int, tol: float) -> tuple[float, list[float]]:
        """Outer steps until the image changes by less than ``tol``; the last change, and the objective after each."""
        trace: list[float] = []
        change = np.inf if max_iter else 0.0
        while len(trace) < max_iter and change > tol:
            before = self.s
            self._step(tol)
            change = _change(self.s, before)
            trace.append(self.objective)
        return change, trace

    def _step(self, tol: float) -> None:
        for _ in range(self.rounds):
            for _ in range(self.inner_steps):
                before = self.s
                self._weigh()
                self.s = self.gaussian.solve(self.s, _REDUCTION)
                if _change(self.s, before) < 0.1 * tol:
                    break
            self.beliefs = self._states()
        if self.learn:
            self.prior = learnt_parameters(self.prior, self._r, self.beliefs)
        self._weigh()
        self._measure()

    def _measure(self) -> None:
        """Mean and variances of the Gaussian with the present precisions, and the objective."""
        gaussian, pi = self.gaussian, self.pi
        if self.mode:
            self.z = self._smoothing()
            self.objective = self._inner_objective()
            return
        r = self._r
        self.s = gaussian.solve(self.s)
        self.z = gaussian.variances()
        if not gaussian.exact:
            self.objective = self._inner_objective()
            return
        n, noise = len(pi), self.problem.system.noise_variance
        value = 0.5 * n * LOG_2PI - 0.5 * gaussian.log_determinant()  # type: ignore[union-attr]  # it is exact
        value -= 0.5 * self.problem.measurements * np.log(2 * np.pi * noise)
        value -= 0.5 * (self.problem.energy - float(gaussian.right @ self.s))  # at the mean, the minimum
        # -h(gamma)/2 of the bounds that touch at r
        value += self.prior.expected_log_density(r, self.beliefs.wide) + 0.5 * float(pi @ r**2)
        self.objective = self.prior.divergence(self.beliefs) - value

    def _inner_objective(self) -> float:
        """Objective of least squares and sum-product."""
        fit = 0.5 * (self.problem.energy + self.gaussian.fit(self.s))
        return fit - self.prior.expected_log_density(self._r, self.beliefs.wide) + self.prior.divergence(self.beliefs)

    def _smoothing(self) -> np.ndarray:
        return (_SMOOTHING * self.prior.wide**2)[self.prior.forest.levels]

    @property
    def _r(self) -> np.ndarray:
        return np.sqrt(self.z + self.s**2)

    def _states(self) -> ForestBeliefs:
        return self.prior.beliefs(self.prior.log_potentials(self._r))

    def _weigh(self) -> None:
        self.pi = self.prior.precisions(self._r, self.beliefs.wide)
        self.gaussian.weigh(self.pi)


def _stopping(coefficients: DirectCoefficients | Coefficients, max_iter: int | None, tol: float) -> tuple[int, float]:
    steps = (MANY if coefficients.direct else FEW) if max_iter is None else max_iter
    return integer("max_iter", steps, minimum=0), float(positive("tol", tol, or_zero=True))


def _change(new: np.ndarray, old: np.ndarray) -> float:
    return float(np.linalg.norm(new - old)) / max(float(np.linalg.norm(new)), np.finfo(float).tiny)


def _warn(name: str, change: float, tol: float, steps: int) -> None:
    if change > tol:
        warnings.warn(
            f"{name} has not converged after {steps} outer steps: the image still changes by {change:.1e} (tol "
            f"{tol:.1e}); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
