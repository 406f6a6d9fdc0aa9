"""ELFI's Bayesian synthetic likelihood about a decaying count, in the peer's environment.

    python synthetic_likelihood.py in.npz out.npz

In: outcomes (datasets, m), settings (m,), start (datasets, 2), proposal (2, 2), n_samples, n_simulations, seed. Out:
draws (datasets, n_samples, 2), seconds and simulated outcomes of each.
"""

from __future__ import annotations

import sys
import time
import warnings

import elfi
import numpy as np


def main(source: str, target: str) -> None:
    """One chain for each data set."""
    with np.load(source) as stored:
        given = {name: stored[name] for name in stored.files}
    settings, count = given["settings"], [0]

    def decay(start, rate, batch_size=1, random_state=None):
        mean = np.reshape(start, (-1, 1)) * np.exp(-np.reshape(rate, (-1, 1)) * settings)
        count[0] += batch_size * len(settings)
        return random_state.poisson(np.broadcast_to(mean, (batch_size, len(settings)))).astype(float)

    draws, seconds, simulated = [], [], []
    for outcomes, start, proposal in zip(given["outcomes"], given["start"], given["proposal"], strict=True):
        model, count[0] = elfi.ElfiModel(), 0
        first = elfi.Prior("gamma", 9.0, 0.0, 2.0, model=model, name="start")
        second = elfi.Prior("gamma", 4.0, 0.0, 0.5, model=model, name="rate")
        simulator = elfi.Simulator(decay, first, second, observed=outcomes[None], name="counts")
        elfi.Summary(lambda y: y, simulator, name="summary")
        each = int(given["n_simulations"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = elfi.BSL(model, each, feature_names="summary", batch_size=each, seed=int(given["seed"]))
            count[0], begun = 0, time.process_time()
            found = sampler.sample(
                int(given["n_samples"]), sigma_proposals=proposal, params0=start, param_names=["start", "rate"],
                bar=False,
            )  # fmt: skip
        seconds.append(time.process_time() - begun)
        simulated.append(count[0])
        draws.append(np.column_stack([found.samples["start"], found.samples["rate"]]))
    np.savez(target, draws=np.array(draws), seconds=np.array(seconds), simulated=np.array(simulated))


if __name__ == "__main__":
    main(*sys.argv[1:])
