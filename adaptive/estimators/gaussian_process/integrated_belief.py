"""What is believed of functions whose hyper-parameters are not known: a weighted mixture of processes, one a node.

    w_k = Z(theta_k) p(theta_k) volume_k,  normalised;  those below 1e-3 are dropped

Several outputs, or the binary problems of several classes, share their nodes. Until there are twice as many rows the
nodes stay where they are, and every one is fitted from its own last sites; but where fewer than five of a grid count,
the evidence is narrower than the grid, and nodes about its top take its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adaptive.estimators.belief import Inferred
from adaptive.estimators.gaussian_process.classifier_belief import ClassifierBelief
from adaptive.estimators.gaussian_process.nodes import Nodes, log_prior, nodes_about, nodes_at_the_top, units_of
from adaptive.estimators.gaussian_process.process_belief import bounds_of, one_or_all
from adaptive.estimators.gaussian_process.regressor_belief import RegressorBelief
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, mixed
from adaptive.inference.mixture_posterior import MixturePosterior
from adaptive.predictive import Mixture, Predictive

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.types import RandomState

__all__ = ["IntegratedClassifier", "IntegratedRegressor"]

NEGLIGIBLE = 1e-3  # weight
FEWEST = 5  # nodes of a grid


@dataclass(frozen=True, eq=False)
class IntegratedProcesses(Inferred):
    """Beliefs at nodes of the hyper-parameters, and how probable each is.

    Attributes
    ----------
    settings : ProcessSettings
    data : Rows
    nodes : Nodes
        All of them.
    parts : dict of node number -> belief
        Of all nodes where there is a posterior, those of small weight included: the next rows may raise it.
    all_weights : dict of node number -> weight
    log_evidence_of_all : float
        ln sum_k Z(theta_k) p(theta_k) volume_k
    learnt_rows : int
        How many rows there were when the nodes were placed.
    """

    settings: Any
    data: Any
    nodes: Nodes
    parts: dict[int, Any]
    all_weights: dict[int, float]
    log_evidence_of_all: float
    learnt_rows: int

    _kind: ClassVar[Any]

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: Any, data: Any, earlier: Any = None, *, start: Any = None) -> Any:
        """Fit at every node; ``start`` is of a search, which there is none of here."""
        problems = cls._kind.problems(settings, data)
        same = isinstance(earlier, cls) and len(earlier.parts) and earlier.n_problems == len(problems)
        if same and len(data) < 2 * earlier.learnt_rows:
            nodes, known, rows = earlier.nodes, earlier.parts, earlier.learnt_rows
        else:
            nodes, known, rows = nodes_about(problems, bounds_of(problems[0])), {}, len(data)
        found = cls._at_nodes(settings, data, nodes, known, rows)
        if len(found.kept) >= FEWEST or not 1 <= nodes.points.shape[1] <= 2:
            return found
        nodes = nodes_at_the_top(problems, bounds_of(problems[0]))
        return cls._at_nodes(settings, data, nodes, {}, len(data))

    @classmethod
    def _at_nodes(cls, settings: Any, data: Any, nodes: Nodes, known: dict[int, Any], rows: int) -> Any:
        """Fit at these nodes, warm from those known, else from the neighbour; failures are left out."""
        parts: dict[int, Any] = {}
        refusal: Exception | None = None
        for k, theta in enumerate(nodes.points):
            try:
                parts[k] = cls._kind.at_node(settings, data, theta, known.get(k, parts.get(k - 1)))
            except (ValueError, np.linalg.LinAlgError) as problem:
                refusal = refusal or problem
        if not parts:
            assert refusal is not None
            raise refusal
        return cls._weighted(settings, data, nodes, parts, rows)

    @classmethod
    def _weighted(cls, settings: Any, data: Any, nodes: Nodes, parts: dict[int, Any], rows: int) -> Any:
        first = cls._kind.problems(settings, data)[0]
        units = units_of(first.kernel, len(first.theta) - len(first.kernel.theta))
        at = list(parts)
        logs = np.array([parts[k].log_evidence for k in at]) + nodes.log_volumes[at]
        logs += log_prior(nodes.points[at], first.theta, units)
        if not np.isfinite(logs).any():
            raise ValueError(
                'hyperparameters="integrated" weighs kernels by their log evidence, and the inference gave none that '
                'is finite; use hyperparameters="mode" or optimizer=None.'
            )
        logs = np.where(np.isfinite(logs), logs, -np.inf)
        total = float(np.logaddexp.reduce(logs))
        weights = dict(zip(at, np.exp(logs - total).tolist(), strict=True))
        return cls(settings, data, nodes, parts, weights, total, rows)

    # -- what there is -------------------------------------------------------------------------------------------------

    @property
    def kept(self) -> list[int]:
        """Numbers of the nodes that count."""
        return [k for k, weight in self.all_weights.items() if weight >= NEGLIGIBLE]

    @property
    def weights(self) -> np.ndarray:
        """Of the nodes that count, adding up to 1."""
        kept = np.array([self.all_weights[k] for k in self.kept])
        return kept / kept.sum()

    @property
    def beliefs(self) -> list[Any]:
        """At the nodes that count."""
        return [self.parts[k] for k in self.kept]

    @property
    def best(self) -> Any:
        """The belief at the node of the largest weight."""
        return self.beliefs[int(np.argmax(self.weights))]

    def __getattr__(self, name: str) -> Any:
        """What is asked of one process is answered by the most probable node's."""
        if name in ("processes", "evidences", "evidence", "thetas", "likelihood_scale", "labels"):
            return getattr(self.best, name)
        raise AttributeError(name)

    @property
    def n_problems(self) -> int:
        """Functions that are believed in at each node."""
        return len(self.best.processes)

    @property
    def log_evidence(self) -> float:
        """Of all nodes."""
        return self.log_evidence_of_all

    @property
    def posteriors(self) -> list[Posterior]:
        """Of the nodes that count, all functions."""
        return [posterior for belief in self.beliefs for posterior in belief.posteriors]

    @property
    def posterior(self) -> Any:  # type: ignore[override]
        """The mixture over the latents at the training inputs, or one for each function."""
        columns = zip(*(belief.posteriors for belief in self.beliefs), strict=True)
        return one_or_all([MixturePosterior(self.weights, column, self.log_evidence) for column in columns])

    @property
    def n_iter(self) -> int:
        """Of the longest inference; at least 1."""
        return max(1, super().n_iter)

    @property
    def left_out(self) -> LeaveOneOut | None:  # type: ignore[override]
        """Predictions of the training rows without themselves, by the mixture."""
        parts = [belief.left_out for belief in self.beliefs]
        if any(part is None for part in parts):
            return None
        return mixed(self.weights, parts, None if parts[0].probabilities is None else self.data.codes)

    def average(self, function: Callable[[Any], Any]) -> Any:
        """sum_k w_k function(belief k)."""
        return sum(weight * function(belief) for weight, belief in zip(self.weights, self.beliefs, strict=True))

    # -- belief --------------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(cls, settings: Any, X: Any, *, target: Any = None, random_state: RandomState = None) -> Any:
        """The predictive of the prior, with the kernel that was given."""
        return cls._kind.prior_predictive(settings, X, target=target, random_state=random_state)

    def predictive(self, X: Any, *, target: Any = None, random_state: RandomState = None) -> Predictive:
        """The mixture of what the nodes believe; a lone node's own."""
        parts = [belief.predictive(X, target=target, random_state=random_state) for belief in self.beliefs]
        return parts[0] if len(parts) == 1 else Mixture(self.weights, parts, random_state=random_state)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "points": self.nodes.points,
            "log_volumes": self.nodes.log_volumes,
            "kept_nodes": list(self.parts),
            "node_beliefs": [part.state() for part in self.parts.values()],
            "weights": np.array(list(self.all_weights.values())),
            "log_evidence": self.log_evidence,
            "learnt_rows": self.learnt_rows,
        }

    @classmethod
    def from_state(cls, settings: Any, data: Any, state: dict[str, Any]) -> Any:
        """The belief that ``state`` described."""
        at = [int(k) for k in state["kept_nodes"]]
        parts = {k: cls._kind.from_state(settings, data, one) for k, one in zip(at, state["node_beliefs"], strict=True)}
        weights = dict(zip(at, np.asarray(state["weights"], dtype=float).tolist(), strict=True))
        nodes = Nodes(np.asarray(state["points"], dtype=float), np.asarray(state["log_volumes"], dtype=float))
        return cls(settings, data, nodes, parts, weights, float(state["log_evidence"]), int(state["learnt_rows"]))


