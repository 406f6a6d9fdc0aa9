"""One shape for every estimator: parameters and checks over a belief.

    parameters  ->  Settings        those that a belief needs, as values, checked when they are taken
    X, y        ->  data            everything measured so far, checked
    settings, data, earlier  ->  belief      what follows from them; learning more makes another one

An estimator holds its parameters and ``belief_``, nothing else: what is refused leaves it as it was, since a belief
that could not be made replaces nothing. A subclass of `BeliefEstimator` names its three types and adds what its users
call, such as ``predict``; `skeletons/linear_model_estimator.py` is one to start from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from adaptive import pool
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.rows.scales import warn_of_scales
from adaptive.estimators.rows.tables import checked_table
from adaptive.estimators.rows.training import Rows
from adaptive.parallel import one_blas_thread

if TYPE_CHECKING:
    from adaptive.estimators.rows.leave_one_out import LeaveOneOut
    from adaptive.inference import Posterior
    from adaptive.inference.mixture_posterior import MixturePosterior
    from adaptive.predictive import Predictive
    from adaptive.types import Array, Pool, RandomState, State

LITTLE_WORK = 10**8  # multiplications, a few hundredths of a second

__all__ = ["Belief", "BeliefEstimator", "Data", "FromPrior", "Inferred", "Settings", "Traced", "of_belief", "returned"]


S = TypeVar("S")  # settings
D = TypeVar("D")  # data


@dataclass(frozen=True, eq=False)
class Settings:
    """Parameters of an estimator under the same names; a subclass lists them, and checks them in ``check``.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> @dataclass(frozen=True, eq=False)
    ... class Scale(Settings):
    ...     scale: float = 1.0
    >>> class Model(BaseEstimator):
    ...     def __init__(self, scale=2.0):
    ...         self.scale = scale
    >>> Scale.of(Model()).scale
    2.0
    """

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Self:
        """The parameters of ``estimator``, checked."""
        settings = cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})
        settings.check()
        return settings

    def check(self) -> None:
        """Refuse what is wrong, in one sentence that names the parameter."""


class Data(Protocol):
    """Measurements so far, as they were given.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive.estimators import Rows
    >>> measured: Data = Rows(np.zeros((3, 2)), np.ones(3))
    >>> measured.n_features, sorted(measured.state())
    (2, ['X', 'y'])
    """

    @property
    def n_features(self) -> int | None:
        """Columns of a row, where what is measured are rows."""

    def state(self) -> State:
        """Plain data."""

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The data that ``state`` described."""


