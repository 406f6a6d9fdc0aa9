"""Belief where the prior scale is not known: a weighted mixture of beliefs, each at its own scale.

    u = ln(scale x typical length of the training rows) ~ N(ln 2, 1.5^2),    nodes u_k = ln 2 + .75 k,  k = -4 .. 4
    w_k = Z_k p(u_k), normalised; those below 1e-3 are dropped

The scale of the highest evidence, on rows that a design chose for being extreme, is several times too large, and
intervals at that scale are too short: averaged over the nodes they are not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import CubicSpline
from sklearn.exceptions import ConvergenceWarning

from adaptive import inference
from adaptive.estimators.linear.binary_belief import BinaryBelief, Problem
from adaptive.estimators.linear.node_moments import Moments, RowMoments
from adaptive.estimators.linear.pool_marginals import KeptPool, KeptRows, PoolMarginals
from adaptive.estimators.linear.settings import LogisticSettings
from adaptive.estimators.linear.softmax_belief import SoftmaxBelief
from adaptive.estimators.nodes import NEGLIGIBLE, Nodes, beliefs_at, finite_evidences, weights_of
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, cavities, latent_factor, left_out, mixed, of_two_classes
from adaptive.estimators.rows.training import LabelledRows
from adaptive.estimators.searches import due
from adaptive.inference.mixture_posterior import MixturePosterior
from adaptive.predictive import Predictive, SoftmaxProjections

if TYPE_CHECKING:
    from adaptive.predictive.envelope import Envelope
    from adaptive.types import Matrix, Pool, RandomState, State

__all__ = ["IntegratedBelief"]

CENTRE, DEVIATION = float(np.log(2.0)), 1.5  # of u, a priori
STEP = 0.75
NODES = range(-4, 5)
HOPELESS = 8.0  # nats behind the best node, at which one that has not settled is left out
ROUGHLY = 20.0  # tolerance of the inference at a node, over that of a posterior that stands alone: 2e-3
MOST_FEATURES = 64  # of the compiled loop; above, a factorisation by LAPACK is worth a call for every node
MOST_NUMBERS = 2**17  # of rows times features

Part = BinaryBelief | SoftmaxBelief
_KINDS: dict[str, type[Part]] = {"binary": BinaryBelief, "softmax": SoftmaxBelief}


@dataclass(frozen=True, eq=False)
class IntegratedBelief(Nodes[LogisticSettings, LabelledRows, Part]):
    """Beliefs of one kind at nodes of the prior scale, each with its own ``prior_scale``; `Nodes` says the rest.

    Attributes
    ----------
    nodes : tuple of int
        Numbers k of the nodes that are kept, ascending.
    """

    nodes: tuple[int, ...]
    _kept: KeptPool = field(default_factory=KeptPool, repr=False)

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: LogisticSettings, data: LabelledRows, earlier: object = None) -> IntegratedBelief:
        """Fit at the nodes, warm; of an ``earlier`` belief those it kept and their neighbours.

        All nodes are fitted again when there are a quarter more rows. With ``update="inclusion"`` rows that are new are
        included at the nodes that are kept.
        """
        before = earlier if isinstance(earlier, IntegratedBelief) else None
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            learnt = cls._learnt(settings, data, before)
        _say_again(said, all(getattr(posterior, "converged", True) for posterior in learnt.posteriors))
        return learnt

    @classmethod
    def _learnt(
        cls, settings: LogisticSettings, data: LabelledRows, before: IntegratedBelief | None
    ) -> IntegratedBelief:
        if before is None or before.data.n_classes != data.n_classes:
            return cls._weighted(settings, data, _fitted(settings, data, NODES, {}), len(data))
        known = dict(zip(before.nodes, before.beliefs, strict=True))
        again = due(len(data), before.learnt_rows, None, ())
        included = settings.includes(data, len(data) - len(before.data)) and all(
            belief.may_include(settings, data) for belief in known.values() if isinstance(belief, SoftmaxBelief)
        )
        if included and not again:
            kind: Any = type(before.beliefs[0])
            beliefs = dict(zip(known, kind.all_including(before.beliefs, settings, data), strict=True))
        else:
            nodes = NODES if again else sorted({n for k in known for n in (k - 1, k, k + 1) if n in NODES})
            beliefs = _fitted(settings, data, nodes, known)
        return cls._weighted(settings, data, beliefs, len(data) if again else before.learnt_rows, before._kept)

    @classmethod
    def _weighted(
        cls,
        settings: LogisticSettings,
        data: LabelledRows,
        beliefs: dict[int, Part],
        learnt_rows: int,
        kept_pool: KeptPool | None = None,
    ) -> IntegratedBelief:
        nodes = np.array(sorted(beliefs))
        logs, level = _log_evidences(beliefs)
        weights, total = weights_of(logs - 0.5 * np.square(STEP * nodes / DEVIATION))
        kept = weights >= NEGLIGIBLE
        weights = weights[kept] / weights[kept].sum()
        left = tuple(nodes[kept].tolist())
        evidence = level + total + float(np.log(STEP / (np.sqrt(2 * np.pi) * DEVIATION)))
        parts, kept_pool = tuple(beliefs[k] for k in left), kept_pool or KeptPool()
        return cls(settings, data, parts, weights, evidence, learnt_rows, left, kept_pool)

    # -- what the mixture says of its inference ------------------------------------------------------------------------

    @cached_property
    def posterior(self) -> MixturePosterior:
        """The posteriors of all nodes, weighted."""
        return MixturePosterior(self.weights, self.posteriors, self.log_evidence)

    @property
    def prior_scale(self) -> float:
        """The geometric mean of the nodes'."""
        return float(np.exp(self.weights @ np.log([belief.prior_scale for belief in self.beliefs])))

    # -- belief --------------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls, settings: LogisticSettings, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive of the prior; a scale that is to be fitted counts as 1."""
        several = settings.classes is not None and len(np.unique(settings.classes)) > 2
        kind = SoftmaxBelief if several else BinaryBelief
        return kind.prior_predictive(settings, rows, target=target, random_state=random_state)

    def predictive(
        self, rows: Matrix | KeptRows, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The mixture of what the nodes believe about rows; a lone node's own."""
        first = self.beliefs[0]
        shared: dict[str, Any] = {"family": first.labelled_family} if isinstance(first, BinaryBelief) else {}
        at_nodes: list[dict[str, Any]] = [{**shared, "rows": rows} for _ in self.beliefs]
        if isinstance(rows, KeptRows):
            at_nodes = [{**shared, "rows": rows.of_node(k)} for k in range(len(self.beliefs))]
        elif (moments := self._moments(rows)) is not None:
            together = RowMoments(moments, rows)
            for k, arguments in enumerate(at_nodes):
                arguments |= {"moments": together.of_node(k), "root": moments.roots[k]}
        parts = [
            belief.predictive(
                target=target,
                random_state=random_state + k if isinstance(random_state, int) else random_state,  # draws of its own
                **at_nodes[k],
            )
            for k, belief in enumerate(self.beliefs)
        ]
        for weight, part in zip(self.weights, parts, strict=True):
            if isinstance(part, SoftmaxProjections):
                part.share = float(weight)
        mixture = self.mixture(parts, random_state)
        if isinstance(first, BinaryBelief) and isinstance(rows, np.ndarray):
            mixture._envelope = partial(self._envelope, rows)
        return mixture

    def _envelope(self, rows: np.ndarray) -> Envelope | None:
        """Bounds on the moments of rows; None where there are none that cost less."""
        bounds = self._kept.bounds(self.posteriors, self.weights, bool(self.settings.fit_intercept))
        return None if bounds is None else bounds(rows)

    def marginals(self, pool: Pool, table: Callable[[], Matrix], keep: bool = True) -> PoolMarginals:
        """Marginals of a pool at every node, kept for the next call about the same pool."""
        holder = self._kept if keep else KeptPool()
        return holder.followed(pool, table, bool(self.settings.fit_intercept), self.posteriors)

    def _moments(self, rows: object) -> Moments | None:
        """Moments of rows at all nodes together; None where each node has a way of its own."""
        if not (isinstance(self.beliefs[0], BinaryBelief) and isinstance(rows, np.ndarray)):
            return None
        return self._kept.moments(self.posteriors, bool(self.settings.fit_intercept))

    def probabilities(self, rows: Matrix) -> np.ndarray:
        """(m, n_classes) predictive probabilities, with the latents' covariances times ``gamma``."""
        first, moments = self.beliefs[0], self._moments(rows)
        if isinstance(first, BinaryBelief) and moments is not None:
            at_nodes = zip(*moments(rows), strict=True)
            tables = [first.of_moments(mean, self.gamma * variance) for mean, variance in at_nodes]
        else:
            tables = [belief.probabilities(rows, self.gamma) for belief in self.beliefs]
        return np.minimum(np.einsum("k,kmc->mc", self.weights, np.stack(tables)), 1.0)  # weights add up to 1 + 1e-16

    def winners(self, rows: Matrix) -> np.ndarray:
        """(m,) codes of the most probable class."""
        return np.argmax(self.probabilities(rows), axis=1)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of weights and intercepts."""
        weights, intercepts = zip(*(belief.coefficients() for belief in self.beliefs), strict=True)
        return (
            np.tensordot(self.weights, np.stack(weights), axes=1),
            np.tensordot(self.weights, np.stack(intercepts), axes=1),
        )

    # -- what it would have said of its own rows -----------------------------------------------------------------------

    @cached_property
    def gamma(self) -> float:
        """The factor on latents' variances that suits the predictions left out; 1 where there are none."""
        first = self.beliefs[0]
        if self.settings.calibration is None or (isinstance(first, BinaryBelief) and not first.has_cavities):
            return 1.0
        if isinstance(first, BinaryBelief):
            said = of_two_classes(self.weights, self._cavities, first.family, self.data.evidence)
        else:
            said = self._said_of_classes
        return latent_factor(said, self.data.sample_weight)

    def _said_of_classes(self, gamma: float) -> np.ndarray:
        """(m,) probabilities of the training rows' labels without themselves, covariances of scores times gamma."""
        parts = [belief.left_out_at(gamma) for belief in self.beliefs if isinstance(belief, SoftmaxBelief)]
        return self.weights @ np.exp([part.log_score for part in parts])

    @cached_property
    def left_out(self) -> LeaveOneOut | None:
        """Predictions of the training rows without themselves; None where there are no cavities."""
        first = self.beliefs[0]
        if isinstance(first, BinaryBelief):
            return left_out(self.weights, self._cavities, first.family, self.data.codes) if first.has_cavities else None
        parts = [belief.left_out for belief in self.beliefs if isinstance(belief, SoftmaxBelief)]
        return mixed(self.weights, parts, self.data.codes)

    @cached_property
    def _cavities(self) -> list[tuple[np.ndarray, np.ndarray]]:
        features = self.data.features(bool(self.settings.fit_intercept))
        return [cavities(posterior, features, self.data.weights) for posterior in self.posteriors]

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "nodes": list(self.nodes),
            "kind": "softmax" if isinstance(self.beliefs[0], SoftmaxBelief) else "binary",
            "beliefs": [belief.state() for belief in self.beliefs],
            "weights": self.weights,
            "log_evidence": self.log_evidence,
            "scale_rows": self.learnt_rows,
        }

    @classmethod
    def from_state(cls, settings: LogisticSettings, data: LabelledRows, state: State) -> IntegratedBelief:
        """The belief that ``state`` described."""
        kind = _KINDS[state["kind"]]
        beliefs = tuple(
            kind.from_state(replace(settings, prior_scale=float(one["prior_scale"])), data, one)
            for one in state["beliefs"]
        )
        weights, nodes = np.asarray(state["weights"], dtype=float), tuple(int(k) for k in state["nodes"])
        return cls(settings, data, beliefs, weights, float(state["log_evidence"]), int(state["scale_rows"]), nodes)


