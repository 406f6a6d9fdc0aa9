"""The error to expect of a plan, beside the rules: where one of these has less, it is the plan.

the same head    scans of variants of it (contrast, motion, phase, noise); single lines exchanged where that is asked
other heads      scans of their slices, with phases and noise of their own
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.kspace.tuning import Expected, usual_centre
from adaptive.cli.kspace.values import READERS, Known
from adaptive.cli.workers import n_workers
from designs import kspace
from designs.kspace.from_images.exchanges import exchanged
from designs.kspace.from_images.given import Images, checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of, halved, scores
from designs.kspace.from_images.portfolio import between
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.from_images.tuned import designs_to_try, expected_error, mask_of, trial_scans
from designs.kspace.from_images.variants import Change, variant

if TYPE_CHECKING:
    from designs.kspace import TrajectoryPool

__all__ = ["Planned", "planned", "planned_shots"]

PLAN, RULE, EQUISPACED, LOW_PASS = "design", "best rule", "equispaced", "low pass"
VARIANTS, MOTION = 4, 0.3  # scans of the same head; pixels and degrees that it may have moved
SLICES = 3  # of other heads, at most


class Planned(NamedTuple):
    """Lines, points or shots in the order of the scan, how many are central, and the errors to expect.

    ``own``: whether it is the design that was made; else the best rule's. ``exchanged``: single lines of it that were
    exchanged for others. ``expected`` has the plan's error as "design", that of the best rule, or of the design that
    was made where the plan is a rule's, and of equispaced lines, points around DC, or equispaced angles.
    """

    design: Any
    n_central: int
    own: bool
    expected: dict[str, Expected]
    scans: str
    exchanged: int | None = None

    def said(self, how: str) -> str:
        """Return the errors in sentences; ``how`` the design was made."""
        rule = self.expected[PLAN].design.replace("_", " ")
        first = "" if self.own else f"A design {how} was not ahead: the plan is the best rule's, {rule}. "
        if self.exchanged is not None:
            lines = f"{self.exchanged} line{'' if self.exchanged == 1 else 's'}"
            first += f"Exchanged for others, as fresh scans confirmed: {lines if self.exchanged else 'no line'}. "
        errors = "; ".join(f"{name} {one}" for name, one in self.expected.items() if name != PLAN)
        return (
            f"{first}Expected error, as a share of the image's length (nine of ten scans): {self.expected[PLAN]}; "
            f"{errors}; by {self.scans}. "
        )


def planned(known: Known, design: np.ndarray, n_central: int, settings: Mapping[str, Any], jobs: int) -> Planned:
    """Try a design beside the rules on simulated scans; take what scores best.

    Parameters
    ----------
    known : Known
    design : array (m,) of lines, or (m, 2) of points
        As it was made, the central ones first.
    n_central : int
    settings : dict
        initial (None: rules choose their centre), exchanges (of single lines, to be tried), axis, snr, phase, seed.
    jobs : int
    """
    points = np.ndim(design) == 2
    axis, made = None if points else settings["axis"], "as designed"
    given = _given(known)
    whole, seed = given.magnitudes[0].shape, entropy_of(settings["seed"])
    shape = whole if axis is None else (whole[axis],)
    initial = settings["initial"]
    centre = initial if initial is None or not points else initial**2  # of points the side of a block
    tried = designs_to_try(whole, axis, len(design), centre, known.coils is not None, seed)
    masks = {name: mask_of(one.design, shape) for name, one in tried.items()}
    masks[made] = mask_of(design, shape)
    plain = LOW_PASS if points else EQUISPACED
    trials, scans = _trials(known, given, axis, settings, seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        workers = n_workers(jobs, VARIANTS * 4)
        centres = {name: one.n_central for name, one in tried.items()}
        found = halved(trials, masks, kept=[made], between=between(tried), centres=centres, n_jobs=workers)
        errors = {name: found.errors[name] for name in found.scores}
        best, by_look = next(iter(found.scores)), sorted(tried, key=lambda one: found.looked.get(one, np.inf))
        rule = next((name for name in found.scores if name != made), by_look[0])
        more = {plain: mask_of(_plain(shape, len(design), n_central), shape)}
        more |= {} if rule in errors else {rule: masks[rule]}
        errors |= errors_of(trials, more, workers)
        taken, inner, n_exchanged = (design, n_central, None) if best == made else (*tried[best], None)
        if settings.get("exchanges") and known.same and not points:
            fresh, _ = _trials(known, given, axis, settings, seed + 1)
            other = exchanged(trials, fresh, shape[0], taken, inner, settings["exchanges"], seed, workers)
            taken, n_exchanged = other.lines, other.accepted
            errors |= {best: other.fresh} if other.accepted else {}
    of = {PLAN: best} | ({RULE: rule} if best == made else {"as designed": made}) | {plain: plain}
    expected = {name: Expected(one, *expected_error(errors[one])) for name, one in of.items()}
    return Planned(taken, inner, best == made, expected, scans, n_exchanged)


def planned_shots(known: Known, shots: TrajectoryPool, n_first: int, settings: Mapping[str, Any], jobs: int) -> Planned:
    """Try spirals or spokes beside those at equispaced and at golden angles; take what scores best.

    Parameters
    ----------
    known : Known
    shots : TrajectoryPool
        As they were made.
    n_first : int
        Of them that are measured in any case.
    settings : dict
        trajectory, snr, phase, seed.
    jobs : int
    """
    given, seed = _given(known), entropy_of(settings["seed"])
    make, n = getattr(kspace, settings["trajectory"]), len(shots)
    period = np.pi if settings["trajectory"] == "spokes" else 2 * np.pi
    rules = {"equispaced angles": kspace.equispaced_angles(n, period), "golden angles": kspace.golden_angles(n, period)}
    tried = {name: make(shots.image_shape, angles) for name, angles in rules.items()}
    same = [name for name, angles in rules.items() if np.allclose(angles, shots.angles)]
    made = same[0] if same else "as designed"
    tried[made] = shots
    trials, scans = _trials(known, given, None, settings, seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        errors = errors_of(trials, tried, n_workers(jobs, VARIANTS * 4))
    ranked = list(scores(errors))
    best, plain = ranked[0], "equispaced angles"
    own = best == made
    of = {PLAN: best} | ({RULE: next(one for one in ranked if one != made)} if own else {"as designed": made})
    expected = {name: Expected(one, *expected_error(errors[one])) for name, one in (of | {plain: plain}).items()}
    return Planned(tried[best], n_first if own else 0, own, expected, scans)


def _given(known: Known) -> Images:
    """The images that scans are simulated of: of the same head one, of others at most three."""
    images = known.images[: 1 if known.same else SLICES]
    own: Any = "reference" if all(np.iscomplexobj(one) for one in images) else None
    return checked_images("images", images, phase=own, coils=known.coils)


def _plain(shape: tuple[int, ...], n: int, n_central: int) -> np.ndarray:
    """A design that is easy: equispaced lines, points around DC."""
    if len(shape) == 1:
        return kspace.equispaced(shape[0], n, n_central)
    return kspace.low_pass_encodes((shape[0], shape[1]), n, min(usual_centre(min(shape)) ** 2, n))


def _trials(
    known: Known, given: Images, axis: int | None, settings: Mapping[str, Any], seed: int
) -> tuple[list[TrialScan], str]:  # fmt: skip
    snr, reader = settings["snr"], READERS[settings["phase"]]
    read: dict[str, Any] = {"prescan": reader is None, "reader": reader or "smooth"}
    if not known.same:
        n = len(given.magnitudes)
        again = 2 if n > 1 else 4
        return (
            trial_scans(given, axis, snr, again, seed, **read),
            f"{again * n} simulated scans of slices of other heads",
        )
    change = Change.checked((MOTION, MOTION), True, snr)
    scans = [partial(variant, given.magnitudes[0], given.phases[0], k, change, given.coils, seed + 1)
             for k in range(VARIANTS)]  # fmt: skip
    said = f"{VARIANTS} simulated scans of variants of it (contrast, motion within {MOTION} pixels, phase, noise)"
    return [TrialScan(scan, axis, **read) for scan in scans], said
