"""The parameters: an input row and an output row per item, which all users share, and each user's own matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.sequences.nets.cells import CELLS, Cell

if TYPE_CHECKING:
    from adaptive.types import DType, State

__all__ = ["Weights"]


@dataclass(frozen=True, eq=False)
class Weights:
    """Parameters of R members of an ensemble, for I items, D components and U users.

    Attributes
    ----------
    cell_name : {"gru", "tanh"}
    inputs : (R, I + 1, G D) array
        What an item says to the gates; the last row stands before the first event.
    outputs : (R, I, D) array
    own : (R, U, G D, D) array
        Each user's; (R, 1, G D, D) where all share one.
    pooled : bool
    """

    cell_name: str
    inputs: np.ndarray
    outputs: np.ndarray
    own: np.ndarray
    pooled: bool

    @classmethod
    def drawn(
        cls, cell_name: str, n_items: int, n_users: int, d: int, *, pooled: bool, n_members: int, dtype: DType,
        rng: np.random.Generator,
    ) -> Weights:  # fmt: skip
        """All entries N(0, 1/D); of every user the same own matrix, so that what differs later was fitted."""
        rows = CELLS[cell_name].n_gates * d

        def normal(*shape: int) -> np.ndarray:
            return (rng.standard_normal(shape, dtype=np.float32) / np.sqrt(d)).astype(dtype, copy=False)

        inputs, outputs = normal(n_members, n_items + 1, rows), normal(n_members, n_items, d)
        own = np.repeat(normal(n_members, 1, rows, d), 1 if pooled else n_users, axis=1)
        return cls(cell_name, inputs, outputs, own, pooled)

    @property
    def cell(self) -> Cell:
        """Cell that applies the matrices."""
        return CELLS[self.cell_name]

    @property
    def n_members(self) -> int:
        """R."""
        return len(self.outputs)

    @property
    def n_items(self) -> int:
        """I."""
        return self.outputs.shape[1]

    @property
    def n_components(self) -> int:
        """D."""
        return self.outputs.shape[2]

    def own_of(self, users: np.ndarray) -> np.ndarray:
        """Return the own matrices (R, B, G D, D) of users at these positions, (R, 1, G D, D) of all together."""
        return self.own if self.pooled else self.own[:, users]

    def rows_of(self, codes: np.ndarray) -> np.ndarray:
        """Return the input rows (T, R, B, G D) of codes (T, B), of which -1 is the row before the first event."""
        return np.moveaxis(self.inputs[:, codes], 0, 1)

    def copy(self) -> Weights:
        """Return one whose arrays are its own."""
        return replace(self, inputs=self.inputs.copy(), outputs=self.outputs.copy(), own=self.own.copy())

    def zeros(self) -> Weights:
        """Return one of the same shapes, all 0."""
        return replace(
            self, inputs=np.zeros_like(self.inputs), outputs=np.zeros_like(self.outputs), own=np.zeros_like(self.own)
        )

    def exact(self) -> Weights:
        """Return the same in float64, in which predictions are made."""
        return replace(self, **{name: getattr(self, name).astype(float) for name in ("inputs", "outputs", "own")})

    def state(self) -> State:
        """Plain data."""
        return {"cell": self.cell_name, "inputs": self.inputs, "outputs": self.outputs, "own": self.own,
                "pooled": self.pooled}  # fmt: skip

    @classmethod
    def from_state(cls, state: State) -> Weights:
        """Weights from their ``state``."""
        inputs, outputs, own = (np.array(state[name]) for name in ("inputs", "outputs", "own"))
        return cls(str(state["cell"]), inputs, outputs, own, bool(state["pooled"]))
