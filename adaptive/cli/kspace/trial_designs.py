"""Choose on a trial, one question after the other; reconstruct from that design and from those that see no data.

designed      information gain under a double-loop posterior, every sample logged, so that a run resumes
compared      rules of the same size; all images by the same MAP
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import scorers
from adaptive.cli.kspace.trial import SLACKS, Trial
from adaptive.cli.kspace.trial_rules import names, rules
from adaptive.cli.workers import stop_if_orphaned
from adaptive.loop import SequentialDesign
from adaptive.loop.comparison import interval
from designs.kspace.from_images.growth import best_apart

__all__ = ["DESIGNED", "Chosen", "Tried", "choose", "tasks", "try_design"]

DESIGNED, REFERENCE = "designed", "reference"
_ROUNDS = 24  # of points, which are asked for many at a time


class Chosen(NamedTuple):
    """Positions in the order chosen with their scores (nan for the first, and for points), and what follows from them.

    ``before`` and ``after`` are the scores of the whole pool, in nats; ``maps`` the coil maps, where there are any.
    """

    positions: np.ndarray
    scores: np.ndarray
    before: np.ndarray
    after: np.ndarray
    maps: np.ndarray | None


class Tried(NamedTuple):
    """A design with its results: positions and measures of every draw, the image from the first one, and its slack."""

    design: str
    positions: list[np.ndarray]
    measures: list[dict[str, float]]
    image: np.ndarray
    slack: float
    warnings: list[str]
    chosen: Chosen | None = None

    def mean(self, name: str) -> float:
        """Mean of a measure over the draws."""
        return float(np.mean([one[name] for one in self.measures]))

    def half_width(self, name: str) -> float:
        """Half the 95% interval of that mean by Student's t; 0 of a single draw."""
        _, low, high = interval(np.array([one[name] for one in self.measures]))
        return float(high - low) / 2 if len(self.measures) > 1 else 0.0


def tasks(
    trial: Trial, n: int, draws: int, seed: int, log: Path, planned: np.ndarray | None = None
) -> list[dict[str, Any]]:
    """Arguments of `try_design`, what takes longest first; ``planned``: positions from a reference, compared, too."""
    shared = {"trial": trial, "n": n, "draws": draws, "seed": seed, "log": log, "parent": os.getpid()}
    more = [] if planned is None else [{"design": REFERENCE, "planned": planned, **shared}]
    return [{"design": DESIGNED, **shared}, *more, *({"design": one, **shared} for one in names(trial.trajectory))]


def try_design(
    design: str,
    trial: Trial,
    n: int,
    draws: int,
    seed: int,
    log: Path,
    parent: int,
    planned: np.ndarray | None = None,
) -> Tried:
    """Make one design and reconstruct from it.

    Parameters
    ----------
    design : str
        "designed", "reference", or the name of a rule.
    trial : Trial
    n, draws, seed : int
        What is measured in all, draws of a random rule, and their seed.
    log : path
        The event log of the chosen design; gone on with where it exists.
    parent : int
        Process id of the command; a worker that has lost it stops.
    planned : array of int, optional
        Positions of "reference".
    """
    chosen = None
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if design == DESIGNED:
            chosen = choose(trial, n, seed, log, parent)
            positions = [chosen.positions]
        elif planned is not None:
            positions = [planned]
        else:
            positions = rules(trial, design, n, draws=draws, seed=seed)
        slack, images = trial.slack(positions[0], SLACKS), []
        for one in positions:
            stop_if_orphaned(parent)
            images.append(trial.reconstruct(one, slack))
    said = list(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))
    return Tried(design, positions, [trial.judged(image) for image in images], images[0], slack, said, chosen)


def choose(trial: Trial, n: int, seed: int, log: Path, parent: int) -> Chosen:
    """Measure the first positions, then those of highest information gain, going on from ``log`` where it exists."""
    model, gain = trial.design_model(), scorers.get("information_gain")
    if log.exists():
        design = SequentialDesign.load(log, model, trial.candidates)
    else:
        design = SequentialDesign(model, trial.candidates, initial=trial.first, random_state=seed, log=log)
    with design:
        while (done := len(design.history_["position"])) < n:
            stop_if_orphaned(parent)
            if not done:  # the first ones belong together: phase, coil maps and noise are known from all of them
                query = design.ask(len(trial.first))
            elif trial.trajectory == "points" and not design.unanswered:
                query = design.ask(
                    positions=_apart(trial, gain(design.estimator_.predictive(trial.candidates)), design, n)
                )
            else:
                query = design.ask()
            design.tell(query, trial.measure(query.positions))
        history, last = design.history_, design.estimator_
    before = trial.design_model().fit(trial.candidates.take(trial.first), trial.measure(trial.first))
    positions = np.array(history["position"], dtype=int)
    scores = np.array(history["score"], dtype=float)
    whole = [gain(one.predictive(trial.candidates)) for one in (before, last)]
    return Chosen(positions, scores, whole[0], whole[1], last.coil_maps_ if trial.sets == 1 else trial.maps)


def _apart(trial: Trial, values: np.ndarray, design: SequentialDesign, n: int) -> np.ndarray:
    """The free points of highest score, no two of them neighbours: these say in part the same."""
    done = design.history_["position"]
    score, barred = np.full(trial.shape, -np.inf), np.ones(trial.shape, bool)
    where = tuple(trial.pool.encodes.T)
    score[where], barred[where] = values, False
    barred[tuple(trial.pool.encodes[done].T)] = True
    flat = best_apart(score, barred, min(max(1, n // _ROUNDS), n - len(done)))
    return trial.pool.positions(np.stack(np.unravel_index(flat, trial.shape), axis=1))
