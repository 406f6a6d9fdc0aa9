"""hpfrec on counts of pairs, inside its own environment.

    python factorization.py IN.npz OUT.npz COMPONENTS

IN holds ``users``, ``items`` and ``y``; OUT gets CPU seconds of the fit to the peer's own stop, and its iterations.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from hpfrec import HPF


def main(source, target, components):
    """Fit, write."""
    stored = np.load(source)
    table = pd.DataFrame({"UserId": stored["users"], "ItemId": stored["items"], "Count": stored["y"]})
    model = HPF(k=components, ncores=1, verbose=False, random_seed=0, reindex=True, keep_all_objs=False)
    start = time.process_time()
    model.fit(table)
    np.savez(target, seconds=time.process_time() - start, iterations=int(getattr(model, "niter", 0)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
