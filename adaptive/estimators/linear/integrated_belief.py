"""What is believed where the prior scale is not known: a weighted mixture of beliefs, each at its own scale.

    u = ln(scale x typical length of the training rows) ~ N(ln 2, 1.5^2),    nodes u_k = ln 2 + .75 k,  k = -4 .. 4
    w_k = Z_k p(u_k), normalised; those below 1e-3 are dropped

The scale of the highest evidence, on rows that a design chose for being extreme, is several times too large, and
intervals at that scale are too short: averaged over the nodes they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import CubicSpline

from adaptive.estimators.belief import Inferred
from adaptive.estimators.linear.binary_belief import BinaryBelief
from adaptive.estimators.linear.fitted_together import compiles, fitted_together
from adaptive.estimators.linear.pool_marginals import KeptRows, NodeMarginals
from adaptive.estimators.linear.settings import LogisticSettings
from adaptive.estimators.linear.softmax_belief import SoftmaxBelief
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, cavities, left_out, mixed, variance_factor
from adaptive.estimators.rows.training import LabelledRows
from adaptive.inference.mixture_posterior import MixturePosterior
from adaptive.predictive import Mixture, Predictive, SoftmaxProjections

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.types import Matrix, Pool, RandomState

__all__ = ["IntegratedBelief"]

CENTRE, DEVIATION = float(np.log(2.0)), 1.5  # of u, a priori
STEP = 0.75
NODES = range(-4, 5)
NEGLIGIBLE = 1e-3  # weight below which a node is dropped
ROUGHLY = 20.0  # tolerance of the inference at a node, over that of a posterior that stands alone: 2e-3
_KINDS: dict[str, Any] = {"binary": BinaryBelief, "softmax": SoftmaxBelief}


@dataclass(frozen=True, eq=False)
class IntegratedBelief(Inferred):
    """Beliefs of one kind at nodes of the prior scale, and how probable each is.

    Attributes
    ----------
    settings : LogisticSettings
    data : LabelledRows
    nodes : tuple of int
        Numbers k of the nodes that are kept, ascending.
    beliefs : tuple of BinaryBelief or SoftmaxBelief
        Theirs, each with its own ``prior_scale``.
    weights : (k,) array, adding up to 1
    evidence : float
        ln sum_k Z_k p(u_k) .75
    scale_rows : int
        With how many rows all nodes were fitted last.
    """

    settings: LogisticSettings
    data: LabelledRows
    nodes: tuple[int, ...]
    beliefs: tuple[Any, ...]
    weights: np.ndarray
    evidence: float
    scale_rows: int

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: LogisticSettings, data: LabelledRows, earlier: Any = None) -> IntegratedBelief:
        """Fit at the nodes, warm; of an ``earlier`` belief those it kept and their neighbours, until rows have doubled.

        With ``update="inclusion"`` rows that are new are included at the nodes that are kept.
        """
        warm = isinstance(earlier, IntegratedBelief) and earlier.data.n_classes == data.n_classes
        known = dict(zip(earlier.nodes, earlier.beliefs, strict=True)) if warm else {}
        doubled = not warm or len(data) >= 2 * earlier.scale_rows
        kind = BinaryBelief if data.n_classes <= 2 else SoftmaxBelief
        included = warm and settings.includes(data, len(data) - len(earlier.data))
        if kind is SoftmaxBelief:
            included = included and all(belief.may_include(settings, data) for belief in known.values())
        if included and not doubled:
            beliefs = dict(zip(known, kind.all_including(list(known.values()), settings, data), strict=True))
        else:
            fitted = NODES if doubled else sorted({n for k in known for n in (k - 1, k, k + 1) if n in NODES})
            beliefs = _fitted(kind, settings, data, fitted, known)
        return cls._weighted(settings, data, beliefs, len(data) if doubled else earlier.scale_rows)

    @classmethod
    def _weighted(
        cls, settings: LogisticSettings, data: LabelledRows, beliefs: dict[int, Any], scale_rows: int
    ) -> IntegratedBelief:
        nodes = np.array(sorted(beliefs))
        logs, level = _log_evidences(beliefs)
        logs = logs - 0.5 * np.square(STEP * nodes / DEVIATION)
        total = float(np.logaddexp.reduce(logs))
        weights = np.exp(logs - total)
        kept = weights >= NEGLIGIBLE
        weights = weights[kept] / weights[kept].sum()
        left = tuple(nodes[kept].tolist())
        evidence = level + total + float(np.log(STEP / (np.sqrt(2 * np.pi) * DEVIATION)))
        return cls(settings, data, left, tuple(beliefs[k] for k in left), weights, evidence, scale_rows)

    # -- what the mixture says of its inference ------------------------------------------------------------------------

    @property
    def log_evidence(self) -> float:
        """Of all nodes."""
        return self.evidence

    @property
    def posteriors(self) -> Sequence[Posterior]:
        """Those of the nodes."""
        return [belief.posterior for belief in self.beliefs]

    @cached_property
    def posterior(self) -> MixturePosterior:  # type: ignore[override]
        """All of them, weighted."""
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
        """The predictive of the prior; a scale that is to be learnt counts as 1."""
        several = settings.classes is not None and len(np.unique(settings.classes)) > 2
        kind = SoftmaxBelief if several else BinaryBelief
        return kind.prior_predictive(settings, rows, target=target, random_state=random_state)

    def predictive(
        self, rows: Matrix | KeptRows, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The mixture of what the nodes believe about rows; a lone node's own."""
        first = self.beliefs[0]
        shared = {"family": first.labelled_family} if isinstance(first, BinaryBelief) else {}
        parts = [
            belief.predictive(
                rows.of_node(k) if isinstance(rows, KeptRows) else rows,
                target=target,
                random_state=random_state + k if isinstance(random_state, int) else random_state,  # draws of its own
                **shared,
            )
            for k, belief in enumerate(self.beliefs)
        ]
        if len(parts) == 1:
            return parts[0]
        for weight, part in zip(self.weights, parts, strict=True):
            if isinstance(part, SoftmaxProjections):
                part.share = float(weight)
        return Mixture(self.weights, parts, random_state=random_state)

    def marginals(self, pool: Pool, table: Callable[[], Matrix], keep: bool = True) -> NodeMarginals:
        """Marginals of a pool at every node."""
        return NodeMarginals([belief.marginals(pool, table, keep) for belief in self.beliefs])

    def probabilities(self, rows: Matrix) -> np.ndarray:
        """(m, n_classes) predictive probabilities, of two classes with the latents' variances times ``gamma``."""
        tables = [belief.probabilities(rows, self.gamma) for belief in self.beliefs]
        return np.minimum(np.einsum("k,kmc->mc", self.weights, np.stack(tables)), 1.0)  # weights add up to 1 + 1e-16

    def winners(self, rows: Matrix) -> np.ndarray:
        """(m,) codes of the most probable class."""
        return np.argmax(self.probabilities(rows), axis=1)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of weights and intercepts."""
        weights, intercepts = zip(*(belief.coefficients() for belief in self.beliefs), strict=True)
        return tuple(np.tensordot(self.weights, np.stack(part), axes=1) for part in (weights, intercepts))  # type: ignore[return-value]

    # -- what it would have said of its own rows -----------------------------------------------------------------------

    @cached_property
    def gamma(self) -> float:
        """The factor on latents' variances that suits the predictions left out; 1 where there are none."""
        if self.settings.calibration is None or not self._has_cavities:
            return 1.0
        return variance_factor(self.weights, self._cavities, self.beliefs[0].family, self.data)

    @cached_property
    def left_out(self) -> LeaveOneOut | None:  # type: ignore[override]
        """Predictions of the training rows without themselves; None where there are no cavities."""
        if isinstance(self.beliefs[0], SoftmaxBelief):
            return mixed(self.weights, [belief.left_out for belief in self.beliefs], self.data.codes)
        if not self._has_cavities:
            return None
        return left_out(self.weights, self._cavities, self.beliefs[0].family, self.data.codes)

    @property
    def _has_cavities(self) -> bool:
        return isinstance(self.beliefs[0], BinaryBelief) and self.beliefs[0].has_cavities

    @cached_property
    def _cavities(self) -> list[tuple[np.ndarray, np.ndarray]]:
        features = self.data.features(bool(self.settings.fit_intercept))
        return [cavities(posterior, features, self.data.weights) for posterior in self.posteriors]

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "nodes": list(self.nodes),
            "kind": "softmax" if isinstance(self.beliefs[0], SoftmaxBelief) else "binary",
            "beliefs": [belief.state() for belief in self.beliefs],
            "weights": self.weights,
            "log_evidence": self.log_evidence,
            "scale_rows": self.scale_rows,
        }

    @classmethod
    def from_state(cls, settings: LogisticSettings, data: LabelledRows, state: dict[str, Any]) -> IntegratedBelief:
        """The belief that ``state`` described."""
        kind = _KINDS[state["kind"]]
        beliefs = tuple(
            kind.from_state(replace(settings, prior_scale=float(one["prior_scale"])), data, one)
            for one in state["beliefs"]
        )
        return cls(
            settings,
            data,
            tuple(int(k) for k in state["nodes"]),
            beliefs,
            np.asarray(state["weights"], dtype=float),
            float(state["log_evidence"]),
            int(state["scale_rows"]),
        )


