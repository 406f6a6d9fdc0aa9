"""A rate that does not change: does the band of a Cox process hold it, where the mean is learnt with its uncertainty?

Events of a constant rate in 40 bins, 5, 20 or 80 of them to be expected; kernel and mean learnt. The share of the bins
whose 90% band holds the rate, by default and where a mean is given, which is learnt as a number, without uncertainty,
as in Ko (2017): the kernel then comes out flat, and the rate seems to be known.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaptive import CoxProcess
from adaptive.estimators.counts.regression_belief import inverse_rate
from experiments.script import Script, command

EXPECTED = (5, 20, 80)
RATES = ("rectified", "exp")
BINS = 40


def covered(rate: str, expected: int, mean: str, seeds: int) -> dict[str, Any]:
    """Share of the bins whose band holds the rate, and the bands' widths in rates."""
    X, truth = np.linspace(0.0, 100.0, BINS)[:, None], expected / BINS
    inside, width = [], []
    for seed in range(seeds):
        y = np.random.default_rng(seed).poisson(truth, BINS).astype(float)
        start = None if mean == "uncertain" else inverse_rate(rate, (y.sum() + 0.5) / BINS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a flat kernel ends at its bounds
            _, low, high = CoxProcess(rate=rate, overdispersion=None, mean=start).fit(X, y).intensity(X, 0.9)
        inside.append(np.mean((low <= truth) & (truth <= high)))
        width.append(np.mean(high - low) / truth)
    return {"inside": np.mean(inside), "width": np.mean(width)}


def run(script: Script) -> None:
    """Both means."""
    seeds, expected = (1, EXPECTED[1:2]) if script.quick else (12, EXPECTED)
    found = {
        mean: {(rate, n): script.kept("constant_rate", covered, rate, n, mean, seeds) for rate in RATES
               for n in expected}
        for mean in ("uncertain", "a number")
    }  # fmt: skip
    value = {
        mean: {", ".join(map(str, key)): round(float(one["inside"]), 3) for key, one in of.items()}
        for mean, of in found.items()
    }
    script.judge(
        "ours-counts-constant-rate", min(value["uncertain"].values()) >= 0.8,
        claim="Where the rate does not change, the 90% band of a Cox process with an uncertain mean holds it.",
        target="in 0.8 of the tables or more, for every rate function and number of events", value=value,
        reason=f"{seeds} tables of {BINS} bins each, with {', '.join(map(str, expected))} events expected. Until this "
        "was measured the mean was a number; the kernel's height and length still are.", seed=0,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
