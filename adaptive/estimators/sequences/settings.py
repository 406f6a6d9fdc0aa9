"""Parameters of `CollaborativeRNN` as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.sequences.histories import ids
from adaptive.estimators.sequences.nets.cells import CELLS
from adaptive.estimators.sequences.nets.item_softmax import block_rows
from adaptive.estimators.sequences.nets.own_posterior import PRIOR_DRAWS
from adaptive.estimators.sequences.nets.training import Plan
from adaptive.estimators.sequences.nets.weights import Weights
from adaptive.memory import memory_there

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["SequenceSettings"]

COPIES = 5  # of all parameters, while a net is trained


@dataclass(frozen=True, eq=False)
class SequenceSettings(Settings):
    """Parameters of :class:`~adaptive.CollaborativeRNN`, under the same names."""

    n_components: int
    cell: str
    pooled: bool | str
    n_members: int
    uncertainty: str
    n_draws: int
    window: int
    batch_size: int
    learning_rate: float
    clip: float
    n_sampled: int | None
    validation_fraction: float
    patience: int
    max_iter: int
    tol: float
    items: ArrayLike | None
    random_state: RandomState

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        for name in ("n_components", "n_members", "window", "batch_size", "patience", "max_iter"):
            checks.integer(name, getattr(self, name), minimum=1)
        checks.integer("n_draws", self.n_draws, minimum=2)
        checks.choice("cell", self.cell, CELLS)
        checks.choice("uncertainty", self.uncertainty, ("ensemble", "laplace"))
        for name in ("learning_rate", "clip"):
            checks.positive(name, getattr(self, name))
        checks.positive("tol", self.tol, or_zero=True)
        if self.n_sampled is not None:
            checks.integer("n_sampled", self.n_sampled, minimum=1)
        if not 0.0 <= self.validation_fraction < 1.0:
            raise ValueError(f"validation_fraction must be >= 0 and below 1, got {self.validation_fraction!r}.")
        if isinstance(self.pooled, str):
            checks.choice("pooled", self.pooled, ("auto",))
        if self.uncertainty == "laplace" and (self.shares_memory or self.n_members > 1):
            given = "pooled=True" if self.shares_memory else f"n_members={self.n_members}"
            raise ValueError(
                f'uncertainty="laplace" needs users\' own matrices beside one shared net, got {given}; use '
                "pooled=False and n_members=1."
            )

    @property
    def shares_memory(self) -> bool:
        """True where one memory for everybody was asked for; what "auto" may take in the end has one for each."""
        return not isinstance(self.pooled, str) and bool(self.pooled)

    @property
    def plan(self) -> Plan:
        """Settings of the net's training."""
        return Plan(**{name: getattr(self, name) for name in Plan.__dataclass_fields__})

    @property
    def catalogue(self) -> np.ndarray:
        """Ids of the items that are known before any event."""
        if self.items is None:
            return np.zeros(0, dtype=np.int64)
        known = ids("items", self.items)
        if len(np.unique(known)) < len(known):
            raise ValueError("items must be different from each other.")
        return known

    def drawn(self, n_items: int, n_users: int, rng: np.random.Generator) -> Weights:
        """The net before any training; refused where it does not fit into memory."""
        self.require_memory(n_items, n_users)
        return Weights.drawn(
            self.cell, n_items, n_users, self.n_components, pooled=self.shares_memory, n_members=self.n_members,
            dtype=np.float32, rng=rng,
        )  # fmt: skip

    def require_memory(self, n_items: int, n_users: int) -> None:
        """Refuse, in one sentence, what would not fit."""
        d, gates = self.n_components, CELLS[self.cell].n_gates
        own = (1 if self.shares_memory else n_users) * gates * d * d
        parameters = 4.0 * self.n_members * ((n_items + 1) * (gates + 1) * d + own)
        window = 4.0 * (
            block_rows(n_items) * n_items
            + self.window * self.batch_size * self.n_members * d * (3 * gates + 5)
        )  # fmt: skip
        own_draws = 8.0 * PRIOR_DRAWS * own if self.uncertainty == "laplace" else 0.0
        needed, there = COPIES * parameters + window + own_draws, memory_there()
        if needed > there:
            raise ValueError(
                f"{n_items} items and {n_users} users with n_components={d} and n_members={self.n_members} need about "
                f"{needed / 1e9:.3g} GB, and there are {there / 1e9:.3g} GB of memory; take fewer components or items."
            )
