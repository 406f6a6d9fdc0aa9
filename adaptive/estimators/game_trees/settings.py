"""Parameters of `GameTreeSearch`, checked, and what follows from them: sizes, drift, the table of increments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.game_trees.nodes import POLICIES, Rules
from adaptive.potentials.optimal_increments import optimal_increments

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.nodes import Move
    from adaptive.types import RandomState

__all__ = ["Drift", "Game", "TreeSettings"]

Drift: TypeAlias = "float | tuple[float, float] | None"  # of a step by either player, or by each
GAME_METHODS = ("moves", "play", "result", "player")


class Game(Protocol):
    """The rules of a game; states are its own."""

    def moves(self, state: Any, /) -> Sequence[Move]: ...
    def play(self, state: Any, move: Any, /) -> Any: ...
    def result(self, state: Any, /) -> float | None: ...
    def player(self, state: Any, /) -> int: ...


@dataclass(frozen=True, eq=False)
class TreeSettings(Settings):
    """Parameters of :class:`~adaptive.GameTreeSearch`, under the same names."""

    game: Game | None = None
    branching: int | Callable[[int, int], int] | None = None
    depth: int | None = None
    results: str = "sign"
    players: str = "alternate"
    coupling: str = "coherent"
    policy: str = "optimistic"
    deviations: float = 3.0
    rollouts: str = "auto"
    root_mean: float = 0.0
    score_variance: float = 1e-8
    drift: Drift = None
    random_state: RandomState = None

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.choice("results", self.results, ("sign", "value"))
        checks.choice("players", self.players, ("alternate", "max"))
        checks.choice("coupling", self.coupling, ("coherent", "parent"))
        checks.choice("policy", self.policy, POLICIES)
        checks.choice("rollouts", self.rollouts, ("auto", "discard", "keep_path"))
        checks.positive("deviations", self.deviations, or_zero=True)
        checks.positive("score_variance", self.score_variance)
        checks.finite("root_mean", self.root_mean)
        if self.game is not None:
            lacking = [name for name in GAME_METHODS if not callable(getattr(self.game, name, None))]
            if lacking:
                raise ValueError(
                    f"game must have the methods {', '.join(GAME_METHODS)}; it lacks {', '.join(lacking)}."
                )
        if not callable(self.n_children):
            checks.integer("branching", self.n_children, minimum=1)
        checks.integer("depth", self.n_moves, minimum=1)
        if self.drift is not None and np.shape(checks.finite("drift", self.drift)) not in ((), (2,)):
            raise ValueError(f"drift must be a number or one for each player, got {self.drift!r}.")

    @property
    def n_children(self) -> int | Callable[[int, int], int]:
        """Branching as given, or as the game has it."""
        found = self.branching if self.branching is not None else getattr(self.game, "branching", None)
        if found is None:
            raise ValueError("branching must be given: a number, or a callable (moves left, player) -> number.")
        return found

    @property
    def n_moves(self) -> int:
        """Depth as given, or as the game has it."""
        found = self.depth if self.depth is not None else getattr(self.game, "depth", None)
        if found is None:
            raise ValueError("depth must be given: the most moves that a game can have.")
        return found

    @property
    def ends(self) -> np.ndarray | None:
        """Values of all ends of a complete tree, where the game has them in an array."""
        return getattr(self.game, "ends", None)

    @property
    def keeps_paths(self) -> bool:
        """True where roll-outs of a node go on to the children that they went through."""
        return self.rollouts == "keep_path" or (self.rollouts == "auto" and self.ends is None)

    @property
    def plain(self) -> bool:
        """True where moves are the numbers 0, ..., branching - 1, so that nodes need no labels."""
        return self.game is None or self.ends is not None

    @property
    def alternate(self) -> bool:
        """True where players take turns."""
        return self.players == "alternate"

    @property
    def drifts(self) -> tuple[float, float]:
        """Mean of a step by either player."""
        if self.drift is None:
            return 0.0, 0.0
        given = np.asarray(self.drift, dtype=float)
        return (float(given), -float(given)) if given.ndim == 0 else (float(given[0]), float(given[1]))

    def increments(self, step: float) -> np.ndarray:
        """(2, depth + 1, 2) increments in standard deviations of a step."""
        drift = np.asarray(self.drifts) / np.sqrt(step)
        return optimal_increments(self.n_children, self.n_moves, alternate=self.alternate, drift=drift)

    def rules(self, step: float = 1.0) -> Rules:
        """The numbers for compiled passes."""
        return Rules(
            float(self.root_mean), float(self.score_variance), float(step), self.drifts, self.results == "value",
            self.coupling == "coherent", POLICIES.index(self.policy), float(self.deviations),
        )  # fmt: skip
