"""Scorers with settings: what a factory such as `density_weighted` returns, under a name that says what is in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.scorers.record import Record

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState, Scorer

__all__ = ["Configured", "wrapped"]


class Configured:
    """A scorer with settings; it can be pickled, and its name is the same in every session, for the log.

    Parameters
    ----------
    function : callable (predictive, random_state, **settings) -> (m,), of a module
    name : str
        As a user would write the call.
    record : Record, optional
    **settings

    Examples
    --------
    >>> from adaptive.predictive import Predictive
    >>> def always(predictive, random_state, value):
    ...     return np.full(len(predictive), value)
    >>> constant = Configured(always, "constant(2)", value=2)
    >>> constant.__name__, constant(Predictive(1)).tolist()
    ('constant(2)', [2])
    """

    def __init__(
        self, function: Callable[..., np.ndarray], name: str, record: Record | None = None, **settings: Any
    ) -> None:
        self.function, self.settings = function, settings
        self.__name__ = self.__qualname__ = name
        self.__module__ = "adaptive.scorers"  # where users find what makes it
        self.__scorer__ = record or Record()

    def __call__(self, predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
        return self.function(predictive, random_state, **self.settings)

    def __repr__(self) -> str:
        return self.__name__


def wrapped(
    function: Callable[..., np.ndarray], maker: str, scorer: Scorer, said: str, record: dict[str, bool], **settings: Any
) -> Configured:
    """Return the scorer ``maker(scorer, said)``: a function of another scorer, its ``base``.

    What the other one needs and promises holds of it, too, but for what ``record`` says; it is not monotone.

    Examples
    --------
    >>> def doubled(predictive, random_state, base):
    ...     return 2 * base(predictive, random_state)
    >>> twice = wrapped(doubled, "twice", "badge", "2", {"whole_pool": False})
    >>> from adaptive.scorers import record_of
    >>> twice, record_of(twice).sees_asked, record_of(twice).whole_pool
    (twice(badge, 2), True, False)
    """
    from adaptive import scorers

    base = scorers.get(scorer)
    name = f"{maker}({getattr(base, '__name__', repr(base))}, {said})"
    from adaptive.scorers import record_of  # the package imports this module

    known = replace(record_of(base), **{"monotone": False, **record})
    return Configured(function, name, known, base=base, **settings)
