"""Rivals: of each kind of outcomes the simplest model that one would have taken instead, tuned as its users tune it.

    labels        scikit-learn's LogisticRegressionCV
    numbers       scikit-learn's RidgeCV on standardised columns, with the deviation of its leave-one-out errors; of a
                  sparse regression LassoCV, with that of its folds
    counts        scikit-learn's PoissonRegressor, its strength by cross-validation
    places        a kernel smoother of the rate, its width by leaving one out; the widest is a constant rate
    counts of pairs      the user's mean times the item's
    comparisons   everybody alike: one strength an item (Bradley and Terry 1952)

Of pairs that happened, which are ranked, popularity and a regression of items on each other stand in `rankings`.
Each has ``fit(X, y)`` and ``log_predictive(X, y)``. Counts scatter beyond Poisson's (negative binomial) by as much as
those that were learnt do.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy.stats import nbinom, norm, poisson
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV, PoissonRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

__all__ = ["Alike", "Linear", "Logistic", "PairMeans", "PoissonLinear", "SmoothedRate", "SparseLinear", "rival_of"]

STRENGTHS = np.logspace(-2, 4, 13)
WIDTHS = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, np.inf)  # of the range
SWEEPS = 50


class Logistic:
    """LogisticRegressionCV as it comes, with fewer folds where a class is small."""

    name, of = "scikit-learn's LogisticRegressionCV", "labels"

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: np.ndarray) -> Logistic:
        """Tune and learn."""
        least = int(np.unique(y, return_counts=True)[1].min())
        model: Any = LogisticRegression(max_iter=1000)
        if least > 1:
            model = LogisticRegressionCV(cv=min(5, least), max_iter=1000, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged, or will change its defaults
            self.model_ = model.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n, classes)."""
        return np.asarray(self.model_.predict_proba(X))


class Linear:
    """Ridge regression with the density of its own errors."""

    name, of = "scikit-learn's RidgeCV", "numbers"

    def fit(self, X: Any, y: np.ndarray) -> Linear:
        """Learn, with the strength whose leave-one-out errors are least."""
        ridge = RidgeCV(STRENGTHS, store_cv_results=True)
        self.model_ = make_pipeline(StandardScaler(with_mean=not hasattr(X, "tocsr")), ridge).fit(X, y)
        self.deviation_ = max(float(np.sqrt(ridge.cv_results_.mean(axis=0).min())), 1e-9 * float(np.std(y)), 1e-300)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Means (n,)."""
        return np.asarray(self.model_.predict(X))

    def log_predictive(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Log densities (n,)."""
        return np.asarray(norm.logpdf(y, self.predict(X), self.deviation_))