class Belief(Protocol[S, D]):
    """A belief after a fit; made by ``learnt`` or ``from_state``, and never changed.

    It is generic in its settings and data: ``Belief[LogisticSettings, LabelledRows]``.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression
    >>> model = BayesianLogisticRegression(hyperparameters="mode").fit([[0.0], [1.0]], [0, 1])
    >>> belief: Belief = model.belief_
    >>> len(belief.data), belief.settings.prior, belief.predictive(model.belief_.data.X).mean.shape
    (2, 'gaussian', (2,))
    """

    @property
    def settings(self) -> S:
        """The parameters it was made with."""

    @property
    def data(self) -> D:
        """The data it was fitted to."""

    @classmethod
    def learnt(cls, settings: S, data: D, earlier: Any = None, /) -> Self:
        """The belief after ``data``; warm where an ``earlier`` one, about the first of them, is of use."""

    @classmethod
    def prior_predictive(
        cls, settings: S, candidates: Any, /, *, target: Any = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive before any fit."""

    def predictive(self, candidates: Any, /, *, target: Any = None, random_state: RandomState = None) -> Predictive:
        """The predictive of candidates."""

    def state(self) -> State:
        """Plain data, without what was measured, from which ``from_state`` makes the belief again, to the last bit."""

    @classmethod
    def from_state(cls, settings: S, data: D, state: State, /) -> Self:
        """The belief that ``state`` described."""


class Inferred:
    """Evidence, trace and convergence of a belief, from its ``posterior``, or from the ``posteriors`` that it states.

    Examples
    --------
    >>> from adaptive.inference import GLM, laplace_approximation
    >>> class Mean(Inferred):
    ...     def __init__(self, y):
    ...         model = GLM([[1.0]] * len(y), y, potentials=[], B=[], prior_covariance=1.0)
    ...         self.posterior = laplace_approximation(model)
    >>> belief = Mean([1.0, 2.0])
    >>> belief.evidence_kind, round(belief.log_evidence, 3), belief.converged
    ('exact', -3.387, True)
    """

    if TYPE_CHECKING:  # a field or a property, as the belief likes

        @property
        def posterior(self) -> Any: ...

        @property
        def left_out(self) -> LeaveOneOut | None: ...

    else:
        left_out = None  # predictions of the training rows without themselves, where there are any

    @property
    def posteriors(self) -> Sequence[Posterior | MixturePosterior]:
        """All posteriors: the only one."""
        return [self.posterior]

    @property
    def log_evidence(self) -> float:
        """Log evidence, added over the posteriors."""
        return float(sum(posterior.log_evidence for posterior in self.posteriors))

    @property
    def evidence_kind(self) -> str:
        """Kind of the evidence: "exact", "lower_bound", "approximation" or "none"."""
        return self.posteriors[0].evidence_kind

    @property
    def objective_trace(self) -> Array:
        """One value per iteration, of the first posterior."""
        return self.posteriors[0].objective_trace

    @property
    def n_iter(self) -> int:
        """Iterations of the longest inference."""
        return max(posterior.n_iter for posterior in self.posteriors)

    @property
    def converged(self) -> bool:
        """True where all have."""
        return all(posterior.converged for posterior in self.posteriors)


class Traced:
    """Inference that a belief reports by its ``trace``, where its posterior keeps no diagnostics of its own.

    The belief states ``trace``, one value of the objective per iteration, ``log_evidence``, ``evidence_kind`` and
    ``converged``.

    Examples
    --------
    >>> class Sweeps(Traced):
    ...     trace = [3.0, 1.0]
    >>> Sweeps().n_iter, Sweeps().objective_trace
    (2, array([3., 1.]))
    """

    if TYPE_CHECKING:  # a field or a property, as the belief likes

        @property
        def trace(self) -> Sequence[float] | np.ndarray: ...

    @property
    def objective_trace(self) -> Array:
        """One value per iteration of the last full fit."""
        return np.array(self.trace)

    @property
    def n_iter(self) -> int:
        """Iterations of the last full fit."""
        return len(self.trace)


class FromPrior:
    """Belief that is there before any fit: ``prior(settings)`` makes it, and it says what the predictive is then."""

    if TYPE_CHECKING:

        @classmethod
        def prior(cls, settings: Any) -> Any: ...

    @classmethod
    def prior_predictive(cls, settings: Any, candidates: Any, /, **options: Any) -> Predictive:
        """Predictive before any fit."""
        return cls.prior(settings).predictive(candidates, **options)


def returned(posterior: Posterior) -> Posterior:
    """Return what an ``inference`` of the user's own made; refuse what is no posterior.

    Examples
    --------
    >>> returned(None)
    Traceback (most recent call last):
    ValueError: inference must return a Posterior, got NoneType.
    """
    if not hasattr(posterior, "log_evidence"):
        raise ValueError(f"inference must return a Posterior, got {type(posterior).__name__}.")
    return posterior


def of_belief(name: str, doc: str) -> property:
    """A fitted attribute that is one of the belief's; NotFittedError before any fit.

    Parameters
    ----------
    name : str
        Of the belief's attribute; dots lead further inside.
    doc : str
        What the attribute is.

    Returns
    -------
    property

    Examples
    --------
    >>> from adaptive.estimators import BeliefEstimator
    >>> class Model(BeliefEstimator):
    ...     n_rows_ = of_belief("data.n_rows", "Training rows.")
    >>> Model.n_rows_.__doc__
    'Training rows.'
    """

    def read(estimator: BeliefEstimator) -> Any:
        value: Any = estimator.fitted_belief()
        for part in name.split("."):
            value = getattr(value, part)
        return value

    return property(read, doc=doc)


class BeliefEstimator(DesignMixin, BaseEstimator):
    """An estimator that is parameters over a belief.

    A subclass says

        _Settings, _Belief              its types (or `_belief_about`, where there are several kinds of belief)
        _Data, _measured(X, y, earlier), _candidates(X)
                                        what users give, checked, and joined to the data there are: rows of numbers with
                                        numbers as outcomes, unless it says otherwise

    and gets ``fit``, ``partial_fit``, ``predictive``, ``select``, ``state``, ``restore`` and the attributes below.

    Attributes
    ----------
    belief_ : Belief
    posterior_, log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor
    >>> model = GaussianProcessRegressor()
    >>> isinstance(model, BeliefEstimator)
    True
    >>> again = GaussianProcessRegressor().restore(model.fit([[0.0], [1.0]], [0.0, 1.0]).state())
    >>> bool((again.predict([[0.5]]) == model.predict([[0.5]])).all())
    True
    """

    _Settings: ClassVar[type[Settings]] = Settings
    _Data: ClassVar[type[Data]] = Rows
    _Belief: ClassVar[type[Belief]]
    _cites: ClassVar[tuple[str, ...]] = ()  # keys of `adaptive.citing.BIBLIOGRAPHY`
    belief_: Any

    @property
    def compares_columns(self) -> bool:
        """True where its prior or kernel treats all columns of X alike, so that their scales matter."""
        return False

    # -- what a subclass says ----------------------------------------------------------------------------------------

    def _belief_about(self, data: Any) -> type[Belief]:
        """The kind of belief about these data; None: about none yet."""
        return self._Belief

    def _measured(self, X: Any, y: Any, earlier: Any = None) -> Any:
        """X and y as data, after the ``earlier`` ones (None: what came before is forgotten)."""
        rows, outcomes = checked_table(self, X, y, reset=earlier is None, numbers=True)
        return Rows(rows, outcomes) if earlier is None else earlier.followed_by(rows, outcomes)

    def _measured_before(self, settings: Any, state: State) -> Any:
        """The data that ``state`` holds."""
        return self._Data.from_state(state)

    def _candidates(self, X: Any) -> Any:
        """Candidates, checked; before any fit rows may be of any width."""
        return checked_table(self, X, numbers=True)

    def _given_inputs(self, target: Any) -> Any:
        """Given inputs, checked: the same kind of thing as candidates."""
        return self._candidates(target)

    # -- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Forget the earlier fit, and fit."""
        return self._fit(X, y)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from further measurements, starting from what is believed; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _fit(self, X: Any, y: Any, **named: Any) -> Self:
        with _unchanged_if_refused(self):
            settings = self._Settings.of(self)
            data = self._measured(X, y, None, **named)
            warn_of_scales(self, getattr(data, "X", None), "X")
            return self._learn(settings, data, None)

    def _partial_fit(self, X: Any, y: Any, **named: Any) -> Self:
        if not self.__sklearn_is_fitted__():
            with _unchanged_if_refused(self):
                return self._learn(self._Settings.of(self), self._measured(X, y, None, **named), None)
        belief = self.belief_
        return self._learn(self._Settings.of(self), self._measured(X, y, belief.data, **named), belief)

    def _learn(self, settings: Settings, data: Any, earlier: Any, **how: Any) -> Self:
        columns = data.n_features  # None where what was measured are no rows
        with nullcontext() if columns is None else one_blas_thread(len(data), columns):
            try:
                self.belief_ = self._belief_about(data).learnt(settings, data, earlier, **how)
            except np.linalg.LinAlgError as problem:  # numbers of such sizes that rounding is all that is left
                raise ValueError(f"X and y cannot be learnt from: {problem}; are they in the units meant?") from problem
        return self

    # -- what is believed --------------------------------------------------------------------------------------------

    def predictive(self, candidates: Pool, *, target: Any = None, random_state: RandomState = None) -> Predictive:
        """Return what is believed about ``candidates`` at the current posterior; before any fit the prior answers."""
        given = self._candidates(candidates)
        about = None if target is None else self._given_inputs(target)
        if self.__sklearn_is_fitted__():
            return self.belief_.predictive(given, target=about, random_state=random_state)
        settings, kind = self._Settings.of(self), self._belief_about(None)
        return kind.prior_predictive(settings, given, target=about, random_state=random_state)

    def _threads(self, candidates: Pool) -> AbstractContextManager[Any]:
        """One of BLAS where a pool times training rows is little work: a second one costs more than it does."""
        data = self.belief_.data if self.__sklearn_is_fitted__() else None
        if callable(candidates) or data is None or data.n_features is None:
            return nullcontext()
        little = pool.length(candidates) * max(len(data), data.n_features) ** 2 <= LITTLE_WORK
        return one_blas_thread(1) if little else nullcontext()

    def fitted_belief(self) -> Any:
        """Return the belief; NotFittedError before any fit."""
        check_is_fitted(self, "belief_")
        return self.belief_

    def __sklearn_is_fitted__(self) -> bool:
        return "belief_" in vars(self)

    posterior_ = of_belief("posterior", "Posterior over the unknowns.")
    log_evidence_ = of_belief("log_evidence", "Log evidence at the parameters that were learnt.")
    evidence_kind_ = of_belief("evidence_kind", '"exact", "lower_bound", "approximation" or "none".')
    objective_trace_ = of_belief("objective_trace", "One value per iteration of the inference.")
    n_iter_ = of_belief("n_iter", "Iterations of the last inference.")
    converged_ = of_belief("converged", "Whether it met ``tol``.")

    # -- snapshots ---------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return what was learnt as plain data, without pickles; ``restore`` brings it back to the last bit."""
        if not self.__sklearn_is_fitted__():
            return {}
        names = getattr(self, "feature_names_in_", None)
        return {
            **self.belief_.data.state(),
            "belief": self.belief_.state(),
            "feature_names": None if names is None else list(names),
        }

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned; the parameters must be the same."""
        if not state:
            return self
        settings = self._Settings.of(self)
        data = self._measured_before(settings, state)
        self.belief_ = self._belief_about(data).from_state(settings, data, state["belief"])
        if data.n_features is not None:
            self.n_features_in_ = data.n_features
        if state.get("feature_names") is not None:
            self.feature_names_in_ = np.array(state["feature_names"], dtype=object)
        return self


@contextmanager
def _unchanged_if_refused(estimator: BaseEstimator) -> Iterator[None]:
    """Forget what was noted of rows that are refused, such as their columns: the next ones may have others."""
    before = dict(estimator.__dict__)
    try:
        yield
    except (ValueError, TypeError):
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
