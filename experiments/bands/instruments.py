"""Outcomes of instruments and simulators of drawn parameters: weighted particles."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from adaptive import SequentialDesign, SimulatorEstimator
from experiments.any_model.honest_loop import MODELS, SETTINGS
from experiments.any_model.simulated_loop import MODELS as SIMULATORS
from experiments.bands.shares import central, result

__all__ = ["parameters"]


def parameters(name: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Ten truths from the prior; all parameters."""
    rng = np.random.default_rng([unit, 38])
    model: Any = (
        MODELS[name](500) if name in MODELS else SimulatorEstimator(*SIMULATORS[name], n_particles=250, n_nested=64)
    )
    settings = SETTINGS[::2]
    below, widths, seconds = [], [], 0.0
    for _ in range(10):
        truth = model.prior_draws(1, rng)[0]
        own = SequentialDesign(
            model.__class__(**model.get_params() | {"random_state": int(rng.integers(2**31))}), settings,
            scorer="random" if design == "random" else "auto", repeat=True, random_state=int(rng.integers(2**31)),
        )  # fmt: skip
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(n):
                query = own.ask()
                own.tell(query, model.simulated_outcomes(truth[None], query.candidates, rng)[0])
            draws = own.estimator_.posterior_draws(999, rng)
        seconds += time.process_time() - begun
        below.append(((draws < truth).sum(axis=0) + 0.5) / 1000)
        prior = model.prior_draws(999, rng).std(axis=0)
        widths.append(np.subtract(*np.quantile(draws, [0.95, 0.05], axis=0)) / prior)
    shares = np.concatenate(below)
    return result(central(shares, shares), float(np.mean(widths)), np.nan, seconds / 10)
