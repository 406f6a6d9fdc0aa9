"""ln|A|: exact by a dense factorisation, or by stochastic Lanczos quadrature with its standard error.

    ln|A| = ln|M| + tr ln(C),   C = M^-1/2 A M^-1/2,   tr ln(C) = E v^T ln(C) v,   v random signs,
    v^T ln(C) v ~ n sum_i t_i^2 ln(theta_i)         (theta_i: Ritz values from start v, t_i: first components)

The circulant M, whose ln|M| has a closed form, takes most of the variance and of the condition number away; M = I where
there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator, integer
from adaptive.linalg.circulant import Circulant
from adaptive.linalg.lanczos import tridiagonalise
from adaptive.linalg.linear_system import PrecisionOperator

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["log_determinant", "stochastic_log_determinant"]


def log_determinant(system: PrecisionOperator) -> float:
    """ln|A| from the Cholesky factor of the dense matrix.

    Parameters
    ----------
    system : PrecisionOperator
        The precision A.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If A is not positive definite or too large to be formed.

    References
    ----------
    Golub and Van Loan (2013), Matrix computations, section 4.2.

    Examples
    --------
    >>> print(round(log_determinant(PrecisionOperator(B=np.eye(2), site_precision=[1.0, np.e])), 12))
    1.0
    """
    try:
        factor = np.linalg.cholesky(system.to_dense())
    except np.linalg.LinAlgError:
        raise ValueError(f"the precision of {system.n} unknowns must be positive definite; it is singular.") from None
    return float(2 * np.log(np.diag(factor)).sum())


def stochastic_log_determinant(
    system: PrecisionOperator,
    *,
    n_probes: int = 10,
    n_steps: int = 30,
    circulant: Circulant | None = None,
    random_state: RandomState = None,
) -> tuple[float, float]:
    """ln|A| and its standard error by stochastic Lanczos quadrature.

    Parameters
    ----------
    system : PrecisionOperator
        The matrix A; ``n_probes * n_steps`` products are spent.
    n_probes : int, default 10
        Independent probes, at least 2.
    n_steps : int, default 30
        Lanczos steps of each; no reorthogonalisation is needed for a quadrature.
    circulant : Circulant, optional
        The control variate M, from `circulant_preconditioner`.
    random_state : None, int or Generator
        Draws the probes.

    Returns
    -------
    estimate, standard_error : float
        The error is that of the probes. Too few steps bias the quadrature upwards; the relative residual of the
        extreme Ritz values tells (`tridiagonalise`).

    Raises
    ------
    ValueError
        If the precision is not positive definite.

    References
    ----------
    Ubaru, Chen and Saad (2017), Fast estimation of tr(f(A)) via stochastic Lanczos quadrature.

    Examples
    --------
    >>> A = PrecisionOperator(B=np.diag([1.0, 2.0, 3.0]))
    >>> value, error = stochastic_log_determinant(A, n_probes=4, n_steps=3, random_state=0)
    >>> print(round(np.exp(value), 6), error < 1e-9)
    36.0 True
    """
    n_probes = integer("n_probes", n_probes, minimum=2)
    probes = generator(random_state).integers(0, 2, (n_probes, *system.input_shape)) * 2.0 - 1.0
    product: Callable[[np.ndarray], np.ndarray]
    if circulant is None:
        product, known = system.apply, 0.0
    else:
        root, known = circulant.inverse_root(), circulant.log_determinant()

        def product(u: np.ndarray) -> np.ndarray:
            return root(system.apply(root(u)))

    run = tridiagonalise(product, probes, n_steps, reorthogonalise="none")
    values = np.empty(n_probes)
    for probe in range(n_probes):
        theta, _, first = run.ritz(probe)
        if theta[0] <= 0:
            raise ValueError(
                f"the precision of {system.n} unknowns must be positive definite; a Ritz value is {theta[0]:.1e}."
            )
        values[probe] = system.n * (first**2 * np.log(theta)).sum()
    return float(known + values.mean()), float(values.std(ddof=1) / np.sqrt(n_probes))
