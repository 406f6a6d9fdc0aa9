"""A predictive has fields; some are stated, the others follow from these (:mod:`adaptive.predictive.derivations`).

Fields are computed for all candidates at once, when they are first asked for, and kept.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np
from scipy import sparse

from adaptive import checks
from adaptive.predictive.derivations import WAYS, Way, likely
from adaptive.predictive.surprise import tail_probability
from adaptive.showing import facts_html

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential
    from adaptive.predictive.envelope import Envelope
    from adaptive.types import ArrayLike, Index, Matrix, RandomState

__all__ = ["FIELDS", "Field", "MissingField", "Predictive", "StatedPredictive", "Undecided"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class MissingField(AttributeError, ValueError):
    """A predictive was asked for a field that it neither states nor can derive."""


class Field(Generic[T_co]):
    """Declaration of a field that is a value: computed when it is first asked for, then kept by the instance.

    Parameters
    ----------
    text : str
        Its shape and what it is; "(m..." has one entry per candidate.
    """

    def __init__(self, text: str) -> None:
        self.__doc__ = text

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, predictive: None, owner: type) -> Self: ...
    @overload
    def __get__(self, predictive: Predictive, owner: type) -> T_co: ...
    def __get__(self, predictive: Predictive | None, owner: type) -> Self | T_co:
        # There is no __set__, so that Python looks here only until the instance has an attribute of this name.
        if predictive is None:
            return self
        value = predictive.__dict__[self._name] = predictive._value(self._name)
        return value


class Predictive:
    """Beliefs about m candidates; the base that derives fields from stated ones.

    A subclass states a field by defining it (attribute, method, or an entry in ``ways``), an instance by keyword.  One
    that has a method for a field which not every instance has overrides ``_provides``.

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

    # fmt: off
    outcomes:                Field[np.ndarray] = Field("(c,) values that a discrete outcome may take")
    probabilities:           Field[np.ndarray] = Field("(m, c) predictive distribution of a discrete outcome")
    mean:                    Field[np.ndarray] = Field("(m,) mean of the projection that decides the outcome")
    variance:                Field[np.ndarray] = Field("(m,) variance of that projection")
    likelihood:              Field[Potential]  = Field("the family p(y | projection)")
    expected_variance:       Field[np.ndarray] = Field("(m,) variance it will have, the mean over its outcome")
    outcome_entropy:         Field[np.ndarray] = Field("(m,) H(y), nats")
    expected_entropy:        Field[np.ndarray] = Field("(m,) E H(y | target), nats")
    target:                  Field[Predictive] = Field("the predictive at given inputs")
    target_mean:             Field[np.ndarray] = Field("(t,) mean of the target components")
    target_covariance:       Field[np.ndarray] = Field("(m, t) covariance of projections and target components")
    target_variance:         Field[np.ndarray] = Field("(t, t) covariance of the target components")
    explained_variance:      Field[np.ndarray] = Field("(m,) the part of the variance that the target explains")
    target_entropy:          Field[float]      = Field("H(target), nats")
    expected_target_entropy: Field[np.ndarray] = Field("(m,) mean of H(target | y), nats")
    votes:                   Field[np.ndarray] = Field("(m, c) probability that this outcome is the likeliest")
    fisher_information:      Field[np.ndarray] = Field("(m,) about a scalar target, at its mean")
    target_deviation:        Field[np.ndarray] = Field("(t,) standard deviations of the target components")
    features:                Field[Matrix]     = Field("(m, d) numbers that describe the candidates, dense or sparse")
    measured:                Field[Matrix]     = Field("(n, d) the same numbers of what was measured so far")
    # fmt: on

    #: For each derived field the ways to it, tried in this order.
    ways: ClassVar[dict[str, tuple[Way, ...]]] = WAYS
    #: Whether `draws` are a sample, or all that there is.
    sampled: ClassVar[bool] = False
    #: Whether candidates are to be asked at random, whatever the scorer.
    undecided: ClassVar[bool] = False
    #: What a person may do where a field that a scorer needs is not there.
    remedy: str = ""
    #: Whether the likelihood stands for outcomes of another kind, such as a Gaussian one for counts of words.
    approximate: bool = False
    #: Positions that count as asked, for scorers that look at these and not at outcomes.
    asked: tuple[int, ...] = ()
    _envelope: Callable[[], Envelope | None] | None = None

    def __init__(self, n_candidates: int, *, random_state: RandomState = None, **fields: Any) -> None:
        self._n_candidates = int(n_candidates)
        self._random_state: RandomState = random_state
        self._fields: dict[str, Any] = {}
        self._provided: dict[str, bool] = {}
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

    def _repr_html_(self) -> str:
        fields = [(name, text) for name, text in FIELDS.items() if self.provides(name)]
        return facts_html(f"{type(self).__name__} of {len(self)} candidates", fields)

    # -- fields that are functions ---------------------------------------------------------------------------------

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Joint block (len i, len j) of candidates ``i`` and ``j``."""
        return self._call("covariance", i, j)

    def log_determinant(self) -> tuple[np.ndarray, np.ndarray]:
        """Values (m,) of log|I + Cov / noise|, and their standard errors (m,)."""
        return self._call("log_determinant")

    def refined(self, positions: np.ndarray) -> Predictive:
        """Predictive of the candidates at ``positions`` (k,), computed exactly."""
        return self._call("refined", positions)

    def coarse(self) -> Predictive | None:
        """Beliefs about the same candidates that cost less, to rank them by information; None: there are none."""
        return None

    def envelope(self) -> Envelope | None:
        """Bounds on the moments of all components, where they cost a fraction of these; None: there are none."""
        return self._envelope() if self._envelope is not None else None

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Weights (k,) and p(outcome | draw) (k, m, c), joint; ``n`` says how many, None leaves it open."""
        return self._call("draws", n)

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Predictive had candidate ``i`` been measured, with this ``outcome`` or one that is not known yet."""
        return self._call("given", i, outcome)

    # -- which fields there are ------------------------------------------------------------------------------------

    def provides(self, name: str) -> bool:
        """Return whether this instance states the field ``name``, or states what it is derived from."""
        known = self._provided.get(name)
        if known is None:
            known = self._provided[name] = self._provides(name)
        return known

    def _provides(self, name: str) -> bool:
        """Work out what `provides` says, once for each field."""
        if name in self._fields or name in self.__dict__:
            return True
        defined = getattr(type(self), name, None)
        by_subclass = defined is not None and (name not in FIELDS or defined is not vars(Predictive)[name])
        return by_subclass or self._way(name) is not None

    def _way(self, name: str) -> Way | None:
        for way in self.ways.get(name, ()):
            if all(self.provides(need) for need in way.needs) and way.when(self):
                return way
        return None

    def _value(self, name: str) -> Any:
        """Return the field ``name`` as it is stated or derived; `Field` keeps it."""
        if name in self._fields:
            value = self._fields[name]
            return self._checked(name, value() if callable(value) and name != "likelihood" else value)
        way = self._way(name)
        if way is None:
            raise self._missing(name)
        return way.compute(self)

    def _call(self, name: str, *arguments: Any) -> Any:
        """Return what the function ``name`` says, the one that is stated or the one that is derived."""
        if name in self._fields:
            return self._fields[name](*arguments)
        way = self._way(name)
        if way is None:
            raise self._missing(name)
        return way.compute(self, *arguments)

    def _missing(self, name: str) -> MissingField:
        hint = f": {self.remedy}." if self.remedy else "."
        return MissingField(f"{type(self).__name__} does not provide the field {name!r}{hint}")

    def _checked(self, name: str, value: Any) -> Any:
        if name in ("likelihood", "target"):
            return value
        if sparse.issparse(value):
            value = value.tocsr()
        else:
            value = _as_outcomes(value) if name == "outcomes" else np.asarray(value)
        if name in _INDEXED and (value.ndim == 0 or value.shape[0] != len(self)):
            raise ValueError(f"{type(self).__name__} states {name} of shape {value.shape} for {len(self)} candidates.")
        return value

    def kept(self, name: str, compute: Callable[[], T]) -> T:
        """Return what ``compute()`` says, which is asked the first time only."""
        if name not in self.__dict__:
            self.__dict__[name] = compute()
        return self.__dict__[name]

    # -- what else can be said -------------------------------------------------------------------------------------

    @property
    def seed(self) -> int:
        """The seed of all that is drawn."""
        if not isinstance(self._random_state, int):
            given = self._random_state
            self._random_state = 0 if given is None else int(checks.generator(given).integers(2**62))
        return self._random_state

    @property
    def only_draws(self) -> bool:
        """Return whether its draws are a few of many, and no what-if says more than how to weigh these anew."""
        by_draws = type(self).given is Predictive.given and "given" not in self._fields
        return by_draws and self.provides("draws")

    def scenarios(self, i: int) -> list[tuple[float, Predictive]]:
        """Return [(probability, predictive)] had candidate ``i`` been measured: an entry for each likely outcome.

        There is one entry, ``given(i)``, where what is known then does not depend on the outcome.
        """
        outcomes = self.likely_outcomes(i)
        if outcomes is None:
            return [(1.0, self.given(i))]
        after = self.futures(i, outcomes)
        return [(p, one) for (_, p), one in zip(outcomes, after, strict=True)]

    def futures(self, i: int, outcomes: list[tuple[Any, float]]) -> list[Predictive]:
        """Return ``given(i, outcome)`` for each of some [(outcome, weight)].

        One whose draws are moved by what is learnt shares them out among these in proportion to the weights.
        """
        return [self.given(i, outcome) for outcome, _ in outcomes]

    def _unknown(self, i: int) -> ValueError:
        """Return the error where ``given`` is asked about an outcome that matters and is not said."""
        return ValueError(
            f"given({i}) needs the outcome, on which the belief of {type(self).__name__} depends; "
            f"scenarios({i}) lists the likely ones."
        )

    @property
    def components(self) -> list[tuple[float, Predictive]]:
        """[(weight, predictive)] of which one is right: this one alone, unless it is a mixture."""
        return [(1.0, self)]

    def after_asking(self, i: int) -> Predictive:
        """Return the same beliefs with candidate ``i`` among those ``asked``; the fields stay as they are."""
        other = copy.copy(self)
        other.asked = (*self.asked, range(len(self))[i])
        return other

    def target_block(self, i: Index) -> np.ndarray:
        """Return rows ``i`` of ``target_covariance``; overridden where these are cheaper than all of it."""
        return self.target_covariance[i]

    def target_shifts(self, i: Index) -> np.ndarray:
        """Return S (len i, r, t), a root of the expected drop of the target's covariance:  C - E C' = S' S.

        Of one Gaussian  S = c sqrt((v - E v') / v^2):  the moments of s move, and those of the target by regression.
        """
        variance = np.asarray(self.variance)[i]
        drop = np.maximum(variance - np.asarray(self.expected_variance)[i], 0.0)
        factor = np.where(variance > 0, np.sqrt(drop) / np.where(variance > 0, variance, 1.0), 0.0)
        return (factor[:, None] * self.target_block(i))[:, None, :]

    def steepness(self) -> tuple[float, float] | None:
        """Return how much mean and standard deviation can change per unit of a row's length; None if not linear."""
        return None

    def whitened(self) -> np.ndarray | None:
        """Return rows A (m, b, d) with  I(outcomes of B; target) = 1/2 log|I + A_B A_B'|  for every set B.

        None where outcomes are not Gaussian, the target is not all that decides them, or the rows are too many.
        """
        return None

    def traces(self) -> np.ndarray | None:
        """Return tr Cov / noise (m,) of what each candidate measures, where `whitened` says None; None if unknown."""
        return None

    def twins(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return pairs (p, 2) of candidates that tell nearly the same, in no two pairs, and what both tell (p,), nats.

        None where no such pairs are known.
        """
        return None

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]] | None:
        """Return [(outcome, probability)] of candidate ``i``; None where ``given`` itself knows what to look at."""
        return likely(self.outcomes, self.probabilities[i]) if self.provides("probabilities") else None

    def _place_of(self, outcome: Any) -> int:
        """Return the place of an outcome among those that are listed."""
        for column, known in enumerate(self.outcomes):
            if known == outcome:
                return column
        raise ValueError(f"outcome must be one of {np.asarray(self.outcomes).tolist()}, got {outcome!r}.")

    def outcome_probability(self, i: int, outcome: Any) -> float:
        """Return the probability (density) of ``outcome`` at candidate ``i``."""
        return float(sum(p for y, p in self.likely_outcomes(i) or () if y == outcome))

    def tail_probability(self, i: int, outcome: Any) -> float:
        """Return how probable an outcome at least as surprising as ``outcome`` is at candidate ``i``."""
        value = tail_probability(self, i, outcome)
        if value is None:
            raise MissingField(
                f"{type(self).__name__} cannot say how surprising an outcome is: that needs probabilities, or moments "
                "with a Gaussian likelihood and an outcome that is a number."
            )
        return value


_FUNCTIONS = ("covariance", "log_determinant", "refined", "draws", "given")
_VALUES = {name: str(field.__doc__) for name, field in vars(Predictive).items() if isinstance(field, Field)}
#: Fields by name, with their shapes.
FIELDS = _VALUES | {name: str(vars(Predictive)[name].__doc__) for name in _FUNCTIONS}
_INDEXED = {name for name, text in _VALUES.items() if text.startswith("(m")}  # one entry per candidate


class StatedPredictive(Predictive):
    """Fields stated by hand; the number of candidates is read off them where it is not given.

    Parameters
    ----------
    n_candidates : int, optional
    random_state, **fields
        As in :class:`Predictive`.

    Raises
    ------
    TypeError
        If nothing that is stated tells the number of candidates.

    Examples
    --------
    >>> StatedPredictive(outcomes=["no", "yes"], probabilities=[[0.2, 0.8]]).probabilities
    array([[0.2, 0.8]])
    """

    def __init__(self, n_candidates: int | None = None, *, random_state: RandomState = None, **fields: Any) -> None:
        if n_candidates is None:
            lengths = [
                value.shape[0] if sparse.issparse(value) else len(value)
                for name, value in fields.items()
                if name in _INDEXED and value is not None and not callable(value)
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

    Parameters
    ----------
    n_candidates : int
    random_state : None, int or NumPy generator
    **fields
        Further fields that are known, as of `StatedPredictive`.

    Examples
    --------
    >>> Undecided(3).undecided, Undecided(3).provides("probabilities")
    (True, False)
    """

    undecided = True


def _as_outcomes(values: np.ndarray | Sequence[Any]) -> np.ndarray:
    """Return a (c,) array of outcomes, which may be tuples."""
    array = np.asarray(values)
    if array.ndim != 1:
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
    return array
