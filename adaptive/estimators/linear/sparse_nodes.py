"""Belief about a linear function whose noise and prior scale are not known: a weighted mixture of beliefs at nodes.

The nodes are the central composite design about the top of evidence times prior (`adaptive.estimators.places`): of
noise and scale nine, of one of them three. At the top alone intervals are too short where there are few rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.linear.sparse_belief import SparseBelief, searched
from adaptive.estimators.linear.sparse_problem import SparseProblem, SparseSettings
from adaptive.estimators.nodes import NEGLIGIBLE, Nodes, beliefs_at, finite_evidences, weights_of
from adaptive.estimators.places import about_the_top
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, mixed
from adaptive.estimators.rows.training import Rows
from adaptive.inference.mixture_posterior import MixturePosterior

if TYPE_CHECKING:
    from adaptive.predictive import Predictive
    from adaptive.types import Matrix, RandomState, State

__all__ = ["IntegratedSparse"]


@dataclass(frozen=True, eq=False)
class IntegratedSparse(Nodes[SparseSettings, Rows, SparseBelief]):
    """Beliefs at nodes of noise variance and prior scale, the first of them at the top; `Nodes` says the rest."""

    @classmethod
    def learnt(cls, settings: SparseSettings, data: Rows, earlier: object = None) -> IntegratedSparse:
        """Find the top, from an ``earlier`` one and, where due, from the start; fit at the nodes about it."""
        problem = SparseProblem(settings, data)
        before = earlier if isinstance(earlier, IntegratedSparse) else None
        top, rows = searched(problem, data, before, None if before is None else before.beliefs[0])
        points, log_volumes = about_the_top(problem.evaluate, top, problem.widths, problem.bounds)

        def fit(k: int, found: dict[int, SparseBelief]) -> SparseBelief:
            warm = found[0].posterior if 0 in found else top.posterior
            return SparseBelief.at(problem, data, points[k], warm, rows)

        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            parts = beliefs_at(range(len(points)), fit)
        for one in {str(one.message): one for one in said}.values():  # one of a kind, however many nodes
            warnings.warn(one.message, one.category, stacklevel=4)
        at = list(parts)
        logs = np.array([parts[k].log_evidence for k in at]) + log_volumes[at] + problem.log_prior(points[at])
        cure = 'give noise_variance and prior_scale, or use hyperparameters="mode"'
        weights, total = weights_of(finite_evidences(logs, "noise variances and prior scales", cure))
        kept = (weights >= NEGLIGIBLE) | (np.array(at) == 0)  # the next search begins at the first
        beliefs = [parts[k] for k, keeps in zip(at, kept, strict=True) if keeps]
        return cls(settings, data, beliefs, weights[kept] / weights[kept].sum(), total, rows)

    # -- what the mixture says of its inference ------------------------------------------------------------------------

    @cached_property
    def posterior(self) -> MixturePosterior:
        """The posteriors of all nodes, weighted."""
        return MixturePosterior(self.weights, self.posteriors, self.log_evidence)

    @property
    def n_iter(self) -> int:
        """Iterations of the longest inference; at least 1."""
        return max(1, super().n_iter)

    @property
    def noise_variance(self) -> float:
        """The mean of the nodes'."""
        return float(self.average(lambda belief: belief.noise_variance))

    @property
    def prior_scale(self) -> float:
        """The geometric mean of the nodes'."""
        return float(np.exp(self.average(lambda belief: np.log(belief.prior_scale))))

    @cached_property
    def left_out(self) -> LeaveOneOut | None:
        """Log densities of the training rows without themselves, by the mixture."""
        parts = [part for belief in self.beliefs if (part := belief.left_out) is not None]
        return mixed(self.weights, parts) if len(parts) == len(self.beliefs) else None

    # -- belief --------------------------------------------------------------------------------------------------------

    def moments(self, rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (m,) of outcomes, noise included."""
        means, variances = (np.stack(part) for part in zip(*(one.moments(rows) for one in self.beliefs), strict=True))
        mean = self.weights @ means
        return mean, self.weights @ (variances + np.square(means - mean))

    def log_predictive(self, rows: Matrix, y: np.ndarray) -> np.ndarray:
        """(m,) natural-log predictive densities of outcomes."""
        logs = np.stack([belief.log_predictive(rows, y) for belief in self.beliefs])
        return np.logaddexp.reduce(logs + np.log(self.weights)[:, None], axis=0)

    @classmethod
    def prior_predictive(
        cls, settings: SparseSettings, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive of the prior; what is to be learnt counts as 1."""
        return SparseBelief.prior_predictive(settings, rows, target=target, random_state=random_state)

    def predictive(self, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None) -> Predictive:
        """The mixture of what the nodes believe about rows; a lone node's own."""
        parts = [belief.predictive(rows, target=target, random_state=random_state) for belief in self.beliefs]
        return self.mixture(parts, random_state)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "beliefs": [belief.state() for belief in self.beliefs],
            "weights": self.weights,
            "log_evidence": self.log_evidence,
            "searched_rows": self.learnt_rows,
        }

    @classmethod
    def from_state(cls, settings: SparseSettings, data: Rows, state: State) -> IntegratedSparse:
        """The belief that ``state`` described."""
        beliefs = [SparseBelief.from_state(settings, data, one) for one in state["beliefs"]]
        weights = np.asarray(state["weights"], dtype=float)
        return cls(settings, data, beliefs, weights, float(state["log_evidence"]), int(state["searched_rows"]))
