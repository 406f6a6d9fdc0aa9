"""implicit's alternating least squares on pairs, inside its own environment.

    python paired_symbols.py IN.npz OUT.npz COMPONENTS

IN holds ``users`` and ``items``; OUT gets the CPU seconds of a sweep over both sides, one thread: the difference of 25
and 5 sweeps.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np
from implicit.als import AlternatingLeastSquares
from scipy import sparse


def main(source, target, components):
    """Fit, write."""
    stored = np.load(source)
    table = sparse.csr_matrix((np.ones(len(stored["users"]), np.float32), (stored["users"], stored["items"])))
    seconds = {}
    for sweeps in (5, 25):
        model = AlternatingLeastSquares(factors=components, iterations=sweeps, num_threads=1, random_state=0)
        start = time.process_time()
        model.fit(table, show_progress=False)
        seconds[sweeps] = time.process_time() - start
    np.savez(target, seconds=(seconds[25] - seconds[5]) / 20)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
