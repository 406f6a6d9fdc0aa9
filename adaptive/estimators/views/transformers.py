"""The transformers of a pipeline: which can be fitted on a pool alone, and what they make of it.

What draws is seeded by 0 unless it has a seed of its own, so that the same pool gives the same features again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = [
    "fitted_on",
    "is_fitted",
    "keeps_posterior",
    "transformed",
    "transformers_of",
]


def keeps_posterior(estimator: Any) -> bool:
    """Whether this is a pipeline of transformers that ends in something with ``predictive`` and ``partial_fit``."""
    if not _is_pipeline(estimator):
        return False
    last = estimator.steps[-1][1]
    teachable = hasattr(last, "predictive") and hasattr(last, "partial_fit")
    return teachable and all(hasattr(step, "transform") for step in transformers_of(estimator))


def _is_pipeline(estimator: object) -> bool:
    """Whether it is scikit-learn's; who has one has imported its module, which takes as long as all of this one."""
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(estimator, module.Pipeline)


def transformers_of(pipeline: Pipeline) -> list[Any]:
    """The steps before the last, without those that pass everything through."""
    return [step for _, step in pipeline.steps[:-1] if step is not None and not isinstance(step, str)]


def is_fitted(step: Any) -> bool:
    """Whether scikit-learn takes it for fitted; what needs no fit is, but for an estimator that can say itself."""
    if hasattr(step, "__sklearn_is_fitted__"):
        return bool(step.__sklearn_is_fitted__())
    try:
        check_is_fitted(step)
    except (NotFittedError, TypeError):  # of something else than an estimator of scikit-learn nothing is known
        return False
    return True


def transformed(transformer: Any, rows: Any) -> Any:
    """What a fitted transformer makes of rows."""
    try:
        return transformer.transform(rows)
    except ValueError as problem:
        said = str(problem).splitlines()[0]
        raise ValueError(
            f"the {type(transformer).__name__} of the pipeline refuses the candidates: {said}"
        ) from problem


def fitted_on(transformer: Any, rows: Any) -> Any:
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
        return ready.fit(rows)
    except (TypeError, ValueError) as problem:
        name, said = type(transformer).__name__, str(problem).splitlines()[0]
        raise ValueError(
            f"the {name} of the pipeline could not be fitted on the candidates alone, without answers ({said}): fit it "
            "before, or give ClassifierView(pipeline), which fits the whole pipeline anew after every answer."
        ) from problem
