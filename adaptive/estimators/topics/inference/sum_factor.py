"""A linear regression  y = f . z + noise  with independent beliefs about its weights, fitted one datum at a time.

    message to z_e:  precision  f_e^2 / (r + B - f_e^2 s_e),   mean  (m - A + f_e m_e) / f_e
    A = sum_e f_e m_e,   B = sum_e f_e^2 s_e;   the datum says y = m with variance r

All messages of a datum at once give the exact marginals of the joint posterior after it; the correlations, which they
leave out, would tell that several data speak of the same sums, so that beliefs become too sure over many data. Beliefs
are kept by their precision and precision times mean; for K regressions with the same features, in (F, K) tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

if TYPE_CHECKING:
    import numpy as np

__all__ = ["divide", "forecast", "forget", "learn"]


@numba.njit(cache=True)
def forecast(
    columns: np.ndarray, values: np.ndarray, precision: np.ndarray, shift: np.ndarray, mean: np.ndarray,
    variance: np.ndarray,
) -> None:  # fmt: skip
    """Fill the (K,) means A and variances B of  f . z  for the features ``values`` in ``columns``."""
    mean[:] = 0.0
    variance[:] = 0.0
    for e in range(len(columns)):
        c, f = columns[e], values[e]
        for k in range(len(mean)):
            s = 1.0 / precision[c, k]
            mean[k] += f * shift[c, k] * s
            variance[k] += f * f * s


@numba.njit(cache=True)
def learn(
    columns: np.ndarray, values: np.ndarray, precision: np.ndarray, shift: np.ndarray, mean: np.ndarray,
    variance: np.ndarray, said_precision: np.ndarray, said_shift: np.ndarray, noise: np.ndarray, messages: np.ndarray,
) -> None:  # fmt: skip
    """Multiply a datum's messages into the tables, and keep them in ``messages`` (E, K, 2) unless that is empty.

    The datum speaks of y, which has variance ``noise`` (K,) about f . z, with these precisions and precisions times
    means (K,); ``mean`` and ``variance`` are what ``forecast`` gave. Where it says nothing there is no message.
    """
    for e in range(len(columns)):
        c, f = columns[e], values[e]
        for k in range(len(mean)):
            w = said_precision[k]
            own_precision, own_shift = 0.0, 0.0
            if w > 1e-12 and f != 0.0:
                s = 1.0 / precision[c, k]
                m = shift[c, k] * s
                share = f / (1.0 + w * (noise[k] + max(variance[k] - f * f * s, 0.0)))
                own_precision = share * f * w
                own_shift = share * (said_shift[k] - w * (mean[k] - f * m))
            if len(messages):
                messages[e, k, 0] = own_precision
                messages[e, k, 1] = own_shift
            shift[c, k] += own_shift
            precision[c, k] += own_precision


@numba.njit(cache=True)
def divide(columns: np.ndarray, messages: np.ndarray, precision: np.ndarray, shift: np.ndarray, least: float) -> int:
    """Divide a datum's messages out again; those that would leave a precision below ``least`` stay, and are counted."""
    skipped = 0
    for e in range(len(columns)):
        c = columns[e]
        for k in range(messages.shape[1]):
            if precision[c, k] - messages[e, k, 0] < least:
                skipped += 1
                continue
            precision[c, k] -= messages[e, k, 0]
            shift[c, k] -= messages[e, k, 1]
    return skipped


@numba.njit(cache=True)
def forget(columns: np.ndarray, precision: np.ndarray, shift: np.ndarray, prior_precision: float, kept: float) -> None:
    """Draw precisions towards the prior's,  p <- p0 + kept (p - p0),  and leave the means (5.40)."""
    for e in range(len(columns)):
        c = columns[e]
        for k in range(precision.shape[1]):
            before = precision[c, k]
            after = prior_precision + kept * (before - prior_precision)
            shift[c, k] *= after / before
            precision[c, k] = after