def _fitted(
    settings: LogisticSettings, data: LabelledRows, nodes: Sequence[int], known: Mapping[int, Part]
) -> dict[int, Part]:
    """Beliefs at the nodes, each warm from its own earlier one, else from its nearest neighbour's."""
    typical, tol = data.typical_length, ROUGHLY * settings.tol
    at_nodes = {
        k: replace(settings, prior_scale=float(np.exp(CENTRE + STEP * k)) / typical, tol=tol, update="refit")
        for k in nodes
    }
    kind: type[Part] = BinaryBelief if data.n_classes <= 2 else SoftmaxBelief
    compiles = kind is BinaryBelief and _compiles(settings, data)
    together, hopeless = _fitted_together(at_nodes, data, known) if compiles else ({}, set())

    def fit(k: int, found: dict[int, Part]) -> Part:
        if k in hopeless:
            raise ValueError(f"node {k} does not count, and has not converged")  # left out
        return (
            together[k]
            if k in together
            else kind.learnt(at_nodes[k], data, _nearest({**known, **together, **found}, k))
        )

    return beliefs_at(nodes, fit)


def _say_again(said: Sequence[warnings.WarningMessage], converged: bool) -> None:
    """Warn of what was said at the nodes, once of a kind; where all that count have converged, not of the others."""
    for one in {str(one.message): one for one in said}.values():
        if not (converged and issubclass(one.category, ConvergenceWarning)):
            warnings.warn(one.message, one.category, stacklevel=4)


