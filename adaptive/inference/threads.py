"""Small models keep BLAS to one thread, whoever calls the engine: threads that wake cost more than they do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from adaptive.inference.model import GLM
from adaptive.parallel import one_blas_thread

__all__ = ["small_on_one_thread"]

P = ParamSpec("P")
Found = TypeVar("Found")


def small_on_one_thread(engine: Callable[Concatenate[GLM, P], Found]) -> Callable[Concatenate[GLM, P], Found]:
    """Return the engine as it runs by `adaptive.parallel.one_blas_thread` of its model's unknowns and projections.

    Parameters
    ----------
    engine : function of a model and more

    Examples
    --------
    >>> from adaptive.inference import laplace_approximation
    >>> laplace_approximation.__name__, laplace_approximation.__wrapped__ is not None
    ('laplace_approximation', True)
    """

    @functools.wraps(engine)
    def run(model: GLM, *more: P.args, **settings: P.kwargs) -> Found:
        sides = (model.n, model.projection_rows) if isinstance(model, GLM) else ()  # what is none is refused inside
        with one_blas_thread(*sides):
            return engine(model, *more, **settings)

    return run
