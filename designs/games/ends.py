"""Complete trees whose ends are in an array: drawn from the model of a search, or by rules that break it."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import checks

__all__ = ["EndsTree", "p_game", "random_tree"]


class EndsTree:
    """A tree in which every node has ``branching`` children and every game ``depth`` moves.

    Parameters
    ----------
    ends : (branching ** depth,) array
        Value of each end for the maximising player, in the order of their paths.
    branching, depth : int
    players : {"alternate", "max"}, default "alternate"
    signs : bool, default True
        Results are the signs of the ends' values, as with ``results="sign"`` of the search.
    scores : list of arrays of shape (branching ** d,), optional
        Values under random play, by depth, where these are known.

    Raises
    ------
    ValueError
        If ``branching`` or ``depth`` is no integer of at least 1, ``players`` is unknown, or ``ends`` holds another
        number of values.

    Examples
    --------
    >>> game = EndsTree([1.0, -2.0, 0.5, 3.0], branching=2, depth=2)
    >>> [level.tolist() for level in game.optimal_values()]
    [[0.5], [-2.0, 0.5], [1.0, -2.0, 0.5, 3.0]]
    """

    start: tuple[int, ...] = ()

    def __init__(
        self, ends: Any, branching: int, depth: int, *, players: str = "alternate", signs: bool = True,
        scores: list[np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.branching = checks.integer("branching", branching, minimum=1)
        self.depth = checks.integer("depth", depth, minimum=1)
        self.players = checks.choice("players", players, ("alternate", "max"))
        self.ends = checks.finite("ends", ends)
        checks.shape("ends", self.ends, (self.branching**self.depth,))
        self.signs, self.scores = signs, scores

    def moves(self, state: tuple[int, ...]) -> range:
        """The numbers below ``branching``; none at an end."""
        return range(self.branching if len(state) < self.depth else 0)

    def play(self, state: tuple[int, ...], move: int) -> tuple[int, ...]:
        """A state is its path."""
        return (*state, move)

    def result(self, state: tuple[int, ...]) -> float | None:
        """The end's value, or its sign."""
        if len(state) < self.depth:
            return None
        place = 0
        for move in state:
            place = place * self.branching + move
        value = float(self.ends[place])
        return value if not self.signs else (1.0 if value > 0 else -1.0)

    def player(self, state: tuple[int, ...]) -> int:
        """The maximising player begins."""
        return 1 if self.players == "max" or len(state) % 2 == 0 else -1

    def optimal_values(self) -> list[np.ndarray]:
        """Return the values of all nodes under optimal play, by depth."""
        levels = [self.ends]
        for depth in range(self.depth - 1, -1, -1):
            best = np.max if self.player((0,) * depth) > 0 else np.min
            levels.append(best(levels[-1].reshape(-1, self.branching), axis=1))
        return levels[::-1]


def random_tree(
    branching: int, depth: int, *, players: str = "alternate", signs: bool = True, root: float = 0.0,
    random_state: Any = None,
) -> EndsTree:  # fmt: skip
    """Return a tree of the model: scores are random walks of unit steps from the root.

    Parameters
    ----------
    branching, depth : int
        Moves in every position, and moves until the end; at least 1.
    players : {"alternate", "max"}, default "alternate"
        Whose move it is: of the two in turn, or always of the one who maximises.
    signs : bool, default True
        Results are the signs of the ends' values.
    root : float, default 0.0
        Score at the root.
    random_state : None, int or NumPy generator

    Raises
    ------
    ValueError
        If ``branching`` or ``depth`` is below 1, ``players`` unknown, or ``random_state`` neither a seed nor a
        generator.

    Examples
    --------
    >>> random_tree(2, 3, random_state=0).ends.shape
    (8,)
    """
    rng = checks.generator(random_state)
    levels = [np.array([float(root)])]
    for _ in range(depth):
        parents = np.repeat(levels[-1], branching)
        levels.append(parents + rng.standard_normal(len(parents)))
    return EndsTree(levels[-1], branching, depth, players=players, signs=signs, scores=levels)


def p_game(branching: int, depth: int, *, random_state: Any = None) -> EndsTree:
    """Return a P-game: a move of the maximising player adds a number uniform on [0, 1], one of the other takes it off.

    Parameters
    ----------
    branching, depth : int
        Moves in every position, and moves until the end; at least 1.
    random_state : None, int or NumPy generator

    Raises
    ------
    ValueError
        If ``branching`` or ``depth`` is below 1, or ``random_state`` neither a seed nor a generator.

    References
    ----------
    L. Kocsis and C. Szepesvari (2006), Bandit based Monte-Carlo planning; P. Hennig (2010), section 3.3.4.

    Examples
    --------
    >>> game = p_game(2, 3, random_state=0)
    >>> game.ends.shape, bool(np.abs(game.ends).max() < 2)  # two moves add, one takes off
    ((8,), True)
    """
    rng = checks.generator(random_state)
    levels = [np.zeros(1)]
    for k in range(depth):
        parents = np.repeat(levels[-1], branching)
        levels.append(parents + rng.uniform(0, 1, len(parents)) * (1 if k % 2 == 0 else -1))
    return EndsTree(levels[-1], branching, depth, scores=levels)
