"""Softmax regression by a Gaussian over the weights of all classes:  y_i ~ softmax(s_i),  s_i = E (I x phi_i') beta.

With q = N(mean, covariance), and l the logarithm of the sum of exponentials of a row's scores,

    ln p(y) >= sum_i w_i ( E s_i,y - E l(s_i) ) - KL(q || prior)
            >= sum_i w_i ( m_i,y - bound(m_i, V_i) ) - KL(q || prior),

by Jensen's inequality, and by the tilted bound of :mod:`adaptive.potentials.softmax`.  At a maximum every row has a
Gaussian site of precision  H_i = w_i (diag(a_i) - a_i a_i')  and precision-mean  w_i (e_y - a_i) + H_i m_i.  The sites
move there along straight lines, which ascend (they are natural gradients; Khan and Rue, 2023), as far as the bound
rises, or where the last steps together point (Anderson's mixing) if it rises there: the objective never falls.

Where labels are in doubt, ln p(y) is ln sum_z L_z exp(s_z) - l(s), and Jensen's inequality makes of the first part
ln sum_z L_z exp(m_z), whose slope, the probabilities of the labels, takes the place of e_y.

The same steps with the logarithm's curvature at the mean are Newton's method for the mode: Laplace's approximation.
"""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, integer, positive
from adaptive.inference.dense.anderson import AndersonMixing
from adaptive.inference.softmax.softmax_posterior import SoftmaxPosterior, SoftmaxSites
from adaptive.potentials.softmax import contrasts, softmax_bound, softmax_mode

__all__ = ["softmax_regression"]

METHODS = ("variational_bounds", "laplace_approximation")
_MEMORY = 8  # steps that extrapolation looks at
_SHORTEST = 1e-3  # of a step; shorter ones are rounding


class _State:
    """A posterior, its objective, and the sites that it asks for."""

    def __init__(
        self,
        features: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray | None,
        sites: SoftmaxSites,
        mode: bool,
        tilt: np.ndarray | None,
        said: np.ndarray | None,
    ) -> None:
        basis = contrasts(targets.shape[1])
        self.posterior = SoftmaxPosterior(features, sites)
        mean, covariance = self.posterior.of_rows
        scores = mean @ basis.T
        bound = (softmax_mode if mode else softmax_bound)(scores, basis @ covariance @ basis.T, tilt)
        self.tilt = bound.tilt
        if said is None:
            cost = bound.value - np.einsum("ik,ik->i", targets, scores)
        else:
            joint = said + scores
            heard = np.logaddexp.reduce(joint, axis=1)
            targets, cost = np.exp(joint - heard[:, None]), bound.value - heard
        self.cost = float(cost.sum() if weights is None else weights @ cost)
        beta = self.posterior.mean
        self.objective = self.cost + (0.5 * float(beta @ beta) if mode else self.posterior.divergence())
        curvature, slope = basis.T @ bound.curvature @ basis, (targets - bound.tilt) @ basis
        if weights is not None:
            curvature, slope = weights[:, None, None] * curvature, weights[:, None] * slope
        masses = bound.tilt if weights is None else weights[:, None] * bound.tilt
        self.wanted = SoftmaxSites(curvature, slope + np.einsum("ikl,il->ik", curvature, mean), masses)


def _extrapolated(state: _State, mixing: AndersonMixing, weights: np.ndarray | None) -> SoftmaxSites | None:
    """Return the sites that the last steps together foretell; None before there are two."""
    present, mean, covariance = state.posterior.sites, *state.posterior.of_rows
    deviations = np.sqrt(np.einsum("ikk->ik", covariance))
    copies = np.ones(len(mean)) if weights is None else np.where(weights > 0, weights, np.inf)
    each = 1.0 / np.sqrt(copies)[:, None]  # a row of weight w is w rows, each with a share of its site
    products = deviations[:, :, None] * deviations[:, None, :]

    def units(step: np.ndarray) -> np.ndarray:
        """Changes of sites per unit of the marginals: of their precisions, and of their slopes at the means."""
        change = present.unpacked(step)
        slope = change.precision_mean - np.einsum("ikl,il->ik", change.precision, mean)
        precision = change.precision * products * each[:, None]
        return np.concatenate([precision.ravel(), (slope * deviations * each).ravel()])

    point = present.packed()
    mixing.add(point[None], state.wanted.packed()[None] - point)
    far = mixing.next(units)
    return None if far is None else present.unpacked(far[0])