def _fitted(
    kind: Any, settings: LogisticSettings, data: LabelledRows, nodes: Sequence[int], known: dict[int, Any]
) -> dict[int, Any]:
    """Beliefs at the nodes, each warm from its own earlier one, else from its nearest neighbour's; failures left out.

    A node may fail where its scale is so large that nothing but the prior keeps the posterior proper.
    """
    problem: Exception | None = None
    typical = data.typical_length
    at_nodes = {
        k: replace(
            settings,
            prior_scale=float(np.exp(CENTRE + STEP * k)) / typical,
            tol=ROUGHLY * settings.tol,
            update="refit",
        )
        for k in nodes
    }
    found: dict[int, Any] = {}
    if kind is BinaryBelief and compiles(settings, data):
        starts = {k: _nearest(known, k) for k in nodes} if known else {}
        found = {k: one for k, one in fitted_together(at_nodes, data, starts).items() if one is not None}
    for k, at_node in at_nodes.items():
        if k in found:
            continue
        near = {**known, **found}
        start = _nearest(near, k) if near else None
        try:
            found[k] = kind.learnt(at_node, data, start)
        except (np.linalg.LinAlgError, FloatingPointError, ValueError) as refusal:
            problem = problem or refusal
    if not found:
        assert problem is not None
        raise problem
    return found


def _log_evidences(beliefs: dict[int, Any]) -> tuple[np.ndarray, float]:
    """Those of the nodes, ascending, -inf where there is none, and what is to be added to all of them.

    That is 0, or nan where the inference tells slopes only and their integral from the lowest node stands in.
    """
    nodes = sorted(beliefs)
    logs, level = np.array([beliefs[k].scale_evidence for k in nodes]), 0.0
    if not np.isfinite(logs).any() and len(nodes) > 1 and all(hasattr(one, "scale_slope") for one in beliefs.values()):
        with suppress(ValueError):  # point estimates have no slopes either
            slopes = CubicSpline(STEP * np.array(nodes), [beliefs[k].scale_slope() for k in nodes])
            logs, level = slopes.antiderivative()(slopes.x), np.nan
    if not np.isfinite(logs).any():
        raise ValueError(
            'hyperparameters="integrated" weighs prior scales by their log evidence, and the inference gave none '
            'that is finite; give prior_scale, or hyperparameters="mode".'
        )
    return np.where(np.isfinite(logs), logs, -np.inf), level


def _nearest(beliefs: dict[int, Any], k: int) -> Any:
    """The belief at the node nearest to k."""
    return beliefs[min(beliefs, key=lambda other: abs(other - k))]
