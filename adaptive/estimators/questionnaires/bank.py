"""A bank of items: the belief about each, and from it the answers of people of a trait.

    E p_i(r | x)  =  int p_i(r | x, c_i) N(c_i | mean_i, cov_i) dc_i

Each person answers an item once, so that for independent items this table is all that their uncertainty can do: it is
integrated out exactly, not only approximately. A bank stands still; copies of whatever uses it share it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from adaptive.estimators.questionnaires.answers import Answers, Label
from adaptive.estimators.questionnaires.base import ItemBank, Loadings, gaussian_nodes, log_prior, trait_grid
from adaptive.estimators.questionnaires.curves import CURVES, Curve, answer_slopes

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.grid_person import GridPerson
    from adaptive.types import Array, State

__all__ = ["Bank", "Part"]


POINTS = 20_000  # people x items of which curves are computed together


class Part(NamedTuple):
    """Items and traits that hang together.

    Attributes
    ----------
    items, traits : arrays of positions
    x : (k, traits) array, the grid
    table : (items, k, categories) array, E p(answer | trait)
    """

    items: np.ndarray
    traits: np.ndarray
    x: np.ndarray
    table: np.ndarray


class Bank(ItemBank):
    """Items of an item-response model.

    Parameters
    ----------
    model : str
        Of `CURVES`.
    items : sequence of labels
    categories : sequence of int
        Names of the answers, in order.
    loadings : Loadings
    coordinates : (items, p) array
        Means; NaN behind those of an item with fewer categories.
    covariances : (items, p, p) array
    reverse : (items,) array of bool, optional
        Items of which a higher answer means less of the trait.
    shared : (traits, 2, 2) array, optional
        Covariance of origin and log unit of each trait; default: known.
    """

    _derived = ("parts", "part_of", "features")

    def __init__(
        self, model: str, items: Sequence[Label], categories: Sequence[int], loadings: Loadings,
        coordinates: Array, covariances: Array, *, reverse: Array | None = None, shared: Array | None = None,
    ) -> None:  # fmt: skip
        self.model, self.items, self.categories, self.loadings = model, tuple(items), tuple(categories), loadings
        self.coordinates, self.covariances = np.asarray(coordinates, float), np.asarray(covariances, float)
        self.reverse = np.zeros(len(items), dtype=bool) if reverse is None else np.asarray(reverse, dtype=bool)
        t = len(loadings.traits)
        self.shared = np.zeros((t, 2, 2)) if shared is None else np.asarray(shared, float)

    def __getstate__(self) -> State:
        return {name: value for name, value in self.__dict__.items() if name not in self._derived}

    @property
    def curve(self) -> Curve:
        """The response model."""
        return CURVES[self.model]

    def known(self, item: int) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariance of the coordinates that an item has."""
        kept = ~np.isnan(self.coordinates[item])
        return self.coordinates[item][kept], self.covariances[item][np.ix_(kept, kept)]

    def probabilities(self, item: int, coordinates: np.ndarray, x: np.ndarray) -> np.ndarray:
        """p(answer | trait) at coordinates (..., p), (..., k, categories), in the categories of the scale as asked."""
        p = self.curve(coordinates, x)[0]
        p = p[..., ::-1] if self.reverse[item] else p
        absent = len(self.categories) - p.shape[-1]
        return np.concatenate([p, np.zeros((*p.shape[:-1], absent))], axis=-1) if absent else p

    def expected(self, item: int, x: np.ndarray) -> np.ndarray:
        """E p(answer | trait), (k, categories): the item's uncertainty integrated out."""
        weights, nodes = gaussian_nodes(*self.known(item))
        return np.tensordot(weights, self.probabilities(item, nodes, x), axes=1)

    @cached_property
    def parts(self) -> list[Part]:
        """Items and traits that hang together, with tables."""
        found = []
        for items, traits in self.loadings.components():
            x = trait_grid(len(traits))
            at = np.zeros((len(x), len(self.traits)))
            at[:, traits] = x
            tables = [self.expected(int(item), at) for item in items]
            found.append(Part(items, traits, x, np.stack(tables)))
        return found

    @cached_property
    def part_of(self) -> tuple[np.ndarray, np.ndarray]:
        """(part, place in it) of each item."""
        part, place = np.zeros(len(self), dtype=np.intp), np.zeros(len(self), dtype=np.intp)
        for k, (items, *_) in enumerate(self.parts):
            part[items], place[items] = k, np.arange(len(items))
        return part, place

    def information(self, item: int, x: np.ndarray, trait: int = 0) -> np.ndarray:
        """Fisher information (k,) about one trait at ``x`` (k, traits), at the means of the coordinates."""
        return self._information(self.known(item)[0], x, trait)

    def _information(self, coordinates: np.ndarray, x: np.ndarray, trait: int) -> np.ndarray:
        """(..., k) of coordinates (..., p)."""
        step = np.zeros(x.shape[1])
        step[trait] = 1e-4
        p, above, below = np.split(self.curve(coordinates, np.concatenate([x, x + step, x - step]))[0], 3, axis=-2)
        return np.sum(((above - below) / 2e-4) ** 2 / np.maximum(p, 1e-300), axis=-1)

    def informations(self, items: np.ndarray, x: np.ndarray, trait: int = 0) -> np.ndarray:
        """The same of several items, (items, k)."""
        n_coordinates = np.sum(~np.isnan(self.coordinates[items]), axis=1)
        found, rows = np.zeros((len(items), len(x))), max(1, POINTS // max(len(x), 1))
        for n in np.unique(n_coordinates).tolist():
            alike = np.flatnonzero(n_coordinates == n)
            for few in np.split(alike, range(rows, len(alike), rows)):
                found[few] = self._information(self.coordinates[items[few], :n], x, trait)
        return found

    @cached_property
    def features(self) -> np.ndarray:
        """(items, 2) discrimination, and the trait at which an item teaches most."""
        found = np.zeros((len(self), 2))
        for items, traits, x, _ in self.parts:
            at = np.zeros((len(x), len(self.traits)))
            at[:, traits] = x
            for item in items:
                slopes = self._discrimination(int(item))
                trait = int(np.argmax(np.abs(slopes)))
                along = self.information(int(item), at, trait)
                found[item] = np.linalg.norm(slopes), at[int(np.argmax(along)), trait]
        return found

    def _discrimination(self, item: int) -> np.ndarray:
        """Slopes (traits,); of a nominal item the range of those of its answers, for each step of it."""
        if self.model != "nominal":
            return self.coordinates[item, : len(self.traits)]
        slopes, _ = answer_slopes(self.model, self.known(item)[0], len(self.traits))
        return np.asarray(np.ptp(slopes, axis=0) / (len(slopes) - 1))

    def person(self, prior: np.ndarray) -> GridPerson:
        from adaptive.estimators.questionnaires.grid_person import GridPerson

        return GridPerson(self, prior)

    def weights(self, answers: Answers) -> list[np.ndarray]:
        """Weights (people, k) of people's traits after their answers, for each part, under a standard normal prior."""
        part, place = self.part_of
        at = self.positions(answers.items)[answers.item] if len(answers) else answers.item
        found = []
        for k, (_, _, x, table) in enumerate(self.parts):
            joint = np.tile(log_prior(x), (len(answers.people), 1))
            rows = np.flatnonzero(part[at] == k) if len(answers) else np.zeros(0, dtype=np.intp)
            log_table = np.log(np.maximum(table, 1e-300))
            for start in range(0, len(rows), 20_000):
                few = rows[start : start + 20_000]
                np.add.at(joint, answers.person[few], log_table[place[at[few]], :, answers.answer[few]])
            joint -= joint.max(axis=1, keepdims=True)
            joint = np.exp(joint)
            found.append(joint / joint.sum(axis=1, keepdims=True))
        return found

    def estimates(self, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
        return self.moments(self.weights(answers))

    def moments(self, weights: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits) of weights on the grids, what all items share included."""
        shape = (len(weights[0]) if weights else 0, len(self.traits))
        mean, variance = np.zeros(shape), np.ones(shape)
        for (_, traits, x, _), w in zip(self.parts, weights, strict=True):
            first, second = w @ x, w @ x**2
            shared = self.shared[traits]
            mean[:, traits] = first
            variance[:, traits] = (
                second - first**2 + shared[:, 0, 0] + 2 * first * shared[:, 0, 1] + second * shared[:, 1, 1]
            )
        return mean, np.sqrt(variance)

    def fingerprint(self) -> str:
        arrays = (self.coordinates, self.covariances, self.reverse, self.shared, self.loadings.mask)
        return content_hash((self.model, self.items, self.categories, self.traits), arrays)

    def state(self) -> State:
        return {
            "model": self.model, "labels": list(self.items), "scale": list(self.categories),
            "traits": list(self.traits), "mask": self.loadings.mask, "coordinates": self.coordinates,
            "covariances": self.covariances, "reverse": self.reverse, "shared": self.shared,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The bank that ``state`` described."""
        n, t = len(state["labels"]), len(state["traits"])
        loadings = Loadings(tuple(state["traits"]), np.asarray(state["mask"], dtype=bool).reshape(n, t))
        return cls(
            state["model"], state["labels"], state["scale"], loadings,
            np.asarray(state["coordinates"]).reshape(n, -1) if n else np.zeros((0, t + 1)),
            state["covariances"], reverse=state["reverse"], shared=state["shared"],
        )  # fmt: skip


def content_hash(labels: tuple[object, ...], arrays: Iterable[np.ndarray]) -> str:
    """A hash that changes when a bank's content does: by it a log recognises the bank."""
    digest = hashlib.blake2b(repr(labels).encode(), digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
