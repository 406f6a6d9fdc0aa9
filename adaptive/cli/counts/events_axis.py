"""An axis of events: numbers as they stand, or dates, which are computed with as days since the first event.

inside: 0.0, 17.083, ...      outside: 2023-01-01 01:32, 2023-01-18 03:32, ...

What a person types (--window) and reads (files, pictures, sentences) has dates where the table has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.tables.values import dates_of

if TYPE_CHECKING:
    from adaptive.tables import Cells

__all__ = ["Axis", "axis_of"]

BINS_OF_TIME, BINS_OF_AN_AXIS = 100, 16
MONTH = 365.25 / 12.0
UNITS = {"second": 1 / 86400.0, "minute": 1 / 1440.0, "hour": 1 / 24.0, "day": 1.0, "month": MONTH, "year": 365.25}
FEW_DAYS = 3.0  # bins of dates that are narrower have the time of day beside their date


@dataclass(frozen=True)
class Axis:
    """Values (n,) of events along one column, and from where to where events were looked for.

    Attributes
    ----------
    name : str
    values : (n,) array
        Numbers, or days since ``start``.
    start : str
        The first date, "" where the column holds numbers.
    low, high : float
    told : bool
        True where --window gave the range.
    """

    name: str
    values: np.ndarray
    start: str
    low: float
    high: float
    told: bool

    @property
    def whole(self) -> bool:
        """True where all events stand at whole days, or at whole numbers."""
        shift = 0.0
        if self.start:
            import pandas as pd

            first = pd.Timestamp(self.start)
            shift = (first - first.normalize()) / pd.Timedelta(days=1)
        return bool(np.all((self.values + shift) % 1.0 == 0.0))

    def n_bins(self, asked: int, usual: int) -> int:
        """Return the number of bins: where events stand at whole days, each bin has as many of these as the next."""
        if asked or not self.whole:
            return asked or usual
        span = max(1.0, self.high - self.low)
        return max(1, int(span // math.ceil(span / usual)))

    def shown(self, value: float, width: float) -> str:
        """Return a place in words, of bins of this width; a date is a date again."""
        if not self.start:
            digits = max(4, math.ceil(math.log10(max(abs(value), 1e-300) / width)) + 1) if value else 4
            return f"{value:.{digits}g}"
        moment = self.moments(np.array([value]))[0]
        return f"{moment:%Y-%m-%d}" if width >= FEW_DAYS else f"{moment:%Y-%m-%d %H:%M}"

    def span(self, low: float, high: float, width: float) -> str:
        """Return a range in words."""
        if self.start and all(moment == moment.normalize() for moment in self.moments(np.array([low, high]))):
            width = FEW_DAYS
        return f"{self.shown(low, width)} to {self.shown(high, width)}"

    def moments(self, values: np.ndarray) -> Any:
        """Return dates of days since ``start``, as pandas has them, without their zone."""
        import pandas as pd

        first = pd.Timestamp(self.start)
        return (first + pd.to_timedelta(values, unit="D")).tz_localize(None).round("ms")

    def drawn(self, values: np.ndarray) -> np.ndarray:
        """Return what a picture has along this axis."""
        return np.asarray(self.moments(values).to_numpy()) if self.start else values

    def written(self, values: np.ndarray) -> list[Any]:
        """Return what a file has in this column."""
        if not self.start:
            return [float(f"{value:.12g}") for value in values]
        fine = self.high - self.low < 1.0
        form, least = ("%Y-%m-%d %H:%M:%S", "s") if fine else ("%Y-%m-%d %H:%M", "min")
        return list(self.moments(values).round(least).strftime(form))

    def width_in_words(self, width: float) -> str:
        """Return the width of a bin with its unit."""
        if not self.start:
            return f"{width:.3g}"
        unit = next((name for name in ("day", "hour", "minute") if width >= UNITS[name]), "second")
        size = f"{width / UNITS[unit]:.3g}"
        return f"{size} {unit}{'' if size == '1' else 's'}"

    def unit(self, n_events: int) -> tuple[float, str]:
        """Return a size, and its name: of dates the least unit in which there is an event, of numbers 1."""
        if not self.start:
            return 1.0, f"unit of {self.name}"
        span = self.high - self.low
        fitting = [name for name, size in UNITS.items() if size <= span] or ["second"]
        name = next((name for name in fitting if n_events * UNITS[name] >= span), fitting[-1])
        return UNITS[name], name


def axis_of(cells: Cells, name: str, window: str | None) -> Axis:
    """Read a column of events, and the range in which they were looked for."""
    values, start = cells.times(name)
    if window is not None:
        low, high = _dates(window, cells, name, start) if start else _numbers(window, name)
        found = Axis(name, values, start, low, high, True)
        if found.whole and values.max() == high:  # the last day is looked at to its end
            found = Axis(name, values, start, low, high + 1.0, True)
        if values.min() < low or values.max() > high:
            width = 0.0 if start else high - low  # dates have their time here
            raise CommandError(
                f"--window of {name!r} is {found.span(low, high, width)}, but events go from "
                f"{found.span(float(values.min()), float(values.max()), width)}."
            )
        return found
    found = Axis(name, values, start, float(values.min()), float(values.max()), False)
    high = found.high + 1.0 if found.whole else found.high
    if not found.low < high:
        raise CommandError(f"all events of {name!r} are at one place: say where they were looked for, by --window.")
    return Axis(name, values, start, found.low, high, False)


def _numbers(text: str, name: str) -> tuple[float, float]:
    try:
        pair = tuple(map(float, text.split(":")))
    except ValueError:
        raise CommandError(f"--window of {name!r} must be like 0:100, got {text}.") from None
    return _checked(pair, text, name)


def _dates(text: str, cells: Cells, name: str, start: str) -> tuple[float, float]:
    """Return the days since ``start`` of two dates, written as those of the table or as 2023-01-31."""
    import pandas as pd

    known = dates_of(cells.frame[name])
    assert known is not None
    forms = list(dict.fromkeys((known[0], known[0].split()[0], "ISO8601")))
    for k in (k for k, sign in enumerate(text) if sign == ":"):  # a time of day has colons, too
        found = [dates_of(pd.Series([one.strip()]), forms) for one in (text[:k], text[k + 1 :])]
        if None not in found:
            days = [(one[1][0] - pd.Timestamp(start)) / pd.Timedelta(days=1) for one in found if one is not None]
            return _checked(tuple(days), text, name)
    raise CommandError(f"{name!r} holds dates, so --window must be like 2023-01-01:2025-01-01, got {text}.")


def _checked(pair: tuple[float, ...], text: str, name: str) -> tuple[float, float]:
    if len(pair) != 2 or not pair[0] < pair[1]:
        raise CommandError(f"--window of {name!r} must be a range START:END with START < END, got {text}.")
    return pair[0], pair[1]
