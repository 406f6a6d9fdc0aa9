"""A predictive has fields; some are stated, the others follow from these by a table.

    probabilities     = E p(y | s)            by the likelihood family, else the weighted mean of the draws
    outcome_entropy   = H(y)                  by the likelihood family, else  - sum_c p_c log p_c
    expected_entropy  = E H(y | target)       by the likelihood family, else the weighted mean entropy of the draws
    expected_target_entropy (i)               = sum_y p(y_i) H(target | y_i), one ``given`` each: for short lists

Fields are computed for all candidates at once, when they are first asked for, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import entr

from adaptive import checks
from adaptive.predictive.variance_after import is_gaussian, noise_variance, variances_after

__all__ = ["FIELDS", "MissingField", "Predictive", "StatedPredictive", "Undecided", "Way"]

# Fields that are values, one entry per candidate unless said.
VALUES = {
    "outcomes": "(c,) values that a discrete outcome may take",
    "probabilities": "(m, c) predictive distribution of a discrete outcome",
    "mean": "(m,) mean of the projection that decides the outcome",
    "variance": "(m,) variance of that projection",
    "likelihood": "the family p(y | projection)",
    "expected_variance": "(m,) mean, over its outcome, of the variance a projection will have",
    "outcome_entropy": "(m,) H(y), nats",
    "expected_entropy": "(m,) E H(y | target), nats",
    "target": "the predictive at given inputs",
    "target_covariance": "(m, t) covariance of projections and target components",
    "target_variance": "(t, t) covariance of the target components",
    "explained_variance": "(m,) the part of the variance that the target explains",
    "target_entropy": "H(target), nats",
    "expected_target_entropy": "(m,) mean of H(target | y), nats",
}
# Fields that are functions.
FUNCTIONS = {
    "covariance": "(i, j) -> joint block of candidates",
    "log_determinant": "() -> (values (m,), errors (m,)), log|I + Cov / noise|",
    "refined": "(positions) -> the predictive of these candidates, computed exactly",
    "draws": "(n=None) -> (weights (k,), p(outcome | draw) (k, m, c)), joint",
    "given": "(i, outcome=None) -> the predictive had candidate i been measured",
}
FIELDS = {**VALUES, **FUNCTIONS}
# Fields about all candidates together, whose length is not m.
_UNINDEXED = {"outcomes", "likelihood", "target", "target_variance", "target_entropy"}


class MissingField(AttributeError, ValueError):
    """A predictive was asked for a field that it neither states nor can derive."""


class Way(NamedTuple):
    """One way to derive a field: the fields it needs, the function of the predictive, and when it applies."""

    needs: tuple[str, ...]
    compute: Callable[[Any], Any]
    when: Callable[[Any], bool] = lambda predictive: True


class Predictive:
    """What is believed about m candidates; the base that derives fields from stated ones.

    A subclass states a field by defining it (attribute, property or method), an instance by keyword.

    Parameters
    ----------
    n_candidates : int
        How many candidates, m.
    random_state : None, int, Generator or RandomState
        What is drawn is drawn from this seed, in every chunk and in the target; None is the seed 0.
    **fields
        Any of ``FIELDS``.  A value may be given as a function without arguments, called once when it is needed.

    Raises
    ------
    TypeError
        If a field is unknown.

    Examples
    --------
    >>> belief = Predictive(2, outcomes=[0, 1], probabilities=[[0.5, 0.5], [1.0, 0.0]])
    >>> belief.provides("outcome_entropy"), belief.provides("draws")
    (True, False)
    >>> belief.outcome_entropy.round(3)
    array([0.693, 0.   ])
    """

    #: For each derived field the ways to it, tried in this order.
    ways: ClassVar[dict[str, tuple[Way, ...]]] = {}
    #: Whether candidates are to be asked at random, whatever the scorer.
    undecided: ClassVar[bool] = False

    def __init__(self, n_candidates: int, *, random_state: Any = None, **fields: Any) -> None:
        self._n_candidates = int(n_candidates)
        self._random_state = random_state
        self._fields: dict[str, Any] = {}
        for name, value in fields.items():
            if name not in FIELDS:
                raise TypeError(
                    f"{type(self).__name__} got the unknown field {name!r}; known fields: {', '.join(FIELDS)}."
                )
            if value is not None:
                self._fields[name] = value

    def __len__(self) -> int:
        return self._n_candidates

    def __repr__(self) -> str:
        provided = ", ".join(name for name in FIELDS if self.provides(name))
        return f"<{type(self).__name__} of {len(self)} candidates: {provided}>"

    def provides(self, name: str) -> bool:
        """Return whether this instance states the field ``name``, or states what it is derived from."""
        return name in self._fields or name in self.__dict__ or hasattr(type(self), name) or self._way(name) is not None

    @property
    def seed(self) -> int:
        """The seed of all that is drawn."""
        if not isinstance(self._random_state, int):
            given = self._random_state
            self._random_state = 0 if given is None else int(checks.generator(given).integers(2**62))
        return self._random_state

    @property
    def scenarios(self) -> list[tuple[float, Predictive]]:
        """[(probability, predictive)]: this one alone, for nothing is pending."""
        return [(1.0, self)]

    def target_block(self, i: Any) -> np.ndarray:
        """Return rows ``i`` of ``target_covariance``; overridden where these are cheaper than all of it."""
        return self.target_covariance[i]

    def outcome_distribution(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return outcomes and probabilities of candidate ``i``; overridden where this is cheaper than those of all."""
        return self.outcomes, self.probabilities[i]

    def _way(self, name: str) -> Way | None:
        for way in self.ways.get(name, ()):
            if all(self.provides(need) for need in way.needs) and way.when(self):
                return way
        return None

    def __getattr__(self, name: str) -> Any:
        # Python comes here only for names that the class does not define.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        if name in self._fields:
            value = self._fields[name]
            if name in FUNCTIONS:
                return value
            value = self._checked(name, value() if callable(value) and name != "likelihood" else value)
        else:
            way = self._way(name)
            if way is None:
                kind = "field" if name in FIELDS else "attribute"
                raise MissingField(f"{type(self).__name__} does not provide the {kind} {name!r}.")
            value = way.compute(self)
            if name in FUNCTIONS:
                return value
        self.__dict__[name] = value
        return value

    def _checked(self, name: str, value: Any) -> Any:
        if name in ("likelihood", "target"):
            return value
        value = np.asarray(value)
        if name not in _UNINDEXED and (value.ndim == 0 or len(value) != len(self)):
            raise ValueError(f"{type(self).__name__} states {name} of shape {value.shape} for {len(self)} candidates.")
        return value


