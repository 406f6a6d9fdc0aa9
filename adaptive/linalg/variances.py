"""Marginal variances diag(C A^-1 C^T) of projections by rows C (default: the model's own B): four ways.

    exact      from the dense inverse root
    lanczos    diag(C Q T^-1 Q^T C^T), below the truth, slow to reach it
    sampled    mean of s^2, s = C u, u = A^-1 g a perturb-and-MAP sample
    probing    mean of v * (C A^-1 C^T v), v random signs

The last two are unbiased, and much less noisy with a circulant M close to A as control variate (`control_variates`).
In the model's own rows 0 <= z_j <= 1 / pi_j; estimates are clipped there, and the share that had to be is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg

from adaptive.checks import generator, integer
from adaptive.linalg.circulant import Circulant
from adaptive.linalg.conjugate_gradients import conjugate_gradients
from adaptive.linalg.control_variates import circulant_variances, controlled_variance, regressed
from adaptive.linalg.lanczos import lanczos_variances
from adaptive.linalg.linear_system import PrecisionOperator, groups_of
from adaptive.linalg.perturbations import Perturbations
from adaptive.operators import Operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Projections, RandomState

__all__ = ["Variances", "exact", "lanczos", "probing", "sampled"]


class Variances(NamedTuple):
    """Result of every estimator of variances.

    Attributes
    ----------
    estimate : array (q,)
        Variances of the projections, group after group, within [0, 1 / site precision].
    standard_error : array (q,)
        Of the estimate before clipping; zero for `exact`, nan for `lanczos`, which is a lower bound.
    info : dict
        n_products; share_clipped and raw (the unclipped estimate) of the unbiased ones; samples and control (u and
        M^-1 g) of `sampled`.

    Examples
    --------
    >>> found = exact(PrecisionOperator(B=np.eye(2), site_precision=[1.0, 4.0]))
    >>> found.estimate, found.standard_error
    (array([1.  , 0.25]), array([0., 0.]))
    """

    estimate: np.ndarray
    standard_error: np.ndarray
    info: dict[str, Any]


def exact(system: PrecisionOperator, *, rows: Projections | None = None) -> Variances:
    """diag(C A^-1 C^T) = sum_k (C r_k)^2 with A^-1 = sum_k r_k r_k^T, from the dense Cholesky factor.

    Parameters
    ----------
    system : PrecisionOperator
        The precision A; refused above 11585 unknowns.
    rows : Operator, matrix or list, optional
        The projections C; default the system's own groups.

    Returns
    -------
    Variances

    Raises
    ------
    ValueError
        If the precision is singular.

    References
    ----------
    Golub and Van Loan (2013), Matrix computations, section 4.2.

    Examples
    --------
    >>> exact(PrecisionOperator(B=np.eye(2), site_precision=[1.0, 4.0])).estimate
    array([1.  , 0.25])
    """
    groups = _groups(system, rows)
    try:
        factor = scipy.linalg.cholesky(system.to_dense(), lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        raise ValueError(f"the precision of {system.n} unknowns must be positive definite; it is singular.") from None
    roots, _ = scipy.linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)  # rows r_k
    estimate = np.zeros(sum(group.shape[0] for group in groups))
    step = max(1, 2**22 // max(system.n, len(estimate)))
    for first in range(0, system.n, step):
        images = np.ascontiguousarray(roots[first : first + step]).reshape(-1, *system.input_shape)
        s = _project(groups, images)
        estimate += np.einsum("bq,bq->q", s, s.conj()).real
    return Variances(estimate, np.zeros_like(estimate), {"n_products": system.n})


def lanczos(
    system: PrecisionOperator,
    n_steps: int,
    *,
    rows: Projections | None = None,
    reorthogonalise: str = "full",
    start: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Variances:
    """Lower bounds from ``n_steps`` Lanczos products (Nickisch 2010, algorithm 3.2).

    Parameters
    ----------
    system : PrecisionOperator
        The precision A.
    n_steps : int
        Products; as many as there are unknowns give the truth.
    rows : Operator, matrix or list, optional
        The projections C; default the system's own groups.
    reorthogonalise : {"full", "none"}, default "full"
        Without it the memory of former vectors is saved, and the bound no longer guaranteed.
    start : array of the unknown's shape, optional
        Starting vector, default Gaussian.
    random_state : None, int or Generator
        Draws the start.

    Returns
    -------
    Variances
        Lower bounds; without standard errors.

    References
    ----------
    Nickisch (2010), algorithm 3.2.

    Examples
    --------
    >>> A = PrecisionOperator(B=np.eye(3), site_precision=[1.0, 2.0, 4.0])
    >>> lanczos(A, 3, random_state=0).estimate.round(9)
    array([1.  , 0.5 , 0.25])
    >>> bool(np.all(lanczos(A, 2, random_state=0).estimate <= [1.0, 0.5, 0.25]))
    True
    """
    groups = _groups(system, rows)
    if start is None:
        start = generator(random_state).standard_normal(system.input_shape)
    before = system.n_products
    estimate, run = lanczos_variances(
        system.apply, lambda u: _project(groups, u), np.asarray(start)[None], n_steps, reorthogonalise=reorthogonalise
    )
    info = {"n_products": system.n_products - before, "tridiagonal": run}
    return Variances(estimate, np.full_like(estimate, np.nan), info)


def sampled(
    system: PrecisionOperator,
    perturbations: Perturbations | int,
    *,
    rows: Projections | None = None,
    circulant: Circulant | None = None,
    preconditioner: Callable[[np.ndarray], np.ndarray] | None = None,
    start: ArrayLike | None = None,
    tol: float = 2e-2,
    max_iter: int = 750,
    random_state: RandomState = None,
) -> Variances:
    """Unbiased estimates from perturb-and-MAP samples, with M^-1 g as control variate where M is given.

    Parameters
    ----------
    system : PrecisionOperator
        The precision A.
    perturbations : Perturbations or int
        Common random numbers to be kept across calls, or a number of samples drawn afresh. 8 to 32 samples are usual.
    rows : Operator, matrix or list, optional
        The projections C; default the system's own groups.
    circulant : Circulant, optional
        M, from `circulant_preconditioner`: preconditioner and control variate.
    preconditioner : callable, optional
        Used in the place of M^-1.
    start : array (n_samples, *input_shape), optional
        Former samples (``info["samples"]``) at other site precisions, for the same perturbations.
    tol : float, default 2e-2
        Relative residual of every sample in the norm of M^-1, an estimate of its error in the norm of A. Estimates come
        out too small by about tol^2 in well-conditioned models, by 2 percent at 2e-2 in stiff ones; a hundred samples
        with the control variate deserve 3e-3.
    max_iter : int, default 750
        Iterations of conjugate gradients.
    random_state : None, int or Generator
        Used if ``perturbations`` is a number.

    Returns
    -------
    Variances

    References
    ----------
    Papandreou and Yuille (2010), Gaussian sampling by local perturbations.

    Examples
    --------
    >>> A = PrecisionOperator(B=np.eye(2), site_precision=[1.0, 4.0])
    >>> z, error, info = sampled(A, 400, random_state=0)
    >>> bool(np.all(np.abs(info["raw"] - [1.0, 0.25]) < 4 * error)), info["samples"].shape
    (True, (400, 2))
    """
    groups = _groups(system, rows)
    if not isinstance(perturbations, Perturbations):
        perturbations = Perturbations(perturbations, random_state)
    before = system.n_products
    inverse = None if circulant is None else circulant.inverse()
    g = perturbations.right_hand_sides(system)
    control = None if inverse is None else inverse(g)
    solution = conjugate_gradients(
        system.apply,
        g,
        start=start,
        preconditioner=preconditioner or inverse,
        preconditioned=control if preconditioner is None else None,
        norm="preconditioned",
        tol=tol,
        max_iter=max_iter,
    )
    known = None if inverse is None else circulant_variances(inverse, groups)
    parts, first = [], 0
    for group in groups:  # one after the other: their projections are the largest arrays
        s = group.forward(solution.x).reshape(len(g), -1)
        if control is None or known is None:
            parts.append(controlled_variance(s))
        else:
            m = known[first : first + group.shape[0]]
            parts.append(controlled_variance(s, group.forward(control).reshape(len(g), -1), m))
        first += group.shape[0]
        del s
    del known
    raw, error = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    del parts
    info = {
        "n_products": system.n_products - before,
        "n_preconditionings": solution.n_preconditionings + (0 if inverse is None else len(g)),
        "samples": solution.x,
        "control": control,
        "residuals": solution.residuals,
    }
    return _within_bounds(system, rows, raw, error, info)


def probing(
    system: PrecisionOperator,
    n_probes: int,
    *,
    rows: Projections | None = None,
    circulant: Circulant | None = None,
    preconditioner: Callable[[np.ndarray], np.ndarray] | None = None,
    tol: float = 1e-2,
    max_iter: int = 750,
    random_state: RandomState = None,
) -> Variances:
    """Unbiased estimates v * (C A^-1 C^T v), v random signs, one group of rows at a time; with M as control variate.

    Parameters
    ----------
    system : PrecisionOperator
        The precision A.
    n_probes : int
        Solves for each group, at least 3.
    rows : Operator, matrix or list, optional
        The projections C; default the system's own groups. ``Identity(shape)`` asks for the pixels' variances.
    circulant, preconditioner, max_iter
        As in `sampled`.
    tol : float, default 1e-2
        As in `sampled`.
    random_state : None, int or Generator
        Draws the signs.

    Returns
    -------
    Variances

    Raises
    ------
    ValueError
        If the rows are complex.

    References
    ----------
    Bekas, Kokiopoulou and Saad (2007), An estimator for the diagonal of a matrix.

    Examples
    --------
    >>> A = PrecisionOperator(B=np.eye(2), site_precision=[1.0, 4.0])
    >>> probing(A, 3, random_state=0).estimate.round(9)
    array([1.  , 0.25])
    """
    groups = _groups(system, rows)
    rng = generator(random_state)
    n_probes = integer("n_probes", n_probes, minimum=3)
    before = system.n_products
    inverse = None if circulant is None else circulant.inverse()
    known = None if inverse is None else circulant_variances(inverse, groups)
    raws, errors, first = [], [], 0
    for group in groups:
        if group.dtype.kind == "c":
            raise ValueError(f"rows must be real for probing, got {group}: stack real and imaginary part.")
        signs = rng.integers(0, 2, (n_probes, *group.output_shape)) * 2.0 - 1.0
        g = group.adjoint(signs)
        x = conjugate_gradients(system.apply, g, preconditioner=preconditioner or inverse, tol=tol, max_iter=max_iter).x
        values = (signs * group.forward(x)).reshape(n_probes, -1)
        m = None if known is None else known[first : first + group.shape[0]]
        first += group.shape[0]
        if inverse is not None and m is not None and not np.isnan(m).any():
            values = regressed(values, (signs * group.forward(inverse(g))).reshape(n_probes, -1) - m)
        raws.append(values.mean(axis=0))
        errors.append(values.std(axis=0, ddof=1) / np.sqrt(n_probes))
    info = {"n_products": system.n_products - before}
    return _within_bounds(system, rows, np.concatenate(raws), np.concatenate(errors), info)


def _groups(system: PrecisionOperator, rows: Projections | None) -> list[Operator]:
    groups = system.groups if rows is None else groups_of(rows)
    if not groups:
        raise ValueError("rows must be given where the system has no projections of its own.")
    for group in groups:
        if group.input_shape != system.input_shape:
            raise ValueError(f"rows must act on unknowns of shape {system.input_shape}, got {group}.")
    return groups


def _project(groups: Sequence[Operator], u: np.ndarray) -> np.ndarray:
    parts = [group.forward(u).reshape(len(u), -1) for group in groups]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _within_bounds(
    system: PrecisionOperator, rows: Projections | None, raw: np.ndarray, error: np.ndarray, info: dict[str, Any]
) -> Variances:
    """Clip to [0, 1 / site precision], which holds for the system's own rows."""
    upper = np.inf
    if rows is None:
        upper = np.divide(1.0, system.site_precision, out=np.full(len(raw), np.inf), where=system.site_precision > 0)
    estimate = np.clip(raw, 0.0, upper)
    info = {**info, "raw": raw, "share_clipped": float(np.mean(estimate != raw))}
    return Variances(estimate, error, info)
