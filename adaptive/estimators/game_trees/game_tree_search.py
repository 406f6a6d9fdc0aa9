"""Calibrated optimal values of the nodes of a game tree, from random roll-outs, and which node to roll out next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_ndtr, ndtri

from adaptive import checks
from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.game_trees.belief import TreeBelief, new_tree
from adaptive.estimators.game_trees.evidence import Rollouts, checked_nodes, checked_outcomes
from adaptive.estimators.game_trees.playing import search
from adaptive.estimators.game_trees.predictive import (
    TARGETS,
    Joint,
    best_move_probabilities,
    boundary,
    proved_lost,
    tree_predictive,
)
from adaptive.estimators.game_trees.settings import TreeSettings
from adaptive.estimators.game_trees.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from adaptive.estimators.game_trees.nodes import Move, Path
    from adaptive.estimators.game_trees.settings import Drift, Game
    from adaptive.predictive import Predictive
    from adaptive.types import Outcomes, Pool, RandomState

__all__ = ["GameTreeSearch"]


class GameTreeSearch(BeliefEstimator):
    """Values of game-tree nodes under optimal play, with intervals, and a best-first search that uses them.

    A node's score is its value under random play: a Gaussian random walk from the root downwards, seen through the
    signs (or values) at the ends of roll-outs. Its optimal value is the largest or smallest of its children's. Subtrees
    that nobody has seen count by a table of what optimal play adds.

    Parameters
    ----------
    game : object, optional
        With the methods ``moves(state)``, ``play(state, move)``, ``result(state)`` (None while the game lasts) and
        ``player(state)`` (+1 maximises, -1 minimises); ``start`` is the root's state, by default ``()``. Attributes
        ``branching`` and ``depth`` stand in for the parameters. None: moves are the numbers below ``branching``.
    branching : int or callable (moves left, player) -> int, optional
        Children of a node, for the table of increments.
    depth : int, optional
        The most moves that a game can have.
    results : {"sign", "value"}, default "sign"
        Whether a game ends with +1 or -1, or with a number; of numbers the variance of a step is learnt.
    players : {"alternate", "max"}, default "alternate"
        "max": one player, who maximises.
    coupling : {"coherent", "parent"}, default "coherent"
        Covariance of siblings' values: from the regression of each value on its score, or that of the source.
    policy : {"optimistic", "tesauro", "thompson", "uniform", "uct", "information"}, default "optimistic"
        How a descent chooses: mean plus ``deviations`` standard deviations for the player who moves; with
        sqrt(2 log visits) of them; by a draw; at random; by means of results; or the boundary node whose roll-out says
        most about the root's value. None of them enters a subtree of which every end was seen.
    deviations : float, default 3.0
    rollouts : {"auto", "discard", "keep_path"}, default "auto"
        What becomes of a node's own roll-outs once a node below it is rolled out: "discard" gives them up, since they
        went through one of the children; "keep_path" hands those whose moves are known, outcomes (result, moves), to
        the child they went through. "auto" keeps them, but for games with all their ends in an array, whose search is
        compiled and discards. Chosen by ``ours-default-game-trees``.
    root_mean, score_variance : float, default 0.0 and 1e-8
        Of the root's score, in steps. On 60 positions of each of four games no other value of these, of ``coupling``,
        ``deviations`` or ``drift`` was certainly ahead (``ours-default-settings-games``).
    drift : float or (2,) array-like, optional
        Mean change of the score by a move of the maximising player (the other's is its negative), or of each.
    random_state : None, int, Generator or RandomState
        Of policies that draw, and of roll-outs.

    Attributes
    ----------
    increments_ : (depth + 1, 2) array
        Mean and variance of what optimal play adds, by moves left, for the player who moves there in a game of full
        length.
    variance_factor_ : VarianceFactor or None
        Factor of the variances of values in ``interval``, ``return_std`` and ``to_frame``, at least 1
        (`adaptive.diagnostics.variance_factor`): learnt at the first look, once for each game object, from endgames
        that are met by 32 random games and solved exactly. None without a game, or where none can be solved.
    step_variance_ : float
        Of the score; 1 for signs.
    n_rollouts_, n_nodes_ : int
    posterior_ : the stored tree
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the last ``refresh``

    Notes
    -----
    A roll-out of length l with result r has probability Phi(r g / sqrt(l)) where the score is g. The maximum of
    correlated Gaussians is taken for a Gaussian again (Clark's moments), so that values are approximate even where
    scores are exact. The sign of a value is cut to what is proved. After a roll-out the beliefs of its path are those
    of one pass of assumed density filtering; ``refresh`` iterates to a fixed point, in which the order of roll-outs is
    forgotten.

    References
    ----------
    P. Hennig (2010), Approximate Inference in Graphical Models, PhD thesis, Cambridge, chapter 3; P. Hennig, D. Stern
    and T. Graepel (2010), Coherent inference on optimal play in game trees.

    Examples
    --------
    >>> model = GameTreeSearch(branching=2, depth=3, random_state=0)
    >>> model.partial_fit([(0,), (1,), (1, 0)], [1, -1, -1]).best_move()
    0
    >>> mean, std = model.predict([(0,), (1,)], return_std=True)
    >>> bool(mean[0] > mean[1])
    True
    >>> model.boundary()[:2]
    [(0, 0), (0, 1)]
    """

    def __init__(
        self,
        game: Game | None = None,
        *,
        branching: int | Callable[[int, int], int] | None = None,
        depth: int | None = None,
        results: str = "sign",
        players: str = "alternate",
        coupling: str = "coherent",
        policy: str = "optimistic",
        deviations: float = 3.0,
        rollouts: str = "auto",
        root_mean: float = 0.0,
        score_variance: float = 1e-8,
        drift: Drift = None,
        random_state: RandomState = None,
    ) -> None:
        self.game = game
        self.branching = branching
        self.depth = depth
        self.results = results
        self.players = players
        self.coupling = coupling
        self.policy = policy
        self.deviations = deviations
        self.rollouts = rollouts
        self.root_mean = root_mean
        self.score_variance = score_variance
        self.drift = drift
        self.random_state = random_state

    _cites = ("hennig2011",)
    _Settings, _Data, _Belief = TreeSettings, Rollouts, TreeBelief
    belief_: TreeBelief

    def _measured(self, X: Pool, y: Outcomes, earlier: Rollouts | None = None) -> Rollouts:
        nodes = checked_nodes(X)
        return Rollouts(nodes, checked_outcomes(y, nodes, self._Settings.of(self)))

    def _candidates(self, X: Pool | str) -> str | list[Path]:
        return X if isinstance(X, str) and X in TARGETS else checked_nodes(X)

    def _tree(self) -> Tree:
        """The belief; before any roll-out that nothing is known."""
        return self.belief_.tree if self.__sklearn_is_fitted__() else Tree(self._Settings.of(self), 0)

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, nodes: Pool, outcomes: Outcomes) -> GameTreeSearch:
        """Forget the earlier fit, and fit these roll-outs, one after the other.

        Parameters
        ----------
        nodes : (m,) list of tuples
            Moves from the root to where each roll-out started.
        outcomes : (m,) list
            Results (the length is the moves left), (result, length) or (result, moves).
        """
        return self._fit(nodes, outcomes)

    def partial_fit(self, nodes: Pool, outcomes: Outcomes) -> GameTreeSearch:
        """Learn from further roll-outs; what is refused changes nothing."""
        return self._partial_fit(nodes, outcomes)

    def refresh(self, max_sweeps: int = 100, tol: float = 1e-8) -> GameTreeSearch:
        """Iterate expectation propagation over all roll-outs to a fixed point, and settle every value.

        Parameters
        ----------
        max_sweeps : int, default 100
        tol : float, default 1e-8
            Largest change of a site, relative above 1.
        """
        checks.integer("max_sweeps", max_sweeps, minimum=1)
        checks.positive("tol", tol, or_zero=True)
        self.belief_ = self.fitted_belief().refreshed(max_sweeps, tol)
        return self

    def descend(self) -> Path:
        """Return the node that the policy leads to; PoolExhausted where every end was seen."""
        if self.policy == "information" and not self._tree().exhausted:
            return _most_informative(self._tree())
        settings, tree = self._Settings.of(self), self._tree()
        with tree.trial(settings):
            return tree.path_of(tree.descend()[-1])

    def search(self, n: int, rollout: Callable[..., Any] | None = None) -> GameTreeSearch:
        """Descend, roll out and learn ``n`` times; stops early where every end was seen.

        Parameters
        ----------
        n : int
        rollout : callable (node, generator) -> outcome, optional
            Default: the game's own ``rollout(state, generator)`` if it has one, else uniformly random moves.

        Notes
        -----
        A game that has all its ends in an array, ``ends``, is searched in one compiled loop.
        """
        checks.integer("n", n, minimum=0)
        settings = self._Settings.of(self)
        fitted = self.__sklearn_is_fitted__()
        tree = self.belief_.tree.copy(settings) if fitted else new_tree(settings)
        search(tree, n, rollout, _most_informative if settings.policy == "information" else None)
        self.belief_ = TreeBelief(settings, tree)
        return self

    # -- what is believed ----------------------------------------------------------------------------------------------

    def predict(self, nodes: Pool, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the (m,) means of the optimal values of nodes, and with ``return_std`` standard deviations.

        Parameters
        ----------
        nodes : (m,) list of tuples
        return_std : bool, default False
            Widened as `interval` is, which says what its .90 covers (.76 to .90, ``ours-bands-trees``).
        """
        belief = self.fitted_belief()
        joint = Joint(self._tree(), checked_nodes(nodes))
        mean = joint.values()[0][joint.at]
        return (mean, np.sqrt(joint.wide_variances(belief.band_factor)[joint.at])) if return_std else mean

    def predict_score(self, nodes: Pool, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the (m,) means of the scores of nodes: their values under random play.

        What bands of scores cover was not measured; those of optimal values are in `interval` (``ours-bands-trees``).
        """
        self.fitted_belief()
        joint = Joint(self._tree(), checked_nodes(nodes))
        mean = joint.mean[joint.at]
        return (mean, np.sqrt(joint.variance[joint.at])) if return_std else mean

    def interval(self, nodes: Pool, level: float = 0.9) -> np.ndarray:
        """Return (m, 2) bounds between which optimal values lie with probability ``level``.

        Notes
        -----
        Widened by ``variance_factor_``, learnt at the first look (.05 to .4 s). Nominal .90 of the moves of positions
        that are solved exactly holds .87 of values in Connect Four, .90 in Hex, .85 in Domineering (.83, .37, .35 by
        the table of increments alone), but .76 in tic-tac-toe (.59), on average over 20 to 200 games
        (``ours-bands-trees``). Where endgames have three or four values, as in both games with draws, it says so in a
        warning.
        """
        checks.share("level", level)
        mean, std = self.predict(nodes, return_std=True)
        return mean[:, None] + std[:, None] * ndtri([(1 - level) / 2, (1 + level) / 2])

    def root_moves(self) -> list[Move]:
        """Return the root's legal moves, in the order of `best_move_proba`."""
        return self._tree().copy().moves(0)

    def best_move_proba(self) -> np.ndarray:
        """Return the (b,) probabilities that each of the root's moves has the best value; they sum to one."""
        return best_move_probabilities(self._of_moves())

    def best_move(self) -> Move:
        """Return the move that is most probably the best, of those that are not proved to lose while others are not."""
        joint = self._of_moves()
        chances = np.where(proved_lost(joint), -1.0, best_move_probabilities(joint))
        return self.root_moves()[int(np.argmax(chances))]

    def _of_moves(self) -> Joint:
        self.fitted_belief()
        tree = self._tree().copy()
        if not tree.nodes["count"][0]:
            tree.expand(0)
        return Joint(tree, [])

    def log_predictive(self, nodes: Pool, outcomes: Outcomes) -> np.ndarray:
        """Return the (m,) log predictive probabilities (densities) of roll-outs."""
        paths = checked_nodes(nodes)
        given = checked_outcomes(outcomes, paths, self._Settings.of(self))
        mean, std = self.predict_score(paths, return_std=True)
        joint = Joint(self._tree(), paths)
        left = joint.tree.nodes["left"][joint.at]
        length = np.array([k if one.length is None else one.length for one, k in zip(given, left, strict=True)])
        result = np.array([one.result for one in given])
        total = std**2 + length * self.step_variance_
        if self.results == "sign":
            return log_ndtr(result * mean / np.sqrt(total))
        return -0.5 * (np.log(2 * np.pi * total) + (result - mean) ** 2 / total)

    # -- which node to roll out ----------------------------------------------------------------------------------------

    def boundary(self, most: int = 256) -> list[Path]:
        """Return unvisited children of visited nodes, those of most weight in the root's value first.

        Before any roll-out that is the root; once every end was seen there are none.

        Parameters
        ----------
        most : int, default 256
        """
        return boundary(self._tree(), checks.integer("most", most, minimum=1))

    def predictive(
        self, candidates: Pool, *, target: str | Pool | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about roll-outs from nodes.

        Parameters
        ----------
        candidates : (m,) list of tuples
        target : {"root", "moves", "best"} or list of tuples, optional
            What is to be learnt: the root's value (None as well), the values of its moves jointly, which of these is
            best, or roll-outs from given nodes.
        random_state : None, int, Generator or RandomState
        """
        about = "root" if target is None else self._candidates(target)
        return tree_predictive(self._tree(), checked_nodes(candidates), about, random_state)

    def rollout_cost(self, nodes: Pool) -> np.ndarray:
        """Return the (m,) expected lengths of roll-outs, each with the look at its end counted as one move."""
        joint = Joint(self._tree(), checked_nodes(nodes))
        return 1.0 + joint.tree.nodes["left"][joint.at] * (joint.tree.nodes["ended"][joint.at] == 0)

    # -- tables --------------------------------------------------------------------------------------------------------

    def to_frame(self, most: int = 1000) -> pd.DataFrame:
        """Return the visited nodes as a frame, the most visited first: score, value, proof and visits."""
        import pandas as pd

        belief = self.fitted_belief()
        tree = belief.tree
        joint = Joint(tree, [])
        value, variance = joint.values()[0], joint.wide_variances(belief.band_factor)
        nodes = tree.nodes
        shown = np.flatnonzero(nodes["visits"])
        shown = shown[np.argsort(-nodes["visits"][shown], kind="stable")][:most]
        return pd.DataFrame(
            {
                "node": [tree.path_of(int(i)) for i in shown],
                "visits": nodes["visits"][shown],
                "score": joint.mean[shown],
                "score_std": np.sqrt(joint.variance[shown]),
                "value": value[shown],
                "value_std": np.sqrt(variance[shown]),
                "proved": nodes["sign"][shown],
                "closed": nodes["closed"][shown].astype(bool),
            }
        )

    @property
    def increments_(self) -> np.ndarray:
        """(depth + 1, 2) mean and variance of what optimal play adds, by moves left."""
        tree = self.fitted_belief().tree
        depth, first = tree.settings.n_moves, int(tree.nodes["mover"][0])
        left = np.arange(depth + 1)
        mover = (first + depth - left) % 2 if tree.settings.alternate else np.full(depth + 1, first)
        table = tree.table[mover, left]
        return table * [np.sqrt(tree.step), tree.step]

    variance_factor_ = of_belief("variance_factor", "Factor of the variances of values, by endgames; or None.")
    step_variance_ = of_belief("tree.step", "Variance of a step of the score.")
    n_rollouts_ = of_belief("tree.n_rollouts", "Roll-outs in the fit.")
    n_nodes_ = of_belief("tree.n_nodes", "Stored nodes.")


def _most_informative(tree: Tree) -> Path:
    """The boundary node whose roll-out says most about the root's value."""
    found = boundary(tree, 256)
    belief = tree_predictive(tree, found, "root", 0)
    return found[int(np.argmax(belief.outcome_entropy - belief.expected_entropy))]