class StatedPredictive(Predictive):
    """Fields stated by hand; the number of candidates is read off them where it is not given.

    Parameters
    ----------
    n_candidates : int, optional
    random_state, **fields
        As in :class:`Predictive`.

    Examples
    --------
    >>> StatedPredictive(outcomes=["no", "yes"], probabilities=[[0.2, 0.8]]).probabilities
    array([[0.2, 0.8]])
    """

    def __init__(self, n_candidates: int | None = None, *, random_state: Any = None, **fields: Any) -> None:
        if n_candidates is None:
            lengths = [
                len(value)
                for name, value in fields.items()
                if name in VALUES and name not in _UNINDEXED and value is not None and not callable(value)
            ]
            if not lengths:
                raise TypeError(
                    "StatedPredictive needs n_candidates, since no field with one entry per candidate is given."
                )
            n_candidates = lengths[0]
        super().__init__(n_candidates, random_state=random_state, **fields)


class Undecided(Predictive):
    """Nothing tells the candidates apart yet (a plain classifier before it saw two classes): they are asked at random.

    It provides no field, so that no scorer mistakes ignorance for a score; :mod:`adaptive.selection` knows the
    attribute.

    Examples
    --------
    >>> Undecided(3).undecided, Undecided(3).provides("probabilities")
    (True, False)
    """

    undecided = True


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """Return - sum_c p_c log p_c over the last axis, nats."""
    return entr(probabilities).sum(axis=-1)


