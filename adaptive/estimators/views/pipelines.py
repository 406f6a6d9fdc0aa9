"""scikit-learn's pipeline with what the estimator at its end can do besides: select, predictive, partial_fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn import pipeline as scikit_learn
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from adaptive.estimators.rows.tables import is_fitted
from adaptive.estimators.views.pipeline_view import PipelineView
from adaptive.estimators.views.transformers import fitted_on, has, transformed, transformers_of

if TYPE_CHECKING:
    import numpy as np

    from adaptive.predictive import Predictive
    from adaptive.types import Outcomes, Pool, RandomState

__all__ = ["Pipeline", "make_pipeline"]


class Pipeline(scikit_learn.Pipeline):
    """A pipeline of scikit-learn whose methods are those, and also the last step's ``select`` and its kind.

    What steps are, how parameters are named, ``set_output``, metadata routing, caching and pictures are scikit-learn's.
    Rows are given as the pipeline takes them everywhere: candidates, targets, what is pending.

    Parameters
    ----------
    steps, transform_input, memory, verbose
        As of :class:`sklearn.pipeline.Pipeline`; the last step is an estimator of the toolkit.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive import BayesianLogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = 1000.0 * np.arange(20.0)[:, None]
    >>> model = Pipeline([("scale", StandardScaler()), ("model", BayesianLogisticRegression(classes=[0, 1]))])
    >>> model = model.prepare(X).partial_fit(X[[0, 19]], [0, 1])
    >>> bool(5 < model.select(X, scorer="information_gain")[0] < 15)
    True
    """

    def prepare(self, pool: Pool) -> Self:
        """Fit the transformers on a pool, without answers; those that are fitted stay.

        `fit` would fit them on the rows that have answers, which are few and not drawn at random.

        Raises
        ------
        ValueError
            If a transformer cannot be fitted without answers.
        """
        rows: Any = pool
        for k, (name, step) in enumerate(self.steps[:-1]):
            if step is None or isinstance(step, str):
                continue
            ready = step if is_fitted(step) else fitted_on(step, rows)
            self.steps[k] = (name, ready)
            rows = transformed(ready, rows)
        return self

    @available_if(lambda self: has(self.steps[-1][1], "partial_fit"))
    def partial_fit(self, X: Pool, y: Outcomes, **named: Any) -> Self:
        """Have the last step learn from further measurements; transformers stay as they are.

        Raises
        ------
        NotFittedError
            If a transformer is not fitted: call ``prepare(pool)``, or ``fit``, before.
        """
        for step in transformers_of(self):
            if not is_fitted(step):
                raise NotFittedError(
                    f"the {type(step).__name__} of the pipeline is not fitted: call prepare(pool) first, with all "
                    "candidates."
                )
        self._view().partial_fit(X, y, **named)
        return self

    @available_if(lambda self: has(self.steps[-1][1], "predictive"))
    def predictive(
        self, candidates: Pool, *, target: Pool | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return what the last step believes about ``candidates``, and about ``target``, inputs like them."""
        return self._view().predictive(candidates, target=target, random_state=random_state)

    @available_if(lambda self: has(self.steps[-1][1], "predictive"))
    def select(self, candidates: Pool, n_select: int = 1, **options: Any) -> Any:
        """Return the positions of the candidates that are most worth measuring next.

        Parameters
        ----------
        candidates, n_select, **options
            As of :meth:`adaptive.estimators.base.DesignMixin.select`.  Transformers that are not fitted are, for this
            answer, those of the candidates.
        """
        return self._view().select(candidates, n_select, **options)

    @available_if(lambda self: has(self.steps[-1][1], "log_predictive"))
    def log_predictive(self, X: Pool, y: Outcomes) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities (densities) of the outcomes ``y``."""
        return self._view().log_predictive(X, y)

    @property
    def default_scorer(self) -> str:
        """The scorer that "auto" is for the last step."""
        return getattr(self.steps[-1][1], "default_scorer", "information_gain")

    def _view(self) -> PipelineView:
        """The view of these very steps where all transformers are fitted; else of copies."""
        view, steps = PipelineView(self), transformers_of(self)
        if all(map(is_fitted, steps)):
            view.transformers_, view.estimator_ = steps, self.steps[-1][1]
        return view


def make_pipeline(*steps: Any, memory: Any = None, transform_input: Any = None, verbose: bool = False) -> Pipeline:
    """Return a pipeline of transformers and an estimator of the toolkit, with names as scikit-learn gives them.

    Parameters
    ----------
    *steps : transformers, then an estimator
    memory, transform_input, verbose
        As of :func:`sklearn.pipeline.make_pipeline`.

    Returns
    -------
    Pipeline
        scikit-learn's, with the ``select``, ``predictive`` and ``partial_fit`` of its last step.  `SequentialDesign`
        takes it as it takes scikit-learn's own: transformers are fitted once, on the whole pool.

    Raises
    ------
    ValueError
        If the last step has no ``predictive``.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive import BayesianLogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = 1000.0 * np.arange(20.0)[:, None]
    >>> model = make_pipeline(StandardScaler(), BayesianLogisticRegression(classes=[0, 1])).prepare(X)
    >>> model.select(X, 2, random_state=0).shape
    (2,)
    """
    if not steps or not has(steps[-1], "predictive", "partial_fit"):
        last = type(steps[-1]).__name__ if steps else "nothing"
        raise ValueError(
            f"the last step must be an estimator of the toolkit, with predictive and partial_fit, got {last}: "
            "scikit-learn's make_pipeline is for others, and ClassifierView(pipeline) chooses for them."
        )
    plain = scikit_learn.make_pipeline(*steps)
    more = {} if transform_input is None else {"transform_input": transform_input}  # from scikit-learn 1.6 on
    return Pipeline(plain.steps, memory=memory, verbose=verbose, **more)
