"""Is the whole loop honest? The rank of the truth among draws of the posterior, after designed runs.

    theta* ~ prior,   answers ~ p(y | theta*) at settings that the design chooses,   rank = #{draws below theta*}

If prior, answers and posterior belong together the rank is uniform on 0, ..., L, whatever the design asks: what was
chosen depends on the truth through the answers alone. A posterior that is too narrow piles ranks up at both ends, too
wide in the middle, one that is off to a side at one end.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from adaptive import checks
from adaptive.loop.sequential_design import SequentialDesign
from adaptive.pool import PoolExhausted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adaptive.types import Outcomes, Pool, RandomState

    Answer = Callable[[np.ndarray, Pool, np.random.Generator], Outcomes]

__all__ = ["simulation_based_calibration", "uniformity"]

BINS = 10


def simulation_based_calibration(
    design: SequentialDesign,
    n: int,
    *,
    steps: int | None = None,
    draw: Callable[[np.random.Generator], Any] | None = None,
    answer: Answer | None = None,
    posterior: Callable[[Any, int, np.random.Generator], Any] | None = None,
    n_draws: int = 99,
    random_state: RandomState = None,
) -> dict[str, list[Any]]:
    """Run a design n times, each about another truth, and return where the truth stands among draws of the posterior.

    Parameters
    ----------
    design : SequentialDesign without answers
        It is copied for every run, and stays as it is. An estimator with the parameter ``random_state`` gets another
        seed in every run.
    n : int
        Runs; 200 show what matters.
    steps : int, optional
        Questions of a run; None: until the stopping rule of the design holds.
    draw : callable(generator) -> truth (d,), optional
        From the prior; default: the estimator's ``prior_draws``.
    answer : callable(truth, candidates, generator) -> outcomes, optional
        Default: the estimator's ``simulated_outcomes``.
    posterior : callable(estimator, n_draws, generator) -> draws (n_draws, d), optional
        Default: the estimator's ``posterior_draws``.
    n_draws : int, default 99
        Draws, L, of which the truth takes one of 100 ranks.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    dict of lists
        Columns run, parameter (its number), truth, rank (0 ... n_draws), n_draws; one row per run and parameter. Put it
        into `uniformity`, or draw a histogram of the ranks.

    Raises
    ------
    ValueError
        If the design has answers already, has no end, or its estimator cannot draw and none was given.

    References
    ----------
    S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A. Gelman (2018), Validating Bayesian inference algorithms with
    simulation-based calibration.

    Examples
    --------
    The posterior of a mean, under a prior N(0, 1) and noise N(0, 1), by a Gaussian process that is constant.

    >>> from sklearn.gaussian_process.kernels import ConstantKernel
    >>> from adaptive import GaussianProcessRegressor
    >>> constant = GaussianProcessRegressor(ConstantKernel(1.0), alpha=1.0, optimizer=None)
    >>> X = np.zeros((4, 1))
    >>> table = simulation_based_calibration(
    ...     SequentialDesign(constant, X), 40, steps=3, random_state=0,
    ...     draw=lambda rng: rng.standard_normal(1),
    ...     answer=lambda truth, rows, rng: truth + rng.standard_normal(len(rows)),
    ...     posterior=lambda model, k, rng: rng.normal(*np.ravel(model.predict(X[:1], return_std=True)), (k, 1)),
    ... )
    >>> len(table["rank"]), uniformity(table)["p_value"][0] > 0.01
    (40, True)
    """
    n, n_draws = checks.integer("n", n, minimum=1), checks.integer("n_draws", n_draws, minimum=1)
    _check(design, steps)
    draw, answer, posterior = _own(design, draw, answer, posterior)
    streams = np.random.SeedSequence(int(checks.generator(random_state).integers(2**62))).spawn(n)
    table: dict[str, list[Any]] = {name: [] for name in ("run", "parameter", "truth", "rank", "n_draws")}
    for run, stream in enumerate(streams):
        rng = np.random.default_rng(stream)
        truth = np.atleast_1d(np.asarray(draw(rng), dtype=float))
        twin = _fresh(design, int(rng.integers(2**32)))
        _answered(twin, steps, truth, answer, rng)
        draws = np.asarray(posterior(twin.estimator_, n_draws, rng), dtype=float)
        checks.shape("the draws of the posterior", draws, (n_draws, len(truth)))
        below = (draws < truth).sum(axis=0)
        ties = (draws == truth).sum(axis=0)
        ranks = below + rng.integers(0, ties + 1)  # equal draws are broken at random
        for k, (value, rank) in enumerate(zip(truth.tolist(), ranks.tolist(), strict=True)):
            for column, entry in zip(table.values(), (run, k, value, rank, n_draws), strict=True):
                column.append(entry)
    return table


def uniformity(table: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Return, for each parameter, how probable ranks so far from uniform are.

    Parameters
    ----------
    table : what `simulation_based_calibration` returns

    Returns
    -------
    dict of lists
        Columns parameter, n (runs), mean_rank (of 0 ... 1, at best 1/2) and p_value: twice the smaller one of a
        chi-square test over ten bins and a Kolmogorov-Smirnov test, so that 1% of right models are refused at .01.

    Examples
    --------
    >>> even = {"parameter": [0] * 100, "rank": list(range(100)), "n_draws": [99] * 100}
    >>> narrow = even | {"rank": [0, 99] * 50}
    >>> uniformity(even)["p_value"], uniformity(narrow)["p_value"][0] < 1e-10
    ([1.0], True)
    """
    parameters = np.asarray(table["parameter"])
    shares = (np.asarray(table["rank"], dtype=float) + 0.5) / (np.asarray(table["n_draws"], dtype=float) + 1.0)
    found: dict[str, list[Any]] = {name: [] for name in ("parameter", "n", "mean_rank", "p_value")}
    for parameter in np.unique(parameters):
        own = shares[parameters == parameter]
        counts = np.histogram(own, BINS, (0.0, 1.0))[0]
        both = stats.chisquare(counts).pvalue, stats.kstest(own, "uniform").pvalue
        row = int(parameter), len(own), float(own.mean()), float(min(1.0, 2.0 * min(both)))
        for column, value in zip(found.values(), row, strict=True):
            column.append(value)
    return found


