"""Which method is better on which photographs: paired differences, and every ordering that the source reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.equivalence import inside
from experiments.images.shared.filter_runs import MILESTONES, cell
from experiments.images.shared.photographs import SHIPPED, TEST
from experiments.statistics import standard_error

PANELS = {
    "a": ("random start", ("BCS uniform 0", "BCS free 0", "L1 uniform 0", "L1+TV uniform 0", "L2 wavelet 0",
                           "EP across 0", "EP free 0")),
    "b": ("random ensembles", ("L1 uniform 0", "L1+TV noiselet 0", "L1+TV uniform 0", "L1+TV coloured 0",
                               "L2 wavelet 0")),
    "c": ("designs that adapt", ("L2 search 0", "L2 wavelet 0", "EP coefficients 0", "EP free 0")),
    "d": ("the same wavelet order", ("L2 wavelet 0", "L1+TV wavelet 0", "EP wavelet 0", "EP coefficients 0",
                                     "EP free 0")),
    "e": ("few coefficients first", ("L1 uniform {}", "L1+TV uniform {}", "L2 wavelet 0", "EP coefficients {}",
                                     "EP free {}")),
    "f": ("more coefficients first", ("L1 uniform {}", "L1+TV uniform {}", "L2 wavelet 0", "EP coefficients {}",
                                      "EP free {}")),
}  # fmt: skip


@dataclass(frozen=True)
class Study:
    """Photographs of one size, each measured ``last`` times; ``warm``: coefficients first in panels e and f."""

    side: int
    names: tuple[str, ...]
    last: int
    warm: tuple[int, int]
    methods: tuple[str, ...]

    def runs(self, method: str) -> list[dict[str, np.ndarray]]:
        """Return the run of every photograph."""
        return [cell(self.side, name, method, self.last) for name in self.names]

    def errors(self, method: str, m: int) -> np.ndarray:
        """Return the error of every photograph after ``m`` measurements (between two reconstructions: on the line)."""
        return np.array([np.interp(m, run["measurements"], run["errors"]) for run in self.runs(method)])

    def panel(self, key: str) -> list[str]:
        """Return the methods of a panel, as far as they were tried."""
        first = self.warm[1 if key == "f" else 0]
        return [one for name in PANELS[key][1] if (one := name.format(first)) in self.methods]


def all_methods(warm: Sequence[int]) -> tuple[str, ...]:
    """Return the methods of all panels."""
    named = [name for _, names in PANELS.values() for name in names if "{" not in name]
    later = [name.format(first) for first in warm for name in PANELS["e"][1] if "{" in name]
    return tuple(dict.fromkeys([*named, *later]))


CHAIN = ("L1+TV uniform 0", "L2 search 0", "L2 wavelet 0", "EP coefficients 0", "EP free 0")
SMALL = Study(32, TEST[:25], 300, (25, 100), all_methods((25, 100)))
LARGE = Study(64, TEST[:5], 1000, (100, 400), CHAIN)
QUICK = Study(16, SHIPPED[:2], 40, (8, 20), (*CHAIN, "EP free 8"))


def paired(study: Study, first: str, second: str, m: int) -> dict[str, float]:
    """Compare the errors of two methods after ``m`` measurements, photograph by photograph."""
    one, other = study.errors(first, m), study.errors(second, m)
    difference = one - other
    return {
        "ratio of means": round(float(one.mean() / other.mean()), 3),
        "mean difference": round(float(difference.mean()), 4),
        "standard error": round(float(standard_error(difference)), 4),
        "better on": round(float(np.mean(difference < 0)), 3),
    }


def better(found: dict[str, float]) -> bool:
    """Whether the first is better by more than two standard errors."""
    return found["mean difference"] < -2 * found["standard error"]


def orderings(study: Study, m: int) -> dict[str, dict[str, tuple[bool | None, Any]]]:
    """Every ordering that the source reports, by panel: whether it holds after ``m`` measurements, and the numbers.

    "Within 5%" and "does not beat" hold where the interval of two standard errors says so, else cannot be told (None).
    """

    def less(first: str, second: str, at: int = m) -> tuple[bool, Any]:
        found = paired(study, first, second, at)
        return better(found), found

    def equal(first: str, second: str) -> tuple[bool | None, Any]:
        found = paired(study, first, second, m)
        width = 2 * found["standard error"] / float(study.errors(second, m).mean())
        return inside(found["ratio of means"] - width, found["ratio of means"] + width, 0.95, 1.05), found

    def no_better(first: str, second: str) -> tuple[bool | None, Any]:
        found = paired(study, first, second, m)
        width = 2 * found["standard error"]
        return inside(found["mean difference"] - width, found["mean difference"] + width, least=0.0), found

    few, more = study.warm
    panels_: dict[str, dict[str, tuple[bool | None, Any]]] = {
        "a": {
            "EP (free) below EP (designs of others)": less("EP free 0", "EP across 0"),
            "EP (designs of others) below L2 (wavelet order)": less("EP across 0", "L2 wavelet 0"),
            "L2 (wavelet order) below L1+TV (random)": less("L2 wavelet 0", "L1+TV uniform 0"),
            "L1+TV (random) below L1 (random)": less("L1+TV uniform 0", "L1 uniform 0"),
            "L1+TV (random) below BCS (its own design)": less("L1+TV uniform 0", "BCS free 0"),
        },
        "b": {
            "L1+TV: noiselets and random rows within 5%": equal("L1+TV noiselet 0", "L1+TV uniform 0"),
            "L1+TV: coloured below random rows": less("L1+TV coloured 0", "L1+TV uniform 0"),
            "L2 (wavelet order) below L1+TV (coloured)": less("L2 wavelet 0", "L1+TV coloured 0"),
        },
        "c": {
            "the tree search does not beat the wavelet order": no_better("L2 search 0", "L2 wavelet 0"),
            "EP (best coefficients) below L2 (wavelet order)": less("EP coefficients 0", "L2 wavelet 0"),
            "EP (free) below EP (best coefficients)": less("EP free 0", "EP coefficients 0"),
        },
        "d": {
            "wavelet order: EP and L1+TV within 5%": equal("EP wavelet 0", "L1+TV wavelet 0"),
            "wavelet order: EP below L2": less("EP wavelet 0", "L2 wavelet 0"),
            "wavelet order: L1+TV below L2": less("L1+TV wavelet 0", "L2 wavelet 0"),
            "EP: best coefficients below the wavelet order": less("EP coefficients 0", "EP wavelet 0"),
        },
    }
    for key, first in (("e", few), ("f", more)):
        soon = first + 15
        panels_[key] = {
            f"EP (free) below L2 (wavelet order) at {soon}": less(f"EP free {first}", "L2 wavelet 0", soon),
            f"EP (coefficients) below L2 at {soon}": less(f"EP coefficients {first}", "L2 wavelet 0", soon),
            "L1+TV (random) gains": _moved(study, f"L1+TV uniform {first}", first, m, gains=True),
            "L1+TV (random) ends above L2 (wavelet order)": less("L2 wavelet 0", f"L1+TV uniform {first}"),
            f"the error of L1 (random) rises until {soon}": _moved(
                study, f"L1 uniform {first}", first, soon, gains=False
            ),
        }
    return panels_


def _moved(study: Study, method: str, first: int, last: int, gains: bool) -> tuple[bool, Any]:
    """Whether the mean error has fallen (risen) between two numbers of measurements, by two standard errors."""
    change = study.errors(method, last) - study.errors(method, first)
    mean, error = float(change.mean()), float(standard_error(change))
    return (mean < -2 * error) if gains else (mean > 2 * error), {
        "change of the error": round(mean, 4),
        "standard error": round(error, 4),
        "errors on the way": {
            k: round(float(study.errors(method, k).mean()), 3)
            for k in MILESTONES[study.side]
            if first <= k <= study.last
        },
    }
