"""The stored tree: arrays of nodes and roll-outs that grow, and labels of moves where these are not numbers.

A tree is changed while one belief is made from another, and never after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.game_trees.descent import add_rollout, climb, descend, end_here, expand, search_ends, walk_down
from adaptive.estimators.game_trees.evidence import Outcome
from adaptive.estimators.game_trees.messages import own_rule
from adaptive.estimators.game_trees.nodes import NODE, ROLLOUT, Move, Path
from adaptive.estimators.game_trees.sweeps import settle, sweep
from adaptive.estimators.game_trees.versions import Versioned
from adaptive.pool import PoolExhausted

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.settings import Game, TreeSettings
    from adaptive.types import State

__all__ = ["Tree", "start", "step_variance"]

SMALLEST_STEP = 1e-3  # of the mean square of results, per move


class Tree(Versioned):
    """Beliefs of all stored nodes.

    Parameters
    ----------
    settings : TreeSettings
    seed : int
        Of all that is drawn; descent k draws the same numbers whatever ran before in this process.

    Attributes
    ----------
    nodes : array of NODE
    rollouts : array of ROLLOUT
    labels : list
        The move that leads to a node, where moves are not numbers.
    routes : dict
        Moves of a roll-out, where they are kept.
    step : float
        Variance of a step of the score.
    """

    def __init__(self, settings: TreeSettings, seed: int) -> None:
        self.settings, self.seed = settings, seed
        self._nodes, self.n_nodes = np.zeros(1, NODE), 1
        self._rollouts, self.n_rollouts = np.zeros(0, ROLLOUT), 0
        self.labels: list[Move] = [None]
        self.routes: dict[int, Path] = {}
        self.states: dict[int, Any] = {}
        self.step = 1.0
        self.derive()
        self._nodes[0]["parent"] = self._nodes[0]["rollout"] = -1
        self._nodes[0]["left"] = settings.n_moves
        if not settings.plain:
            game: Any = settings.game
            self._nodes[0]["mover"] = _mover(game, start(game))
        own_rule(self._nodes, 0, self.rules, self.table)

    def derive(self) -> None:
        """Take rules and increments from the settings and the step."""
        self.rules, self.table = self.settings.rules(self.step), self.settings.increments(self.step)

    def copy(self, settings: TreeSettings | None = None) -> Tree:
        """Return the same tree, to be changed; policy and deviations may differ."""
        other = object.__new__(Tree)
        other.settings, other.seed = settings or self.settings, self.seed
        other._nodes, other.n_nodes = self.nodes.copy(), self.n_nodes
        other._rollouts, other.n_rollouts = self.rollouts.copy(), self.n_rollouts
        other.labels, other.routes, other.step = list(self.labels), dict(self.routes), self.step
        other.states = {}
        other.derive()
        return other

    @property
    def nodes(self) -> np.ndarray:
        """(n_nodes,) records."""
        return self._nodes[: self.n_nodes]

    @property
    def rollouts(self) -> np.ndarray:
        """(n_rollouts,) records."""
        return self._rollouts[: self.n_rollouts]

    @property
    def exhausted(self) -> bool:
        """True once every end was seen."""
        return bool(self._nodes[0]["closed"])

    # -- paths and nodes ---------------------------------------------------------------------------------------------

    def path_of(self, node: int) -> Path:
        """Return the moves that lead to a stored node."""
        line = self.line_to(node)
        if not self.settings.plain:
            return tuple(self.labels[one] for one in line[1:])
        first = self._nodes["first"]
        return tuple(one - int(first[before]) for before, one in pairwise(line))

    def moves(self, node: int) -> list[Move]:
        """Return the legal moves at a stored node that is no end."""
        record = self._nodes[node]
        if record["count"] > 0 and not self.settings.plain:
            return self.labels[record["first"] : record["first"] + record["count"]]
        settings = self.settings
        if settings.game is not None and settings.ends is None:
            state = self.state_at(self.line_to(node))
            found = list(settings.game.moves(state))
            if not found and settings.game.result(state) is None:
                raise ValueError(f"the game has no legal moves at {self.path_of(node)}, and no result.")
            return found
        left = settings.n_moves - int(record["depth"])
        if left <= 0:
            return []
        count = settings.n_children
        return list(range(count(left, 1 - 2 * int(record["mover"])) if callable(count) else count))

    def state_at(self, at: Sequence[int]) -> Any:
        """Return the game's state at the last of these nodes, which lead to it from the root.

        States are kept for as long as this tree is changed: a search comes by again.
        """
        game: Any = self.settings.game
        known = len(at) - 1
        while known > 0 and at[known] not in self.states:
            known -= 1
        state = self.states.setdefault(0, start(game)) if known == 0 else self.states[at[known]]
        for node in at[known + 1 :]:
            state = self.states[node] = game.play(state, self.labels[node])
        return state

    def line_to(self, node: int) -> list[int]:
        """Return the nodes from the root to this one."""
        line, parent = [node], self._nodes["parent"]
        while line[-1] > 0:
            line.append(int(parent[line[-1]]))
        return line[::-1]

    def expand(self, node: int) -> None:
        """Store the children of a node."""
        moves = self.moves(node)
        if self.journal is not None:
            self.journal.note(self, self.line_to(node))
        self._room(len(moves), 0)
        alternate = self.settings.alternate
        self.n_nodes = expand(self._nodes, self.n_nodes, node, len(moves), self.rules, self.table, alternate)
        if not self.settings.plain:
            self.labels.extend(moves)

    def stored(self, path: Path) -> tuple[list[int], int]:
        """Return the stored nodes along a path, the root first, and how many moves lie beyond them."""
        at, first, count = [0], self._nodes["first"], self._nodes["count"]
        for k, move in enumerate(path):
            children = int(count[at[-1]])
            if children == 0:
                return at, len(path) - k
            at.append(self._child(int(first[at[-1]]), children, move, path))
        return at, 0

    def store(self, path: Path) -> list[int]:
        """Store all that a path leads through, and return its nodes."""
        at, beyond = self.stored(path)
        for move in path[len(path) - beyond :]:
            if self._nodes[at[-1]]["ended"]:
                raise ValueError(f"the path {path} is illegal: the game ends before {move!r}.")
            if self._nodes[at[-1]]["count"] == 0:
                self.expand(at[-1])
            record = self._nodes[at[-1]]
            at.append(self._child(int(record["first"]), int(record["count"]), move, path))
        return at

    def _child(self, first: int, count: int, move: Move, path: Path) -> int:
        if not self.settings.plain:
            options = self.labels[first : first + count]
            if move in options:
                return first + options.index(move)
        elif isinstance(move, int) and not isinstance(move, bool) and 0 <= move < count:
            return first + move
        raise ValueError(f"the path {path} is illegal: {move!r} is no move there.")

    def holding(self, paths: Iterable[Path]) -> tuple[Tree, np.ndarray]:
        """Return a tree in which all ``paths`` are stored, and their nodes; nothing else differs."""
        tree, paths = self, list(paths)
        found = [self.stored(path) for path in paths]
        if any(beyond for _, beyond in found):
            tree = self.copy()
        ends = [tree.store(path)[-1] if beyond else at[-1] for path, (at, beyond) in zip(paths, found, strict=True)]
        return tree, np.array(ends, dtype=np.int64)

    def _room(self, more_nodes: int, more_rollouts: int) -> None:
        if self.n_nodes + more_nodes > len(self._nodes):
            grown = np.zeros(max(self.n_nodes + more_nodes, 2 * len(self._nodes)), NODE)
            grown[: self.n_nodes] = self.nodes
            self._nodes = grown
        if self.n_rollouts + more_rollouts > len(self._rollouts):
            bigger = np.zeros(max(self.n_rollouts + more_rollouts, 2 * len(self._rollouts)), ROLLOUT)
            bigger[: self.n_rollouts] = self.rollouts
            self._rollouts = bigger

    # -- learning ----------------------------------------------------------------------------------------------------

    def learn(self, path: Path, outcome: Outcome) -> None:
        """Take in one roll-out from the node that ``path`` leads to."""
        self.learn_at(self.store(path), outcome)

    def learn_at(self, at: list[int], outcome: Outcome) -> None:
        """Take in one roll-out from the last of these stored nodes, which lead to it from the root."""
        while self.settings.keeps_paths and outcome.route and self._nodes[at[-1]]["inner"]:
            at = self.store((*self.path_of(at[-1]), outcome.route[0]))
            outcome = Outcome(outcome.result, len(outcome.route) - 1, outcome.route[1:])
        if self.routes:
            for node in at[:-1]:
                if not self._nodes[node]["inner"]:
                    self._move_down(node)
        self._take_in(at, outcome, seen=1)
        if self.settings.results == "value" and self.n_rollouts & (self.n_rollouts - 1) == 0:
            self.relearn_step()

    def _take_in(self, at: Sequence[int], outcome: Outcome, seen: int) -> None:
        settings, node = self.settings, at[-1]
        depth = len(at) - 1
        if self.journal is not None:
            self.journal.note(self, at)
        left = settings.n_moves - depth
        length = left if outcome.length is None else outcome.length
        if self._nodes[node]["ended"] and length > 0:
            raise ValueError(
                f"the game ends at {self.path_of(node)}; a roll-out from there has length 0, not {length}."
            )
        if settings.game is not None and not settings.plain:
            self._nodes[node]["left"] = length
            if length > 0 and not self._nodes[node]["visits"]:
                self._nodes[node]["mover"] = _mover(settings.game, self.state_at(at))
        nodes = np.array(at, dtype=np.int64)
        down = np.empty((len(at) + 1, 2))
        walk_down(self._nodes, nodes, down, self.rules)
        self._room(0, 1)
        if length == 0 and not self._nodes[node]["inner"]:
            end_here(self._nodes, node, outcome.result, self.rules)
        add_rollout(self._nodes, self._rollouts, self.n_rollouts, node, outcome.result, length, depth, down, self.rules)
        if outcome.route is not None and settings.keeps_paths:
            self.routes[self.n_rollouts] = outcome.route
        self.n_rollouts += 1
        climb(self._nodes, self._rollouts, nodes, depth, down, self.rules, self.table, float(outcome.result), seen)

    def _move_down(self, node: int) -> None:
        """Hand roll-outs of a node to the children that they went through, where the routes are kept."""
        own, r = [], int(self._nodes[node]["rollout"])
        while r >= 0:
            if r in self.routes and self._rollouts[r]["counts"]:
                own.append(r)
            r = int(self._rollouts[r]["before"])
        path = self.path_of(node)
        for r in reversed(own):
            route, result = self.routes.pop(r), float(self._rollouts[r]["result"])
            if self.journal is not None and r < self.journal.n_rollouts:
                self.journal.routes[r] = route
            if route:
                self._take_in(self.store((*path, route[0])), Outcome(result, len(route) - 1, route[1:]), seen=0)

    def descend(self) -> list[int]:
        """Return the nodes from the root to where the policy leads; PoolExhausted where every end was seen.

        What must be expanded on the way is.
        """
        if self.exhausted:
            raise PoolExhausted("every end of the tree was seen; the root's value is known.")
        path, down = np.zeros(self.settings.n_moves + 2, dtype=np.int64), np.empty((self.settings.n_moves + 2, 2))
        stream = np.zeros(1, dtype=np.uint64)
        while True:
            k = descend(self._nodes, self.rules, self.seed, self.n_rollouts, path, down, stream)
            if self._nodes["visits"][path[k]] == 0:
                return path[: k + 1].tolist()
            self.expand(int(path[k]))

    def search_ends(self, n: int) -> None:
        """Run n descents, by uniform roll-outs, where the game has all its ends in an array."""
        settings = self.settings
        branching, depth = int(settings.n_children), settings.n_moves  # type: ignore[arg-type]
        ends = np.ascontiguousarray(settings.ends, dtype=float)
        if len(ends) != branching**depth:
            raise ValueError(f"the game must have branching^depth = {branching**depth} ends, got {len(ends)}.")
        whole = (branching ** (depth + 1) - 1) // (branching - 1) if branching > 1 else depth + 1
        while n > 0 and not self.exhausted:
            now = min(n, max(1024, self.n_rollouts))
            if settings.results == "value":  # the step is fitted again at powers of two
                now = min(n, (1 << self.n_rollouts.bit_length()) - self.n_rollouts)
            self._room(max(min(now * branching, whole - self.n_nodes), branching), now)
            before = self.n_rollouts
            self.n_nodes, self.n_rollouts = search_ends(
                self._nodes, self.n_nodes, self._rollouts, self.n_rollouts, now, ends, branching, depth, self.rules,
                self.table, settings.alternate, self.seed,
            )  # fmt: skip
            n -= self.n_rollouts - before
            if settings.results == "value" and self.n_rollouts & (self.n_rollouts - 1) == 0:
                self.relearn_step()
        self._nodes, self._rollouts = self.nodes.copy(), self.rollouts.copy()

    # -- fixed points ------------------------------------------------------------------------------------------------

    def refresh(self, max_sweeps: int, tol: float) -> list[float]:
        """Iterate expectation propagation over all roll-outs; return the largest change of each sweep."""
        if self.settings.results == "value":
            self._learn_step()
        changes: list[float] = []
        share = 1.0
        for _ in range(max_sweeps):
            changes.append(float(sweep(self._nodes[: self.n_nodes], self.rollouts, self.rules, share)))
            if changes[-1] <= tol:
                break
            if len(changes) > 3 and changes[-1] > 0.7 * changes[-3]:
                share = max(0.5 * share, 0.1)
        settle(self._nodes[: self.n_nodes], self.rules, self.table)
        return changes

    def relearn_step(self) -> None:
        """Take the variance of a step from the results, and all that follows from it."""
        if self.journal is not None:
            self.journal.note_all(self)
        self._learn_step()
        sweep(self._nodes[: self.n_nodes], self.rollouts, self.rules, 1.0)
        settle(self._nodes[: self.n_nodes], self.rules, self.table)

    def _learn_step(self) -> None:
        """Take the variance of a step from the results."""
        if self.n_rollouts < 2:
            return
        moves = self.nodes["depth"][self.rollouts["node"]] + self.rollouts["length"]
        self.step = step_variance(self.rollouts["result"], moves)
        self.derive()

    # -- plain data --------------------------------------------------------------------------------------------------

    def to_plain(self) -> State:
        """Return everything as arrays and lists."""
        return {
            "seed": self.seed,
            "step": self.step,
            "nodes": {name: self.nodes[name].copy() for name in NODE.names},  # type: ignore[union-attr]
            "rollouts": {name: self.rollouts[name].copy() for name in ROLLOUT.names},  # type: ignore[union-attr]
            "labels": list(self.labels),
            "routes": [list(self.routes), list(self.routes.values())],
        }

    @classmethod
    def from_plain(cls, settings: TreeSettings, plain: State) -> Tree:
        """Return the tree that ``to_plain`` described."""
        self = object.__new__(cls)
        self.settings, self.seed, self.step = settings, int(plain["seed"]), float(plain["step"])
        self._nodes, self._rollouts = (
            _records(kind, plain[name]) for kind, name in ((NODE, "nodes"), (ROLLOUT, "rollouts"))
        )
        self.n_nodes, self.n_rollouts = len(self._nodes), len(self._rollouts)
        self.labels, self.routes = list(plain["labels"]), dict(zip(*plain["routes"], strict=True))
        self.states = {}
        self.derive()
        return self


def _records(kind: np.dtype, columns: State) -> np.ndarray:
    found = np.zeros(len(next(iter(columns.values()))), kind)
    for name, column in columns.items():
        found[name] = column
    return found


def step_variance(results: np.ndarray, moves: np.ndarray) -> float:
    """Variance of results about their mean, per move of the games they end; above 0 where all are the same."""
    away = (results - results.mean()) ** 2 / np.maximum(moves, 1)
    least = SMALLEST_STEP * max(float(np.mean(results**2 / np.maximum(moves, 1))), SMALLEST_STEP)
    return max(float(away.sum() / (len(results) - 1)), least)


def start(game: Game) -> Any:
    """The state at the root: what the game has as ``start``, or else no moves."""
    return getattr(game, "start", ())


def _mover(game: Game, state: Any) -> int:
    """0 where the maximising player moves, 1 where the other does."""
    return 0 if game.player(state) > 0 else 1
