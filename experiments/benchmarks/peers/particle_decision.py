"""Decisions of optbayesexpt about 200 settings, inside its own environment.

    python particle_decision.py IN.npz OUT.npz

IN holds ``particles`` (k, d), ``weights``, ``settings`` (m,) and ``noise``; OUT gets, for each utility and number of
draws, the settings chosen in some repetitions and the CPU seconds of each.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from optbayesexpt import OptBayesExpt

WAYS = {
    "full_kld_all": ("full_kld_utility", None),
    "variance_all": ("variance_approx", None),
    "variance_30": ("variance_approx", 30),
}


def resonance(settings, parameters, constants):
    """The same curve as ours, in the words of the peer."""
    (x,) = settings
    centre, width, height, background = parameters
    return background + height / (1.0 + ((x - centre) / width) ** 2)


def main(source, target):
    """Decide, write."""
    stored, found = np.load(source), {}
    for name, (utility, n_draws) in WAYS.items():
        design = OptBayesExpt(
            resonance, (stored["settings"],), stored["particles"].T, (), utility_method=utility,
            n_draws=n_draws or len(stored["particles"]), default_noise_std=float(stored["noise"]),
        )  # fmt: skip
        design.set_pdf(stored["particles"].T, stored["weights"])
        design.opt_setting()
        taken, chosen = [], []
        for _ in range(int(stored["repeats"])):
            begun = time.process_time()
            design.opt_setting()
            taken.append(time.process_time() - begun)
            chosen.append(design.last_setting_index)
        found[f"{name}_seconds"], found[f"{name}_chosen"] = taken, chosen
    np.savez(target, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
