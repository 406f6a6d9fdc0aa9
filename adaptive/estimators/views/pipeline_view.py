"""A pipeline that ends in an estimator of the toolkit: its posterior, reached through the transformers before it.

    prepare(pool)      transformers <- fit(pool): once, without answers, before the first of them; fitted ones stay
    all the rest       what the last step says of the rows that the transformers make

So scores, what-ifs and targets are those of the last step, and a further answer is learnt by it alone: nothing is
fitted again from scratch, and what was learnt stays comparable, for the features never change.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adaptive import checks, selection
from adaptive import pool as pools
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.rows.scales import warn_of_scales
from adaptive.estimators.rows.tables import in_plain_words, is_fitted, refuse_unknown
from adaptive.estimators.views.transformers import fitted_on, has, transformed, transformers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.pipeline import Pipeline
    from sklearn.utils import Tags

    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Cost, Outcomes, Pool, RandomState, State, Transformer

__all__ = ["PipelineView"]


class PipelineView(DesignMixin, BaseEstimator):
    """A scikit-learn pipeline with an estimator of the toolkit at its end, behind the methods of that estimator.

    Parameters
    ----------
    pipeline : Pipeline
        Transformers, fitted or not, then the estimator. It is copied, and never changed.

    Attributes
    ----------
    transformers_ : list of the fitted transformers
    estimator_ : the last step as it is now, with its ``posterior_`` and all else that it has learnt

    Notes
    -----
    Transformers that are not fitted are fitted by ``prepare`` on a whole pool of candidates, which needs no answers;
    `SequentialDesign` does so with its own. A ``random_state`` of theirs that is None counts as 0, so that a design
    that is loaded finds the same features. The transformed pool is kept beside the pool. What learns from answers
    (``SelectKBest``, ``TargetEncoder``) has to be fitted before; or `ClassifierView` fits the whole pipeline anew after
    every answer, and knows of it probabilities only.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = 1000.0 * np.arange(20.0)[:, None]
    >>> view = PipelineView(make_pipeline(StandardScaler(), BayesianLogisticRegression(classes=[0, 1]))).prepare(X)
    >>> view.partial_fit(X[[0, 19]], [0, 1]).predict(X[[3, 15]]).tolist()
    [0, 1]
    >>> bool(5 < view.select(X, scorer="information_gain")[0] < 15)
    True
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    # -- the transformers --------------------------------------------------------------------------------------------

    def prepare(self, pool: Pool) -> Self:
        """Fit the transformers on a pool, if they are not fitted yet, and keep that pool transformed.

        Raises
        ------
        ValueError
            If a transformer cannot be fitted without answers, or the last step has learnt from other features.
        """
        rows: Any = pool
        transformers = []
        for transformer in self._given():
            if not self.prepared and not is_fitted(transformer):
                if is_fitted(self.last):
                    raise ValueError(
                        f"the last step of the pipeline is fitted, but its {type(transformer).__name__} is not: what "
                        "was learnt was about other features; fit the whole pipeline, or no step of it."
                    )
                transformer = fitted_on(transformer, rows)
            rows = transformed(transformer, rows)
            transformers.append(transformer)
        refuse_unknown(self.last, rows, "the transformed candidates")
        self._take_over(transformers)
        self._kept = _Kept(pool, rows)
        if not any(has(transformer, "components_") for transformer in transformers):
            warn_of_scales(self.last, rows, "the transformed candidates")  # later components are small by right
        return self

    @property
    def prepared(self) -> bool:
        """True once the transformers are those that stay."""
        return has(self, "transformers_")

    @property
    def last(self) -> Any:
        """The last step: as it is now, or before ``prepare`` as it was given."""
        return self.estimator_ if self.prepared else self.pipeline.steps[-1][1]

    def _given(self) -> list[Transformer]:
        return self.transformers_ if self.prepared else [copy.deepcopy(step) for step in transformers_of(self.pipeline)]

    def _take_over(self, transformers: list[Transformer]) -> None:
        if not self.prepared:
            self.transformers_, self.estimator_ = transformers, copy.deepcopy(self.pipeline.steps[-1][1])

    def _ready(self) -> Self:
        """This view where all transformers are fitted; else a sentence that says how they become so."""
        if not self.prepared:
            given = self._given()
            for transformer in given:
                if not is_fitted(transformer):
                    raise NotFittedError(
                        f"the {type(transformer).__name__} of the pipeline is not fitted: call prepare(pool) first, "
                        "with all candidates (SequentialDesign does, unless its pool is a callable)."
                    )
            self._take_over(given)
        return self

    def _about(self, candidates: Pool) -> PipelineView:
        """This view, or a copy of it that is prepared on ``candidates`` for one answer."""
        needs_pool = not self.prepared and not all(map(is_fitted, self._given()))
        return copy.copy(self).prepare(candidates) if needs_pool else copy.copy(self)._ready()

    def _rows(self, candidates: Pool) -> Pool:
        kept = getattr(self, "_kept", None)
        if kept is not None and candidates is kept.pool:
            return kept.rows
        checks.refuse_masked("X", candidates)
        with in_plain_words(candidates):
            for transformer in self.transformers_:
                candidates = transformed(transformer, candidates)
        return candidates

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, X: Pool, y: Outcomes, **named: Any) -> Self:
        """Forget the earlier fit, and fit the last step; transformers that are not fitted are fitted on X."""
        self._take_over(self._about(X).transformers_)
        self.estimator_.fit(self._rows(X), y, **named)
        return self

    def partial_fit(self, X: Pool, y: Outcomes, **named: Any) -> Self:
        """Learn from further measurements; what is refused changes nothing."""
        self._ready().estimator_.partial_fit(self._rows(X), y, **named)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self.last)

    # -- what is believed ----------------------------------------------------------------------------------------------

    def predictive(
        self, candidates: Pool, *, target: Pool | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return what the last step believes about ``candidates``, and about ``target``, inputs like them.

        Before ``prepare`` transformers that are not fitted are those of these candidates.
        """
        view = self._about(candidates)
        about = None if target is None else view._rows(target)
        return view.estimator_.predictive(view._rows(candidates), target=about, random_state=random_state)

    def select(
        self,
        candidates: Pool | Callable[[Any], Pool],
        n_select: int = 1,
        *,
        target: Pool | None = None,
        cost: Cost = None,
        pending: Pool | None = None,
        **options: Any,
    ) -> Any:
        """Return the positions of the candidates that are most worth measuring next, as the last step chooses them.

        Parameters
        ----------
        candidates, n_select, target, cost, pending, **options
            As of :meth:`adaptive.estimators.base.DesignMixin.select`; candidates, target and pending are rows as the
            pipeline takes them, and so are those that a callable cost is asked about.
        """
        given: Any = candidates(self) if callable(candidates) and not has(candidates, "__len__") else candidates
        pools.length(given)
        view = self._about(given)
        last = view.estimator_
        choose = last.select if has(last, "select") else partial(selection.select, last)
        return choose(
            view._rows(given),
            n_select,
            target=None if target is None else view._rows(target),
            cost=cost(given) if callable(cost) else cost,
            pending=None if pending is None else view._rows(pending),
            **options,
        )

    @property
    def default_scorer(self) -> str:  # type: ignore[override]
        """The scorer that "auto" is for the last step."""
        return getattr(self.last, "default_scorer", "information_gain")

    # -- predicting ----------------------------------------------------------------------------------------------------

    def predict(self, X: Pool, **options: Any) -> Any:
        """Return what the last step predicts."""
        return self._learnt().predict(self._rows(X), **options)

    @available_if(lambda self: has(self.last, "predict_proba"))
    def predict_proba(self, X: Pool) -> np.ndarray:
        """Return the (m, c) predictive probabilities, columns as in ``classes_``."""
        return self._learnt().predict_proba(self._rows(X))

    @available_if(lambda self: has(self.last, "log_predictive"))
    def log_predictive(self, X: Pool, y: Outcomes) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities (densities) of the outcomes ``y``."""
        return self._learnt().log_predictive(self._rows(X), y)

    def score(self, X: Pool, y: Outcomes) -> float:
        """Return the accuracy or R^2 of the last step."""
        return float(self._learnt().score(self._rows(X), y))

    @property
    def classes(self) -> ArrayLike | None:
        """The labels that the last step was given by name, if any."""
        return getattr(self.last, "classes", None)

    @property
    def classes_(self) -> np.ndarray:
        """The labels known so far."""
        return self._learnt().classes_

    @property
    def posterior_(self) -> Any:
        """The posterior of the last step."""
        return self._learnt().posterior_

    def _learnt(self) -> Any:
        check_is_fitted(self)
        return self._ready().estimator_

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.last)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return what the last step has learnt as plain data, and a hash of the features that it is about."""
        last = self._ready().estimator_
        if not has(last, "state"):
            raise ValueError(f"{type(last).__name__} has no state() to store.")
        kept = getattr(self, "_kept", None)
        return {"features": None if kept is None else kept.fingerprint, "estimator": last.state()}

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned; the pool and the transformers must be the same."""
        kept = getattr(self, "_kept", None)
        if kept is not None and state["features"] not in (None, kept.fingerprint):
            raise ValueError("the transformers of the pipeline make other features of the pool than before")
        self._ready().estimator_.restore(state["estimator"])
        return self


@dataclass(frozen=True, eq=False)
class _Kept:
    """A pool and what the transformers made of it; copies of a view share it, since nobody changes it."""

    pool: Any
    rows: Any

    @cached_property
    def fingerprint(self) -> str:
        return pools.fingerprint(self.rows)

    def __deepcopy__(self, memo: dict[int, object]) -> _Kept:
        return self
