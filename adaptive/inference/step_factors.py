"""Expectation propagation of step factors: probability and moments of a Gaussian inside a polyhedron.

Z = int N(x | m, V) prod_i 1{b_i . x > c_i} dx,        (m', V') the moments of what is inside
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["step_factors"]


def step_factors(
    mean: ArrayLike,
    covariance: ArrayLike,
    directions: ArrayLike,
    offsets: ArrayLike = 0.0,
    *,
    max_iter: int = 100,
    tol: float = 1e-10,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log Z, mean and covariance of Gaussians truncated to half-spaces, by compiled rank-one EP.

    The fixed point is that of :func:`adaptive.inference.expectation_propagation` with `Step` potentials; a batch of
    small problems costs microseconds each.

    Parameters
    ----------
    mean : (d,) or (k, d) array
    covariance : (d, d) or (k, d, d) array
        Of one problem, or of each of k.
    directions : (n, d) or (k, n, d) array
        Rows b_i.
    offsets : float, (n,) or (k, n) array, default 0
        c_i.
    max_iter : int, default 100
        Sweeps over the n factors.
    tol : float, default 1e-10
        Largest change of a site in a sweep, in units of its cavity.

    Returns
    -------
    log_normaliser : () or (k,) array
        log Z: an approximation, exact for one factor.
    mean : (d,) or (k, d) array
    covariance : (d, d) or (k, d, d) array

    Raises
    ------
    ValueError
        If the shapes do not fit, or anything is not finite.

    Warns
    -----
    ConvergenceWarning
        If a problem needs more than ``max_iter`` sweeps.

    References
    ----------
    P. Hennig (2010), Approximate Inference in Graphical Models, appendix B; (B.16) for the normaliser.

    Examples
    --------
    Two independent numbers are in order with probability 1/2, and then apart by 2 / sqrt(pi) on average.

    >>> log_normaliser, mean, covariance = step_factors(np.zeros(2), np.eye(2), [[1.0, -1.0]])
    >>> float(np.exp(log_normaliser).round(12)), mean.round(4)
    (0.5, array([ 0.5642, -0.5642]))
    """
    from adaptive.inference.dense.step_kernel import solve_many

    m, V, B = (checks.finite(name, value) for name, value in
               (("mean", mean), ("covariance", covariance), ("directions", directions)))  # fmt: skip
    c = checks.finite("offsets", offsets)
    single = m.ndim == 1 and V.ndim == 2 and B.ndim == 2 and c.ndim <= 1
    lengths = {a.shape[0] for a, base in ((m, 1), (V, 2), (B, 2), (c, 1)) if a.ndim > base}
    if m.ndim not in (1, 2) or V.ndim not in (2, 3) or B.ndim not in (2, 3) or c.ndim > 2 or len(lengths) > 1:
        raise ValueError(
            "mean (d,), covariance (d, d), directions (n, d) and offsets (n,) may each have one more axis in front, of "
            f"one length; got shapes {m.shape}, {V.shape}, {B.shape} and {c.shape}."
        )
    k, d, n = lengths.pop() if lengths else 1, m.shape[-1], B.shape[-2]
    checks.shape("covariance", V[None] if V.ndim == 2 else V, (None, d, d))
    checks.shape("directions", B[None] if B.ndim == 2 else B, (None, None, d))
    m, V = (np.array(np.broadcast_to(a, (k, *a.shape[-r:]))) for a, r in ((m, 1), (V, 2)))
    B, c = np.ascontiguousarray(np.broadcast_to(B, (k, n, d))), np.ascontiguousarray(np.broadcast_to(c, (k, n)))
    logs, sweeps = solve_many(m, V, B, c, checks.integer("max_iter", max_iter, minimum=1), float(tol))
    if (sweeps < 0).any():
        warnings.warn(
            f"step_factors did not converge in {max_iter} sweeps in {int((sweeps < 0).sum())} of {k} problems.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return (logs[0], m[0], V[0]) if single else (logs, m, V)
