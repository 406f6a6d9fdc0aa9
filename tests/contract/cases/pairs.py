"""Who plays how often, and who takes what is shown."""

from __future__ import annotations

import numpy as np

from adaptive import PairedSymbols, PoissonFactorization
from tests.contract.case import Case

PLAYED = [(u, i) for u in range(6) for i in range(12) if (u + 2 * i) % 3]
UNPLAYED = [(u, i) for u in range(6) for i in range(12) if (u + 2 * i) % 3 == 0][::2]
TWICE = PLAYED * 2


def played(pairs):
    """Users of one half play items of one half, the others the others."""
    return np.array([2.0 if (u < 3) == (i < 6) else float((u + i) % 3 == 0) for u, i in pairs])


def taken(pairs):
    """Whether a pair that was shown is taken: within halves."""
    return np.array([int((u < 3) == (i < 6)) for u, i in pairs])


def factorization(**options):
    return lambda: PoissonFactorization(
        2, item_variance=0.1, fit_bias=False, tol=1e-9, max_iter=1000, random_state=0, **options
    )


def one_user():
    return factorization()().fit(TWICE, played(TWICE)).user(3)


def paired():
    return PairedSymbols(2, user_precision=4.0, item_precision=4.0, bias_precision=1.0, random_state=0)


CASES = [
    *(
        Case(
            f"PoissonFactorization {kind}", factorization(inference=kind), UNPLAYED, (TWICE, played(TWICE)), played,
            given=None if kind == "map" else "direction",  # of a point nothing is uncertain
        )
        for kind in ("mean_field", "full", "em", "map")
    ),
    Case(
        "PoissonFactorization's user", one_user, list(range(12)), ([1, 4], np.array([0.0, 2.0])),
        lambda items: played([(3, i) for i in items]), given="direction",
    ),
    Case(
        "PairedSymbols", paired, UNPLAYED, (TWICE, taken(TWICE)), taken, target=PLAYED[:4], given="direction",
    ),
]  # fmt: skip
