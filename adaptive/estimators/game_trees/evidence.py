"""Roll-outs as users give them, checked: nodes are tuples of moves, outcomes results, or (result, length or moves)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.nodes import Path
    from adaptive.estimators.game_trees.settings import TreeSettings
    from adaptive.types import Outcomes, Pool, State

__all__ = ["Outcome", "Rollouts", "check_result", "checked_nodes", "checked_outcomes"]


class Outcome(NamedTuple):
    """A result, the moves it took (None: those that are left), and which they were, where that is known."""

    result: float
    length: int | None = None
    route: Path | None = None


@dataclass(frozen=True, eq=False)
class Rollouts:
    """Roll-outs to learn from; those before them are in the belief's arrays."""

    nodes: Sequence[Path] = ()
    outcomes: Sequence[Outcome] = ()

    n_features = None

    def state(self) -> State:
        """Nothing: the belief holds them."""
        return {}

    @classmethod
    def from_state(cls, state: State) -> Rollouts:
        """None to learn from."""
        return cls()


def checked_nodes(nodes: Pool) -> list[Path]:
    """Return paths from the root as tuples of moves."""
    if isinstance(nodes, (str, bytes)) or not isinstance(nodes, Iterable):
        raise ValueError(f"nodes must be a list of tuples of moves from the root, got {type(nodes).__name__}.")
    paths = []
    for position, node in enumerate(nodes):
        if isinstance(node, np.ndarray):
            node = tuple(node.tolist())
        if not isinstance(node, (tuple, list)):
            raise ValueError(
                f"a node is a tuple of moves from the root, () the root itself; got {node!r} at position {position}."
            )
        paths.append(tuple(move.item() if isinstance(move, np.generic) else move for move in node))
    return paths


def checked_outcomes(outcomes: Outcomes, nodes: Sequence[Path], settings: TreeSettings) -> list[Outcome]:
    """Return one outcome per node."""
    checks.refuse_masked("outcomes", outcomes)
    if isinstance(outcomes, (str, bytes)) or not isinstance(outcomes, Iterable):
        raise ValueError(f"outcomes must hold one result for each node, got {checks.short(outcomes)}.")
    given: list[Any] = list(outcomes)
    if len(given) != len(nodes):
        raise ValueError(f"there must be one outcome per node, got {len(given)} for {len(nodes)} nodes.")
    return [_outcome(one, position, len(nodes[position]), settings) for position, one in enumerate(given)]


def check_result(result: float, settings: TreeSettings, position: int = 0) -> None:
    """Refuse what no game can end with."""
    if not np.isfinite(result):
        raise ValueError(
            f"outcomes must hold finite results, got {result} at position {position}; expected a finite number."
        )
    if settings.results == "sign" and result not in (-1.0, 1.0):
        raise ValueError(
            f"the result at position {position} is {result:g}; with results='sign' it is +1 (won by the maximising "
            "player) or -1."
        )


def _outcome(given: Any, position: int, depth: int, settings: TreeSettings) -> Outcome:
    length: int | None = None
    route: Path | None = None
    result = given
    if isinstance(given, (tuple, list)) or (isinstance(given, np.ndarray) and given.ndim == 1):
        if len(given) != 2:
            raise ValueError(f"an outcome is a result or (result, length), got {given!r} at position {position}.")
        result, how = given
        if isinstance(how, (tuple, list)):
            route, length = tuple(how), len(how)
        elif isinstance(how, (int, float, np.integer, np.floating)) and np.isfinite(how) and how == int(how):
            length = int(how)
        else:
            raise ValueError(f"the length of a roll-out must be a whole number, got {how!r} at position {position}.")
        if length < 0 or depth + length > settings.n_moves:
            raise ValueError(
                f"a roll-out of length {length} from a node {depth} moves deep is not within depth {settings.n_moves} "
                f"(position {position})."
            )
    try:
        number = checks.real(result)
    except ValueError:
        raise ValueError(
            f"outcomes must hold results that are numbers, got {checks.short(result)} at position {position}; expected "
            "a finite number."
        ) from None
    check_result(number, settings, position)
    return Outcome(number, length, route)
