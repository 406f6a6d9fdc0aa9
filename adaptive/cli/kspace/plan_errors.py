"""The error to expect of a plan of lines, beside the rules: where one of these has less, the plan is that rule's.

the same head    scans of variants of it (contrast, motion, phase, noise)
other heads      scans of their slices, with phases and noise of their own
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.kspace.tuning import Expected
from adaptive.cli.kspace.values import READERS, Known
from adaptive.cli.workers import n_workers
from designs import kspace
from designs.kspace.from_images.given import Images, checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of, halved
from designs.kspace.from_images.portfolio import between, lines_to_try
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.from_images.tuned import expected_error, trial_scans
from designs.kspace.from_images.variants import Change, variant

__all__ = ["Planned", "planned_lines"]

PLAN, RULE, EQUISPACED = "design", "best rule", "equispaced"
VARIANTS, MOTION = 4, 0.3  # scans of the same head; pixels and degrees that it may have moved
SLICES = 3  # of other heads, at most


class Planned(NamedTuple):
    """Lines in the order of the scan, how many are central, and the errors to expect.

    ``own``: whether it is the design that was made; else the best rule's. ``expected`` has the plan's error as
    "design", that of the best rule, or of the design that was made where the plan is a rule's, and of equispaced lines.
    """

    lines: np.ndarray
    n_central: int
    own: bool
    expected: dict[str, Expected]
    scans: str

    def said(self, how: str) -> str:
        """Return the errors in sentences; ``how`` the design was made."""
        rule = self.expected[PLAN].design.replace("_", " ")
        first = "" if self.own else f"A design {how} was not ahead: the plan is the best rule's, {rule}. "
        errors = "; ".join(f"{name} {one}" for name, one in self.expected.items() if name != PLAN)
        return (
            f"{first}Expected error, as a share of the image's length (nine of ten scans): {self.expected[PLAN]}; "
            f"{errors}; by {self.scans}. "
        )


def planned_lines(known: Known, lines: np.ndarray, n_central: int, settings: Mapping[str, Any], jobs: int) -> Planned:
    """Try a design beside the rules on simulated scans; take what scores best.

    Parameters
    ----------
    known : Known
    lines : array (m,)
        The design that was made, central lines first.
    n_central : int
    settings : dict
        initial (None: rules choose their centre), axis, snr, phase, seed.
    jobs : int
    """
    axis, made = settings["axis"], "as designed"
    images = known.images[: 1 if known.same else SLICES]
    own: Any = "reference" if all(np.iscomplexobj(one) for one in images) else None
    given = checked_images("images", images, phase=own, coils=known.coils)
    n, seed = given.magnitudes[0].shape[axis], entropy_of(settings["seed"])
    trials, scans = _trials(known, given, settings, seed)
    tried = lines_to_try(n, len(lines), settings["initial"], known.coils is not None, seed)
    masks = {name: np.isin(np.arange(n), one.design) for name, one in tried.items()}
    masks[made] = np.isin(np.arange(n), lines)
    even = kspace.equispaced(n, len(lines), n_central)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        workers = n_workers(jobs, VARIANTS * 4)
        found = halved(trials, masks, kept=[made], between=between(tried), n_jobs=workers)
        errors = {name: found.errors[name] for name in found.scores}
        best, by_look = next(iter(found.scores)), sorted(tried, key=lambda one: found.looked.get(one, np.inf))
        rule = next((name for name in found.scores if name != made), by_look[0])
        more = {EQUISPACED: np.isin(np.arange(n), even)} | ({} if rule in errors else {rule: masks[rule]})
        errors |= errors_of(trials, more, workers)
    other = (RULE, rule) if best == made else ("as designed", made)
    of = {PLAN: best, other[0]: other[1], EQUISPACED: EQUISPACED}
    expected = {name: Expected(one, *expected_error(errors[one])) for name, one in of.items()}
    if best == made:
        return Planned(lines, n_central, True, expected, scans)
    return Planned(tried[best].design, tried[best].n_central, False, expected, scans)


def _trials(
    known: Known, given: Images, settings: Mapping[str, Any], seed: int
) -> tuple[list[TrialScan], str]:  # fmt: skip
    axis, snr, reader = settings["axis"], settings["snr"], READERS[settings["phase"]]
    read: dict[str, Any] = {"prescan": reader is None, "reader": reader or "smooth"}
    if not known.same:
        n = len(given.magnitudes)
        again = 2 if n > 1 else 4
        return (
            trial_scans(given, axis, snr, again, seed, **read),
            f"{again * n} simulated scans of slices of other heads",
        )
    change = Change.checked((MOTION, MOTION), True, snr)
    scans = [variant(given.magnitudes[0], given.phases[0], k, change, given.coils, seed + 1) for k in range(VARIANTS)]
    said = f"{VARIANTS} simulated scans of variants of it (contrast, motion within {MOTION} pixels, phase, noise)"
    return [TrialScan(scan, axis, **read) for scan in scans], said
