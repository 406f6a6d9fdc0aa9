"""Features of a pool on one scale, read a part at a time: each column less its mean, by its standard deviation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as plain
from designs.lazy_pool import LazyPool

if TYPE_CHECKING:
    from adaptive.types import Pool

__all__ = ["Standardised"]

AT_ONCE = 65_536  # rows


class Standardised(LazyPool):
    """The rows of a pool of numbers, standardised by all of them; what is missing (NaN) is the mean, 0.

    The pool is read once, a part at a time, when this is made.

    Parameters
    ----------
    pool : pool of m rows of numbers
        Such as what `stored` returns.
    max_missing : float in [0, 1], default 1.0
        Columns of which a larger share is missing are left out, as are those with one value only.

    Attributes
    ----------
    kept : (d,) array of int
        Columns that are features.
    centre, scale : (d,) arrays
        Their means and standard deviations.
    missing : (d,) array
        The shares of them that are missing.

    Raises
    ------
    ValueError
        If no column is left, or a number is infinite; the part is named.

    Examples
    --------
    >>> pool = Standardised(np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0]]))
    >>> pool.kept, pool.take([0, 2])
    (array([0]), array([[-1.],
           [ 0.]]))
    """

    def __init__(self, pool: Pool, max_missing: float = 1.0) -> None:
        self.pool = pool
        self._length = plain.length(pool)
        count, mean, squares = 0.0, 0.0, 0.0
        for start in range(0, self._length, AT_ONCE):
            rows = np.asarray(plain.read(pool, start, min(start + AT_ONCE, self._length)), dtype=float)
            if np.isinf(rows).any():
                raise ValueError(f"rows {start} to {start + len(rows) - 1} hold a number that is infinite.")
            here = ~np.isnan(rows)
            n = here.sum(axis=0)
            mean_here = np.where(here, rows, 0.0).sum(axis=0) / np.maximum(n, 1)
            apart = np.where(here, rows - mean_here, 0.0)
            total = count + n  # moments of parts, put together without a difference of large numbers
            step = mean_here - mean
            mean = mean + step * n / np.maximum(total, 1)
            squares = squares + np.square(apart).sum(axis=0) + np.square(step) * count * n / np.maximum(total, 1)
            count = total
        deviation = np.sqrt(squares / np.maximum(count, 1))
        missing = 1.0 - count / max(self._length, 1)
        kept = (deviation > 1e-12 * (np.abs(mean) + deviation)) & (missing <= max_missing)
        self.kept = np.flatnonzero(kept)
        if not len(self.kept):
            raise ValueError("no column is left: each has one value only, or is missing in too many rows.")
        self.centre, self.scale, self.missing = np.asarray(mean)[kept], deviation[kept], np.asarray(missing)[kept]

    @property
    def stored(self) -> bool:
        """True where the pool lies in a file."""
        return plain.is_stored(self.pool)

    @property
    def by_path(self) -> bool:
        """True where it is sent to other processes as a path."""
        return bool(getattr(self.pool, "by_path", False))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._length, len(self.kept)

    def read(self, start: int, stop: int) -> np.ndarray:
        """The rows from ``start`` to ``stop - 1``."""
        return self._standardised(plain.read(self.pool, start, min(stop, self._length)))

    def part_fingerprints(self) -> dict[str, str] | None:
        """Fingerprints of the parts of the pool, where it has any."""
        return plain.part_fingerprints(self.pool)

    def _entries(self, positions: np.ndarray) -> np.ndarray:
        return self._standardised(plain.take(self.pool, positions))

    def _standardised(self, rows: Any) -> np.ndarray:
        table = np.asarray(rows)
        kind = table.dtype if table.dtype.kind == "f" else np.dtype(float)
        found = (table[:, self.kept] - self.centre) / self.scale
        return np.nan_to_num(found, nan=0.0, posinf=np.inf, neginf=-np.inf).astype(kind, copy=False)

    def _parts(self) -> list[Any]:
        return [self.pool, self.kept, self.centre, self.scale]