def _compiles(settings: LogisticSettings, data: LabelledRows) -> bool:
    """True where the compiled loop serves: EP of a logit with a Gaussian prior, on a dense table of moderate size."""
    plain = settings.prior == "gaussian" and settings.link == "logit"
    narrow = isinstance(data.X, np.ndarray) and data.X.shape[1] <= MOST_FEATURES and data.X.size <= MOST_NUMBERS
    return plain and narrow and settings.inference == "expectation_propagation"


def _fitted_together(
    settings: Mapping[int, LogisticSettings], data: LabelledRows, known: Mapping[int, Part]
) -> tuple[dict[int, Part], set[int]]:
    """Beliefs about two classes at several prior scales by one compiled loop; without those where it did not settle.

    ``known`` are beliefs about the first of these rows, to start from. Where labels are in doubt, large scales may
    settle slowly or not at all; the second part are nodes of which the last step says that they do not count.
    """
    from adaptive.estimators.linear.logit_nodes import logit_nodes  # compiles when it is first used

    first = next(iter(settings.values()))
    problem = Problem(first, data)
    m, n_features = data.X.shape
    pi, nu = np.zeros((2, len(settings), m))
    for at, k in enumerate(settings):
        if isinstance(start := _nearest(known, k), BinaryBelief):
            sites = start.posterior.sites
            pi[at, : len(sites[0])], nu[at, : len(sites[1])] = sites
    variances = np.stack([one.prior_variances(n_features) for one in settings.values()])
    found = logit_nodes(
        problem.features,
        problem.signs,
        variances,
        pi,
        nu,
        tol=first.tol,
        max_iter=first.max_iter,
        counts=data.weights,
        shares=None if data.said is None else data.evidence.min(axis=1),
    )
    beliefs: dict[int, Part] = {}
    for at, (k, one) in enumerate(settings.items()):
        if not found.converged[at]:
            continue
        scale, evidence = float(one.prior_scale or 1.0), float(found.log_evidence[at])
        described: State = {
            "pi": found.pi[at], "nu": found.nu[at], "group_lengths": [m], "log_evidence_std": 0.0,
            "log_evidence": evidence, "evidence_kind": "approximation", "objective_trace": [-evidence],
            "n_iter": int(found.n_iter[at]), "n_products": 0, "converged": True, "engine": "expectation_propagation",
        }  # fmt: skip
        posterior = inference.restored_posterior(problem.model(scale), described)
        beliefs[k] = BinaryBelief(one, data, posterior, scale, m)
    best = max((belief.log_evidence for belief in beliefs.values()), default=np.nan)
    behind = data.said is not None and bool(beliefs)
    hopeless = {
        k
        for at, k in enumerate(settings)
        if behind and not found.converged[at] and not found.log_evidence[at] > best - HOPELESS
    }
    return beliefs, hopeless


def _log_evidences(beliefs: dict[int, Part]) -> tuple[np.ndarray, float]:
    """Log evidences of the nodes, ascending, -inf where there is none, and what is to be added to all of them.

    That is 0, or nan where the inference tells slopes only and their integral from the lowest node stands in.
    """
    nodes = sorted(beliefs)
    logs, level = np.array([beliefs[k].scale_evidence for k in nodes]), 0.0
    binary = [belief for k in nodes if isinstance(belief := beliefs[k], BinaryBelief)]
    if not np.isfinite(logs).any() and len(binary) > 1:
        with suppress(ValueError):  # point estimates have no slopes either
            slopes = CubicSpline(STEP * np.array(nodes), [belief.scale_slope() for belief in binary])
            logs, level = slopes.antiderivative()(slopes.x), np.nan
    return finite_evidences(logs, "prior scales", 'give prior_scale, or hyperparameters="mode"'), level


def _nearest(beliefs: Mapping[int, Part], k: int) -> Part | None:
    """The belief at the node nearest to k."""
    return beliefs[min(beliefs, key=lambda other: abs(other - k))] if beliefs else None