class IntegratedRegressor(IntegratedProcesses):
    """Numbers: moments and densities of the mixture."""

    _kind = RegressorBelief

    def moments(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (m,) or (m, outputs)."""
        moments = [belief.moments(X) for belief in self.beliefs]
        means, variances = (np.stack(part) for part in zip(*moments, strict=True))
        mean = np.tensordot(self.weights, means, axes=1)
        return mean, np.tensordot(self.weights, variances + np.square(means - mean), axes=1)

    def covariance(self, X: Any) -> np.ndarray:
        """Covariance (m, m) or (m, m, outputs)."""
        mean = self.moments(X)[0]

        def second(belief: RegressorBelief) -> np.ndarray:
            apart = belief.moments(X)[0] - mean
            return belief.covariance(X) + np.einsum("i...,j...->ij...", apart, apart)

        return self.average(second)

    def log_predictive(self, X: Any, y: np.ndarray) -> np.ndarray:
        """(m,) natural-log predictive densities of outcomes."""
        logs = np.stack([belief.log_predictive(X, y) for belief in self.beliefs])
        return np.logaddexp.reduce(logs + np.log(self.weights)[:, None], axis=0)


class IntegratedClassifier(IntegratedProcesses):
    """Labels: probabilities of the mixture."""

    _kind = ClassifierBelief

    def probabilities(self, X: Any) -> np.ndarray:
        """(m, c) predictive probabilities."""
        return np.minimum(self.average(lambda belief: belief.probabilities(X)), 1.0)

    def winners(self, X: Any) -> np.ndarray:
        """(m,) codes of the most probable class."""
        if self.settings.multi_class == "one_vs_one":
            return self.best.winners(X)
        return np.argmax(self.probabilities(X), axis=1)
