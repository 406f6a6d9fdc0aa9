"""Beliefs integrated over hyper-parameters theta: a weighted mixture of beliefs, one at each node.

    w_k = Z(theta_k) p(theta_k) volume_k,  normalised;  those below 1e-3 do not count

Where the nodes lie, and how a belief is fitted at one, is the family's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from adaptive.estimators.belief import Inferred
from adaptive.predictive import Mixture, Predictive

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.types import RandomState

__all__ = ["NEGLIGIBLE", "Nodes", "beliefs_at", "finite_evidences", "weights_of"]

NEGLIGIBLE = 1e-3  # weight below which a node does not count

S = TypeVar("S")  # settings
D = TypeVar("D")  # data
B = TypeVar("B", bound=Any)  # beliefs at the nodes


@dataclass(frozen=True, eq=False)
class Nodes(Inferred, Generic[S, D, B]):
    """Beliefs of one kind at the nodes that count, and how probable each is.

    Attributes
    ----------
    settings, data : as of any belief
    beliefs : sequence of k beliefs
    weights : (k,) array, adding up to 1
    total : float
        ln sum Z(theta) p(theta) volume, over all nodes.
    learnt_rows : int
        How many rows there were when the nodes were placed, or all of them fitted, last.
    """

    settings: S
    data: D
    beliefs: Sequence[B]
    weights: np.ndarray
    total: float
    learnt_rows: int

    @property
    def best(self) -> B:
        """The belief at the node of the largest weight."""
        return self.beliefs[int(np.argmax(self.weights))]

    @property
    def log_evidence(self) -> float:
        """Log evidence of all nodes."""
        return self.total

    @property
    def posteriors(self) -> list[Posterior]:
        """The posteriors of all nodes that count."""
        return [posterior for belief in self.beliefs for posterior in belief.posteriors]

    def average(self, function: Callable[[B], Any]) -> Any:
        """sum_k w_k function(belief k)."""
        return sum(weight * function(belief) for weight, belief in zip(self.weights, self.beliefs, strict=True))

    def mixture(self, parts: Sequence[Predictive], random_state: RandomState) -> Predictive:
        """The mixture of the nodes' predictives; a lone node's own."""
        return parts[0] if len(parts) == 1 else Mixture(self.weights, parts, random_state=random_state)


def beliefs_at(nodes: Iterable[int], fit: Callable[[int, dict[int, B]], B]) -> dict[int, B]:
    """Return the belief at each node, in order; nodes at which there is none are left out, unless it is all of them.

    Parameters
    ----------
    nodes : numbers of nodes
    fit : callable (node, those found so far) -> belief
        A node may fail where, say, its scale is so large that nothing but the prior keeps the posterior proper.

    Examples
    --------
    >>> beliefs_at([1, 2, 3], lambda k, found: 1.0 if k > 1 else int("no number"))
    {2: 1.0, 3: 1.0}
    """
    found: dict[int, B] = {}
    problem: Exception | None = None
    for k in nodes:
        try:
            found[k] = fit(k, found)
        except (np.linalg.LinAlgError, FloatingPointError, ValueError) as refusal:
            problem = problem or refusal
    if not found and problem is not None:
        raise problem
    return found


def weights_of(logs: np.ndarray) -> tuple[np.ndarray, float]:
    """Return weights (k,) that add up to 1 from their logarithms, which need not be normalised, and ln of their sum.

    Examples
    --------
    >>> weights_of(np.log([2.0, 6.0]))
    (array([0.25, 0.75]), 2.07...)
    """
    total = float(np.logaddexp.reduce(logs))
    return np.exp(logs - total), total


def finite_evidences(logs: np.ndarray, weighed: str, cure: str) -> np.ndarray:
    """Return log evidences (k,), -inf where there is none; refuse an inference that gave none at all."""
    if not np.isfinite(logs).any():
        raise ValueError(
            f'hyperparameters="integrated" weighs {weighed} by their log evidence, and the inference gave none that '
            f"is finite; {cure}."
        )
    return np.where(np.isfinite(logs), logs, -np.inf)
