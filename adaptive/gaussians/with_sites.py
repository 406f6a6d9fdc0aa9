"""A dense Gaussian with sites: base(u) times prod_j exp(nu_j s_j - pi_j s_j^2 / 2), s = B u.

The base is a product of normalised Gaussian factors, data rows N(t | G u, r) and a prior N(u | mu, S), either of which
may be absent. The sites are what Laplace's method, expectation propagation and variational bounds adjust. Three
representations with one interface:

* :class:`PrecisionForm` factorises the n x n matrix P_0 + B' diag(pi) B;
* :class:`CovarianceForm` factorises I + W^1/2 K W^1/2 over the rows, K their prior covariance, and never inverts K or
  S: for fewer rows than unknowns, and for kernel matrices;
* :class:`LowRankForm` factorises an r x r matrix, for a prior covariance V V' + diag(d) with r columns in V.

Every engine's log evidence is ``log_volume`` plus one term per row, where

    log_volume = log base(mean) + 1/2 log|2 pi V|,    V the covariance,

a sum without large cancelling parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.gaussians.covariance_form import CovarianceForm
from adaptive.gaussians.factorised_form import FactorisedForm
from adaptive.gaussians.low_rank_form import LowRankForm
from adaptive.gaussians.precision_form import PrecisionForm
from adaptive.gaussians.single_precision_form import SinglePrecisionForm
from adaptive.gaussians.unit_rows_form import UnitRowsForm
from adaptive.linalg.low_rank_covariance import LowRankCovariance

if TYPE_CHECKING:
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.types import Covariance, DType, Matrix

__all__ = ["FACTORISED", "LARGEST_DENSE", "gaussian_with_sites", "require_dense", "unfitted_form"]

FACTORISED: dict[str, type[FactorisedForm]] = {
    form.kind: form for form in (PrecisionForm, CovarianceForm, LowRankForm, UnitRowsForm, SinglePrecisionForm)
}
LARGEST_DENSE = 20_000  # unknowns (rows) of a dense factor: 3 GB, and minutes on one core


def gaussian_with_sites(
    rows: Matrix,
    *,
    data_rows: Matrix | None = None,
    data: np.ndarray | None = None,
    data_variance: np.ndarray | None = None,
    prior_mean: np.ndarray | None = None,
    prior_covariance: Covariance | LowRankCovariance | None = None,
    form: str | None = None,
    dtype: DType = float,
) -> FactorisedForm:
    """Choose the representation: by rows where a prior covariance is given and there are no more rows than unknowns.

    Parameters
    ----------
    rows, data_rows, data, data_variance, prior_mean, prior_covariance
        As of :class:`~adaptive.gaussians.gaussian_part.GaussianPart`. A prior covariance of low rank has a form of its
        own, in the place of "covariance".
    form : {"precision", "covariance"}, optional
        Overrides the choice.
    dtype : {float32, float64}, default float64
        Of the factor of the precision matrix, where rows are dense; other factors are double.

    Returns
    -------
    FactorisedForm
        Without sites yet: call ``refit(pi, nu)``.

    Raises
    ------
    ValueError
        If the prior covariance is of low rank and ``form`` is "precision".

    Examples
    --------
    >>> import numpy as np
    >>> g = gaussian_with_sites(np.eye(2), prior_covariance=1.0).refit(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    >>> g.mean, g.marginals()[1]
    (array([1., 0.]), array([0.5, 1. ]))
    """
    q, n = rows.shape
    m = 0 if data_rows is None else data_rows.shape[0]
    if isinstance(prior_covariance, LowRankCovariance):
        if form == "precision":
            raise ValueError('form must be None or "covariance" with a low-rank prior covariance, got "precision".')
        return LowRankForm(rows, data_rows, data, data_variance, prior_mean, prior_covariance)
    if form is None:
        form = "covariance" if prior_covariance is not None and m + q <= n else "precision"
    size = m + q if form == "covariance" else n
    require_dense(size, n, m + q)
    build: type[FactorisedForm] = CovarianceForm if form == "covariance" else PrecisionForm
    if form == "precision" and np.ndim(1.0 if prior_covariance is None else prior_covariance) < 2:
        build = UnitRowsForm if UnitRowsForm.pays(rows, data_rows) else PrecisionForm
    if build is PrecisionForm and np.dtype(dtype) == np.float32:
        build = SinglePrecisionForm
    return build(rows, data_rows, data, data_variance, prior_mean, prior_covariance)


def unfitted_form(kind: str | None, part: GaussianPart) -> FactorisedForm:
    """The form of that kind, without sites; None: the one that `gaussian_with_sites` chooses."""
    return gaussian_with_sites(**part._asdict()) if kind is None else FACTORISED[kind](*part)


def require_dense(size: int, n: int, rows: int) -> None:
    """Refuse a posterior whose matrix would be too large."""
    if size > LARGEST_DENSE:
        raise ValueError(
            f"a dense posterior over {n} unknowns and {rows} rows would factorise a matrix of {size} x {size} "
            f"({8e-9 * size**2:.0f} GB); at most {LARGEST_DENSE} rows are allowed; "
            'variational_bounds with variances="sampled" or "lanczos" forms no matrix.'
        )
