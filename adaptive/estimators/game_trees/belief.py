"""Belief about a game tree after roll-outs: the stored tree, and how far it is from a fixed point."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from adaptive import checks
from adaptive.estimators.belief import Traced
from adaptive.estimators.game_trees.endgames import said_of
from adaptive.estimators.game_trees.evidence import Rollouts
from adaptive.estimators.game_trees.predictive import tree_predictive
from adaptive.estimators.game_trees.sweeps import log_evidence
from adaptive.estimators.game_trees.tree import Tree
from adaptive.estimators.variance_factor import ALARM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.game_trees.nodes import Path
    from adaptive.estimators.game_trees.settings import TreeSettings
    from adaptive.estimators.variance_factor import VarianceFactor
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState, State

__all__ = ["TreeBelief", "new_tree"]


def new_tree(settings: TreeSettings) -> Tree:
    """Return the tree of which nothing was seen, with a seed of its own."""
    return Tree(settings, int(checks.generator(settings.random_state).integers(2**31)))


@dataclass(frozen=True, eq=False)
class TreeBelief(Traced):
    """A stored tree.

    Attributes
    ----------
    settings : TreeSettings
    tree : Tree
    trace : list of float
        Largest changes of a site, in each sweep of the last ``refresh``; none since a later roll-out.
    converged : bool
    """

    settings: TreeSettings
    tree: Tree
    trace: list[float] = field(default_factory=list)
    converged: bool = True
    data: Rollouts = field(default_factory=Rollouts)

    @classmethod
    def learnt(cls, settings: TreeSettings, data: Rollouts, earlier: TreeBelief | None = None) -> TreeBelief:
        """Take in roll-outs one after the other, each by one descent; what is refused leaves ``earlier`` as it was."""
        tree = new_tree(settings) if earlier is None else earlier.tree.followed(settings)
        try:
            for node, outcome in zip(data.nodes, data.outcomes, strict=True):
                tree.learn(node, outcome)
        except BaseException:
            if earlier is not None:
                earlier.tree.taken_back(tree)
            raise
        tree.states = {}
        return cls(settings, tree)

    @classmethod
    def prior_predictive(
        cls,
        settings: TreeSettings,
        candidates: Sequence[Path],
        target: str | Sequence[Path] = "root",
        random_state: RandomState = None,
    ) -> Predictive:
        """Before any roll-out."""
        return tree_predictive(Tree(settings, 0), candidates, target, random_state)

    def predictive(
        self, candidates: Sequence[Path], target: str | Sequence[Path] = "root", random_state: RandomState = None
    ) -> Predictive:
        """Outcomes of roll-outs from these nodes."""
        return tree_predictive(self.tree, candidates, target, random_state)

    def refreshed(self, max_sweeps: int, tol: float) -> TreeBelief:
        """Return the belief at a fixed point of expectation propagation."""
        tree = self.tree.copy()
        changes = tree.refresh(max_sweeps, tol)
        return TreeBelief(self.settings, tree, changes, bool(changes and changes[-1] <= tol) or not tree.n_rollouts)

    @property
    def variance_factor(self) -> VarianceFactor | None:
        """Factor of the variances of values, by endgames of the game; learnt at the first look, once for a game."""
        return said_of(self.settings).factor

    @cached_property
    def band_factor(self) -> float:
        """Factor of the variances that intervals take, at least 1; an alarm where it is large."""
        said = said_of(self.settings)
        if said.drawn:
            warnings.warn(
                f"values of this game are few ({', '.join(f'{one:g}' for one in said.values)}), and a Gaussian is too "
                "sure of what lies between them: nominal 90% intervals held 76% of values in tic-tac-toe, 78 to 87% "
                "in Connect Four (ours-bands-trees, ours-trees-connect-four-coverage).",
                UserWarning,
                stacklevel=2,
            )
        factor = said.factor
        if factor is None:
            return 1.0
        if factor.value > ALARM:
            warnings.warn(
                "values of this game are further from its random play than the increments say, so variances are "
                f"taken {factor.value:.3g} times as large (variance_factor_). Values that were not proved are "
                "uncertain.",
                UserWarning,
                stacklevel=2,
            )
        return factor.value

    @property
    def posterior(self) -> Tree:
        """The stored tree: all that is believed."""
        return self.tree

    @property
    def log_evidence(self) -> float:
        """Log evidence of the roll-outs that count."""
        return float(log_evidence(self.tree.nodes, self.tree.rollouts, self.tree.rules))

    @property
    def evidence_kind(self) -> str:
        """Real results have Gaussian noise, signs a site each."""
        return "exact" if self.tree.rules.values else "approximation"

    def state(self) -> State:
        """Everything as arrays and lists."""
        return {**self.tree.to_plain(), "changes": list(self.trace), "converged": self.converged}

    @classmethod
    def from_state(cls, settings: TreeSettings, data: Rollouts, state: State) -> TreeBelief:
        """The same belief again."""
        return cls(settings, Tree.from_plain(settings, state), list(state["changes"]), bool(state["converged"]))
