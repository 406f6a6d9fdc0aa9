"""The work of ``adaptive kspace``: see how well designs of lines reconstruct, one of them chosen line by line.

    designed      rule, centre and exponent by simulated scans (`tuning`)
    gain          information gain under a double-loop posterior, one line after the other, every sample logged
    compared      seven designs of the same size that look at no data, or one from a reference scan; four of them at
                  the usual centre, too, an eighth of all lines, so that one sees what the centre does
    images        the same MAP for all, with the phase and the noise that the central lines show

What a design has to be given - the exponent of a density, the scale and the kind of the reconstruction's prior - is
tuned by the same grid for every design on a third slice, on which no design is judged. (Where there is none, on the
slice that chose the lines.)
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import scorers
from adaptive.cli.kspace.line_simulation import Scanned, scanned
from adaptive.cli.kspace.reading import read_reference
from adaptive.cli.kspace.tuning import Designed, usual_centre
from adaptive.cli.kspace.values import Subject
from adaptive.cli.workers import stop_if_orphaned
from adaptive.images import SimulatedScan, compare_designs
from adaptive.loop import SequentialDesign, read_log
from designs import kspace
from designs.kspace.from_images.halving import errors_of
from designs.kspace.from_images.simulated import TrialScan

__all__ = [
    "AT_USUAL",
    "COMPARED",
    "DESIGNED",
    "GAIN",
    "PRIORS",
    "REFERENCE",
    "SCALES",
    "USUAL",
    "Outcome",
    "choose_and_compare",
    "n_chosen",
    "tasks",
]

DESIGNED = "designed"
GAIN = "information_gain"  # one line after the other
COMPARED = (
    "low_pass",
    "equispaced",
    "uniform",
    "variable_density",
    "half_plane_variable_density",
    "one_sided_low_pass",
    "half_plane_quantiles",
)
AT_USUAL = ", n/8"  # a rule at the usual centre, where another one was designed
USUAL = tuple(
    f"{rule}{AT_USUAL}" for rule in ("equispaced", "variable_density", "one_sided_low_pass", "half_plane_quantiles")
)
REFERENCE = "reference_lines"  # compared, too, where there is a reference
N_TUNED = 3  # draws of a random design, at most, on which what it is given is tuned
EXPONENTS = dict.fromkeys(
    ("variable_density", "half_plane_variable_density", "half_plane_quantiles"), (0.5, 1, 2, 4, 6)
)
SCALES = (0.05, 0.1, 0.2, 0.4)  # of the prior that reconstructs
PRIORS = ("pixel", "transform")  # of the imaginary part, where it reconstructs
TUNING = "training"  # the slice that tunes
MIDDLE = 0.1  # the scale at which exponents are tuned


class Choice(NamedTuple):
    """The lines in the order chosen with their gains (nan for central ones), and the gains of all lines, in nats."""

    lines: np.ndarray
    gains: np.ndarray
    before_first: np.ndarray
    after_last: np.ndarray


class Outcome(NamedTuple):
    """A design with its results.

    ``lines`` has one array per draw; ``rows`` are those of the table; ``image`` is the same slice from the first draw.
    ``by_exponent`` and ``by_scale`` are mean errors on the slice that tunes for what was tried, the least of which
    decided; ``imaginary`` is the prior of the imaginary part that did best at that scale.
    ``choice`` is there for the lines of largest information gain only; ``simulated``, errors in the scans that the
    design was tuned by, for these and for lines from a reference.
    """

    design: str
    lines: list[np.ndarray]
    rows: list[dict[str, Any]]
    image: np.ndarray
    by_exponent: dict[float, float]
    by_scale: dict[float, float]
    imaginary: str
    warnings: list[str]
    choice: Choice | None
    simulated: np.ndarray | None = None

    def called(self, design: str) -> Outcome:
        """The same under another name."""
        return self._replace(design=design, rows=[row | {"design": design} for row in self.rows])

    @property
    def exponent(self) -> float | None:
        return _least(self.by_exponent) if self.by_exponent else None

    @property
    def scale(self) -> float:
        return _least(self.by_scale)


def tasks(subject: Subject, settings: dict[str, Any], log: Path, designed: Designed) -> list[dict[str, Any]]:
    """Simulate the scans, each slice with a phase and noise of its own; return the arguments for each design.

    Raises
    ------
    CommandError
        If the image cannot be worked with.
    """
    usual = usual_centre(subject.same.image.shape[settings["axis"]])
    scans = _scans(subject, settings, designed.n_central)
    reference = None
    if settings["reference"] is not None:
        reference = np.abs(read_reference(settings["reference"], subject.same, settings["plane"]).image)
    shared = {
        "scans": scans,
        "n_lines": settings["lines"],
        "draws": settings["draws"],
        "seed": settings["seed"],
        "log": log,
        "parent": os.getpid(),
        "reference": reference,
    }
    # What takes longest goes first: designs to be tuned and drawn, then those of one draw.
    by_work = sorted(COMPARED, key=lambda design: (design not in EXPONENTS, design != "uniform"))
    more = () if reference is None else (REFERENCE,)
    found = [{"design": design, **shared, "trials": designed.trials} for design in (GAIN, *more)]
    found += [{"design": design, **shared} for design in by_work]
    if usual != designed.n_central and usual < settings["lines"]:
        at_usual = shared | {"scans": _scans(subject, settings, usual)}
        found += [{"design": design, **at_usual} for design in USUAL]
    return [*found, {"design": DESIGNED, **shared, "designed": designed.lines}]


def _scans(subject: Subject, settings: dict[str, Any], n_central: int) -> dict[str, Scanned]:
    common = {"axis": settings["axis"], "n_central": n_central, "snr": settings["snr"], "phase": settings["phase"]}
    scans = {"same": scanned(subject.same, seed=settings["seed"], **common)}
    if subject.neighbour is not None:
        scans["neighbour"] = scanned(subject.neighbour, seed=settings["seed"] + 1, **common)
    if subject.training is not None:
        scans[TUNING] = scanned(subject.training, seed=settings["seed"] + 2, **common)
    return scans


def n_chosen(log: Path) -> int:
    """Return how many lines are measured according to a log."""
    try:
        return sum(len(event["rows"]) for event in read_log(log)[1] if event["event"] == "tell")
    except ValueError:  # not begun yet
        return 0


def choose_and_compare(
    design: str,
    scans: dict[str, Scanned],
    n_lines: int,
    draws: int,
    seed: int,
    log: Path,
    parent: int,
    reference: np.ndarray | None,
    designed: np.ndarray | None = None,
    trials: Sequence[TrialScan] = (),
) -> Outcome:
    """Make one design, tune what it is given, and reconstruct every slice that is judged.

    Parameters
    ----------
    design : str
        "designed", "information_gain", "reference_lines", or the name of a comparison design.
    scans : dict of Scanned
        "same", perhaps "neighbour", and perhaps "training".
    n_lines, draws, seed : int
        Lines of a design, draws of a random one, and the seed of all of them.
    log : path
        The event log of the chosen design; gone on with where it exists.
    parent : int
        Process id of the command; a worker that has lost it stops.
    reference : array (n0, n1) or None
        Magnitudes of an earlier scan.
    designed : array (m,), optional
        Lines of "designed".
    trials : sequence of TrialScan
        Scans that "information_gain" and "reference_lines" are tried on, beside those that are judged.
    """
    same, choice, simulated = scans["same"], None, None
    rule = design.removesuffix(AT_USUAL)
    tuning = TUNING if TUNING in scans else "same"
    images: dict[tuple[str, bool], np.ndarray] = {}

    def row(name: str, lines: list[np.ndarray], scale: float, prior: str, fine: bool = False) -> dict[str, Any]:
        def reconstruct(_: SimulatedScan, chosen: np.ndarray) -> np.ndarray:
            stop_if_orphaned(parent)
            image = scans[name].reconstruct(chosen, scale, fine, prior)
            images.setdefault((name, fine), image)
            return image

        found = compare_designs({design: lines}, {name: scans[name].scan}, reconstruct, inside=True)[0]
        size = float(np.linalg.norm(scans[name].scan.image))
        return found | {"relative_error": found["error"] / size, "relative_error_95": found["error_95"] / size}

    def drawn(exponent: float | None) -> list[np.ndarray]:
        if choice is not None:
            return [choice.lines]
        if designed is not None:
            return [designed]
        if design == REFERENCE and reference is not None:
            snr = float(same.scan.image.max()) / same.scan.noise_sd
            told: dict[str, Any] = {"axis": same.axis, "snr": snr, "random_state": seed}
            return [kspace.reference_lines(reference, n_lines, same.n_central, **told)]
        return _drawn(same, rule, n_lines, draws, seed, exponent)

    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if design == GAIN:
            choice = choose_lines(same, n_lines, seed, log, parent)
        by_exponent = {
            p: row(tuning, drawn(p)[:N_TUNED], MIDDLE, PRIORS[0])["relative_error"] for p in EXPONENTS.get(rule, ())
        }
        lines = drawn(_least(by_exponent) if by_exponent else None)
        if trials:
            simulated = errors_of(trials, {design: np.isin(np.arange(same.n), lines[0])})[design]
        tried = {
            (scale, PRIORS[0]): row(tuning, lines[:N_TUNED], scale, PRIORS[0])["relative_error"] for scale in SCALES
        }
        best = _least(tried)[0]
        tried |= {(best, prior): row(tuning, lines[:N_TUNED], best, prior)["relative_error"] for prior in PRIORS[1:]}
        scale, prior = _least(tried)
        by_scale = {one: error for (one, other), error in tried.items() if other == PRIORS[0]}
        table = [row(name, lines, scale, prior, fine=True) for name in scans if name != TUNING]
    said = list(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))
    return Outcome(design, lines, table, images["same", True], by_exponent, by_scale, prior, said, choice, simulated)


def choose_lines(scanned: Scanned, n_lines: int, seed: int, log: Path, parent: int) -> Choice:
    """Measure the central lines, then one line after the other, going on from ``log`` where it exists."""
    pool, central, model = scanned.pool(), scanned.central(), scanned.model()
    initial = pool.positions(central)
    if log.exists():
        design = SequentialDesign.load(log, model, pool)
    else:
        design = SequentialDesign(model, pool, initial=initial, random_state=seed, log=log)
    with design:
        while len(design.history_["label"]) < n_lines:
            stop_if_orphaned(parent)
            # The central lines belong together: their phase and their noise are known from all of them.
            query = design.ask(None if design.iteration else len(initial))
            design.tell(query, scanned.scan.measure(query.candidates))
        history, last = design.history_, design.estimator_
    first = model.fit(pool.take(initial), scanned.scan.measure(pool.take(initial)))
    before, after = (scorers.get("information_gain")(one.predictive(pool)) for one in (first, last))
    return Choice(np.array(history["label"]), np.array(history["score"], dtype=float), before, after)


def _drawn(
    scanned: Scanned, design: str, n_lines: int, draws: int, seed: int, exponent: float | None
) -> list[np.ndarray]:
    """The lines of a comparison design, all of its draws."""
    exponents = {} if exponent is None else {design: exponent}
    found = kspace.comparison_designs(
        scanned.n, n_lines, scanned.n_central, exponents=exponents, n_draws=draws, random_state=seed
    )
    return found[design]


def _least(errors: dict[Any, float]) -> Any:
    """Key of the least error; the first of equals."""
    return min(errors, key=errors.__getitem__)
