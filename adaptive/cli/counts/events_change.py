"""Has a rate risen?  The events of the last fifth of the time, n_1, beside those of the first, n_0.

    ratio of the rates | counts  ~  BetaPrime((n_1 + 1/2) / phi, (n_0 + 1/2) / phi)

It is the posterior by Jeffreys' prior of two rates. Whatever the rate did, counts of separate times are Poisson's about
its mean over each, so the interval covers (``ours-counts-risen``), and bins hardly matter; where counts scatter phi
times as much, one tells as much as 1/phi of it. Draws of the curve were tried: it leans to a constant rate, so by one
kernel it misses steady rises, and the whole band, which allows for that, is wider than this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import betaprime

if TYPE_CHECKING:
    from adaptive.cli.counts.events_axis import Axis

__all__ = ["Change", "change", "where_highest"]

SURE = 0.975


class Change(NamedTuple):
    """Change of a rate from the first fifth of the time to the last.

    Attributes
    ----------
    fifth : float
        How long it is: days, or in the unit of the column.
    first_events, last_events : int
    ratio, lower, upper : float
        Of the last rate to the first: the median, and the ends of a 90% interval.
    probability_risen : float
        That it is above 1.
    """

    fifth: float
    first_events: int
    last_events: int
    ratio: float
    lower: float
    upper: float
    probability_risen: float

    @property
    def is_sure(self) -> bool:
        """True where a 95% interval leaves 1 out."""
        return max(self.probability_risen, 1.0 - self.probability_risen) >= SURE

    @classmethod
    def of(cls, fifth: float, first: int, last: int, scatter: float = 1.0) -> Change:
        """Return it of two counts, whose variance is ``scatter`` times their mean.

        Examples
        --------
        >>> found = Change.of(30.0, 10, 30)
        >>> round(found.ratio, 2), round(found.lower, 2), round(found.upper, 2), round(found.probability_risen, 4)
        (2.97, 1.68, 5.56, 0.9994)
        """
        ratio = betaprime((last + 0.5) / scatter, (first + 0.5) / scatter)
        low, middle, high = (float(one) for one in ratio.ppf([0.05, 0.5, 0.95]))
        return cls(fifth, first, last, middle, low, high, float(ratio.sf(1.0)))


def change(axis: Axis, overdispersion: float, width: float) -> Change:
    """Return it of the events of an axis.

    Parameters
    ----------
    axis : Axis
    overdispersion : float
        Counts of a bin have the variance mean + overdispersion x mean^2.
    width : float
        That of a bin.
    """
    span = axis.high - axis.low
    fifth = max(1.0, span // 5) if axis.whole and span >= 2 else span / 5  # whole days, as many at both ends
    first, last = int(np.sum(axis.values < axis.low + fifth)), int(np.sum(axis.values >= axis.high - fifth))
    return Change.of(fifth, first, last, 1.0 + overdispersion * (first + last) / 2.0 * min(1.0, width / fifth))


def where_highest(places: np.ndarray, draws: np.ndarray) -> tuple[float, float]:
    """Return the ends of a 90% interval of the place (m,) at which the rate of draws (n, m) is highest."""
    low, high = np.quantile(places[np.argmax(draws, axis=1)], [0.05, 0.95], method="inverted_cdf")
    return float(low), float(high)
