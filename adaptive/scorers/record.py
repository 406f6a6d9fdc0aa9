"""Record of a scorer: what it needs and promises, beside its function.

    @scorer(monotone=True)
    def margin(predictive, random_state=None): ...

    record_of(margin).monotone

A function without a record is a scorer, too: one of which nothing special is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from adaptive.predictive.base import MissingField

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import ArrayLike

__all__ = ["BESIDE", "Record", "by_determinant", "nonnegative", "require", "scorer"]

F = TypeVar("F", bound=Callable[..., Any])

ROUNDING = 1e-6  # what rounding, and the tables of entropies, leave
ERRORS = 6.0  # standard errors that an estimate may be below 0 by
BESIDE = "__scorer__"  # the attribute of a scorer that holds its record


@dataclass(frozen=True)
class Record:
    """Needs and promises of a scorer, by which `select`, the loop and `adaptive.search` treat it.

    Attributes
    ----------
    whole_pool : bool
        It must see all candidates at once: it is never called on a chunk.
    ignores_outcomes : bool
        What will be answered elsewhere does not concern it: batches need no ``given``.
    sees_asked : bool
        It looks at which candidates were asked (``predictive.asked``) and not at their outcomes.
    monotone : bool
        Of two outcomes that are mirror images: it falls with |mean| and grows with the variance.
    about_inputs : bool
        It is about given inputs; where none are given, a sample of the pool is.

    Examples
    --------
    >>> Record(monotone=True).monotone, Record().monotone
    (True, False)
    """

    whole_pool: bool = False
    ignores_outcomes: bool = False
    sees_asked: bool = False
    monotone: bool = False
    about_inputs: bool = False


def scorer(**record: bool) -> Callable[[F], F]:
    """Return a decorator that puts a `Record` beside a scorer, which it returns as it is.

    Parameters
    ----------
    **record : bool
        Any of the attributes of `Record`.

    Examples
    --------
    >>> from adaptive.scorers import record_of
    >>> @scorer(whole_pool=True)
    ... def central(predictive, random_state=None):
    ...     return -abs(predictive.mean - predictive.mean.mean())
    >>> record_of(central).whole_pool
    True
    """
    known = Record(**record)

    def declared(function: F) -> F:
        vars(function)[BESIDE] = known
        return function

    return declared


def require(scorer: str, predictive: Predictive, *fields: str) -> None:
    """Raise MissingField, in one line with the scorer and the field, unless ``predictive`` provides all ``fields``."""
    for field in fields:
        if not predictive.provides(field):
            missing = "give target=, the inputs to predict" if field == "target" else getattr(predictive, "remedy", "")
            hint = f": {missing}." if missing else "."
            raise MissingField(f"{scorer} needs {field}, which {type(predictive).__name__} does not provide{hint}")


def nonnegative(scorer: str, predictive: Predictive, scores: np.ndarray, **fields: ArrayLike) -> np.ndarray:
    """Return scores that the ``fields`` make, none of which can be negative.

    What rounding leaves below zero is zero. More than that is a fault of one of the fields: no outcome takes
    information away, and no variance is expected to grow.

    Parameters
    ----------
    scorer : str
    predictive : Predictive
    scores : (m,) array
    **fields : (m,) arrays or numbers
        Values that the scores are made of, by the names of their fields.

    Raises
    ------
    ValueError
        In one line, with the scorer, a candidate and the fields.

    Examples
    --------
    >>> from adaptive.predictive import Predictive
    >>> nonnegative("information_gain", Predictive(1), np.array([-1e-12]), outcome_entropy=0.5, expected_entropy=0.5)
    array([0.])
    """
    values = {name: np.broadcast_to(np.asarray(value, dtype=float), scores.shape) for name, value in fields.items()}
    size = np.max([np.ones(scores.shape), *(np.abs(value) for value in values.values())], axis=0)
    wrong = scores < -ROUNDING * size
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        said = " and ".join(f"{name} {float(value[i]):.6g}" for name, value in values.items())
        raise ValueError(
            f"{scorer} cannot be negative, but {type(predictive).__name__} states {said} of candidate {i}, which makes "
            f"{float(scores[i]):.3g}: one of its fields is wrong."
        )
    return np.maximum(scores, 0.0)


def by_determinant(scorer: str, predictive: Predictive) -> np.ndarray:
    """Return half the ``log_determinant`` of each candidate (m,); an estimate may be below zero by its error.

    Parameters
    ----------
    scorer : str
    predictive : Predictive

    Examples
    --------
    >>> from adaptive.predictive import Predictive
    >>> stated = Predictive(2, log_determinant=lambda: (np.array([0.5, -0.01]), np.array([0.0, 0.02])))
    >>> by_determinant("information_gain", stated).tolist()
    [0.25, 0.0]
    """
    values, errors = predictive.log_determinant()
    certain = np.where((values < 0) & (values >= -ERRORS * errors), 0.0, values)
    return nonnegative(scorer, predictive, 0.5 * certain, log_determinant=values)