class SparseLinear(Linear):
    """Lasso with the density of its own errors."""

    name = "scikit-learn's LassoCV"

    def fit(self, X: Any, y: np.ndarray) -> SparseLinear:
        """Learn, with the strength whose errors are least in five folds."""
        lasso = LassoCV(cv=min(5, len(y)), max_iter=10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model_ = make_pipeline(StandardScaler(with_mean=not hasattr(X, "tocsr")), lasso).fit(X, y)
        error = float(np.sqrt(lasso.mse_path_.mean(axis=1).min()))
        self.deviation_ = max(error, 1e-9 * float(np.std(y)), 1e-300)
        return self


class _Counts:
    """Counts about rates, and how far they scatter beyond Poisson's."""

    scatter_ = 0.0

    def predict(self, X: Any) -> np.ndarray:
        """Mean counts (n,)."""
        raise TypeError(f"{type(self).__name__} must define predict(X).")

    def _scattered(self, y: np.ndarray, mean: np.ndarray) -> None:
        """Match  variance = mean + scatter mean^2  to counts and the means that they were predicted with."""
        self.scatter_ = max(float(np.sum((y - mean) ** 2 - mean) / np.sum(mean**2)), 0.0)

    def log_predictive(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Log probabilities (n,)."""
        return _log_counts(y, self.predict(X), self.scatter_)


class PoissonLinear(_Counts):
    """Poisson regression on standardised columns."""

    name, of = "scikit-learn's PoissonRegressor", "counts"

    def __init__(self, exposure: int | str | None = None) -> None:
        self.exposure = exposure

    def fit(self, X: Any, y: np.ndarray) -> PoissonLinear:
        """Learn rates, weighted by exposure."""
        rows, exposure = _exposed(X, self.exposure)
        search = GridSearchCV(PoissonRegressor(max_iter=1000), {"alpha": np.logspace(-4, 2, 7)}, cv=min(5, len(y)))
        self.scaler_ = StandardScaler().fit(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model_ = search.fit(self.scaler_.transform(rows), y / exposure, sample_weight=exposure)
        self._scattered(y, self.predict(X))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Mean counts (n,)."""
        rows, exposure = _exposed(X, self.exposure)
        return np.maximum(self.model_.predict(self.scaler_.transform(rows)), 1e-12) * exposure


class SmoothedRate(_Counts):
    """Weighted mean counts about a place, with half a mean count more."""

    name, of = "a kernel smoother", "counts"

    def __init__(self, exposure: int | str | None = None) -> None:
        self.exposure = exposure

    def fit(self, X: Any, y: np.ndarray) -> SmoothedRate:
        """Choose the width whose rates predict counts without themselves best."""
        self.rows_, self.given_ = _exposed(X, self.exposure)
        self.y_ = np.asarray(y, dtype=float)
        self.reach_ = np.maximum(np.ptp(self.rows_, axis=0), 1e-12)
        self.typical_ = max(float(self.y_.sum() / self.given_.sum()), 1e-3)
        tried = {}
        for width in WIDTHS:
            mean = self._rates(width, self.rows_, without=True) * self.given_
            self._scattered(self.y_, mean)
            tried[width] = float(np.mean(_log_counts(self.y_, mean, self.scatter_))), self.scatter_
        self.width_ = max(tried, key=lambda width: tried[width][0])
        self.scatter_ = tried[self.width_][1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Mean counts (n,)."""
        rows, exposure = _exposed(X, self.exposure)
        return self._rates(self.width_, rows) * exposure

    def _rates(self, width: float, rows: np.ndarray, *, without: bool = False) -> np.ndarray:
        weights = np.exp(-0.5 * (((rows[:, None] - self.rows_[None]) / (width * self.reach_)) ** 2).sum(axis=-1))
        if without:
            np.fill_diagonal(weights, 0.0)
        return np.asarray((weights @ self.y_ + 0.5 * self.typical_) / (weights @ self.given_ + 0.5))


class PairMeans(_Counts):
    """Counts of a user and an item about  u_i v_j,  each with one mean count more about the mean of all."""

    name, of = "the user's mean times the item's", "counts"
    by_user: ClassVar[bool] = True
    ranks: ClassVar[bool] = True

    def fit(self, X: Any, y: np.ndarray) -> PairMeans:
        """Alternate between users and items until neither moves."""
        y = np.asarray(y, dtype=float)
        self.mean_, codes = max(float(y.mean()), 1e-3), []
        self.users_: dict[Any, int] = {}
        self.items_: dict[Any, int] = {}
        for side, known in enumerate((self.users_, self.items_)):
            codes.append(np.array([known.setdefault(pair[side], len(known)) for pair in X]))
        self.factors_ = [np.ones(len(self.users_) + 1), np.ones(len(self.items_) + 1)]  # the last: of those not known
        for _ in range(SWEEPS):
            for side in (0, 1):
                said = self.mean_ * self.factors_[1 - side][codes[1 - side]]
                n = len(self.factors_[side])
                seen, expected = (np.bincount(codes[side], weights=one, minlength=n) for one in (y, said))
                self.factors_[side] = (seen + self.mean_) / (expected + self.mean_)
        self._scattered(y, self.predict(X))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Mean counts (n,)."""
        parts = [
            factors[[known.get(pair[side], len(known)) for pair in X]]
            for side, (known, factors) in enumerate(zip((self.users_, self.items_), self.factors_, strict=True))
        ]
        return np.asarray(np.maximum(self.mean_ * parts[0] * parts[1], 1e-12))


class Alike:
    """One strength an item, whoever compares: a logistic regression on who stands first (+1) and second (-1)."""

    name, of = "one ranking for everybody", "comparisons"
    by_user: ClassVar[bool] = True

    def fit(self, X: Any, y: np.ndarray) -> Alike:
        """Learn, with the strength of the ridge by cross-validation."""
        self.items_: dict[Any, int] = {}
        for _, first, second in X:
            for item in (first, second):
                self.items_.setdefault(item, len(self.items_))
        rows, won = self._rows(X), np.asarray(y) > 0
        both, outcome = np.concatenate([rows, -rows]), np.concatenate([won, ~won])  # nobody is ahead for standing first
        model = LogisticRegressionCV(cv=5, fit_intercept=False, max_iter=1000, scoring="neg_log_loss")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model_ = model.fit(both, outcome)
        return self

    def log_predictive(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Log probabilities (n,)."""
        chances = self.model_.predict_log_proba(self._rows(X))
        return np.asarray(np.where(np.asarray(y) > 0, chances[:, 1], chances[:, 0]))

    def _rows(self, X: Any) -> np.ndarray:
        rows = np.zeros((len(X), len(self.items_) + 1))
        for row, (_, first, second) in zip(rows, X, strict=True):
            row[self.items_.get(first, -1)] += 1.0
            row[self.items_.get(second, -1)] -= 1.0
        return rows[:, :-1]


_OWN: dict[str, Any] = {
    "CoxProcess": lambda model: SmoothedRate(model.exposure),
    "PoissonRegression": lambda model: PoissonLinear(model.exposure),
    "PoissonFactorization": lambda model: PairMeans(),
    "CollaborativePreference": lambda model: Alike(),
    "SparseLinearRegression": lambda model: SparseLinear(),
}
_ELSEWHERE = {
    "CollaborativeRNN": "next events stand beside counting in `adaptive sequences`",
    "MetadataTopicModel": "texts stand beside word frequencies in `adaptive topics`",
    "Questionnaire": "short forms stand beside a ridge regression in `adaptive calibrate --short-form`",
    "GameTreeSearch": "random games stand beside their frequencies in `adaptive move`",
    "ImageReconstructor": "pictures stand beside other designs in `adaptive photograph`, scans in `adaptive kspace`",
    "SeveralImages": "scans stand beside simple rules in `adaptive kspace`",
}


def rival_of(model: Any, random_state: int = 0) -> Any:
    """Return the rival of an estimator's field, unfitted.

    Raises
    ------
    ValueError
        If the estimator learns from other things than rows or pairs with outcomes; it says where it is compared.

    Examples
    --------
    >>> from adaptive import CoxProcess
    >>> rival_of(CoxProcess()).name
    'a kernel smoother'
    """
    for kind in type(model).__mro__:
        if kind.__name__ in _OWN:
            return _OWN[kind.__name__](model)
        if kind.__name__ in _ELSEWHERE:
            where = _ELSEWHERE[kind.__name__]
            raise ValueError(f"model is a {type(model).__name__}, which learns from no rows with outcomes: {where}.")
    outcomes = getattr(model, "outcomes", ())  # of models by particles None or a range: numbers
    labels = hasattr(model, "predict_proba") and outcomes is not None and not (isinstance(outcomes, tuple) and outcomes)
    return Logistic(random_state) if labels else Linear()


def _exposed(X: Any, exposure: int | str | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) without the column of exposures, and the exposures (n,)."""
    if exposure is None:
        rows = np.asarray(X, dtype=float)
        return rows.reshape(len(rows), -1), np.ones(len(rows))
    at = list(X.columns).index(exposure) if isinstance(exposure, str) else int(exposure)
    rows = np.asarray(X, dtype=float)
    return np.delete(rows, at, axis=1), rows[:, at]


def _log_counts(y: np.ndarray, mean: np.ndarray, scatter: float) -> np.ndarray:
    if scatter < 1e-6:
        return np.asarray(poisson.logpmf(y, mean))
    return np.asarray(nbinom.logpmf(y, 1.0 / scatter, 1.0 / (1.0 + scatter * mean)))
