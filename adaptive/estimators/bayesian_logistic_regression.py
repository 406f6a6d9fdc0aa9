"""Classification with linear latents and an honest posterior over their weights.

The estimator checks what users give and keeps the rows; what is believed about them is an object of
:mod:`adaptive.estimators.linear`, one kind for two classes and others for more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adaptive import checks, pool
from adaptive.estimators.base import DesignMixin, unfitted_if_refused
from adaptive.estimators.linear import (
    BinaryBelief,
    OneVsRestBelief,
    Settings,
    SoftmaxBelief,
    Training,
    codes_of,
    known_classes,
)
from adaptive.estimators.linear.pool_marginals import KeptRows
from adaptive.estimators.linear.tables import checked_table
from adaptive.estimators.linear.training import checked_weights, restored_rows, rows_state, stacked_rows
from adaptive.predictive import Predictive

__all__ = ["BayesianLogisticRegression"]


class BayesianLogisticRegression(DesignMixin, ClassifierMixin, BaseEstimator):
    r"""Bayesian logistic (or probit) regression with a Gaussian or a sparse prior.

    Parameters
    ----------
    prior : {"gaussian", "laplace", "student_t"}, default "gaussian"
        Of each weight: N(0, scale^2), exp(-\|w\|/scale)/(2 scale), or a Student t, whose heavy tails leave a few large
        weights as they are while the others shrink.  The intercept is N(0, 9).
    prior_scale : float, optional
        None: learnt by evidence, under a broad log-normal prior (see Notes).
    df : float, default 2.0
        Degrees of freedom of "student_t".
    link : {"logit", "probit"}, default "logit"
    inference : str or callable, default "expectation_propagation"
        A name in :mod:`adaptive.inference`, or a callable ``(model, **settings) -> Posterior`` such as
        ``functools.partial(inference.variational_bounds, variances="sampled", n_samples=64)``, or "lanczos": products
        with the rows only, where both they and the features (with a sparse prior, the features) are beyond 20,000.
        With "student_t" "variational_bounds" stands in for "expectation_propagation", which needs log-concave priors.
    fit_intercept : bool, default True
    classes : array-like of two or more labels, optional
        All labels, where the first answers may not show every class.
    multi_class : {"softmax", "one_vs_rest"}, default "softmax"
        For more than two classes: one joint posterior over the scores of all, by a Gaussian prior, the logit link and
        "variational_bounds" (which also stands in for "expectation_propagation") or "laplace_approximation"; or as many
        binary problems, with any of the options above.
    max_iter : int, default 100
        Iterations of the inference.
    tol : float, default 1e-4
        Its tolerance.
    random_state : None, int, Generator or RandomState
        For inference that draws.
    update : {"refit", "inclusion"}, default "refit"
        What ``partial_fit`` does with further answers: fit all of them again, warm; or include them one by one, each by
        a rank-one update, with one step of the inference after every block.  ``select`` then follows the marginals of
        the whole pool by one product with its rows per answer; the pool must be the same object, unchanged, from call
        to call (as in a `SequentialDesign`), else they are computed anew.  More than two classes are always refitted.
    block_size : int, default 10
        Answers per block of ``update="inclusion"``.

    Attributes
    ----------
    classes_ : (c,) array, the labels known so far
    coef_ : (1, n_features) array, posterior mean of the weights; of more than two classes (c, n_features)
    intercept_ : (1,) or (c,) array, posterior mean of the intercept
    prior_scale_ : float
    X_train_, y_train_, sample_weight_ : the rows learnt from, their labels and weights
    posterior_ : Posterior over the weights and, last, the intercept
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    adaptive.SequentialDesign : asks for labels one by one.

    Notes
    -----
    Pools are scored in chunks, through joblib where ``joblib.parallel_config`` says so, without a dense copy of sparse
    rows; kept marginals take chunks of ``sklearn.config_context(working_memory=...)``, in MiB.

    A learnt scale maximises the evidence times a log-normal prior: its median makes the latent of a typical training
    row 3, the standard deviation of ln scale is 1.5; ``log_evidence_`` is without that prior.  With a softmax the scale
    is that of Laplace's evidence, whatever the inference: the bound's would be too small the more classes there are;
    ``log_evidence_`` is then the bound (``evidence_kind_`` "lower_bound") at this scale.  With a Student t there may be
    several optima; the posterior is one near a mode.  ``partial_fit`` keeps all rows and refits warm.  Answers that
    repeat a row count as independent ones: labellers who disagree about a row leave its class as uncertain as their
    votes are divided, and no answer is ever certain.

    Rows asked by "uncertainty" lie near the class boundary, where labels say little about the length of the weights: a
    scale learnt from them alone can be several times too large, and intervals then cover too little.  Give
    ``prior_scale``, or draw some rows at random (``initial`` of `SequentialDesign`), where probabilities matter.

    References
    ----------
    Nickisch (2010), "Bayesian Inference and Experimental Design for Large Generalised Linear Models", section 3.7.
    Minka (2001), "Expectation propagation for approximate Bayesian inference".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> model = BayesianLogisticRegression().fit(X[::8], y[::8])
    >>> model.predict([[-2.0], [2.0]]).tolist()
    ['no', 'yes']
    >>> bool(abs(X[model.select(X)[0], 0] - 0.5) < 1.5)
    True
    """

    def __init__(
        self,
        prior: str = "gaussian",
        *,
        prior_scale: float | None = None,
        df: float = 2.0,
        link: str = "logit",
        inference: Any = "expectation_propagation",
        fit_intercept: bool = True,
        classes: Any = None,
        multi_class: str = "softmax",
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        update: str = "refit",
        block_size: int = 10,
    ) -> None:
        self.prior = prior
        self.prior_scale = prior_scale
        self.df = df
        self.link = link
        self.inference = inference
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.update = update
        self.block_size = block_size

    # -- learning ------------------------------------------------------------------------------------------------------

    belief_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BayesianLogisticRegression:
        """Forget what was learnt and fit.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of labels
        sample_weight : (m,) array of numbers >= 0, optional
            How many independent answers a row counts for (its likelihood to that power); 0 leaves it out.

        Raises
        ------
        ValueError
            If X or y is not finite, shapes differ, or y holds labels other than ``classes``.
        """
        self._settings()
        X, y = checked_table(self, X, y, reset=True)
        return self._learn(X, y, checked_weights(sample_weight, len(y)), self._classes(y, None))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> BayesianLogisticRegression:
        """Learn from further rows; what is refused leaves the estimator unchanged.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of labels
        classes : array-like of labels, optional
            All that are known, as in scikit-learn's own ``partial_fit``; new ones may be named later.
        sample_weight : (m,) array of numbers >= 0, optional
            As in ``fit``.
        """
        if not hasattr(self, "belief_"):
            self._settings()
            with unfitted_if_refused(self):
                X, y = checked_table(self, X, y, reset=True)
                return self._learn(X, y, checked_weights(sample_weight, len(y)), self._classes(y, classes))
        X, y = checked_table(self, X, y)
        known = self._classes(y, classes, self.classes_)
        weights = np.concatenate([self.sample_weight_, checked_weights(sample_weight, len(y))])
        X, y = stacked_rows(self.X_train_, X), np.concatenate([self.y_train_, y])
        return self._learn(X, y, weights, known, self.belief_)

    def _learn(
        self, X: Any, y: np.ndarray, weights: np.ndarray, classes: np.ndarray, earlier: Any = None
    ) -> BayesianLogisticRegression:
        if not weights.all():  # what counts for nothing is left out
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.belief_ = self._kind(len(classes)).learnt(
            self._settings(), self._training(X, y, weights, classes), earlier
        )
        self.X_train_, self.y_train_, self.sample_weight_, self.classes_ = X, y, weights, classes
        return self

    @staticmethod
    def _training(X: Any, y: np.ndarray, weights: np.ndarray, classes: np.ndarray) -> Training:
        return Training(X, codes_of(y, classes), len(classes), None if np.all(weights == 1.0) else weights)

    # -- belief --------------------------------------------------------------------------------------------------------

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> Predictive:
        """What is believed about rows: Gaussian latents and their class probabilities.

        Parameters
        ----------
        candidates : (m, n_features) array, sparse matrix or frame
        target : (t, n_features) rows, optional
            Inputs that the information is to be about; None: the weights.
        random_state : None, int, Generator or RandomState
            Of ``draws``.

        Returns
        -------
        GaussianProjections, SoftmaxProjections or WeightedDraws
            For two classes, more by softmax, and more by one-vs-rest.  Outcomes are ``classes_`` where two or more are
            known, else -1 and +1.
        """
        rows = candidates if isinstance(candidates, KeptRows) else checked_table(self, candidates)
        target = None if target is None else checked_table(self, target)
        labels = getattr(self, "classes_", self.classes)
        labels = None if labels is None or len(labels) < 2 else np.unique(labels)
        if hasattr(self, "belief_"):
            return self.belief_.predictive(rows, labels, target=target, random_state=random_state)
        kind = self._kind(2 if labels is None else len(labels))
        return kind.unfitted_predictive(self._settings(), rows, labels, target=target, random_state=random_state)

    def _prepared(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """With ``update="inclusion"`` a pool goes with its marginals, kept from call to call."""
        candidates, pending = arguments["candidates"], arguments["pending"]
        keeps = self.update == "inclusion" and hasattr(getattr(self, "belief_", None), "marginals")
        if not keeps or callable(candidates) or pool.length(candidates) == 0:
            return arguments
        marginals = self.belief_.marginals(candidates, lambda: checked_table(self, candidates))
        prepared = {**arguments, "candidates": marginals.as_pool(), "mask": marginals.mask(arguments)}
        if callable(arguments["cost"]):
            prepared["cost"] = arguments["cost"](candidates)
        if pending is not None:
            beside = self.belief_.marginals(pending, lambda: checked_table(self, pending), keep=False)
            prepared["pending"] = beside.as_pool()
        return prepared

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the (m, c) predictive probabilities, columns as in ``classes_``."""
        check_is_fitted(self)
        return self.belief_.probabilities(checked_table(self, X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the (m,) labels with the highest predictive probability."""
        check_is_fitted(self)
        return self.classes_[self.belief_.winners(checked_table(self, X))]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return log-odds (m,), ln p(classes_[1]) - ln p(classes_[0]); of more classes ln p (m, c)."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))
        return logs if logs.shape[1] > 2 else logs[:, -1] - logs[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multi_class != "softmax" or SoftmaxBelief.supports(self)
        tags.input_tags.sparse = True
        return tags

    def log_predictive(self, X: Any, y: Any) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of the labels ``y``."""
        probabilities = self.predict_proba(X)
        codes = codes_of(np.asarray(y), self.classes_)
        with np.errstate(divide="ignore"):
            return np.log(probabilities[np.arange(len(codes)), codes])

    @property
    def coef_(self) -> np.ndarray:
        """(1, n_features) posterior means of the weights; (c, n_features) of more than two classes."""
        check_is_fitted(self)
        return self.belief_.coefficients()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """(1,) or (c,) posterior means of the intercept, 0 without one."""
        check_is_fitted(self)
        return self.belief_.coefficients()[1]

    posterior_ = property(lambda self: self.belief_.posterior, doc="Over the weights and, last, the intercept.")
    prior_scale_ = property(lambda self: self.belief_.prior_scale, doc="Given, or learnt by evidence.")
    log_evidence_ = property(lambda self: self.belief_.log_evidence, doc="Log evidence at ``prior_scale_``.")
    evidence_kind_ = property(lambda self: self.belief_.evidence_kind, doc='"approximation" or "lower_bound".')
    objective_trace_ = property(lambda self: self.belief_.objective_trace, doc="One value per iteration.")
    n_iter_ = property(lambda self: self.belief_.n_iter, doc="Iterations of the last inference.")
    converged_ = property(lambda self: self.belief_.converged, doc="Whether it met ``tol``.")

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what was learnt as plain data, without pickles; ``restore`` brings it back to the last bit."""
        if not hasattr(self, "belief_"):
            return {}
        names = getattr(self, "feature_names_in_", None)
        return {
            "X": rows_state(self.X_train_),
            "y": self.y_train_,
            "sample_weight": self.sample_weight_,
            "classes": self.classes_,
            "belief": self.belief_.state(),
            "feature_names": None if names is None else list(names),
        }

    def restore(self, state: dict[str, Any]) -> BayesianLogisticRegression:
        """Take over what ``state`` returned; the parameters must be the same."""
        if not state:
            return self
        X, y, classes = restored_rows(state["X"]), state["y"], state["classes"]
        weights = np.asarray(state["sample_weight"], dtype=float)
        training = self._training(X, y, weights, classes)
        self.belief_ = self._kind(len(classes)).restored(self._settings(), training, state["belief"])
        self.X_train_, self.y_train_, self.sample_weight_, self.classes_ = X, y, weights, classes
        self.n_features_in_ = X.shape[1]
        if state["feature_names"] is not None:
            self.feature_names_in_ = np.array(state["feature_names"], dtype=object)
        return self

    # -- details -------------------------------------------------------------------------------------------------------

    def _settings(self) -> Settings:
        """The parameters that a belief needs, checked."""
        checks.choice("multi_class", self.multi_class, ("softmax", "one_vs_rest"))
        if self.classes is not None and len(np.unique(self.classes)) < 2:
            raise ValueError(f"classes must name two labels or more, got {list(self.classes)}.")
        return Settings(**{name: getattr(self, name) for name in Settings.__dataclass_fields__}).check()

    def _classes(self, y: np.ndarray, named: Any, earlier: Any = None) -> np.ndarray:
        """The classes known from the constructor, from earlier calls, from this one and from ``y``."""
        if earlier is not None and named is None and set(y.tolist()) <= set(earlier.tolist()):
            return earlier
        return known_classes(y, self.classes if named is None else named, earlier)

    def _kind(self, n_classes: int) -> Any:
        """The class of the belief about so many classes."""
        if n_classes <= 2:
            return BinaryBelief
        return SoftmaxBelief if self.multi_class == "softmax" else OneVsRestBelief
