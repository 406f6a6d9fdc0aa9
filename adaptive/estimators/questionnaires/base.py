"""Item banks, people who are asked from them, and beliefs about both, as far as no response model changes them.

Items load on traits, of which those that share no item are independent and fitted apart; traits are integrated over
grids, and nodes stand for a Gaussian belief about an item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri
from scipy.stats import qmc

from adaptive import checks
from adaptive.estimators.belief import Traced
from adaptive.estimators.questionnaires.answers import positions_of

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Answers, Label, Pairs
    from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
    from adaptive.estimators.questionnaires.total import Total
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState, State

__all__ = [
    "ItemBank",
    "Loadings",
    "Newcomer",
    "Person",
    "QuestionnaireBelief",
    "gaussian_nodes",
    "log_prior",
    "trait_grid",
]

Newcomer: TypeAlias = Literal["newcomer"]  # the prior of somebody who may be better than all that calibrated
Traits: TypeAlias = "Mapping[Label, object] | Sequence[object] | None"  # of each item: one, or several

MOST_TOGETHER = 3  # traits on one grid
NODES = {1: 61, 2: 25, 3: 13}  # per axis
WIDTH = {1: 6.0, 2: 4.8, 3: 4.2}


@cache
def trait_grid(n_traits: int) -> np.ndarray:
    """(k, n_traits) traits on an even grid, in standard deviations of the calibrated population."""
    axis = np.linspace(-WIDTH[n_traits], WIDTH[n_traits], NODES[n_traits])
    return np.stack(np.meshgrid(*[axis] * n_traits, indexing="ij"), axis=-1).reshape(-1, n_traits)


def log_prior(
    x: np.ndarray,
    mean: np.ndarray | float = 0.0,
    deviation: np.ndarray | float = 1.0,
    freedom: np.ndarray | float = np.inf,
) -> np.ndarray:
    """Log weights (k,), that add up to one, of independent Student t on a grid; of infinite ``freedom`` Gaussians."""
    z2, freedom = ((x - mean) / deviation) ** 2, np.broadcast_to(freedom, x.shape[1:])
    few = np.where(np.isfinite(freedom), freedom, 1.0)
    values = np.where(np.isfinite(freedom), -0.5 * (few + 1.0) * np.log1p(z2 / few), -0.5 * z2).sum(axis=1)
    return values - np.log(np.sum(np.exp(values - values.max()))) - values.max()


@cache
def _standard(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (s,) and nodes (s, d) of a standard Gaussian: a product rule, beyond three dimensions Sobol's points."""
    if d == 0:
        return np.ones(1), np.zeros((1, 0))
    if d <= 3:
        x, w = np.polynomial.hermite_e.hermegauss({1: 11, 2: 9, 3: 7}[d])
        nodes = np.stack(np.meshgrid(*[x] * d, indexing="ij"), axis=-1).reshape(-1, d)
        return np.prod(np.stack(np.meshgrid(*[w] * d, indexing="ij"), -1).reshape(-1, d), axis=1) / w.sum() ** d, nodes
    half = ndtri(qmc.Sobol(d, seed=0).random(128))
    nodes = np.concatenate([half, -half])  # mirrored: the mean is exact
    return np.full(len(nodes), 1.0 / len(nodes)), nodes / nodes.std(axis=0)


