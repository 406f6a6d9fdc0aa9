"""Gradient of the log evidence with respect to the Gaussian prior's covariance S.

Where the engine's parameters are stationary (expectation propagation, variational bounds, exact), only the explicit
part remains: with a = S^-1 (mean - mu) and E = S^-1 - S^-1 V S^-1,

    d ln Z = 1/2 a' dS a - 1/2 tr(E dS).

Laplace's method is stationary in the mode of the joint density, not of its own evidence; there the curvature follows
the mode, which adds sum_j 1/2 var_j d3_j ds_j, d3 the third derivative of ln T and du = V S^-1 dS a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite
from adaptive.gaussians import CovarianceForm, DowndatedForm, FactorisedForm, LowRankForm, MeanFieldForm
from adaptive.inference.compatibility import as_gaussian
from adaptive.inference.model import GLM
from adaptive.linalg.matrices import dense, is_identity
from adaptive.potentials.grouped import grouped

if TYPE_CHECKING:
    from adaptive.inference.posterior import Posterior
    from adaptive.types import ArrayLike, Covariance

__all__ = ["evidence_gradient", "evidence_sensitivity"]


def evidence_gradient(model: GLM, posterior: Posterior, prior_covariance_derivative: ArrayLike | None = None) -> float:
    """Derivative of ``posterior.log_evidence`` with respect to a parameter of the Gaussian prior's covariance.

    Parameters
    ----------
    model : GLM
        With a prior covariance.
    posterior : Posterior
        Converged, of that model.
    prior_covariance_derivative : float, (n,) or (n, n), optional
        dS/d theta, a diagonal where it has one axis. Default 2 S: theta is the log of a factor common to all prior
        standard deviations.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the model has no prior covariance, the posterior is a point estimate, or a derivative has another shape.

    References
    ----------
    Rasmussen and Williams (2006), sections 5.5.1 and 5.5.2; Nickisch and Rasmussen (2008).

    Examples
    --------
    >>> from adaptive.inference import GLM, expectation_propagation
    >>> from adaptive.potentials import BernoulliProbit
    >>> def fit(log_scale):
    ...     model = GLM(B=[[1.0, 0.0], [1.0, 2.0]], potentials=BernoulliProbit([1, 1]),
    ...                 prior_covariance=np.exp(2 * log_scale))
    ...     return model, expectation_propagation(model, tol=1e-10)
    >>> slope = (fit(1e-4)[1].log_evidence - fit(-1e-4)[1].log_evidence) / 2e-4
    >>> bool(np.isclose(evidence_gradient(*fit(0.0)), slope))
    True
    """
    if model.prior_covariance is None:
        raise ValueError("evidence_gradient needs a model with a prior_covariance.")
    gaussian = posterior.gaussian
    if not isinstance(gaussian, FactorisedForm):
        raise ValueError("evidence_gradient needs a posterior of a dense engine, not a point estimate.")
    change: Covariance | None = None
    if prior_covariance_derivative is not None:
        array = finite("prior_covariance_derivative", prior_covariance_derivative)
        if array.shape not in ((), (model.n,), (model.n, model.n)):
            raise ValueError(
                f"prior_covariance_derivative must be a number or have shape ({model.n},) or ({model.n}, {model.n}), "
                f"got {array.shape}."
            )
        change = float(array) if array.ndim == 0 else array
    gradient = gaussian.prior_sensitivity(change)
    active = [(b, p) for b, p in model.groups if as_gaussian(p) is None]
    if posterior.engine == "laplace_approximation" and active:
        potential = grouped([p for _, p in active], [b.shape[0] for b, _ in active])
        s, variance = gaussian.marginals()
        moved = gaussian.prior_response(change)
        ds = np.concatenate([b.forward(moved.reshape(b.input_shape)).ravel() for b, _ in active])
        gradient += 0.5 * float(np.sum(variance * potential.third_derivative(s) * ds))
    return float(gradient)


def evidence_sensitivity(
    model: GLM | None, posterior: Posterior, along: ArrayLike | None = None
) -> tuple[np.ndarray, ...]:
    """Derivatives of ``posterior.log_evidence`` in every entry of the prior's covariance, and of its mean.

    For hyper-parameters theta of a kernel and of a mean function, d ln Z = sum(first * dK) + second . dmu, so that one
    factorisation serves all of them.

    Parameters
    ----------
    model : GLM or None
        With a full prior covariance, of which the rows of B are the unknowns themselves, as of a Gaussian process. Only
        a posterior by Laplace's method needs it.
    posterior : Posterior
        Converged, of that model, in the covariance form or the low-rank one.
    along : (n, k) array, optional
        Only with the low-rank form, which never writes out (n, n): columns to multiply the first derivative with.

    Returns
    -------
    covariance : (n, n) array, symmetric; with ``along`` (n, k), its product with the columns
    diagonal : (n,) array, of the same, only with ``along``
    mean : (n,) array

    Raises
    ------
    ValueError
        If the posterior is not in the covariance form.

    References
    ----------
    Rasmussen and Williams (2006), sections 5.5.1 and 5.5.2; Nickisch and Rasmussen (2008).

    Examples
    --------
    >>> from adaptive.inference import GLM, expectation_propagation
    >>> from adaptive.potentials import BernoulliProbit
    >>> K = np.array([[2.0, 0.5], [0.5, 1.0]])
    >>> model = GLM(potentials=BernoulliProbit([1, 1]), prior_covariance=K)
    >>> posterior = expectation_propagation(model, tol=1e-10, form="covariance")
    >>> whole = np.sum(evidence_sensitivity(model, posterior)[0] * 2 * K)
    >>> bool(np.isclose(whole, evidence_gradient(model, posterior)))
    True
    """
    gaussian = posterior.gaussian
    if not isinstance(gaussian, (CovarianceForm, LowRankForm, DowndatedForm)):
        raise ValueError(f"evidence_sensitivity needs a posterior in the covariance form, got {posterior!r}.")
    if along is not None:
        return _along(model, posterior, finite("along", along))
    if is_identity(gaussian.rows) and isinstance(gaussian, CovarianceForm):
        reduced, slope = gaussian.reduction(), gaussian.slope
    else:
        rows = dense(gaussian.rows)
        reduced, slope = rows.T @ gaussian.reduce(rows), rows.T @ gaussian.slope
    covariance = 0.5 * (np.outer(slope, slope) - reduced)
    if isinstance(gaussian, MeanFieldForm):  # its ridge is relative to the mean prior variance of the projections
        by_row = 0.5 * (gaussian.slope @ gaussian.slope - np.trace(gaussian.reduce(np.eye(gaussian.size))))
        whole = dense(gaussian.rows)
        covariance += gaussian.ridge * by_row / gaussian.size * (whole.T @ whole)
    response = _response(model, posterior)
    if response is None:
        return covariance, slope
    covariance += 0.5 * (np.outer(response, slope) + np.outer(slope, response))
    return covariance, slope + response


def _along(model: GLM | None, posterior: Posterior, columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same in products with the rows."""
    gaussian = posterior.gaussian
    if not isinstance(gaussian, LowRankForm):
        raise ValueError(f"evidence_sensitivity(along=...) needs a posterior in the low-rank form, got {posterior!r}.")
    rows = gaussian.rows
    slope = np.asarray(rows.T @ gaussian.slope)
    covariance = np.outer(slope, slope @ columns) - np.asarray(rows.T @ gaussian.reduce(np.asarray(rows @ columns)))
    diagonal = slope**2 - np.asarray(rows.T @ gaussian.reduction_diagonal())
    response = _response(model, posterior)
    mean = slope
    if response is not None:
        covariance += np.outer(response, slope @ columns) + np.outer(slope, response @ columns)
        diagonal = diagonal + 2.0 * response * slope
        mean = slope + response
    return 0.5 * covariance, 0.5 * diagonal, mean


def _response(model: GLM | None, posterior: Posterior) -> np.ndarray | None:
    """Add to the slope what the curvature does that follows the mode, in Laplace's method."""
    if posterior.engine != "laplace_approximation" or model is None:
        return None
    gaussian, active = posterior.gaussian, [(b, p) for b, p in model.groups if as_gaussian(p) is None]
    if not active:
        return None
    assert isinstance(gaussian, (CovarianceForm, LowRankForm))
    potential = grouped([p for _, p in active], [b.shape[0] for b, _ in active])
    s, variance = gaussian.marginals()
    pull = np.zeros(len(gaussian.slope))
    pull[len(pull) - len(s) :] = 0.5 * variance * potential.third_derivative(s)
    return np.asarray(gaussian.rows.T @ (pull - gaussian.reduce(gaussian.prior @ pull)))
