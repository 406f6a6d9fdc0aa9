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

from adaptive.predictive.base import MissingField

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive

__all__ = ["BESIDE", "Record", "require", "scorer"]

F = TypeVar("F", bound=Callable[..., Any])

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
