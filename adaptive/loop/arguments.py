"""The arguments of a design that need more than one line of checking."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Sized
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import ClassifierMixin

from adaptive import checks
from adaptive import pool as pools
from adaptive.estimators.rows.scales import warn_of_scales
from adaptive.estimators.rows.tables import refuse_unknown
from adaptive.estimators.views.classifier_view import wrap
from adaptive.loop.candidates import candidates_of
from adaptive.scorers import record_of
from adaptive.selection.arguments import written_out

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Classifier, Cost, Estimator, Mask, Pool

    CheckedCost: TypeAlias = np.ndarray | Callable[..., ArrayLike] | None

__all__ = [
    "at_present",
    "check_batch_size",
    "check_cost",
    "check_exploration",
    "check_initial",
    "check_mask",
    "check_positions",
    "check_worker",
    "costs_of",
    "of_worker",
    "permitted",
    "starting_point",
    "warn_of_length",
]

EXPLORATION = 0.15  # on sixteen tables no set ended certainly worse than by random rows (hyper-findings)
LARGE = 1000  # candidates that nobody means to measure all, without saying so


def starting_point(
    estimator: Estimator | Classifier, candidates: Pool | Callable[[Any], Pool], mask: ArrayLike | None
) -> Any:
    """Return a copy of the estimator that the loop can drive, acquainted with its pool, unless that is a callable.

    What a mask leaves out may be anything.

    Raises
    ------
    ValueError
        If it cannot be driven, or the pool holds what it does not take.
    """
    origin = copy.deepcopy(wrap(estimator))
    if not candidates_of(candidates).fixed:
        return origin
    if hasattr(origin, "prepare"):
        return origin.prepare(candidates)
    if mask is None:
        refuse_unknown(origin, candidates, "candidates")
    warn_of_scales(origin, candidates, "candidates")
    return origin


def check_batch_size(batch_size: int, length: int | None, mask: np.ndarray | None) -> int:
    """Return the size of a query; one beyond the pool is said."""
    n = checks.integer("batch_size", batch_size, minimum=1)
    most = length if mask is None else int(np.count_nonzero(mask))
    if most is not None and n > most:
        warnings.warn(
            f"batch_size is {n}, but there are only {most} candidates that may be asked: a query will hold no more.",
            UserWarning,
            stacklevel=3,
        )
    return n


def warn_of_length(left: int) -> None:
    """Say how long a run is going to be that has no end of its own."""
    if left > LARGE:
        warnings.warn(
            f"run has neither steps nor a stopping rule: it will ask all {left} candidates that are left; give "
            "run(steps), or SequentialDesign(..., stop=MaxSteps(n)).",
            UserWarning,
            stacklevel=3,
        )


def check_worker(worker: object) -> str | int | None:
    """Return the name of somebody who answers: a text or a number, as a log can hold it.

    Examples
    --------
    >>> check_worker("Anna"), check_worker(np.int64(3)), check_worker(None)
    ('Anna', 3, None)
    """
    if worker is None or isinstance(worker, str):
        return worker
    if isinstance(worker, (bool, np.bool_)) or not isinstance(worker, (int, np.integer)):
        raise ValueError(f"worker must be a text or an integer, got {type(worker).__name__} {worker!r}.")
    return int(worker)


def of_worker(pool: Any, worker: str | int | None, exclude: ArrayLike) -> ArrayLike:
    """Return positions to leave out: those given, and, of pairs of a row and a person, all that are not the worker's.

    Raises
    ------
    ValueError
        If the pool has people, and the worker is none of them.
    """
    if worker is None or not pools.has_people(pool):
        return exclude
    return np.union1d(np.asarray(exclude, dtype=np.intp), np.flatnonzero(~pool.asked_of(worker)))


def check_exploration(exploration: float | str, estimator: object, score: object) -> float:
    """Return the share of questions drawn at random; "auto" is .15 where a classifier's outcomes decide.

    Examples
    --------
    >>> from adaptive import scorers
    >>> check_exploration(0.5, None, scorers.margin), check_exploration("auto", None, scorers.margin)
    (0.5, 0.0)
    """
    if isinstance(exploration, str):
        checks.choice("exploration", exploration, ("auto",))
        learner = getattr(estimator, "last", estimator)  # of a pipeline's view
        classifies = isinstance(learner, ClassifierMixin)
        record = record_of(score)
        blind = record.ignores_outcomes or record.sees_asked
        return EXPLORATION if classifies and not blind else 0.0
    if isinstance(exploration, (bool, np.bool_)):  # True would have every question drawn at random
        raise ValueError(f'exploration must be a share from 0 to 1, or "auto", got {exploration!r}.')
    share = float(checks.positive("exploration", exploration, or_zero=True))
    if share > 1:
        raise ValueError(f"exploration must be a share from 0 to 1, got {share:g}.")
    return share


def check_mask(mask: ArrayLike | None, length: int | None) -> np.ndarray | None:
    """Return the mask of a pool of this length (None: a callable pool) as booleans."""
    if mask is None:
        return None
    if length is None:
        raise ValueError("mask must be None with a callable pool; let the callable return allowed candidates only.")
    array = np.asarray(mask)
    if array.dtype != bool:
        raise ValueError(f"mask must hold booleans (True = allowed), got dtype {array.dtype}.")
    checks.shape("mask", array, (length,))
    if not array.any():
        raise ValueError("mask allows no candidate at all.")
    return array


def check_cost(cost: Cost, length: int | None) -> CheckedCost:
    """Return the costs of a pool of this length (None: a callable pool): an array, a callable or None."""
    if cost is None or callable(cost):
        return cost
    if length is None:
        raise ValueError("cost must be a callable(candidates) -> (m,) with a callable pool, got an array.")
    array = checks.positive("cost", cost)
    checks.shape("cost", array, (length,))
    return array


def permitted(
    candidates: Pool | Callable[[Any], Pool], mask: Mask
) -> tuple[Pool | Callable[[Any], Pool], ArrayLike | None]:
    """Return pool and mask where the latter may be a function of candidates: of a callable pool it leaves out entries.

    Examples
    --------
    >>> permitted(np.arange(3), lambda numbers: numbers > 0)[1].tolist()
    [False, True, True]
    >>> permitted(lambda estimator: np.arange(3), lambda numbers: numbers > 0)[0](None).tolist()
    [1, 2]
    """
    if not callable(mask):
        return candidates, mask
    if not callable(candidates) or isinstance(candidates, Sized):
        return candidates, written_out(mask, candidates, pools.length(candidates))

    return partial(_allowed_of, candidates, mask), None


def _allowed_of(candidates: Callable[[Any], Pool], mask: Callable[[Any], ArrayLike], estimator: Any) -> Any:
    pool = candidates(estimator)
    return pools.take(pool, np.flatnonzero(np.asarray(written_out(mask, pool, pools.length(pool)))))


def at_present(cost: CheckedCost, last: Any) -> CheckedCost:
    """Return the cost as a function of candidates alone, where it may also ask for what was asked last.

    Examples
    --------
    >>> at_present(lambda settings, last: abs(settings - last), np.array([2.0]))(np.array([1.0, 5.0]))
    array([1., 3.])
    >>> at_present(lambda settings, power=2: settings**power, np.array([2.0]))(np.array([1.0, 5.0]))
    array([ 1., 25.])
    """
    if not callable(cost):
        return cost
    try:
        parameters = inspect.signature(cost).parameters
    except (TypeError, ValueError):  # of some compiled functions
        return cost
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters.values() if one.default is one.empty and one.kind in by_position]
    return partial(_with_last, cost, last) if len(needed) == 2 or list(parameters)[1:2] == ["last"] else cost


def _with_last(cost: Callable[..., ArrayLike], last: Any, candidates: Pool) -> ArrayLike:
    return cost(candidates, last)


def costs_of(cost: CheckedCost, pool: Pool, positions: np.ndarray) -> np.ndarray:
    """Return what asking these positions costs; 1 each where no cost was given."""
    if cost is None:
        return np.ones(len(positions))
    if not callable(cost):
        return cost[positions]
    costs = checks.positive("cost", cost(pools.take(pool, positions)))
    checks.shape("cost", costs, (len(positions),))
    return costs


def check_initial(
    initial: ArrayLike,
    length: int,
    mask: np.ndarray | None,
    repeat: bool,
    seed: np.random.SeedSequence | None,
) -> np.ndarray:
    """Return the positions that are asked first.

    Parameters
    ----------
    initial : sequence of int, or int
        The positions, or how many to draw at random, without replacement.
    length : int
        Of the pool.
    mask : (length,) array of bool, or None
    repeat : bool
        Whether a position may stand there twice.
    seed : SeedSequence, or None where positions are given

    Examples
    --------
    >>> check_initial([4, 2], 5, None, False, None)
    array([4, 2])
    """
    if np.ndim(initial) == 0:
        allowed = length if mask is None else np.flatnonzero(mask)
        most = length if mask is None else int(np.count_nonzero(mask))
        n = checks.integer("initial", initial, minimum=0)
        if n > most:
            raise ValueError(f"initial must be at most {most}, the number of allowed candidates, got {n}.")
        return np.random.default_rng(seed).choice(allowed, size=n, replace=False).astype(np.intp)
    return check_positions(initial, length, mask, repeat, name="initial")


def check_positions(
    given: ArrayLike, length: int, mask: np.ndarray | None, repeat: bool = False, *, name: str = "positions"
) -> np.ndarray:
    """Return given positions of a pool of this length that may be asked.

    Examples
    --------
    >>> check_positions([4, 2], 5, None)
    array([4, 2])
    """
    positions = np.asarray(given)
    if positions.ndim != 1 or (positions.dtype.kind not in "iu" and positions.size > 0):
        number = " or a number of candidates" if name == "initial" else ""
        raise ValueError(f"{name} must be positions (integers){number}, got {given!r}.")
    outside = (positions < 0) | (positions >= length)
    if outside.any():
        raise ValueError(f"{name} must hold positions from 0 to {length - 1}, got {positions[outside][0]}.")
    positions = positions.astype(np.intp)
    if mask is not None and not mask[positions].all():
        raise ValueError(f"{name} holds position {positions[~mask[positions]][0]}, which mask does not allow.")
    if not repeat and len(np.unique(positions)) < len(positions):
        raise ValueError(
            f"{name} must hold every position once" + (" unless repeat=True." if name == "initial" else ".")
        )
    return positions