def _is_discrete(predictive: Any) -> bool:
    return bool(predictive.likelihood.discrete)


def _by_family(method: str) -> Way:
    return Way(("mean", "variance", "likelihood"), lambda p: getattr(p.likelihood, method)(p.mean, p.variance))


def _outcome_table(predictive: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and probabilities by quadrature, computed together and kept together."""
    table = predictive.__dict__.get("_table")
    if table is None:
        table = predictive.likelihood.outcome_probabilities(predictive.mean, predictive.variance)
        predictive.__dict__["_table"] = table
    return table


def _drawn(predictive: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the default draws, made once."""
    drawn = predictive.__dict__.get("_drawn")
    if drawn is None:
        drawn = predictive.__dict__["_drawn"] = predictive.draws()
    return drawn


def _mean_over_draws(predictive: Any, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    weights, probabilities = _drawn(predictive)
    return np.tensordot(weights, function(probabilities), axes=1)


def _default_outcomes(predictive: Any) -> np.ndarray:
    return np.arange(predictive.probabilities.shape[1])


def _gaussian_log_determinant(predictive: Any) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def log_determinant() -> tuple[np.ndarray, np.ndarray]:
        values = np.log1p(predictive.variance / noise_variance(predictive.likelihood))
        return values, np.zeros_like(values)

    return log_determinant


def _expected_variance(predictive: Any) -> np.ndarray:
    probabilities, variances = variances_after(predictive)
    return np.einsum("ij,ij->i", probabilities, variances)


def _given_by_draws(predictive: Any) -> Callable[..., Any]:
    from adaptive.predictive.weighted_draws import WeightedDraws

    target = predictive.target if predictive.provides("target") else None
    if target is not None:
        target = WeightedDraws(*_drawn(target), target.outcomes)
    reweighted = WeightedDraws(*_drawn(predictive), predictive.outcomes, target=target, random_state=predictive.seed)
    predictive.__dict__["given"] = reweighted.given
    return reweighted.given


def likely_outcomes(predictive: Any, i: int) -> Iterator[tuple[Any, float]]:
    """Yield the outcomes of candidate ``i`` that have a probability, and these."""
    outcomes, probabilities = predictive.outcome_distribution(i)
    for outcome, probability in zip(outcomes, probabilities / probabilities.sum(), strict=True):
        if probability > 1e-12:
            yield outcome, float(probability)


def _expected_target_entropy(predictive: Any) -> np.ndarray:
    values = np.empty(len(predictive))
    for i in range(len(predictive)):
        values[i] = sum(p * predictive.given(i, y).target_entropy for y, p in likely_outcomes(predictive, i))
    return values


Predictive.ways = {
    "outcomes": (
        Way(("mean", "variance", "likelihood"), lambda p: _outcome_table(p)[0], _is_discrete),
        Way(("probabilities",), _default_outcomes),
    ),
    "probabilities": (
        Way(("mean", "variance", "likelihood"), lambda p: _outcome_table(p)[1], _is_discrete),
        Way(("draws",), lambda p: _mean_over_draws(p, lambda table: table)),
    ),
    "outcome_entropy": (
        _by_family("outcome_entropy"),
        Way(("probabilities",), lambda p: entropy(p.probabilities)),
    ),
    "expected_entropy": (
        _by_family("expected_outcome_entropy"),
        Way(("draws",), lambda p: _mean_over_draws(p, entropy)),
    ),
    "expected_variance": (Way(("mean", "variance", "likelihood"), _expected_variance),),
    "explained_variance": (Way(("variance",), lambda p: p.variance),),
    "log_determinant": (
        Way(("variance", "likelihood"), _gaussian_log_determinant, lambda p: is_gaussian(p.likelihood)),
    ),
    "given": (Way(("draws",), _given_by_draws),),
    "expected_target_entropy": (Way(("given", "probabilities", "target_entropy"), _expected_target_entropy),),
}
