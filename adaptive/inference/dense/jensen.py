"""Jensen's lower bound on the log evidence, E_Q[ln P(y, u)] + H(Q), of a Gaussian Q given by sites on a base.

With ``log_volume`` = ln base(mean) + 1/2 ln|2 pi V|, the Gaussian part of the model contributes log_volume + 1/2 sum
pi_j var_j (the base's precision P_0 has tr(P_0 V) = n - sum pi_j var_j), the potentials their expected logarithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.gaussians.protocols import SiteGaussian

__all__ = ["jensen_bound"]


def jensen_bound(gaussian: SiteGaussian, variance: np.ndarray, expectation: np.ndarray) -> float:
    """log_volume + 1/2 pi' variance + sum expectation.

    Parameters
    ----------
    gaussian : SiteGaussian
    variance : (q,)
        Of its projections.
    expectation : (q,)
        E ln T_j under its marginals; -inf where a potential is zero on a half-line.

    References
    ----------
    Nickisch (2010), sections 2.5.2 and 4.7.
    """
    return float(gaussian.log_volume + 0.5 * (gaussian.pi @ variance) + np.sum(expectation))
