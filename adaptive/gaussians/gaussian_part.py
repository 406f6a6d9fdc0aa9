"""Gaussian part of a model, prod_i N(t_i | g_i . u, r_i) N(u | mu, S), and the rows B that carry sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from adaptive.gaussians.projection_rows import ProjectionRows
    from adaptive.linalg.low_rank_covariance import LowRankCovariance
    from adaptive.types import Covariance, Matrix

__all__ = ["LOG_2PI", "GaussianPart"]

LOG_2PI = float(np.log(2 * np.pi))


class GaussianPart(NamedTuple):
    """The arguments of a form with sites: what its state leaves out, since the model has it.

    Parameters
    ----------
    rows : array or sparse matrix (q, n), or ProjectionRows
        B, the projections that carry sites; `SequentialForm` takes them as operators.
    data_rows, data, data_variance : (m, n), (m,), (m,), optional
        G, t and r of the normalised Gaussian rows N(data | data_rows u, data_variance).
    prior_mean : (n,), optional
        mu, default zero.
    prior_covariance : float, (n,), (n, n) or LowRankCovariance, optional
        S; None: no prior, and data and sites together must determine u.

    Examples
    --------
    >>> from adaptive.gaussians import gaussian_with_sites
    >>> part = GaussianPart(np.eye(2), prior_covariance=np.eye(2))
    >>> form = gaussian_with_sites(**part._asdict()).refit(np.zeros(2), np.zeros(2))
    >>> form.mean
    array([0., 0.])
    """

    rows: Matrix | ProjectionRows
    data_rows: Matrix | None = None
    data: np.ndarray | None = None
    data_variance: np.ndarray | None = None
    prior_mean: np.ndarray | None = None
    prior_covariance: Covariance | LowRankCovariance | None = None
