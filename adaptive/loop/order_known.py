"""A stopping rule for rankings: the order of the best is known with a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adaptive import checks
from adaptive.loop.stopping import StoppingRule

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["OrderKnown"]


class OrderKnown(StoppingRule):
    """Stop when one order of the best has at least this probability.

    Parameters
    ----------
    probability : float, default 0.9
        For estimators with ``order``, such as :class:`~adaptive.BradleyTerry`.
    best : int or str, optional
        How many are to be in order, as ``order`` takes it; "top-3": who the best three are, in any order. Default: the
        design's target; of all where it has none.

    Raises
    ------
    ValueError
        If ``probability`` is not between 0 and 1.

    Notes
    -----
    Whether the statement is true as often as it says: ``ours-rank-sure``.

    Examples
    --------
    >>> from adaptive import BradleyTerry, SequentialDesign
    >>> from adaptive.loop import MaxSteps
    >>> pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    >>> design = SequentialDesign(
    ...     BradleyTerry(range(3)), pairs, lambda query: [1 if query.labels[0][0] < query.labels[0][1] else -1],
    ...     target="best", repeat=True, stop=OrderKnown(0.9) | MaxSteps(50), random_state=0,
    ... )
    >>> design.run().estimator_.order("best")[0].tolist(), design.iteration < 50
    ([0], True)
    """

    def __init__(self, probability: float = 0.9, best: int | str | None = None) -> None:
        checks.share("probability", probability)
        self.probability, self.best = float(probability), best

    def __repr__(self) -> str:
        return f"OrderKnown({self.probability:g}{'' if self.best is None else f', best={self.best!r}'})"

    def fraction_done(self, design: SequentialDesign) -> float:
        model: Any = design.estimator_
        if not hasattr(model, "order"):
            raise ValueError(f"OrderKnown needs order, which {type(model).__name__} does not have.")
        if not hasattr(model, "belief_"):
            return 0.0
        best = self.best if self.best is not None else design.target
        known = float(model.order("order" if best is None else best)[1])
        return 1.0 if known >= self.probability else min(known / self.probability, 1.0 - 1e-9)