def gaussian_nodes(mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (s,) and nodes (s, p) of N(mean, covariance), which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12
    weights, nodes = _standard(int(kept.sum()))
    return weights, mean + nodes @ (vectors[:, kept] * np.sqrt(values[kept])).T


@dataclass(frozen=True, eq=False)
class Loadings:
    """Traits by name, and for each item which of them it measures.

    Attributes
    ----------
    traits : tuple of str
    mask : (items, traits) array of bool
    """

    traits: tuple[Label, ...]
    mask: np.ndarray

    @classmethod
    def of(cls, item_traits: Traits, n_traits: int, items: Sequence[Label]) -> Loadings:
        """From what a user says: None, one entry per item, or a mapping from items to traits.

        With several traits and no ``item_traits`` each item measures all, but for the first ones: item j < n_traits
        measures the traits up to j, so that the axes are named by these items.
        """
        n_traits = checks.integer("n_traits", n_traits, minimum=1)
        if item_traits is None:
            mask = np.tri(len(items), n_traits, dtype=bool)
            return cls(tuple(f"trait_{k + 1}" for k in range(n_traits)) if n_traits > 1 else ("trait",), mask)._small()
        if isinstance(item_traits, Mapping):
            missing = [item for item in items if item not in item_traits]
            if missing:
                raise ValueError(f"item_traits says nothing about item {missing[0]!r}.")
            given = [item_traits[item] for item in items]
        else:
            given = list(item_traits)
            if len(given) != len(items):
                raise ValueError(f"item_traits must have an entry for each of {len(items)} items, got {len(given)}.")
        lists = [list(one) if isinstance(one, (list, tuple, set)) else [one] for one in given]
        traits = tuple(dict.fromkeys(trait for one in lists for trait in one))
        return cls(traits, np.array([[trait in one for trait in traits] for one in lists]))._small()

    def _small(self) -> Loadings:
        for _, traits in self.components():
            if len(traits) > MOST_TOGETHER:
                raise ValueError(
                    f"items link {len(traits)} traits with each other; at most {MOST_TOGETHER} are learnt together "
                    "(any number where each item measures one)."
                )
        return self

    def components(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """[(positions of items, positions of traits)]: parts that share nothing."""
        shared = self.mask.T.astype(int) @ self.mask.astype(int)
        n, of_trait = connected_components(shared, directed=False)
        of_item = of_trait[self.mask.argmax(axis=1)]
        return [(np.flatnonzero(of_item == c), np.flatnonzero(of_trait == c)) for c in range(n)]

    def single(self) -> np.ndarray:
        """(items,) the one trait of each item; refused where an item measures several."""
        several = np.flatnonzero(self.mask.sum(axis=1) > 1)
        if len(several):
            raise ValueError(
                f'response_model="ordinal" has items of one trait each, but item number {several[0] + 1} measures '
                f"{int(self.mask[several[0]].sum())}."
            )
        return self.mask.argmax(axis=1)


class ItemBank:
    """Items of a response model; a bank stands still, and copies of what uses it share it."""

    items: tuple[Label, ...]
    categories: Sequence[int]
    loadings: Loadings
    reverse: np.ndarray
    between = False  # True where answers may lie between the categories

    def __len__(self) -> int:
        return len(self.items)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self  # it never changes

    @property
    def traits(self) -> tuple[Label, ...]:
        """Names of the traits."""
        return self.loadings.traits

    def positions(self, items: Sequence[Label]) -> np.ndarray:
        """Positions (m,) of these items."""
        return positions_of(self.items, items, "item")

    def answer_at(self, place: float) -> float:
        """The answer of this place among the categories."""
        if not self.between:
            return self.categories[int(place)]
        return float(np.interp(place, np.arange(len(self.categories)), self.categories))

    def person(self, prior: Any) -> Person:
        """Somebody who has not answered yet; prior (traits, 3), or of items of many traits "newcomer"."""
        raise NotImplementedError

    def estimates(self, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits) of people who gave these answers, items standing still."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        """A hash of the content, by which a log recognises it."""
        raise NotImplementedError

    def state(self) -> State:
        """Plain data."""
        raise NotImplementedError


B = TypeVar("B", bound=ItemBank)


class Person(Generic[B]):
    """The belief about a person; never changed, ``after`` makes another one.

    Parameters
    ----------
    bank : ItemBank
    prior : (traits, 3) array, or of items of many traits "newcomer"
        Mean, standard deviation and degrees of freedom of each trait.
    items, answers : tuples of int
        The answers given, as positions in the bank and among its categories (not whole ones where answers lie between).
    """

    _derived: ClassVar[str]  # what is kept of it, and not stored

    def __init__(self, bank: B, prior: Any, items: tuple[int, ...] = (), answers: tuple[Any, ...] = ()) -> None:
        self.bank, self.prior, self.items, self.answers = bank, prior, items, answers

    def __getstate__(self) -> State:
        return {name: value for name, value in self.__dict__.items() if name != self._derived}

    def after(self, items: tuple[int, ...], answers: tuple[Any, ...]) -> Self:
        """The person after further answers."""
        return type(self)(self.bank, self.prior, self.items + items, self.answers + answers)

    def possible(self, item: int, answer: Any) -> bool:
        """True where an item has this category."""
        return True

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (traits,)."""
        raise NotImplementedError

    def interval(self, level: float) -> np.ndarray:
        """(traits, 2) central interval."""
        raise NotImplementedError

    def predictive(
        self, items: np.ndarray, traits: np.ndarray, about: np.ndarray | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The belief about items; the information is about ``traits``, or about answers to items ``about``."""
        raise NotImplementedError

    def about_total(self, items: np.ndarray, counted: np.ndarray, random_state: RandomState = None) -> Predictive:
        """The belief about items; the information is about the total of the items ``counted``."""
        raise NotImplementedError

    def total(self, counted: np.ndarray, level: float) -> Total:
        """The total of the items ``counted``, answers given and those to come."""
        raise NotImplementedError

    def state(self) -> State:
        """Plain data."""
        return {"items": list(self.items), "answers": list(self.answers)}

    def restored(self, state: State) -> Self:
        """The person that ``state`` described, of the same bank and prior."""
        return type(self)(self.bank, self.prior, tuple(state["items"]), tuple(state["answers"]))


class QuestionnaireBelief(Traced, Generic[B]):
    """Items and people after answers; the posterior is the bank."""

    settings: QuestionnaireSettings
    data: Answers
    bank: B

    evidence_kind = "approximation"

    @property
    def posterior(self) -> B:
        """The items."""
        return self.bank

    def predictive(self, pairs: Pairs, *, target: str | None = None, random_state: RandomState = None) -> Predictive:
        """Answers of people to items; the information is about items, about people, or (default) about both."""
        raise NotImplementedError

    def probabilities(self, pairs: Pairs) -> np.ndarray:
        """(n, R) predictive probabilities of the answers to pairs."""
        return self.predictive(pairs, target="people").probabilities
