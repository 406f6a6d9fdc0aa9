"""Factor of the variances of a game's values, from endgames met by random play and solved exactly:

    ln gamma = argmax  sum_j ln N(V_j | S_j + c_j, gamma v_j + e_j) - (ln gamma)^2 / (2 deviation^2),    gamma >= 1

V_j is the exact value of an endgame, S_j its mean result under random play with squared standard error e_j, and c_j,
v_j what the table of increments says that optimal play adds. Of the second half of each random game there is one
endgame, and a position that is met again counts once. Of results that are signs, V_j is known by its sign, and S_j is
a probit of the share that is won.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import log_ndtr, ndtri

from adaptive.estimators.game_trees.playing import random_rollout
from adaptive.estimators.game_trees.tree import start, step_variance
from adaptive.estimators.variance_factor import VarianceFactor, variance_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.estimators.game_trees.settings import Game, TreeSettings

__all__ = ["Endgame", "Said", "factor_of", "met", "said_of"]

N_GAMES = 32
N_ROLLOUTS = 64  # of each endgame
FEWEST = 5  # endgames of which something is said
PLAYS = 5000  # moves that are tried for solving one of them, at most
DEEPEST = 100  # moves to the end of what is solved
FEW_VALUES = 4  # and fewer, but more than two: a Gaussian is too sure of what lies between them
_KNOWN: WeakKeyDictionary[Any, dict[Any, Said]] = WeakKeyDictionary()


class Said(NamedTuple):
    """Endgames of a game, summed up: the factor of variances, and the values that they have."""

    factor: VarianceFactor | None
    values: tuple[float, ...]

    @property
    def drawn(self) -> bool:
        """True where values are few, but not won and lost alone."""
        return 2 < len(self.values) <= FEW_VALUES


class Endgame(NamedTuple):
    """A position that was solved: its value, results of random play from it, moves left, who moves (0: maximises)."""

    value: float
    results: np.ndarray
    left: int
    mover: int


class _TooLarge(Exception):
    """There is more to try than is worth it."""


class _Ends:
    """A game with all its ends in an array; a state is (moves made, place of it at that depth)."""

    start = (0, 0)

    def __init__(self, settings: TreeSettings) -> None:
        self.settings, self.ends = settings, np.asarray(settings.ends, dtype=float)

    def moves(self, state: tuple[int, int]) -> range:
        """All, at every depth."""
        return range(int(self.settings.n_children))  # type: ignore[arg-type]

    def play(self, state: tuple[int, int], move: int) -> tuple[int, int]:
        """One deeper."""
        return state[0] + 1, state[1] * int(self.settings.n_children) + move  # type: ignore[arg-type]

    def result(self, state: tuple[int, int]) -> float | None:
        """Value of the end, or its sign, as the search is told it."""
        if state[0] < self.settings.n_moves:
            return None
        value = float(self.ends[state[1]])
        return value if self.settings.results == "value" else (1.0 if value > 0 else -1.0)

    def player(self, state: tuple[int, int]) -> int:
        """The maximising player begins."""
        return -1 if self.settings.alternate and state[0] % 2 else 1


def said_of(settings: TreeSettings) -> Said:
    """Return what a game's endgames say, learnt once for each game object; nothing where none can be solved."""
    if settings.game is None:
        return Said(None, ())
    key = settings.results, settings.players, settings.drifts, settings.n_moves, settings.n_children
    try:
        known = _KNOWN.setdefault(settings.game, {})
    except TypeError:  # cannot be hashed, or referred to
        known = {}
    if key not in known:
        endgames, step = met(settings)
        values = tuple(sorted({one.value for one in endgames}))
        known[key] = Said(factor_of(settings, endgames, step), values)
    return known[key]


def met(settings: TreeSettings) -> tuple[list[Endgame], float]:
    """Return different endgames of random games, where one can be solved, and the variance of a step of the score.

    There are none where random play does not end.
    """
    game: Any = settings.game if settings.ends is None else _Ends(settings)
    found, results, lengths = [], [], []
    seen: set[str] = set()
    for k in range(N_GAMES):
        generator = np.random.default_rng([k, 8])
        try:
            played = random_rollout(game, start(game), settings.n_moves, generator)
        except ValueError:
            return [], 1.0
        results.append(played.result)
        lengths.append(len(played.route or ()))
        one = _last_solved(game, played.route or ())
        if one is not None and repr(one[1]) not in seen:
            value, state, made = one
            seen.add(repr(state))
            left = settings.n_moves - made
            again = [random_rollout(game, state, left, generator).result for _ in range(N_ROLLOUTS)]
            found.append(Endgame(value, np.array(again), left, 0 if game.player(state) > 0 else 1))
    return found, step_variance(np.array(results), np.array(lengths)) if settings.results == "value" else 1.0


def factor_of(settings: TreeSettings, endgames: list[Endgame], step: float) -> VarianceFactor | None:
    """Return the factor that suits these endgames; None of too few."""
    if len(endgames) < FEWEST:
        return None
    table = settings.increments(step)[[one.mover for one in endgames], [one.left for one in endgames]]
    value = np.array([one.value for one in endgames])
    results = np.stack([one.results for one in endgames])
    added, variance = np.sqrt(step) * table[:, 0], np.maximum(step * table[:, 1], 1e-12 * step)
    if settings.results == "value":
        away, error = value - results.mean(axis=1) - added, results.var(axis=1) / N_ROLLOUTS
        return variance_factor(lambda gamma: _log_normal(away, gamma * variance + error))
    won = (np.sum(results > 0, axis=1) + 0.5) / (N_ROLLOUTS + 1)
    left, z = np.array([one.left for one in endgames]), ndtri(won)
    error = left * won * (1.0 - won) / N_ROLLOUTS * 2.0 * math.pi * np.exp(z**2)
    mean = np.sign(value) * (np.sqrt(left) * z + added)
    return variance_factor(lambda gamma: log_ndtr(mean / np.sqrt(gamma * variance + error)))


def _log_normal(away: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return -0.5 * (np.log(2 * np.pi * variance) + away**2 / variance)


def _last_solved(game: Game, route: tuple[Any, ...]) -> tuple[float, Any, int] | None:
    """Value, state and moves made of the earliest position of a game's second half that can be solved."""
    states = [start(game)]
    for move in route:
        states.append(game.play(states[-1], move))
    value_of, found = _solver(game), None
    for made in range(len(route) - 1, len(route) // 2 - 1, -1):
        try:
            found = value_of(states[made], 0), states[made], made
        except _TooLarge:
            break
    return found


def _solver(game: Game) -> Callable[[Any, int], float]:
    """A function of a state that knows what it has solved, and gives up after ``PLAYS`` moves in all."""
    known: dict[Any, float] = {}
    plays = 0

    def value(state: Any, depth: int) -> float:
        nonlocal plays
        try:
            hashable = hash(state) is not None
        except TypeError:
            hashable = False
        if hashable and state in known:
            return known[state]
        result = game.result(state)
        if result is None:
            moves = game.moves(state)
            plays += len(moves)
            if plays > PLAYS or depth > DEEPEST:
                raise _TooLarge
            below = [value(game.play(state, move), depth + 1) for move in moves]
            result = max(below) if game.player(state) > 0 else min(below)
        if hashable:
            known[state] = float(result)
        return float(result)

    return value
