"""Queries, and the form in which answers are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.checks import short
from adaptive.loop.log.plain_data import is_plain
from adaptive.loop.shown import query_html, query_text

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Outcomes

__all__ = ["Query", "as_outcomes", "as_positions"]

# What one array may mix: numbers, text, bytes, dates. [1, "a"] stays a list rather than becoming ["1", "a"].
_KINDS: tuple[Any, ...] = ((bool, int, float, complex, np.number, np.bool_), str, bytes, np.datetime64, np.timedelta64)
_SCALARS = (bool, int, float, complex, str, bytes, np.generic)


@dataclass(frozen=True, eq=False, repr=False)
class Query:
    """A question to the world: measure these candidates.

    Attributes
    ----------
    positions : (n,) array of int
        Where the candidates stand in the pool (of a callable pool: in the pool as it was when the query was made).
    labels : list of length n
        Index labels of a frame, else what the pool calls its entries, else the positions.
    candidates : pool of length n
        The candidates themselves, a pool of the same kind.
    scores : (n,) array of float
        Their scores when they were chosen; NaN where the design did not choose (initial queries).
    id : int
        The number of the query in its design, counted from 0.
    worker : str, int or None
        Who was asked, if somebody in particular.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> query = SequentialDesign(GaussianProcessRegressor(), [[0.0], [1.0]], initial=[1]).ask()
    >>> query.positions, query.id
    (array([1]), 0)
    """

    positions: np.ndarray
    labels: list[Any]
    candidates: Any
    scores: np.ndarray
    id: int
    worker: str | int | None = None

    def __repr__(self) -> str:
        return query_text(self)

    def _repr_html_(self) -> str:
        return query_html(self)

    def __len__(self) -> int:
        return len(self.positions)

    def part(self, rows: np.ndarray) -> Query:
        """Return these entries (numbers from 0) of the query; they may be answered on their own."""
        labels = [self.labels[row] for row in rows]
        return replace(
            self,
            positions=self.positions[rows],
            labels=labels,
            candidates=pools.take(self.candidates, rows),
            scores=self.scores[rows],
        )


def as_outcomes(outcomes: Outcomes, n: int) -> np.ndarray | list[Any]:
    """Return ``n`` outcomes: an array of their dtype where all are scalars of one kind, else a list, one entry each.

    Parameters
    ----------
    outcomes : sequence of length n, or a scalar if n is 1

    Raises
    ------
    ValueError
        If there are not ``n`` outcomes.

    Examples
    --------
    >>> as_outcomes(["yes", "no"], 2)
    array(['yes', 'no'], dtype='<U3')
    >>> as_outcomes([1, None], 2)
    [1, None]
    """
    if outcomes is None:
        raise ValueError(
            f"outcomes must hold one entry for each of the {n} candidates asked, got None; was a return forgotten? An "
            "answer that is None is told as [None]."
        )
    given: Any = [outcomes] if isinstance(outcomes, _SCALARS) else outcomes
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    if isinstance(given, np.ndarray):
        given = np.atleast_1d(given)
        if given.dtype == object or given.ndim > 1:
            given = list(given)
    elif not isinstance(given, (list, tuple)):
        given = list(given)
    if len(given) != n:
        raise ValueError(f"outcomes must hold one entry for each of the {n} candidates asked, got {len(given)}.")
    if isinstance(given, np.ndarray):
        return given
    for kind in _KINDS:
        if all(isinstance(outcome, kind) for outcome in given):
            array = np.asarray(given)
            return list(given) if array.dtype == object else array
    for outcome in given:
        if not is_plain(outcome):  # a log holds nothing else
            raise ValueError(
                "outcomes must be plain data (numbers, text, None, arrays, lists, tuples of them), got "
                f"{type(outcome).__name__} {short(outcome)}."
            )
    return list(given)


def as_positions(query: Query | ArrayLike) -> np.ndarray:
    """Return positions as a person gives them, one or more."""
    positions = np.atleast_1d(np.asarray(query))
    if positions.ndim != 1 or positions.dtype.kind not in "iu" or len(positions) == 0:
        raise ValueError(f"query must be a Query or positions (integers), got {type(query).__name__} {query!r}.")
    return positions
