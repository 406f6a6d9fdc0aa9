"""Trees that follow one from the other share their arrays: the newest holds them, those before it know the way back.

A belief is never changed, and yet a roll-out costs its path and not the tree: the new tree takes the arrays over and
changes them in place; a journal keeps the records that were there. Whoever looks at the old tree gets a copy with the
journals undone (H. G. Baker, 1991, Shallow binding makes functional arrays fast).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.nodes import Path
    from adaptive.estimators.game_trees.settings import TreeSettings
    from adaptive.types import State

__all__ = ["Journal", "Versioned"]

HELD = ("_nodes", "n_nodes", "_rollouts", "n_rollouts", "labels", "routes", "states", "step", "rules", "table")


class Journal:
    """A tree before a change: its size, and the records at places that changed, as they are noted."""

    def __init__(self, tree: Versioned) -> None:
        self.n_nodes, self.n_rollouts, self.n_labels = tree.n_nodes, tree.n_rollouts, len(tree.labels)
        self.step = tree.step
        self.blocks: dict[int, np.ndarray] = {}  # siblings, by the first of them; the root is a block of its own
        self.rollouts: dict[int, np.ndarray] = {}
        self.routes: dict[int, Path] = {}

    def note(self, tree: Versioned, line: Sequence[int]) -> None:
        """Note the nodes of a path from the root and the children of each, and roll-outs that are given up there."""
        nodes = tree._nodes
        self._block(nodes, 0, 1)
        for i in line:
            if nodes[i]["count"]:
                self._block(nodes, int(nodes[i]["first"]), int(nodes[i]["count"]))
            r = -1 if nodes[i]["inner"] else int(nodes[i]["rollout"])
            while r >= 0:
                if r < self.n_rollouts and r not in self.rollouts:
                    self.rollouts[r] = tree._rollouts[r : r + 1].copy()
                r = int(tree._rollouts[r]["before"])

    def note_all(self, tree: Versioned) -> None:
        """Note every record, for a pass over the whole tree."""
        for i in np.flatnonzero(tree._nodes["count"][: self.n_nodes]).tolist():
            self._block(tree._nodes, int(tree._nodes[i]["first"]), int(tree._nodes[i]["count"]))
        self._block(tree._nodes, 0, 1)
        for r in range(self.n_rollouts):
            if r not in self.rollouts:
                self.rollouts[r] = tree._rollouts[r : r + 1].copy()

    def _block(self, nodes: np.ndarray, first: int, count: int) -> None:
        if first < self.n_nodes and first not in self.blocks:
            self.blocks[first] = nodes[first : first + count].copy()

    def undo(self, tree: Versioned) -> None:
        """Make the tree what it was."""
        for first, block in self.blocks.items():
            tree._nodes[first : first + len(block)] = block
        for r, record in self.rollouts.items():
            tree._rollouts[r : r + 1] = record
        tree.n_nodes, tree.n_rollouts = self.n_nodes, self.n_rollouts
        del tree.labels[self.n_labels :]
        for r in [r for r in tree.routes if r >= self.n_rollouts]:
            del tree.routes[r]
        tree.routes.update(self.routes)
        tree.routes = dict(sorted(tree.routes.items())) if self.routes else tree.routes
        tree.states = {}
        if tree.step != self.step:
            tree.step = self.step
            tree.derive()


class Versioned:
    """The part of a tree that hands its arrays on; ``settings`` and ``seed`` stay."""

    settings: TreeSettings
    seed: int
    n_nodes: int
    n_rollouts: int
    routes: dict[int, Path]
    states: dict[int, Any]
    step: float
    journal: Journal | None = None
    _ahead: Any

    def derive(self) -> None:
        """Make anew what follows from the arrays and the settings."""
        raise NotImplementedError

    def followed(self, settings: TreeSettings) -> Self:
        """Return a tree that is the same, to be changed in place; this one then reads itself off that one."""
        other = object.__new__(type(self))
        self._hand_over(other)
        other.settings, other.seed = settings, self.seed
        other.derive()
        other.journal = Journal(other)
        self._ahead = other
        return other

    def taken_back(self, other: Self) -> None:
        """Undo what became of ``other``, which ``followed`` returned, and hold everything again."""
        assert other.journal is not None
        other.journal.undo(other)
        del self._ahead
        other._hand_over(self)
        self.derive()

    @contextmanager
    def trial(self, settings: TreeSettings) -> Iterator[None]:
        """Change the tree in the body, under these settings; after it all is as before."""
        held = self.settings, self.journal
        self.settings, self.journal = settings, Journal(self)
        self.derive()
        try:
            yield
        finally:
            self.journal.undo(self)
            self.settings, self.journal = held
            self.derive()

    def _hand_over(self, other: Versioned) -> None:
        for name in HELD:
            getattr(self, name)
            setattr(other, name, self.__dict__.pop(name))

    def __getattr__(self, name: str) -> Any:
        if name not in HELD or "_ahead" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        line: list[Any] = [self]
        while "_ahead" in line[-1].__dict__:
            line.append(line[-1].__dict__["_ahead"])
        mine = line[-1].copy(self.settings)
        for later in line[:0:-1]:
            later.journal.undo(mine)
        del self._ahead
        for one in HELD:
            setattr(self, one, getattr(mine, one))
        self.derive()
        return self.__dict__[name]

    def __getstate__(self) -> State:
        getattr(self, HELD[0])
        return {name: value for name, value in self.__dict__.items() if name != "journal"}
