"""hpfrec on counts of pairs, inside its own environment.

    python factorization.py IN.npz OUT.npz COMPONENTS [RUNS MOST_ITERATIONS]

IN holds ``users``, ``items`` and ``y``; OUT gets CPU seconds of the fits to the peer's own stop, and their iterations:
of one run of the peer's settings, or of several, each from another start.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from hpfrec import HPF


def main(source, target, components, runs=1, most=100):
    """Fit, write."""
    stored = np.load(source)
    table = pd.DataFrame({"UserId": stored["users"], "ItemId": stored["items"], "Count": stored["y"]})
    options = {"k": components, "ncores": 1, "verbose": False, "reindex": True, "keep_all_objs": False}
    seconds, iterations = [], []
    for seed in range(runs):
        model = HPF(**options, random_seed=seed, maxiter=most)
        start = time.process_time()
        model.fit(table.copy())
        seconds.append(time.process_time() - start)
        iterations.append(int(getattr(model, "niter", 0)))
    np.savez(target, seconds=seconds if runs > 1 else seconds[0], iterations=iterations if runs > 1 else iterations[0])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
