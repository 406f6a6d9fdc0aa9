"""The error to expect of a plan, beside the rules: where one of these has less, it is the plan.

the same head    scans of variants of it (contrast, motion, phase, noise); single lines exchanged where that is asked
other heads      scans of their slices, with phases and noise of their own
random rules     drawn anew for every scan that judges, so that an interval over scans holds the draws, too
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.kspace.paired import FRESH, Ratio, ratio_of
from adaptive.cli.kspace.tuning import MADE, Expected, in_words, usual_centre
from adaptive.cli.kspace.values import ERROR, READERS, Known, named
from adaptive.cli.understanding import in_a_row
from adaptive.cli.workers import n_workers
from designs import kspace
from designs.kspace.from_images.exchanges import exchanged
from designs.kspace.from_images.given import Images, checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of, halved, scores
from designs.kspace.from_images.portfolio import Candidate, between, other_side
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.from_images.tuned import designs_to_try, expected_error, mask_of, trial_scans
from designs.kspace.from_images.variants import Change, variant

if TYPE_CHECKING:
    from designs.kspace import TrajectoryPool

__all__ = ["Planned", "planned", "planned_shots"]

PLAN, RULE, EQUISPACED, LOW_PASS = "design", "best rule", "equispaced", "low pass"
LEARNT, DENSITY = "learnt design", "variable_density"
RANDOM = ("variable_density", "poisson_disc")  # in the names of rules that are drawn
_VERBS = {-1: "has less error than", 0: "ties with", 1: "has more error than"}
_BOTH = {-1: "have less error than", 0: "tie with", 1: "have more error than"}
VARIANTS, MOTION = 4, 0.3  # scans of the same head; pixels and degrees that it may have moved
SLICES = 3  # of other heads, at most


class Planned(NamedTuple):
    """Lines, points or shots in the order of the scan, how many are central, and the errors to expect.

    ``own``: whether it is the design that was made; else the best rule's. ``exchanged``: single lines of it that were
    exchanged for others. ``expected`` has the plan's error as "design", that of the best rule, or of the design that
    was learnt where the plan is a rule's, of the best variable density, and of equispaced lines, points around DC, or
    equispaced angles. ``ratios``: error of the plan over that of each of the others, in the same scans, which decided
    nothing. ``errors`` (scans,) are those of each of them, and ``patterns`` the designs that they are of: one, or of
    a random rule one for every scan. ``judged`` are these scans.
    """

    design: Any
    n_central: int
    own: bool
    expected: dict[str, Expected]
    ratios: dict[str, Ratio]
    errors: dict[str, np.ndarray]
    patterns: dict[str, list[Any]]
    judged: list[TrialScan]
    scans: str
    exchanged: int | None = None

    def verdict(self) -> str:
        """Return one sentence: where the plan has less error, ties, or has more."""
        rule = named(self.expected[RULE].design.split(",")[0]) if RULE in self.expected else ""
        called = {RULE: f"a simple rule ({rule})", LEARNT: "the learnt design", EQUISPACED: "equispaced lines"}
        tied = [name for name, one in self.ratios.items() if one.verdict == 0]
        others = [name for name in self.ratios if name != RULE]
        alike = all(
            ratio_of(self.errors[RULE], self.errors[name]).verdict == self.ratios[name].verdict for name in others
        ) if tied == [RULE] else False  # fmt: skip
        subject, verbs = "the plan", _VERBS
        parts = []
        for verdict in dict.fromkeys(one.verdict for one in self.ratios.values()):
            names = [called.get(name, name) for name, one in self.ratios.items() if one.verdict == verdict]
            parts.append(f"{subject} {verbs[verdict]} {in_a_row(names)}")
            subject, verbs = ("both", _BOTH) if alike else ("it", _VERBS)
        return f"{_begun('; '.join(parts))}."

    def said(self, how: str) -> list[str]:
        """Return the errors in paragraphs; ``how`` the design was made."""
        rule, first = named(self.expected[PLAN].design), []
        if not self.own:
            first.append(
                f"A design chosen {how}, had more error in the scans that chose: the plan is the simple rule {rule}."
            )
        if self.exchanged is not None:
            lines = f"{self.exchanged} line{'' if self.exchanged == 1 else 's'}"
            first.append(f"Exchanged for others, as fresh scans confirmed: {lines if self.exchanged else 'no line'}.")
        called = {name: f"the {name}" if name in (RULE, LEARNT) else name for name in self.ratios}
        beside = [one.of(called[name]) for name, one in self.ratios.items()]
        drawn = [called[name] for name, one in self.errors.items() if 1 < len(self.patterns[name]) == len(one)]
        random = f" {_begun(in_a_row(drawn))} had a new draw for every scan, so the interval holds the draw, too."
        tuned = (
            " Its exponent and centre are those that did best in the scans that chose."
            if drawn == ["variable density"]
            else ""
        )
        errors = in_words({"plan" if name == PLAN else name: one for name, one in self.expected.items()})
        return [
            *first,
            f"{self.verdict()} In {self.scans}, none of which chose it, the error of the plan was "
            f"{' and '.join(beside)}.{random if drawn else ''}{tuned}",
            f"Expected {ERROR}; in brackets the range of nine in ten scans: {errors}.",
        ]


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
    axis, made = None if points else settings["axis"], MADE
    given = _given(known)
    whole, seed = given.magnitudes[0].shape, entropy_of(settings["seed"])
    shape = whole if axis is None else (whole[axis],)
    initial = settings["initial"]
    centre = initial if initial is None or not points else initial**2  # of points the side of a block
    tried = designs_to_try(whole, axis, len(design), centre, known.coils is not None, seed, given.sided)
    masks = {name: mask_of(one.design, shape) for name, one in tried.items()}
    trials, _ = _trials(known, given, axis, settings, seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        workers = n_workers(jobs, VARIANTS * 4)
        if given.sided:
            design = _better_side(design, n_central, shape, trials, workers)
        masks[made] = mask_of(design, shape)
        centres = {name: one.n_central for name, one in tried.items()}
        found = halved(trials, masks, kept=[made], between=between(tried), centres=centres, n_jobs=workers)
        best, by_look = next(iter(found.scores)), sorted(tried, key=lambda one: found.looked.get(one, np.inf))
        rule = next((name for name in found.scores if name != made), by_look[0])
        taken, inner, n_exchanged = (design, n_central, None) if best == made else (*tried[best], None)
        if settings.get("exchanges") and known.same and not points:
            fresh, _ = _trials(known, given, axis, settings, seed + 1)
            other = exchanged(trials, fresh, shape[0], taken, inner, settings["exchanges"], seed, workers)
            taken, n_exchanged = other.lines, other.accepted
        of = {PLAN: best} | ({RULE: rule} if best == made else {LEARNT: made})
        densities = [name for name in by_look if name.startswith(DENSITY)]
        # a plan that is itself one draw of it is set beside other draws
        of |= {named(DENSITY): name for name in densities[:1] if name != of.get(RULE)}
        plain = LOW_PASS if points else EQUISPACED
        width = _equispaced_centre(tried, n_central)
        easy = plain if points else f"{EQUISPACED}, {width} central"
        of |= {plain: easy}
        last, scans = _trials(known, given, axis, settings, seed + 2, FRESH)
        there = {name: one.design for name, one in tried.items()} | {made: design}
        there[easy] = _plain(shape, len(design), width)
        patterns = {PLAN: [taken]} | {name: [there[one]] for name, one in of.items() if name != PLAN}
        random = {name: one for name, one in of.items() if name != PLAN and any(rule in one for rule in RANDOM)}
        for name, one in random.items():
            patterns[name] = _draws(one, tried[one], whole, axis, known.coils is not None, given.sided, seed, len(last))
        errors = errors_of(
            last, {name: [mask_of(one, shape) for one in few] for name, few in patterns.items()}, workers
        )
    return Planned(
        taken, inner, best == made, *_beside(errors, of), errors, patterns, list(last), scans, exchanged=n_exchanged
    )


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
    made = same[0] if same else MADE
    tried[made] = shots
    trials, _ = _trials(known, given, None, settings, seed)
    last, scans = _trials(known, given, None, settings, seed + 2, FRESH)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        workers = n_workers(jobs, VARIANTS * 4)
        ranked = list(scores(errors_of(trials, tried, workers)))
        best, plain = ranked[0], "equispaced angles"
        own = best == made
        of = {PLAN: best} | ({RULE: next(one for one in ranked if one != made)} if own else {LEARNT: made})
        of |= {plain: plain}
        errors = errors_of(last, {name: tried[one] for name, one in of.items()}, workers)
    patterns = {name: [tried[one]] for name, one in of.items()}
    return Planned(
        tried[best], n_first if own else 0, own, *_beside(errors, of), errors, patterns, list(last), scans
    )  # fmt: skip


def _draws(
    name: str, one: Candidate, whole: tuple[int, int], axis: int | None, several_coils: bool, sided: bool, seed: int,
    n_draws: int,
) -> list[np.ndarray]:  # fmt: skip
    """New draws of a random rule, none of which was tried before; few or none where others have the same pattern."""
    found: list[np.ndarray] = []
    for again in np.random.default_rng([seed, 7]).integers(2**32, size=4 * n_draws).tolist():
        tried = designs_to_try(whole, axis, len(one.design), one.n_central, several_coils, again, sided)
        found += [tried[name].design] if name in tried else []  # a pattern that two rules share has the other's name
        if len(found) == n_draws:
            break
    return found or [one.design]


def _begun(words: str) -> str:
    """Words as a sentence begins."""
    return words[:1].upper() + words[1:]


def _beside(errors: Mapping[str, np.ndarray], of: Mapping[str, str]) -> tuple[dict[str, Expected], dict[str, Ratio]]:
    """Errors to expect by what they are called, the designs that these are, and the plan beside the others."""
    expected = {name: Expected(of[name], *expected_error(one)) for name, one in errors.items()}
    return expected, {name: ratio_of(errors[PLAN], one) for name, one in errors.items() if name != PLAN}


def _better_side(
    design: np.ndarray, n_central: int, shape: tuple[int, ...], trials: list[TrialScan], workers: int
) -> np.ndarray:
    """The design or its mirror, whichever scores better: it was learnt without the phase, which decides the side."""
    other = other_side(Candidate(design, n_central), shape)
    if other is None:
        return design
    both = {"as it is": design, "mirrored": other.design}
    errors = errors_of(trials, {name: mask_of(one, shape) for name, one in both.items()}, workers)
    return both[next(iter(scores(errors)))]


def _equispaced_centre(tried: Mapping[str, Candidate], n_central: int) -> int:
    """Central lines of the equispaced design among those tried."""
    return next((one.n_central for name, one in tried.items() if name.startswith(EQUISPACED)), n_central)


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
    known: Known, given: Images, axis: int | None, settings: Mapping[str, Any], seed: int, at_least: int = VARIANTS
) -> tuple[list[TrialScan], str]:  # fmt: skip
    snr, reader = settings["snr"], READERS[settings["phase"]]
    read: dict[str, Any] = {"prescan": reader is None, "reader": reader or "smooth"}
    if not known.same:
        n = len(given.magnitudes)
        again = max(2, -(-at_least // n))
        whose = "that slice" if n == 1 else "these slices"
        return trial_scans(given, axis, snr, again, seed, **read), f"{again * n} simulated scans of {whose}"
    change = Change.checked((MOTION, MOTION), True, snr)
    scans = [partial(variant, given.magnitudes[0], given.phases[0], k, change, given.coils, seed + 1)
             for k in range(at_least)]  # fmt: skip
    phase = "" if given.sided else "phase, "
    changed = f"contrast, motion within {MOTION} pixels, {phase}noise"
    said = f"{at_least} simulated scans of variants of the reference ({changed})"
    return [TrialScan(scan, axis, **read) for scan in scans], said
