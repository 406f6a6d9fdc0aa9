"""A design from a path, new or gone on with, and labels that exist already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import short
from adaptive.loop.log.event_log import EventLog
from adaptive.loop.query import as_outcomes, as_positions

if TYPE_CHECKING:
    import os

    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike, Outcomes

__all__ = ["learn_known", "opened"]


def opened(
    design: type[SequentialDesign],
    log: str | os.PathLike[str] | EventLog,
    *given: Any,
    known: tuple[ArrayLike, Outcomes] | None = None,
    **options: Any,
) -> SequentialDesign:
    """Return the design of this log, begun here if there is none; see `SequentialDesign.open`.

    Parameters
    ----------
    design : class
    log : path or EventLog
    *given
        Estimator, candidates and measure.
    known : (positions, outcomes), optional
    **options
        Further arguments of the design.
    """
    kept = log if isinstance(log, EventLog) else EventLog(log)
    if not kept.storage.shared:
        raise ValueError("log must be a path, or an EventLog over a storage that lasts, got one in memory.")
    begun = bool(kept.storage.read()) if kept.path is None else kept.path.exists()
    if begun:
        if options.get("random_state", 0) is None:  # as good as not given: the log has the seed
            del options["random_state"]
        made = design.load(kept, *given, **options)
    else:
        made = design(*given, log=kept, **options)
    if known is not None:
        try:
            learn_known(made, known)
        except BaseException:
            made.close()
            raise
    return made


def learn_known(design: SequentialDesign, known: tuple[ArrayLike, Outcomes]) -> None:
    """Tell a design labels that exist, those that it was told before left out.

    Parameters
    ----------
    design : SequentialDesign
    known : (positions, outcomes)

    Raises
    ------
    ValueError
        If ``known`` is no such pair, or an answer in the log is another one: then nothing is told.
    """
    if not isinstance(known, (tuple, list)) or len(known) != 2:
        raise ValueError(f"known must be a pair (positions, outcomes), got {type(known).__name__} {short(known)}.")
    if design.changing_pool:
        raise ValueError("known must be left out with a callable pool, where positions change.")
    if np.size(known[0]) == 0:
        return
    positions = as_positions(known[0])
    outcomes = as_outcomes(known[1], len(positions))
    if len(np.unique(positions)) < len(positions):
        raise ValueError("known must hold every position once.")
    history = design.history_
    told: dict[int, list[Any]] = {}
    for position, outcome in zip(history["position"], history["outcome"], strict=True):
        told.setdefault(position, []).append(outcome)
    for position, outcome in zip(positions.tolist(), outcomes, strict=True):
        if position in told and not any(_same(one, outcome) for one in told[position]):
            raise ValueError(
                f"known has {short(_plain(outcome))} for position {position}, and the log "
                f"{short(_plain(told[position][-1]))}: take that back first (retract), or leave the position out."
            )
    asked = {int(place) for query in design.unanswered for place in query.positions}
    new = [row for row, position in enumerate(positions.tolist()) if position not in told]
    for row in (row for row in new if positions[row] in asked):
        design.tell(positions[row], [outcomes[row]])
    rest = [row for row in new if positions[row] not in asked]
    if rest:
        design.tell(
            positions[rest], outcomes[rest] if isinstance(outcomes, np.ndarray) else [outcomes[k] for k in rest]
        )


def _same(one: Any, other: Any) -> bool:
    return np.asarray(one, dtype=object).tolist() == np.asarray(other, dtype=object).tolist()


def _plain(outcome: Any) -> Any:
    """An outcome as people write it, not as NumPy does."""
    return outcome.item() if isinstance(outcome, np.generic) else outcome
