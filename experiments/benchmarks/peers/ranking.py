"""hpfrec or implicit on counts of pairs, each inside its own environment, at every setting of a list.

    python ranking.py hpfrec|implicit IN.npz OUT.npz '[{"k": 5, ...}, ...]'

IN holds ``users``, ``items``, ``y``, ``lengths``; OUT gets factors ``users_0``, ``items_0``, ..., and CPU ``seconds``.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def by_hpfrec(stored, setting):
    """Means of gamma factors, zeros observed."""
    import pandas as pd
    from hpfrec import HPF

    table = pd.DataFrame({"UserId": stored["users"], "ItemId": stored["items"], "Count": stored["y"]})
    model = HPF(ncores=1, verbose=False, random_seed=0, reindex=False, keep_all_objs=False, **setting).fit(table)
    return model.Theta, model.Beta


def by_implicit(stored, setting):
    """Weighted alternating least squares, zeros observed with the least weight."""
    import scipy.sparse as sp
    from implicit.als import AlternatingLeastSquares

    table = sp.csr_matrix((stored["y"], (stored["users"], stored["items"])), shape=tuple(stored["lengths"]))
    model = AlternatingLeastSquares(use_gpu=False, num_threads=1, random_state=0, **setting)
    model.fit(table.astype(np.float32), show_progress=False)
    return model.user_factors, model.item_factors


def main(kind, source, target, settings):
    """Fit, write."""
    stored = dict(np.load(source))
    found, seconds = {}, []
    for k, setting in enumerate(settings):
        start = time.process_time()
        factors = {"hpfrec": by_hpfrec, "implicit": by_implicit}[kind](stored, setting)
        seconds.append(time.process_time() - start)
        for name, factor, n in zip(("users", "items"), factors, stored["lengths"], strict=True):
            whole = np.zeros((n, factor.shape[1]))  # ids beyond the last that was counted
            whole[: len(factor)] = factor[:n]
            found[f"{name}_{k}"] = whole
    np.savez(target, seconds=seconds, **found)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
