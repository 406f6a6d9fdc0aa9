"""Scorers with settings: what a factory such as `density_weighted` returns, under a name that says what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["Configured"]


class Configured:
    """A scorer with settings; it can be pickled, and its name is the same in every session, for the log.

    Parameters
    ----------
    function : callable (predictive, random_state, **settings) -> (m,), of a module
    name : str
        As a user would write the call.
    settings : dict
    attributes : dict
        ``whole_pool``, ``sees_asked``, ``ignores_outcomes``, as of any scorer.

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
        self, function: Callable[..., Any], name: str, attributes: Mapping[str, bool] | tuple[()] = (), **settings: Any
    ) -> None:
        self.function, self.settings = function, settings
        self.__name__ = self.__qualname__ = name
        self.__module__ = "adaptive.scorers"  # where users find what makes it
        self.__dict__.update(attributes)

    def __call__(self, predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
        return self.function(predictive, random_state, **self.settings)

    def __repr__(self) -> str:
        return self.__name__
