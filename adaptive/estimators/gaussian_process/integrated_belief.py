"""Belief about functions whose hyper-parameters are not known: a weighted mixture of processes, one a node.

Several outputs, or the binary problems of several classes, share their nodes. Those of a grid are fitted from their
own last sites; but where fewer than five of them count, the evidence is narrower than the grid, and nodes about its top
take its place. The top is sought from the heaviest node that was and, where that is due, from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from adaptive.estimators.gaussian_process.classifier_belief import ClassifierBelief, ClassifierSettings
from adaptive.estimators.gaussian_process.hyperparameters import highest_places, places_about, units_of
from adaptive.estimators.gaussian_process.latent_bands import factor_of_labels, latent_interval
from adaptive.estimators.gaussian_process.process_belief import ProcessBelief, bounds_of, one_or_all
from adaptive.estimators.gaussian_process.regressor_belief import RegressorBelief, RegressorSettings
from adaptive.estimators.gaussian_process.settings import ProcessSettings
from adaptive.estimators.nodes import NEGLIGIBLE, Nodes, beliefs_at, finite_evidences, weights_of
from adaptive.estimators.places import Places, log_prior
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, mixed
from adaptive.estimators.rows.training import LabelledRows, Rows
from adaptive.estimators.searches import due
from adaptive.inference.mixture_posterior import MixturePosterior

if TYPE_CHECKING:
    from adaptive.estimators.gaussian_process.evidence import Evidence
    from adaptive.estimators.gaussian_process.latent_process import LatentProcess
    from adaptive.estimators.variance_factor import VarianceFactor
    from adaptive.predictive import Predictive
    from adaptive.types import Inputs, RandomState, State

__all__ = ["IntegratedClassifier", "IntegratedRegressor"]

FEWEST = 5  # nodes of a grid
SAME = 0.02  # in logarithms: two designs that are one

S = TypeVar("S", bound=ProcessSettings)
D = TypeVar("D", bound=Rows)
B = TypeVar("B", bound=ProcessBelief)


@dataclass(frozen=True, eq=False)
class IntegratedProcesses(Nodes[S, D, B]):
    """Beliefs at nodes of the hyper-parameters; `Nodes` says the rest.

    Attributes
    ----------
    places : Places
        All nodes.
    parts : dict of node number -> belief
        Of all nodes where there is a posterior, those of small weight included: the next rows may raise it.
    all_weights : dict of node number -> weight
    """

    places: Places
    parts: dict[int, B]
    all_weights: dict[int, float]

    _kind: ClassVar[Any]  # of belief at a node

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: S, data: D, earlier: object = None, *, start: object = None) -> Self:
        """Fit at every node; ``start`` is of a search, which there is none of here."""
        problems = cls._kind.problems(settings, data)
        before = earlier if isinstance(earlier, cls) and earlier.n_problems == len(problems) else None
        bounds, known = bounds_of(problems[0]), {} if before is None else before.parts
        if len(problems[0].theta) <= 2:
            places = places_about(problems[0], bounds)
            found = cls._at_places(settings, data, places, known, len(data) if before is None else before.learnt_rows)
            if len(found.beliefs) >= FEWEST or not len(problems[0].theta):
                return found
        again = before is None or before._due(data)
        rows = len(data) if before is None or again else before.learnt_rows
        starts = ([problems[0].theta] if again else []) + ([] if before is None else [before.thetas[0]])
        tops = [highest_places(problems, bounds, start) for start in starts]
        if len(tops) > 1 and np.allclose(tops[0].points, tops[1].points, rtol=0.0, atol=SAME):
            del tops[1]
        return max((cls._at_places(settings, data, top, {}, rows) for top in tops), key=lambda one: one.total)

    def _due(self, data: D) -> bool:
        """True where the top is to be sought from the start again."""
        first = len(self.data)
        said = None if self.n_problems > 1 else (lambda: self.predictive(data.X[first:]))
        return due(len(data), self.learnt_rows, said, data.y[first:])

    @classmethod
    def _at_places(cls, settings: S, data: D, places: Places, known: dict[int, B], rows: int) -> Self:
        """Fit at these nodes, warm from those known, else from the neighbour."""

        def fit(k: int, found: dict[int, B]) -> B:
            return cls._kind.at_node(settings, data, places.points[k], known.get(k, found.get(k - 1)))

        parts = beliefs_at(range(len(places.points)), fit)
        first, at = cls._kind.problems(settings, data)[0], list(parts)
        units = units_of(first.kernel, len(first.theta) - len(first.kernel.theta))
        logs = np.array([parts[k].log_evidence for k in at]) + places.log_volumes[at]
        logs += log_prior(places.points[at], first.theta, units)
        weights, total = weights_of(finite_evidences(logs, "kernels", 'use hyperparameters="mode" or optimizer=None'))
        return cls._made(settings, data, places, parts, dict(zip(at, weights.tolist(), strict=True)), total, rows)

    @classmethod
    def _made(
        cls,
        settings: S,
        data: D,
        places: Places,
        parts: dict[int, B],
        weights: dict[int, float],
        total: float,
        rows: int,
    ) -> Self:
        """The belief of which those nodes count whose weight is not negligible."""
        at = [k for k, weight in weights.items() if weight >= NEGLIGIBLE]
        kept = np.array([weights[k] for k in at])
        beliefs = [parts[k] for k in at]
        return cls(settings, data, beliefs, kept / kept.sum(), total, rows, places, parts, weights)

    # -- what there is -------------------------------------------------------------------------------------------------

    @property
    def processes(self) -> Sequence[LatentProcess]:
        """The processes of the most probable node."""
        return self.best.processes

    @property
    def evidences(self) -> Sequence[Evidence]:
        """The evidences of the most probable node."""
        return self.best.evidences

    @property
    def thetas(self) -> list[np.ndarray]:
        """Hyper-parameters of the most probable node, of every evidence."""
        return self.best.thetas

    @property
    def n_problems(self) -> int:
        """Functions that are believed in at each node."""
        return len(self.best.processes)

    @property
    def posterior(self) -> MixturePosterior | list[MixturePosterior]:
        """The mixture over the latents at the training inputs, or one for each function."""
        columns = zip(*(belief.posteriors for belief in self.beliefs), strict=True)
        return one_or_all([MixturePosterior(self.weights, column, self.log_evidence) for column in columns])

    @property
    def n_iter(self) -> int:
        """Iterations of the longest inference; at least 1."""
        return max(1, super().n_iter)

    @property
    def left_out(self) -> LeaveOneOut | None:
        """Predictions of the training rows without themselves, by the mixture."""
        parts = [part for belief in self.beliefs if (part := belief.left_out) is not None]
        if len(parts) < len(self.beliefs):
            return None
        return mixed(self.weights, parts, self._codes)

    @property
    def _codes(self) -> np.ndarray | None:
        """Codes of the outcomes, where they are labels."""
        return None

    # -- belief --------------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls, settings: S, X: Inputs, *, target: Inputs | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive of the prior, with the kernel that was given."""
        return cls._kind.prior_predictive(settings, X, target=target, random_state=random_state)

    def predictive(self, X: Inputs, *, target: Inputs | None = None, random_state: RandomState = None) -> Predictive:
        """The mixture of what the nodes believe; a lone node's own."""
        beliefs: Sequence[Any] = self.beliefs
        parts = [belief.predictive(X, target=target, random_state=random_state) for belief in beliefs]
        return self.mixture(parts, random_state)

    def mixed_moments(self, moments: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the mixture of nodes that have these."""
        means, variances = (np.stack(part) for part in zip(*moments, strict=True))
        mean = np.tensordot(self.weights, means, axes=1)
        return mean, np.tensordot(self.weights, variances + np.square(means - mean), axes=1)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        parts: list[Any] = list(self.parts.values())
        return {
            "points": self.places.points,
            "log_volumes": self.places.log_volumes,
            "kept_nodes": list(self.parts),
            "node_beliefs": [part.state() for part in parts],
            "weights": np.array(list(self.all_weights.values())),
            "log_evidence": self.log_evidence,
            "learnt_rows": self.learnt_rows,
        }

    @classmethod
    def from_state(cls, settings: S, data: D, state: State) -> Self:
        """The belief that ``state`` described."""
        at = [int(k) for k in state["kept_nodes"]]
        parts = {k: cls._kind.from_state(settings, data, one) for k, one in zip(at, state["node_beliefs"], strict=True)}
        weights = dict(zip(at, np.asarray(state["weights"], dtype=float).tolist(), strict=True))
        places = Places(np.asarray(state["points"], dtype=float), np.asarray(state["log_volumes"], dtype=float))
        total, rows = float(state["log_evidence"]), int(state["learnt_rows"])
        return cls._made(settings, data, places, parts, weights, total, rows)


class IntegratedRegressor(IntegratedProcesses[RegressorSettings, Rows, RegressorBelief]):
    """Numbers: moments and densities of the mixture."""

    _kind = RegressorBelief

    @property
    def evidence(self) -> Evidence:
        """The evidence of the most probable node."""
        return self.best.evidence

    @property
    def likelihood_scale(self) -> float | None:
        """Scale of the noise at the most probable node, in units of y; None for Gaussian noise."""
        return self.best.likelihood_scale

    def moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (m,) or (m, outputs)."""
        return self.mixed_moments([belief.moments(X) for belief in self.beliefs])

    def covariance(self, X: Inputs) -> np.ndarray:
        """Covariance (m, m) or (m, m, outputs)."""
        mean = self.moments(X)[0]

        def second(belief: RegressorBelief) -> np.ndarray:
            apart = belief.moments(X)[0] - mean
            return belief.covariance(X) + np.einsum("i...,j...->ij...", apart, apart)

        return self.average(second)

    def log_predictive(self, X: Inputs, y: np.ndarray) -> np.ndarray:
        """(m,) natural-log predictive densities of outcomes."""
        logs = np.stack([belief.log_predictive(X, y) for belief in self.beliefs])
        return np.logaddexp.reduce(logs + np.log(self.weights)[:, None], axis=0)


class IntegratedClassifier(IntegratedProcesses[ClassifierSettings, LabelledRows, ClassifierBelief]):
    """Labels: probabilities of the mixture."""

    _kind = ClassifierBelief

    @property
    def labels(self) -> np.ndarray | None:
        """The classes, where two or more are known."""
        return self.best.labels

    @property
    def _codes(self) -> np.ndarray:
        return self.data.codes

    def probabilities(self, X: Inputs) -> np.ndarray:
        """(m, c) predictive probabilities."""
        return np.minimum(self.average(lambda belief: belief.probabilities(X)), 1.0)

    def latent_moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (m,) of the function of two classes."""
        return self.mixed_moments([belief.latent_moments(X) for belief in self.beliefs])

    @property
    def nodes(self) -> list[tuple[float, ClassifierBelief]]:
        """Weighted beliefs."""
        return list(zip(self.weights.tolist(), self.beliefs, strict=True))

    @cached_property
    def variance_factor(self) -> VarianceFactor | None:
        """By how much variances of the function of two classes are too small, by labels without themselves."""
        return factor_of_labels(self.nodes)

    def latent_interval(self, X: Inputs, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends (m,) of the function of two classes, by the mixture."""
        return latent_interval(self.nodes, self.variance_factor, X, level)

    def winners(self, X: Inputs) -> np.ndarray:
        """(m,) codes of the most probable class."""
        if self.settings.multi_class == "one_vs_one":
            return self.best.winners(X)
        return np.argmax(self.probabilities(X), axis=1)
