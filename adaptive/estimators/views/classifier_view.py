"""A plain scikit-learn classifier, seen as something that can be taught answer by answer.

The view keeps all answers and refits a clone after each; until two classes were seen it asks at random.  What it can
say about candidates is what the classifier says: ``predict_proba``, and joint ``draws`` where the classifier is an
ensemble of two or more fitted ``estimators_`` (each member is one draw).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from adaptive import checks, pool
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.rows.labels import refuse_other_than_labels, refuse_two_kinds, unboxed
from adaptive.estimators.rows.tables import in_plain_words
from adaptive.estimators.rows.vector_cells import spread
from adaptive.estimators.views.pipeline_view import PipelineView
from adaptive.estimators.views.transformers import has, keeps_posterior
from adaptive.pool import without_names
from adaptive.predictive import Predictive, StatedPredictive, Undecided, WeightedDraws

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from adaptive.types import ArrayLike, Classifier, Matrix, Options, Outcomes, Pool, RandomState

__all__ = ["ClassifierView", "wrap"]


def wrap(estimator: Any) -> Any:
    """Return what the loop can drive: ``estimator`` itself, or a view of a pipeline or a plain scikit-learn classifier.

    A pipeline that ends in an estimator of the toolkit keeps its posterior: see `PipelineView`.

    Parameters
    ----------
    estimator : object
        An estimator of the toolkit, a pipeline, or a scikit-learn classifier.

    Raises
    ------
    ValueError
        If ``estimator`` has neither ``predictive`` and ``partial_fit`` nor ``fit`` and ``predict_proba``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> type(wrap(LogisticRegression())).__name__
    'ClassifierView'
    """
    if isinstance(estimator, type):
        raise ValueError(
            f"estimator must be an instance, got the class {estimator.__name__}; write {estimator.__name__}()."
        )
    if keeps_posterior(estimator):  # first: `adaptive.make_pipeline` makes some that could also be driven
        return PipelineView(estimator)
    if has(estimator, "predictive", "partial_fit"):
        return estimator
    if has(estimator, "fit", "predict_proba"):
        return ClassifierView(estimator)
    raise ValueError(
        "estimator must have predictive and partial_fit (an estimator of this toolkit) or fit and predict_proba "
        f"(a scikit-learn classifier), got {type(estimator).__name__}{_cure(estimator)}."
    )


def _cure(estimator: Any) -> str:
    """Advice to somebody who has such an estimator."""
    kind = get_tags(estimator).estimator_type if has(estimator, "__sklearn_tags__") else None
    if kind == "regressor":
        return ": SparseLinearRegression and GaussianProcessRegressor also say how sure they are of a number"
    if kind == "classifier":
        own = "probability=True or " if "probability" in estimator.get_params() else ""
        return f": it gets probabilities by {own}CalibratedClassifierCV({type(estimator).__name__}(...))"
    return ""


class ClassifierView(DesignMixin, ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier behind ``partial_fit``, ``predictive`` and ``select``.

    Parameters
    ----------
    classifier : scikit-learn classifier with ``predict_proba``
        Cloned and refitted on all answers after each ``partial_fit``.
    classes : array-like (c,), optional
        The labels that answers may take; by default those seen so far.

    Attributes
    ----------
    classifier_ : the fitted clone, or None until two classes were seen.
    classes_ : (c,) array of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(10.0)[:, None]
    >>> view = ClassifierView(LogisticRegression()).partial_fit(X[[0, 8]], np.array([0, 1]))
    >>> view.select(X, scorer="uncertainty").tolist()
    [4]
    """

    default_scorer = "margin"

    def __init__(self, classifier: Classifier, *, classes: ArrayLike | None = None) -> None:
        self.classifier = classifier
        self.classes = classes

    def fit(self, X: Pool, y: Outcomes) -> ClassifierView:
        """Forget earlier answers and learn from these (X of length m, y (m,)); what is refused changes nothing."""
        return self._learn(X, y, None)

    def partial_fit(self, X: Pool, y: Outcomes) -> ClassifierView:
        """Add answers and refit on all of them; refused answers leave the view unchanged."""
        return self._learn(X, y, getattr(self, "candidates_", None))

    def _learn(self, X: Pool, y: Outcomes, seen: Any) -> ClassifierView:
        """Fit all answers, those after the rows ``seen`` among them."""
        X = spread(X)
        refuse_two_kinds(y)
        checks.as_given("y", y)
        checks.refuse_masked("X", X)
        y = np.asarray(unboxed(y))
        if y.ndim != 1 or len(y) != pool.length(X):
            raise ValueError(f"y must hold one label for each of the {pool.length(X)} rows of X, got shape {y.shape}.")
        refuse_other_than_labels(y)
        if seen is not None:
            refuse_two_kinds([*self.outcomes_[:1].tolist(), *y.tolist()])
        try:
            candidates = X if seen is None else pool.concatenate([seen, X])
        except ValueError as problem:
            raise ValueError(f"X must be of the kind and width of the earlier rows: {problem}") from None
        outcomes = y if seen is None else np.concatenate([self.outcomes_, y])
        classes = np.unique(outcomes) if self.classes is None else np.asarray(self.classes)
        if not np.isin(y, classes).all():
            unknown = y[~np.isin(y, classes)].tolist()[0]
            raise ValueError(f"y contains the label {unknown!r}, but the known classes are {classes.tolist()}.")
        fitted = None
        if len(np.unique(outcomes)) >= 2:
            with in_plain_words(candidates, outcomes):
                fitted = clone(self.classifier).fit(candidates, outcomes)
        self.candidates_: Any = candidates
        self.outcomes_: Any = outcomes
        self.classes_, self.classifier_ = classes, fitted
        return self

    def predictive(
        self, candidates: Pool, *, target: Pool | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return class probabilities, and joint draws where the classifier has two or more members."""
        candidates, target = spread(candidates), spread(target)
        checks.refuse_masked("X", candidates)
        with in_plain_words(candidates):
            return self._predictive(candidates, target, random_state)

    def _predictive(self, candidates: Pool, target: Pool | None, random_state: RandomState) -> Predictive:
        m = pool.length(candidates)
        fitted = getattr(self, "classifier_", None)
        if fitted is None:  # nothing told the candidates apart yet: every scorer ties, so the view says "at random"
            return Undecided(m, random_state=random_state)
        members = self._members(fitted, candidates)
        features: Options = {"features": _numbers(candidates), "measured": _numbers(self.candidates_)}
        if members is None:
            return StatedPredictive(
                m, outcomes=fitted.classes_, probabilities=fitted.predict_proba(candidates), **features
            )
        weights = np.full(len(members), 1.0 / len(members))
        about = None
        if target is not None:
            about = WeightedDraws(weights, self._members(fitted, target), fitted.classes_)
        return WeightedDraws(
            weights, members, fitted.classes_, target=about, ensemble=True, random_state=random_state, **features
        )

    @staticmethod
    def _members(fitted: Any, candidates: Pool) -> np.ndarray | None:
        """Return (k, m, c) probabilities of the ensemble's members, or None if there are fewer than two."""
        members = getattr(fitted, "estimators_", None)
        if members is None or len(members) < 2:
            return None
        features = getattr(fitted, "estimators_features_", None)
        given: Any = candidates
        rows = given.tocsr() if sp.issparse(given) else np.asarray(given)
        tables = []
        for k, member in enumerate(members):
            if not has(member, "predict_proba"):
                return None
            part = rows if features is None else rows[:, features[k]]
            table = np.zeros((rows.shape[0], len(fitted.classes_)))
            # members of scikit-learn's forests and bags know the classes as positions 0..c-1, voters by name
            labels = np.asarray(member.classes_)
            known = (
                np.searchsorted(fitted.classes_, labels)
                if np.isin(labels, fitted.classes_).all()
                else labels.astype(int)
            )
            table[:, known] = member.predict_proba(part)
            tables.append(table)
        return np.stack(tables)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if has(self.classifier, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.classifier).input_tags
            parts = len(self.classifier.get_params()) > len(self.classifier.get_params(deep=False))
            tags.input_tags.allow_nan |= parts  # an imputer may be among them; tags of the whole do not say
        return tags

    def predict(self, X: Pool) -> np.ndarray:
        """Return the most probable label of each row."""
        fitted = self._fitted()
        checks.refuse_masked("X", X)
        with in_plain_words(X):
            return fitted.predict(spread(X))

    def predict_proba(self, X: Pool) -> np.ndarray:
        """Return the class probabilities of each row."""
        fitted = self._fitted()
        checks.refuse_masked("X", X)
        with in_plain_words(X):
            return fitted.predict_proba(spread(X))

    def _fitted(self) -> Classifier:
        fitted = getattr(self, "classifier_", None)
        if fitted is None:
            raise NotFittedError(
                f"{type(self.classifier).__name__} has not seen two classes yet; call partial_fit first."
            )
        return fitted


def _numbers(pool: Pool) -> Matrix | None:
    """Return rows of numbers as they are, None for other pools."""
    if sp.issparse(pool):
        return pool
    rows = without_names(pool)
    return rows if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "fiub" else None
