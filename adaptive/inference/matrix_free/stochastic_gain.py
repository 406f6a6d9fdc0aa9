"""What very many further rows tell of a large Gaussian, by stochastic log-determinants on the same probes:

1/2 log|I + X A^-1 X' / noise|  =  1/2 log|A + X' X / noise| - 1/2 log|A|
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.linalg import Circulant, PrecisionOperator, stochastic_log_determinant
from adaptive.operators import Operator

__all__ = ["stochastic_gain"]

N_PROBES, N_STEPS = 16, 30


def stochastic_gain(
    system: PrecisionOperator, rows: Operator, noise: float, circulant: Circulant | None
) -> tuple[float, float]:
    """Information of ``rows`` together, in nats, and its standard error.

    Parameters
    ----------
    system : PrecisionOperator
        A.
    rows : Operator
        X, real.
    noise : float
        Variance of each outcome.
    circulant : Circulant, optional
        Close to A, as a preconditioner.
    """
    (after, error_after), (before, error_before) = (
        stochastic_log_determinant(one, n_probes=N_PROBES, n_steps=N_STEPS, circulant=circulant, random_state=0)
        for one in (_WithRows(system, rows, noise), system)
    )
    return 0.5 * (after - before), 0.5 * float(np.hypot(error_after, error_before))


class _WithRows(PrecisionOperator):
    """A + X' X / noise."""

    def __init__(self, system: PrecisionOperator, rows: Operator, noise: float):
        self.__dict__.update(system.__dict__)
        self._system, self._rows, self._noise = system, rows, noise

    def apply(self, u: Any) -> np.ndarray:
        return self._system.apply(u) + self._rows.normal(np.asarray(u)) / self._noise