def _check(design: Any, steps: int | None) -> None:
    if not isinstance(design, SequentialDesign):
        raise ValueError(f"design must be a SequentialDesign, got {type(design).__name__}.")
    if design.iteration or design.pending:
        raise ValueError(f"design must not have asked anything yet, got one with {design.iteration} answers.")
    if steps is not None:
        checks.integer("steps", steps, minimum=1)
    elif design.stop is None:
        raise ValueError("steps is needed where the design has no stopping rule: a run would not end.")


def _own(design: SequentialDesign, draw: Any, answer: Any, posterior: Any) -> tuple[Any, Any, Any]:
    """Return the value that was given, else the estimator's."""
    estimator: Any = design.estimator_
    stated = {"draw": draw, "answer": answer, "posterior": posterior}
    methods = {"draw": "prior_draws", "answer": "simulated_outcomes", "posterior": "posterior_draws"}
    for name, method in methods.items():
        if stated[name] is None and not hasattr(type(estimator), method):
            raise ValueError(f"{name} must be given: {type(estimator).__name__} has no method {method}.")
    return (
        draw or (lambda rng: estimator.prior_draws(1, rng)[0]),
        answer or (lambda truth, candidates, rng: estimator.simulated_outcomes(truth[None], candidates, rng)[0]),
        posterior or (lambda learnt, k, rng: learnt.posterior_draws(k, rng)),
    )


def _fresh(design: SequentialDesign, seed: int) -> SequentialDesign:
    twin = copy.deepcopy(design)
    estimator = twin.estimator_
    if hasattr(estimator, "get_params") and "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return twin


def _answered(
    twin: SequentialDesign, steps: int | None, truth: np.ndarray, answer: Answer, rng: np.random.Generator
) -> None:
    """Let the design ask, and answer as the truth does, until it is done."""
    while (steps is None or twin.iteration < steps) and not twin.finished:
        try:
            query = twin.ask()
        except PoolExhausted:
            return
        twin.tell(query, answer(truth, query.candidates, rng))
