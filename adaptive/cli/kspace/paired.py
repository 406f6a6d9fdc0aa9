"""Errors of designs beside each other, scan by scan: a ratio with its interval, and what it says.

    ratio = exp(mean over scans of ln(error of one / error of another)),    95% limits by Student's t

in simulated scans that decided nothing: each has noise of its own, and, where the image has none, a phase of its own.
Draws of a random rule take turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.kspace.tuning import Expected
from adaptive.cli.kspace.values import READERS, named
from adaptive.diagnostics.beside import paired
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of
from designs.kspace.from_images.tuned import expected_error, trial_scans

if TYPE_CHECKING:
    from adaptive.images import Slice

__all__ = ["FRESH", "Judged", "Ratio", "judged", "ratio_of"]

FRESH = 8  # scans that decide nothing
TIE = 0.03  # a ratio nearer to one is worth nobody's change of design


class Ratio(NamedTuple):
    """Error of a design over that of another, and the 95% interval of the mean."""

    ratio: float
    low: float
    high: float

    def of(self, other: str) -> str:
        """In words, beside the ``other``."""
        return f"{self.ratio:.2f} times that of {named(other)} (95% interval {self.low:.2f} to {self.high:.2f})"

    @property
    def verdict(self) -> int:
        """-1: certainly less error, and by more than 3%; 1: certainly more; 0: neither."""
        if self.high < 1 and self.ratio < 1 - TIE:
            return -1
        return int(self.low > 1 and self.ratio > 1 + TIE)


def ratio_of(errors: np.ndarray, others: np.ndarray) -> Ratio:
    """Ratio of errors (scans,) of two designs in the same scans.

    Examples
    --------
    >>> ratio_of(np.array([0.09, 0.1, 0.11]), np.array([0.1, 0.11, 0.12])).of("low_pass")
    '0.91 times that of low pass (95% interval 0.89 to 0.93)'
    """
    logs = np.log(errors) - np.log(others)
    found = paired(logs)
    if found is None:
        raise ValueError(f"errors must be of two scans or more, got {len(logs)}.")
    mean, _, half = found
    return Ratio(*(float(np.exp(one)) for one in (mean, mean - half, mean + half)))


class Judged(NamedTuple):
    """Errors (scans,) of designs by name in the same fresh scans; the ``design`` first."""

    design: str
    errors: dict[str, np.ndarray]

    @property
    def best(self) -> str:
        """The rule with the least mean error."""
        return min((one for one in self.errors if one != self.design), key=self.mean)

    @property
    def least(self) -> str:
        """Name what is to be measured: the design, or the best rule where it has certainly less error."""
        return self.best if self.beside(self.best).verdict > 0 else self.design

    def mean(self, name: str) -> float:
        """Geometric mean of the errors."""
        return float(np.exp(np.log(self.errors[name]).mean()))

    def beside(self, name: str) -> Ratio:
        """The design over another one."""
        return ratio_of(self.errors[self.design], self.errors[name])

    def expected(self, name: str) -> Expected:
        """Error to expect, and the range of nine in ten scans."""
        return Expected(name, *expected_error(self.errors[name]))

    def verdict(self) -> str:
        """The design beside the best rule and beside the others, in words."""
        ratio = self.beside(self.best)
        said = ("the design and the best simple rule tie", "a simple rule does better", "design pays")[ratio.verdict]
        others = [self.beside(one).of(one) for one in self.errors if one not in (self.design, self.best)]
        return (
            f"{said}: in {len(self.errors[self.best])} further simulated scans the error of the design was "
            f"{' and '.join([ratio.of(self.best), *others])}"
        )


def judged(
    image: Slice, designs: Mapping[str, Sequence[np.ndarray]], settings: Mapping[str, Any], seed: int, workers: int
) -> Judged:
    """Scan a slice anew, and try designs by name, each a list of draws (m,), on all of these scans; judge the first.

    Parameters
    ----------
    image : Slice
    designs : mapping of str to list of arrays (m,)
    settings : dict
        axis, snr, phase.
    seed : int
        Other than that of the scans which decided.
    workers : int
    """
    reader: Any = READERS[settings["phase"]]
    own: Any = "reference" if np.iscomplexobj(image.image) else None
    n = image.image.shape[settings["axis"]]
    masks = {name: [np.isin(np.arange(n), one) for one in draws] for name, draws in designs.items()}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        trials = trial_scans(
            checked_images("images", image.image, phase=own), settings["axis"], settings["snr"], FRESH,
            entropy_of(seed), reader is None, reader or "smooth",
        )  # fmt: skip
        return Judged(next(iter(designs)), errors_of(trials, masks, workers))
