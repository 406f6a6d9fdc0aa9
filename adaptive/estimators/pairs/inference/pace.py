"""Pace of learning pairs as they come: rows touched at once, all rows and a search from the start where they pay.

An answer moves the rows of its user and its item, these a little all rows that share entries with them, and so on. A
sweep over everything costs ``work``, the numbers that it visits; a search from the start is about a hundred sweeps.

    every answer                            rows touched, the others held
    once answers number work / SWEPT        sweeps over everything, from there, until at rest
    work up to SEARCHED; a quarter more     a search from where a fit starts, too: a climb never leaves its top

In small tables all three follow every answer, and in large ones what an answer costs does not grow with the table.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.searches import GROWTH

if TYPE_CHECKING:
    from adaptive.types import State

__all__ = ["Pace", "said_once"]

SWEPT = 2e5  # numbers that sweeps may visit per answer: some milliseconds each
SEARCHED = 1e4  # numbers of a sweep up to which every answer is worth a search from the start


@dataclass(frozen=True)
class Pace:
    """Answers that wait for sweeps over everything, and for a search from the start.

    Attributes
    ----------
    waiting, fresh : float
        Answers since the last sweeps over everything, and since the last search.
    searched : float
        Answers that this search knew.

    Examples
    --------
    >>> pace = Pace.begun(1000).after(1)
    >>> pace.sweeps(4e3), pace.searches(4e3), pace.sweeps(4e6), pace.searches(4e6)
    (True, True, False, False)
    """

    waiting: float = 0.0
    fresh: float = 0.0
    searched: float = 0.0

    @classmethod
    def begun(cls, answers: float) -> Pace:
        """After a search on so many answers."""
        return cls(searched=float(answers))

    def after(self, answers: float) -> Pace:
        """When so many more came."""
        return replace(self, waiting=self.waiting + float(answers), fresh=self.fresh + float(answers))

    def swept(self) -> Pace:
        """After sweeps over everything."""
        return replace(self, waiting=0.0)

    def sweeps(self, work: float) -> bool:
        """Return True where sweeps over everything are due, of which one visits ``work`` numbers."""
        return self.waiting > 0.0 and self.waiting * SWEPT >= work

    def searches(self, work: float) -> bool:
        """Return True where a search from the start is due beside them."""
        return work <= SEARCHED or self.fresh >= (GROWTH - 1.0) * self.searched

    def state(self) -> State:
        """Plain data."""
        return {"waiting": self.waiting, "fresh": self.fresh, "searched": self.searched}

    @classmethod
    def from_state(cls, state: State) -> Pace:
        """The pace that ``state`` described."""
        return cls(*(float(state[name]) for name in ("waiting", "fresh", "searched")))


@contextmanager
def said_once(converged: bool) -> Iterator[None]:
    """Say that sweeps have not converged where those before had, and not again at every answer.

    Examples
    --------
    >>> with said_once(converged=False):
    ...     warnings.warn("stopped after 200 sweeps", ConvergenceWarning)
    """
    with warnings.catch_warnings():
        if not converged:
            warnings.simplefilter("ignore", ConvergenceWarning)
        yield
