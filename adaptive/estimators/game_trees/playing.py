"""The search itself: descend, roll out, learn; by games in Python, or compiled where all ends are in an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.game_trees.evidence import Outcome, check_result, checked_outcomes

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.nodes import Move, Path
    from adaptive.estimators.game_trees.settings import Game
    from adaptive.estimators.game_trees.tree import Tree

__all__ = ["random_rollout", "search"]


def search(tree: Tree, n: int, rollout: Callable[..., Any] | None, choose: Callable[[Tree], Path] | None) -> None:
    """Run n descents in ``tree``, which is changed; ``choose`` stands in for its policy."""
    settings = tree.settings
    if rollout is None and settings.game is None:
        raise ValueError("search needs a game, or rollout=, a function (node, generator) -> outcome.")
    if rollout is None and settings.ends is not None and choose is None and not settings.keeps_paths:
        tree.search_ends(n)
        return
    for _ in range(n):
        if tree.exhausted:
            break
        at = tree.descend() if choose is None else tree.store(choose(tree))
        generator = np.random.default_rng([tree.seed, tree.n_rollouts])
        depth = len(at) - 1
        if rollout is not None:
            path = tree.path_of(at[-1])
            (outcome,) = checked_outcomes([rollout(path, generator)], [path], settings)
        elif settings.ends is not None:
            outcome = _to_an_end(tree, tree.path_of(at[-1]), generator)
        else:
            assert settings.game is not None
            outcome = random_rollout(settings.game, tree.state_at(at), settings.n_moves - depth, generator)
            check_result(outcome.result, settings)
        tree.learn_at(at, outcome)
    tree.states = {}


def random_rollout(game: Game, state: Any, most: int, generator: np.random.Generator) -> Outcome:
    """Return how a game of uniformly random moves ends, or one by the game's own ``rollout(state, generator)``.

    Raises
    ------
    ValueError
        If it does not end within ``most`` moves, repeats a state, or has neither moves nor a result.
    """
    own = getattr(game, "rollout", None)
    if own is not None:
        won, moves_made = own(state, generator)
        return Outcome(float(won), len(moves_made), tuple(moves_made))
    route: list[Move] = []
    seen = {_key(state)}
    while True:
        result = game.result(state)
        if result is not None:
            return Outcome(float(result), len(route), tuple(route))
        if len(route) >= most:
            raise ValueError(f"a roll-out did not end within depth: after {most} moves there is no result.")
        moves = list(game.moves(state))
        if not moves:
            raise ValueError("the game has neither legal moves nor a result at a state of a roll-out.")
        route.append(moves[int(generator.integers(len(moves)))])
        state = game.play(state, route[-1])
        key = _key(state)
        if key in seen:
            raise ValueError("the game repeats a state on its path; its moves must lead to an end.")
        seen.add(key)


def _key(state: Any) -> Any:
    try:
        hash(state)
    except TypeError:
        return repr(state)
    return state


def _to_an_end(tree: Tree, path: tuple[int, ...], generator: np.random.Generator) -> Outcome:
    settings = tree.settings
    branching, left = int(settings.n_children), settings.n_moves - len(path)  # type: ignore[arg-type]
    route = tuple(int(k) for k in generator.integers(branching, size=left))
    place = 0
    for move in (*path, *route):
        place = place * branching + move
    value = float(settings.ends[place])  # type: ignore[index]
    return Outcome(value if settings.results == "value" else (1.0 if value > 0 else -1.0), left, route)
