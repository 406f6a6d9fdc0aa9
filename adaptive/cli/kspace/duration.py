"""Time that a run will take: the time of one reconstruction, measured now, times how many there will be.

    of a comparison    designing 80, lines one by one 2.3 each, the table 1.3 each, further scans 40 a slice
    of a plan          4 a line to be learnt, 75 for the rules and the errors to expect

in reconstructions of a simulated scan (measured at 128 x 96 with 20 lines; the load of the machine is in the time).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.kspace.tuning import usual_centre
from adaptive.cli.workers import n_workers
from designs.kspace import equispaced
from designs.kspace.from_images.simulated import TrialScan, scan_of

__all__ = ["of_a_comparison", "of_a_plan", "say_duration"]

WORTH_SAYING = 60.0  # seconds
DRAWS = 3  # of a random design, on which it is tuned


def of_a_comparison(n_lines: int, draws: int, slices: int) -> float:
    """Reconstructions of a comparison of lines, about."""
    table = 35 * min(draws, DRAWS) + 4 * draws * slices + 55 + 9 * slices
    return 80 + 2.3 * n_lines + 1.3 * table + 40 * slices


def of_a_plan(n_lines: int, n: int, exchanges: int, images: int) -> float:
    """Reconstructions of a plan of lines, about."""
    return (4 * max(n_lines - usual_centre(n), 0) + 75) * images + 2 * exchanges


def say_duration(image: np.ndarray, settings: Mapping[str, Any], reconstructions: float, jobs: int) -> None:
    """Print how long so many reconstructions of lines of an image take here, if that is long."""
    n = image.shape[settings["axis"]]
    mask = np.isin(np.arange(n), equispaced(n, settings["lines"], min(usual_centre(n), settings["lines"])))
    magnitude = np.abs(image) / np.abs(image).max()
    trial = TrialScan(partial(scan_of, magnitude, None, settings["snr"], None, (0,)), settings["axis"])
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions that nobody sees
        replace(trial, max_iter=1).error(mask)  # what is loaded and compiled once
        begun = time.perf_counter()
        trial.error(mask)
    workers = n_workers(jobs, int(reconstructions))
    seconds = (time.perf_counter() - begun) * reconstructions / workers
    if seconds > WORTH_SAYING:
        processes = "one process" if workers == 1 else f"{workers} processes"
        print(f"This will take about {seconds / 60:.0f} minutes with {processes}.".replace(" 1 minutes", " 1 minute"),
              flush=True)  # fmt: skip
