"""choix's expectation propagation on one person's comparisons, inside its own environment.

    python preferences.py IN.npz OUT.npz

IN holds ``winners``, ``losers``, ``n_items`` and ``precision`` of the prior; OUT gets mean, covariance and CPU seconds.
"""

from __future__ import annotations

import sys
import time

import choix
import numpy as np


def main(source, target):
    """Fit, write."""
    stored = np.load(source)
    data = list(zip(stored["winners"].tolist(), stored["losers"].tolist(), strict=True))
    start = time.process_time()
    mean, covariance = choix.ep_pairwise(int(stored["n_items"]), data, float(stored["precision"]), model="probit")
    np.savez(target, mean=mean, covariance=covariance, seconds=time.process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
