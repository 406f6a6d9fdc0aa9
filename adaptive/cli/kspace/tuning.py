"""The design of ``adaptive kspace``: rule, centre and exponent by simulated scans, and the error to expect from it.

taught by    the reference, else the slices that train, else the slice itself
against      lines of largest information gain, lines from a reference: the design, where they have less error in the
             same scans
expected     error of the design, with a 90% range
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.reading import read_reference
from adaptive.cli.kspace.values import READERS, Subject, named
from adaptive.cli.workers import n_workers
from adaptive.images import kspace_problem, simulate_scan
from designs import kspace
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.halving import scores
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.from_images.tuned import expected_error, trial_scans

__all__ = [
    "ASSUMED",
    "MADE",
    "Designed",
    "Expected",
    "ahead",
    "design_lines",
    "in_words",
    "require_centred",
    "usual_centre",
]

SCANS = 4  # of every image: a phase may favour a design
MADE = "as designed"  # the design that was made for a plan, beside the rules
EXCHANGES = 32  # of single lines, tried where the slice that is scanned, or a reference of it, teaches
ASSUMED = {
    "central": "smooth, read from its own centre", "rough": "the bare angle of its own centre", "known": "known",
}  # fmt: skip


class Expected(NamedTuple):
    """Error to expect, |true - found| / |true|, of which design, and the range of nine in ten scans."""

    design: str
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.error:.3f} ({self.low:.3f} to {self.high:.3f})"


class Designed(NamedTuple):
    """Result of `design_lines`.

    Attributes
    ----------
    lines : array (m,)
        In the order of the scan.
    n_central : int
    rule : str
        As of `designs.kspace.Tuned`, or "information_gain", or "reference_lines".
    source : str
        The images that taught.
    errors : array (scans,)
        Of the design on ``trials``.
    expected : dict of str to Expected
        "design"; "best rule", where the design is none.
    trials : list of TrialScan
    """

    lines: np.ndarray
    n_central: int
    rule: str
    source: str
    errors: np.ndarray
    expected: dict[str, Expected]
    trials: list[TrialScan]

    def said(self, settings: Mapping[str, Any]) -> str:
        """Return the design, what it was chosen by and what is expected of it, in sentences."""
        return (
            f"Design: {named(self.rule)}, the least error in {len(self.trials)} simulated scans of {self.source}. "
            f"Expected error (nine of ten scans): {in_words(self.expected)}. Assumed: phase "
            f"{ASSUMED[settings['phase']]}, one coil, SNR {settings['snr']:g}, no motion."
        )


def in_words(expected: Mapping[str, Expected]) -> str:
    """Errors to expect, each with the design that it is of.

    Examples
    --------
    >>> in_words({"design": Expected("low_pass, 8 central", 0.1, 0.08, 0.12)})
    'design (low pass, 8 central) 0.100 (0.080 to 0.120)'
    """

    def called(name: str, design: str) -> str:
        if design == MADE:
            return name
        return named(design) if named(design).startswith(name) else f"{name} ({named(design)})"

    return "; ".join(f"{called(name, one.design)} {one}" for name, one in expected.items())


def usual_centre(n: int) -> int:
    """An eighth of the lines, at least four."""
    return max(4, n // 8)


def require_centred(subject: Subject, settings: Mapping[str, Any]) -> None:
    """Refuse an image whose k-space has its centre elsewhere."""
    scan = simulate_scan(subject.same.image, snr=settings["snr"], random_state=settings["seed"])
    if problem := kspace_problem(scan.kspace):
        raise CommandError(f"--image: {subject.same.title}: {problem}")


def design_lines(subject: Subject, settings: Mapping[str, Any], jobs: int) -> Designed:
    """Tune a design on what is there to teach it.

    Parameters
    ----------
    subject : Subject
    settings : dict
        lines, initial (None: chosen), exchanges (None: 32, or as many as there are lines), axis, snr, phase, reference,
        plane, seed.
    jobs : int
        The design is the same for any number.

    Raises
    ------
    CommandError
        If no design can be made.
    """
    require_centred(subject, settings)
    image, source, own_head = _teacher(subject, settings)
    n_lines, axis = settings["lines"], settings["axis"]
    own: Any = "reference" if np.iscomplexobj(image) else None
    reader, workers = READERS[settings["phase"]], n_workers(jobs, SCANS * 4)
    told: dict[str, Any] = {"axis": axis, "snr": settings["snr"], "n_scans": SCANS}
    asked = settings.get("exchanges")
    tried = min(n_lines, EXCHANGES) if asked is None else asked
    read: dict[str, Any] = {"prescan": reader is None, "reader": reader or "smooth"}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        try:
            tuned = kspace.tuned_lines(
                image, n_lines, phase=own, n_central=settings["initial"], random_state=settings["seed"],
                n_jobs=workers, exchanges=tried if own_head else 0, **told, **read,
            )  # fmt: skip
        except ValueError as error:
            raise CommandError(f"--image: {source}: {error}") from None
        trials = trial_scans(
            checked_images("images", image, phase=own), axis, settings["snr"], SCANS, entropy_of(settings["seed"]),
            **read,
        )  # fmt: skip
    expected = {"design": Expected(tuned.rule, *tuned.expected)}
    return Designed(tuned.lines, tuned.n_central, tuned.rule, source, tuned.errors[tuned.rule], expected, trials)


def ahead(designed: Designed, others: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Designed:
    """The design, or of ``others``, lines and their errors in the same scans by name, the one that scores best there.

    A design that was not ahead keeps its error beside the one that was.
    """
    errors = {designed.rule: designed.errors, **{name: found for name, (_, found) in others.items()}}
    best = next(iter(scores(errors)))
    if best == designed.rule:
        return designed
    expected = {**designed.expected, "design": Expected(best, *expected_error(errors[best]))}
    expected["best rule"] = designed.expected["design"]
    return designed._replace(lines=others[best][0], rule=best, errors=errors[best], expected=expected)


def _teacher(subject: Subject, settings: Mapping[str, Any]) -> tuple[np.ndarray, str, bool]:
    """The image that teaches, its name, and whether it is the slice that is scanned."""
    if settings["reference"] is not None:
        found = read_reference(settings["reference"], subject.same, settings["plane"])
        return np.abs(found.image), f"the reference ({found.title})", True
    if subject.training is not None:
        return subject.training.image, f"another slice ({subject.training.title})", False
    return subject.same.image, f"the slice itself ({subject.same.title})", True
