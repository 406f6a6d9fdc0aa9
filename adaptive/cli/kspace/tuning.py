"""The design of ``adaptive kspace``: rule, centre and exponent by simulated scans, and the error to expect from it.

taught by    the reference, else the slices that train, else the slice itself
against      lines of largest information gain, lines from a reference: the design, where they have less error in the
             same scans
expected     error of the design, of the best rule at the usual centre and of equispaced lines, with a 90% range
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.reading import read_reference
from adaptive.cli.kspace.values import READERS, Subject
from adaptive.cli.workers import n_workers
from adaptive.images import kspace_problem, simulate_scan
from designs import kspace
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of, scores
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.from_images.tuned import expected_error, trial_scans

__all__ = ["Designed", "Expected", "ahead", "design_lines", "usual_centre"]

SCANS = 4  # of every image: a phase may favour a design
EXCHANGES = 32  # of single lines, tried where the slice that is scanned, or a reference of it, teaches
ASSUMED = {
    "central": "smooth, read from its own centre", "rough": "the bare angle of its own centre", "known": "known",
}  # fmt: skip


class Expected(NamedTuple):
    """Error to expect, as a share of the image's length, of which design, and the range of nine in ten scans."""

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
        "design"; "best rule at the usual centre", where that was tried; "equispaced"; "best rule", where the design is
        none.
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
        of = self.expected["design"]
        others = "; ".join(
            f"{name} {one}" if name == one.design else f"{name} ({_words(one.design)}) {one}"
            for name, one in self.expected.items()
            if name != "design"
        )
        known = ASSUMED[settings["phase"]]
        return (
            f"Design: {_words(self.rule)}, the least error in {len(self.trials)} simulated scans of {self.source}. "
            f"Expected error, as a share of the image's length (nine of ten scans): {of}; {others}. Assumed: phase "
            f"{known}, one coil, SNR {settings['snr']:g}, no motion."
        )


def usual_centre(n: int) -> int:
    """An eighth of the lines, at least four."""
    return max(4, n // 8)


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
    scan = simulate_scan(subject.same.image, snr=settings["snr"], random_state=settings["seed"])
    if problem := kspace_problem(scan.kspace):
        raise CommandError(f"--image: {subject.same.title}: {problem}")
    image, source, own_head = _teacher(subject, settings)
    n, n_lines, axis = image.shape[settings["axis"]], settings["lines"], settings["axis"]
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
        others = {"equispaced": ("equispaced", kspace.equispaced(n, n_lines, min(usual_centre(n), n_lines)))}
        at_usual = [name for name in tuned.looked if name.endswith(f" {usual_centre(n)} central")]
        if at_usual:
            best = min(at_usual, key=tuned.looked.__getitem__)
            others = {"best rule at the usual centre": (best, tuned.designs[best]), **others}
        found = errors_of(trials, {name: np.isin(np.arange(n), one) for name, (_, one) in others.items()}, workers)
    expected = {"design": Expected(tuned.rule, *tuned.expected)}
    expected |= {name: Expected(others[name][0], *expected_error(one)) for name, one in found.items()}
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


def _words(name: str) -> str:
    return name.replace("_", " ")
