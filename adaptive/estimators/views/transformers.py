"""The transformers of a pipeline: which can be fitted on a pool alone, and what they make of it.

What draws is seeded by 0 unless it has a seed of its own, so that the same pool gives the same features again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from adaptive.estimators.rows.vector_cells import spread

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from adaptive.types import Pool, Transformer

__all__ = [
    "fitted_on",
    "has",
    "keeps_posterior",
    "transformed",
    "transformers_of",
]


def has(thing: object, *names: str) -> bool:
    """Return whether it has all of these attributes: what it can do is asked of it, not of its type."""
    return all(hasattr(thing, name) for name in names)


def keeps_posterior(estimator: Any) -> bool:
    """Return whether this is a pipeline of transformers that ends in something with ``predictive``, ``partial_fit``."""
    module = sys.modules.get("sklearn.pipeline")  # who has a pipeline has imported it, which takes long
    if module is None or not isinstance(estimator, module.Pipeline):
        return False
    steps = transformers_of(estimator)
    return has(estimator.steps[-1][1], "predictive", "partial_fit") and all(has(step, "transform") for step in steps)


def transformers_of(pipeline: Pipeline) -> list[Transformer]:
    """The steps before the last, without those that pass everything through."""
    return [step for _, step in pipeline.steps[:-1] if step is not None and not isinstance(step, str)]


def transformed(transformer: Transformer, rows: Pool) -> Pool:
    """Rows as a fitted transformer makes them."""
    try:
        return _with_vectors(transformer.transform, rows)
    except ValueError as problem:
        said = str(problem).splitlines()[0]
        raise ValueError(
            f"the {type(transformer).__name__} of the pipeline refuses the candidates: {said}"
        ) from problem


def fitted_on(transformer: Transformer, rows: Pool) -> Transformer:
    """A clone of a transformer, fitted on rows without answers.

    Raises
    ------
    ValueError
        If it cannot be.
    """
    ready = clone(transformer)
    parameters = ready.get_params()
    unseeded = [name for name, value in parameters.items() if name.endswith("random_state") and value is None]
    ready.set_params(**dict.fromkeys(unseeded, 0))
    try:
        return _with_vectors(ready.fit, rows)
    except (TypeError, ValueError) as problem:
        name, said = type(transformer).__name__, str(problem).splitlines()[0]
        raise ValueError(
            f"the {name} of the pipeline could not be fitted on the candidates alone, without answers ({said}): fit it "
            "before, or give ClassifierView(pipeline), which fits the whole pipeline anew after every answer."
        ) from problem


def _with_vectors(call: Callable[[Pool], Any], rows: Pool) -> Any:
    """Give rows as they are; where a cell holds a vector and that is refused, with vectors spread over columns."""
    try:
        return call(rows)
    except (TypeError, ValueError) as problem:
        wide = spread(rows)
        if wide is rows:
            raise
        try:
            return call(wide)
        except (TypeError, ValueError, KeyError):
            raise problem from None