def softmax_regression(
    features: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    *,
    weights: np.ndarray | None = None,
    method: str = "variational_bounds",
    max_iter: int = 100,
    tol: float = 1e-4,
    warm_start: SoftmaxPosterior | None = None,
    said: np.ndarray | None = None,
) -> SoftmaxPosterior:
    """Return the Gaussian approximation of the weights' posterior.

    Parameters
    ----------
    features : (m, r) array
        Rows in coordinates in which the prior of every contrast's weights is a standard normal.
    codes : (m,) array of int
        Classes 0 to c - 1.
    n_classes : int
        c >= 2.
    weights : (m,) array, optional
        Of the rows; a row of weight w counts as w equal answers.
    method : {"variational_bounds", "laplace_approximation"}
    max_iter : int, default 100
    tol : float, default 1e-4
        Stop when a step changes the objective by less than tol (1 + |objective|).
    warm_start : SoftmaxPosterior, optional
        Of the same classes; rows may have been appended, and the coordinates may be others.
    said : (m, c) array, optional
        Log likelihoods of every class, in place of ``codes``, where labels are in doubt.

    Returns
    -------
    SoftmaxPosterior
        ``evidence_kind`` is "lower_bound" or "approximation"; ``objective_trace`` holds what is lowered, the negative
        bound or the negative log joint density.

    References
    ----------
    D. Knowles and T. Minka (2011), section 5.  M. Khan and H. Rue (2023), The Bayesian learning rule.

    Examples
    --------
    >>> posterior = softmax_regression(np.array([[1.0], [-1.0]]), np.array([0, 2]), 3)
    >>> posterior.evidence_kind, bool(posterior.log_evidence < np.log(1 / 9) + 0.5)
    ('lower_bound', True)
    """
    choice("method", method, METHODS)
    max_iter, tol = integer("max_iter", max_iter, minimum=1), float(positive("tol", tol, or_zero=True))
    mode = method == "laplace_approximation"
    targets = np.eye(n_classes)[codes]
    problem = features, targets, weights
    sites = SoftmaxSites.none(len(codes), n_classes - 1)
    if warm_start is not None:
        sites = warm_start.sites.grown(len(codes))
    state = _State(*problem, sites, mode, None, said)
    trace: list[float] = []
    converged, share, easy, mixing = False, 1.0, True, AndersonMixing(_MEMORY)
    while not converged and len(trace) < max_iter:
        value, present = state.objective, state.posterior.sites
        slack = 1e-12 * (1.0 + abs(value))
        new, length, far = None, 1.0, None
        if share < 1.0:  # whole steps are quick, and the algebra of their sites is cheap
            far = _extrapolated(state, mixing, weights)
        if far is not None:
            with suppress(np.linalg.LinAlgError):  # they may make no Gaussian
                new = _State(*problem, far, mode, state.tilt, said)
        if new is None or not new.objective <= value + slack:
            mixing.keep_last()
            share = min(1.0, 2.0 * share) if easy else share
            easy = True
            while True:
                new = _State(*problem, present.towards(state.wanted, share), mode, state.tilt, said)
                if new.objective <= value + slack or share < _SHORTEST:
                    break
                share, easy = 0.5 * share, False
            length = share
        if new.objective > value + slack:  # no ascent but by rounding
            converged = True
        else:
            converged = value - new.objective <= tol * (1.0 + abs(value)) * length
            state = new
        trace.append(state.objective)
    if state.posterior.sites.masses is None:  # a whole step has sites of the form that predictions are cheap with
        new = _State(*problem, state.wanted, mode, state.tilt, said)
        state = new if new.objective <= state.objective + 1e-12 * (1.0 + abs(state.objective)) else state
    if not converged:
        warnings.warn(
            f"softmax regression by {method} has not converged after {len(trace)} iterations; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    posterior = state.posterior
    posterior.log_evidence = -state.objective - (posterior.half_log_determinant if mode else 0.0)
    posterior.evidence_kind = "approximation" if mode else "lower_bound"
    posterior.objective_trace, posterior.n_iter = np.array(trace), len(trace)
    posterior.converged, posterior.engine = converged, method
    return posterior
