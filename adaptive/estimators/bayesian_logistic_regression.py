"""Binary classification with a linear latent and an honest posterior over its weights,

p(y | x, w, b) = link(y (w . x + b)),    w ~ prior(scale),    q(w, b) = N(mean, covariance) by approximation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from adaptive import checks, inference
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.labelled import Labelled
from adaptive.estimators.linear_predictive import linear_predictive, with_intercept
from adaptive.estimators.prior_scale import Evaluation, maximise
from adaptive.inference import GLM
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace
from adaptive.predictive import GaussianProjections, Predictive

__all__ = ["BayesianLogisticRegression"]

LINKS = {"logit": BernoulliLogit, "probit": BernoulliProbit}
ENGINES = ("expectation_propagation", "laplace_approximation", "variational_bounds")
PRIORS = ("gaussian", "laplace")
TABLES: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
INTERCEPT_SCALE = 3.0  # prior standard deviation of the intercept, in units of the link: class probabilities .05 to .95
TYPICAL_LATENT = 3.0  # the prior of a learnt scale is centred where a typical row has a latent of this size
ROUGH = 1e-2  # tolerance while the prior scale is still being sought
EXACT_SLOPE = ("expectation_propagation", "variational_bounds", "variational_gaussian")


class BayesianLogisticRegression(DesignMixin, ClassifierMixin, BaseEstimator):
    r"""Bayesian logistic (or probit) regression with a Gaussian or a sparse prior.

    Parameters
    ----------
    prior : {"gaussian", "laplace"}, default "gaussian"
        Of each weight: N(0, scale^2), or exp(-\|w\|/scale)/(2 scale).  The intercept is N(0, 9).
    prior_scale : float, optional
        None: learnt by evidence, under a broad log-normal prior (see Notes).
    link : {"logit", "probit"}, default "logit"
    inference : str or callable, default "expectation_propagation"
        A name in :mod:`adaptive.inference`, or a callable ``(model, **settings) -> Posterior`` such as
        ``functools.partial(inference.variational_bounds, logdet_bound=1)``.
    fit_intercept : bool, default True
    classes : array-like of two labels, optional
        Both labels, where the first answers may all be of one class.
    max_iter : int, default 100
        Iterations of the inference.
    tol : float, default 1e-4
        Its tolerance.
    random_state : None, int, Generator or RandomState
        For inference that draws.

    Attributes
    ----------
    classes_ : (c,) array, the labels known so far
    coef_ : (1, n_features) array, posterior mean of the weights
    intercept_ : (1,) array, posterior mean of the intercept
    prior_scale_ : float
    posterior_ : Posterior over the weights and, last, the intercept
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    adaptive.SequentialDesign : asks for labels one by one.

    Notes
    -----
    A learnt scale maximises the evidence times a log-normal prior: its median makes the latent of a typical training
    row 3, the standard deviation of ln scale is 1.5; ``log_evidence_`` is without that prior.  ``partial_fit`` keeps
    all rows and refits warm; answers that repeat a row count as independent answers.

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
        link: str = "logit",
        inference: Any = "expectation_propagation",
        fit_intercept: bool = True,
        classes: Any = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.prior = prior
        self.prior_scale = prior_scale
        self.link = link
        self.inference = inference
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    prior_scale_: float

    def fit(self, X: Any, y: Any) -> BayesianLogisticRegression:
        """Forget what was learnt and fit.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of at most two labels

        Raises
        ------
        ValueError
            If X or y is not finite, shapes differ, or y holds more than two labels or unknown ones.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, reset=True, **TABLES)
        return self._learn(X, y, self._known_classes(y, None), warm=None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> BayesianLogisticRegression:
        """Learn from further rows; what is refused leaves the estimator unchanged.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of labels
        classes : array-like of two labels, optional
            Both labels, as in scikit-learn's own ``partial_fit``.
        """
        if not hasattr(self, "posterior_"):
            self._check_parameters()
            try:
                X, y = validate_data(self, X, y, reset=True, **TABLES)
                return self._learn(X, y, self._known_classes(y, classes), warm=None)
            except ValueError:
                self.__dict__.pop("n_features_in_", None)
                self.__dict__.pop("feature_names_in_", None)
                raise
        X, y = validate_data(self, X, y, reset=False, **TABLES)
        known = self._known_classes(y, classes, self.classes_)
        sparse = sp.issparse(X) or sp.issparse(self.X_train_)
        stack = sp.vstack([self.X_train_, X], format="csr") if sparse else np.concatenate([self.X_train_, X])
        warm = self.posterior_ if len(known) == len(self.classes_) else None
        return self._learn(stack, np.concatenate([self.y_train_, y]), known, warm)

    def _learn(self, X: Any, y: np.ndarray, classes: np.ndarray, warm: Any) -> BayesianLogisticRegression:
        """Fit the posterior at the given prior scale, or at the one of the highest evidence."""
        features, signs = self._features(X), self._signs(y, classes)
        if self.prior_scale is not None:
            scale = float(self.prior_scale)
            posterior = self._infer(features, signs, scale, warm)
        else:
            squares = X.multiply(X).sum() if sp.issparse(X) else np.einsum("ij,ij->", X, X)
            typical = float(np.sqrt(squares / X.shape[0])) or 1.0
            centre = np.log(TYPICAL_LATENT / typical)
            start = centre if warm is None else np.log(self.prior_scale_)
            log_scale, found = maximise(
                lambda *at: self._evaluate(features, signs, *at), start, centre, warm_start=warm
            )
            scale, posterior = float(np.exp(log_scale)), found.posterior
        self.X_train_, self.y_train_, self.classes_ = X, y, classes
        self.prior_scale_, self.posterior_ = scale, posterior
        return self

    def _infer(self, features: Any, signs: np.ndarray, scale: float, warm: Any, tol: float | None = None) -> Any:
        engine = getattr(inference, self.inference) if isinstance(self.inference, str) else self.inference
        return engine(
            self._model(features, signs, scale),
            max_iter=self.max_iter,
            tol=self.tol if tol is None else tol,
            random_state=self.random_state,
            warm_start=warm,
        )

    def _model(self, features: Any, signs: np.ndarray, scale: float) -> GLM:
        likelihood = LINKS[self.link](signs)
        n = features.shape[1]
        n_weights = n - bool(self.fit_intercept)
        if self.prior == "gaussian":
            variances = np.full(n, scale**2)
            variances[n_weights:] = INTERCEPT_SCALE**2
            return GLM(B=features, potentials=likelihood, prior_covariance=variances)
        unit = sp.eye_array(n, format="csr")
        groups: list[tuple[Any, Any]] = [(features, likelihood), (unit[:n_weights], Laplace(scale))]
        if self.fit_intercept:
            groups.append((unit[n_weights:], Gaussian(INTERCEPT_SCALE**2)))
        return GLM(B=[rows for rows, _ in groups], potentials=[potential for _, potential in groups])

    def _evaluate(self, features: Any, signs: np.ndarray, log_scale: float, warm: Any, rough: bool) -> Evaluation:
        """Evidence and its slope in ln scale."""
        exact_slope = self.prior == "gaussian" and self.inference in EXACT_SLOPE
        tol = max(self.tol, ROUGH) if rough and exact_slope else self.tol
        posterior = self._infer(features, signs, float(np.exp(log_scale)), warm, tol)
        if exact_slope:
            # d ln Z / d ln scale = E_q[d ln prior / d ln scale]; the trace of the posterior covariance over the prior's
            # comes from the sites, tr(V P) = n - sum_j precision_j var(s_j), less the intercept's share
            n_weights = features.shape[1] - bool(self.fit_intercept)
            mean = posterior.mean[:n_weights]
            determined = float(posterior.sites[0] @ posterior.variances(features))
            if self.fit_intercept:
                last = np.eye(1, posterior.n, posterior.n - 1)
                determined -= 1.0 - float(posterior.variances(last)[0]) / INTERCEPT_SCALE**2
            slope = float(mean @ mean) * np.exp(-2 * log_scale) - determined
            return Evaluation(posterior, posterior.log_evidence, slope, max(determined, 0.0))
        step = 1e-2
        beside = [
            self._infer(features, signs, float(np.exp(log_scale + side)), posterior).log_evidence
            for side in (-step, step)
        ]
        curvature = -(beside[0] - 2 * posterior.log_evidence + beside[1]) / step**2
        return Evaluation(posterior, posterior.log_evidence, (beside[1] - beside[0]) / (2 * step), max(curvature, 0.1))

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
        GaussianProjections
            Outcomes are ``classes_`` where two are known, else -1 and +1.
        """
        rows = self._rows(candidates)
        target = None if target is None else self._rows(target)
        known = getattr(self, "classes_", self.classes)
        family: Any = LINKS[self.link]()
        if known is not None and len(known) == 2:
            family = Labelled(family, np.unique(known))
        if hasattr(self, "posterior_"):
            return linear_predictive(
                self.posterior_,
                rows,
                family,
                target=target,
                intercept=bool(self.fit_intercept),
                random_state=random_state,
            )
        mean, variances = self._prior(rows.shape[1])
        return GaussianProjections.from_rows(
            self._features(rows),
            mean,
            covariance=variances,
            likelihood=family,
            target=self._features(target),
            random_state=random_state,
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the (m, c) predictive probabilities, columns as in ``classes_``."""
        check_is_fitted(self)
        rows = self._rows(X)
        if len(self.classes_) == 1:
            return np.ones((rows.shape[0], 1))
        mean, variance = self.posterior_.projection_moments(self._features(rows))
        return LINKS[self.link]().outcome_probabilities(mean, variance)[1]

    def predict(self, X: Any) -> np.ndarray:
        """Return the (m,) labels with the higher predictive probability."""
        check_is_fitted(self)
        positive = self._features(self._rows(X)) @ self.posterior_.mean > 0  # so is the probability above one half
        return self.classes_[positive.astype(int) if len(self.classes_) == 2 else np.zeros(len(positive), int)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the (m,) log-odds of the predictive probabilities, ln p(classes_[1]) - ln p(classes_[0])."""
        with np.errstate(divide="ignore"):
            probabilities = np.maximum(self.predict_proba(X), np.finfo(float).tiny)
        return np.log(probabilities[:, -1]) - np.log(probabilities[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def log_predictive(self, X: Any, y: Any) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of the labels ``y``."""
        probabilities = self.predict_proba(X)
        positive = self._signs(np.asarray(y), self.classes_) > 0
        column = positive.astype(int) if len(self.classes_) == 2 else np.zeros(len(positive), int)
        with np.errstate(divide="ignore"):
            return np.log(probabilities[np.arange(len(column)), column])

    @property
    def coef_(self) -> np.ndarray:
        """(1, n_features) posterior means of the weights."""
        check_is_fitted(self)
        return self.posterior_.mean[None, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """(1,) posterior mean of the intercept, 0 without one."""
        check_is_fitted(self)
        return self.posterior_.mean[self.n_features_in_ :] if self.fit_intercept else np.zeros(1)

    log_evidence_ = property(lambda self: self.posterior_.log_evidence, doc="Log evidence at ``prior_scale_``.")
    evidence_kind_ = property(lambda self: self.posterior_.evidence_kind, doc='"approximation" or "lower_bound".')
    objective_trace_ = property(lambda self: self.posterior_.objective_trace, doc="One value per iteration.")
    n_iter_ = property(lambda self: self.posterior_.n_iter, doc="Iterations of the last inference.")
    converged_ = property(lambda self: self.posterior_.converged, doc="Whether it met ``tol``.")

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what was learnt as plain data, without pickles; ``restore`` brings it back to the last bit."""
        if not hasattr(self, "posterior_"):
            return {}
        X = self.X_train_
        if sp.issparse(X):
            X = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": list(X.shape)}
        names = getattr(self, "feature_names_in_", None)
        return {
            "X": X,
            "y": self.y_train_,
            "classes": self.classes_,
            "prior_scale": self.prior_scale_,
            "posterior": inference.posterior_state(self.posterior_),
            "feature_names": None if names is None else list(names),
        }

    def restore(self, state: dict[str, Any]) -> BayesianLogisticRegression:
        """Take over what ``state`` returned; the parameters must be the same."""
        if not state:
            return self
        X = state["X"]
        if isinstance(X, dict):
            X = sp.csr_array((X["data"], X["indices"], X["indptr"]), shape=tuple(X["shape"]))
        self.X_train_, self.y_train_, self.classes_ = X, state["y"], state["classes"]
        self.n_features_in_ = X.shape[1]
        if state["feature_names"] is not None:
            self.feature_names_in_ = np.array(state["feature_names"], dtype=object)
        self.prior_scale_ = float(state["prior_scale"])
        model = self._model(self._features(X), self._signs(self.y_train_, self.classes_), self.prior_scale_)
        self.posterior_ = inference.restored_posterior(model, state["posterior"])
        return self

    # -- details -------------------------------------------------------------------------------------------------------

    def _rows(self, X: Any) -> Any:
        """Check candidates against the features seen in ``fit``; before any fit whatever width they have."""
        if hasattr(self, "n_features_in_"):
            return validate_data(self, X, reset=False, **TABLES)
        return check_array(X, **TABLES)

    def _prior(self, n_weights: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variances of weights and intercept before any fit; a scale that is to be learnt counts as 1."""
        scale = 1.0 if self.prior_scale is None else float(self.prior_scale)
        variance = scale**2 if self.prior == "gaussian" else 2 * scale**2
        variances = np.concatenate([np.full(n_weights, variance), [INTERCEPT_SCALE**2] * bool(self.fit_intercept)])
        return np.zeros(len(variances)), variances

    def _features(self, X: Any) -> Any:
        """Append the constant feature of the intercept."""
        if not self.fit_intercept or X is None:
            return X
        return with_intercept(X)

    def _check_parameters(self) -> None:
        checks.choice("prior", self.prior, PRIORS)
        checks.choice("link", self.link, LINKS)
        if isinstance(self.inference, str):
            checks.choice("inference", self.inference, ENGINES)
        elif not callable(self.inference):
            raise ValueError(f"inference must be a name or a callable (model, **settings), got {self.inference!r}.")
        if self.prior_scale is not None:
            checks.positive("prior_scale", self.prior_scale)
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("max_iter", self.max_iter, minimum=1)
        if self.classes is not None and len(np.unique(self.classes)) != 2:
            raise ValueError(f"classes must name two labels, got {list(self.classes)}.")

    def _known_classes(self, y: np.ndarray, classes: Any, earlier: Any = None) -> np.ndarray:
        """Merge the labels of the constructor, of earlier calls, of this call and of ``y``; refuse a third."""
        if earlier is not None and classes is None and set(y.tolist()) <= set(earlier.tolist()):
            return earlier
        check_classification_targets(y)
        named = self.classes if classes is None else classes
        known = np.unique(y) if named is None else np.unique(named)
        if named is not None and not np.isin(y, known).all():
            stranger = y[~np.isin(y, known)][0]
            raise ValueError(f"y contains the label {stranger!r}, but the known classes are {known.tolist()}.")
        if earlier is not None:
            known = np.unique(np.concatenate([earlier, known]))
        if len(known) > 2:
            raise ValueError(
                "Only binary classification is supported: y may take two labels, "
                f"got {len(known)}: {known[:5].tolist()}."
            )
        return known

    @staticmethod
    def _signs(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Labels as -1 and +1; a lone class is +1 (which of the two it becomes is settled when the other shows up)."""
        unknown = ~np.isin(y, classes)
        if unknown.any():
            raise ValueError(f"y contains the label {y[unknown][0]!r}, but the known classes are {classes.tolist()}.")
        return np.where(y == classes[-1], 1.0, -1.0)
