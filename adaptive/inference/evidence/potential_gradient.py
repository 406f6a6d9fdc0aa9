"""Slope of the log evidence in a parameter of the potentials themselves, such as the scale of a sparse prior.

Where the engine's sites are stationary only the explicit dependence remains: with cavities, widths and moments fixed,

    expectation propagation:   sum_j d ln Z^_j(cavity_j),        Z^_j = int cavity_j T_j
    variational bounds:        -1/2 sum_j d h_j(width_j)
    variational Gaussian:      sum_j d E_{N(m_j, v_j)}[ln T_j]

each a difference between potentials at parameters a small step apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.inference.model import GLM

if TYPE_CHECKING:
    from adaptive.inference.posterior import Posterior
    from adaptive.potentials import Potential

__all__ = ["potential_gradient"]


def potential_gradient(
    model: GLM, posterior: Posterior, group: int, low: Potential, high: Potential, step: float
) -> float:
    """Derivative of ``posterior.log_evidence`` in a parameter of the potentials of one group.

    Parameters
    ----------
    model : GLM
    posterior : Posterior
        Converged, of that model, by "expectation_propagation" (fraction 1), "variational_bounds" or
        "variational_gaussian".
    group : int
        Position of the group in the model.
    low, high : Potential
        The potentials of that group with the parameter lower, and higher, by half a step.
    step : float

    Returns
    -------
    float
        Nats per unit of the parameter.

    Raises
    ------
    ValueError
        If the posterior is that of another engine.

    References
    ----------
    Seeger (2005), Expectation propagation for exponential families, for the sites; the formulas are those of
    this module's first lines.

    Examples
    --------
    >>> from adaptive.inference import GLM, expectation_propagation
    >>> from adaptive.potentials import Laplace
    >>> def fit(log_scale):
    ...     model = GLM([[1.0]], [2.0], 0.1, potentials=Laplace(np.exp(log_scale)))
    ...     return model, expectation_propagation(model, tol=1e-10)
    >>> slope = (fit(1e-4)[1].log_evidence - fit(-1e-4)[1].log_evidence) / 2e-4
    >>> by_potentials = potential_gradient(*fit(0.0), 0, Laplace(np.exp(-5e-5)), Laplace(np.exp(5e-5)), 1e-4)
    >>> bool(np.isclose(by_potentials, slope))
    True
    """
    rows = model.groups[group][0]
    start = sum(model.group_lengths[:group])
    part = slice(start, start + model.group_lengths[group])
    pi, nu = posterior.sites[0][part], posterior.sites[1][part]
    if posterior.engine == "variational_bounds":
        width = 1.0 / pi
        return -0.5 * float(np.sum(high.height(width) - low.height(width))) / step
    mean, variance = posterior.projection_moments(rows)
    if posterior.engine == "variational_gaussian":
        return float(np.sum(high.expectation(mean, variance) - low.expectation(mean, variance))) / step
    if posterior.engine != "expectation_propagation":
        raise ValueError(
            f"potential_gradient knows expectation_propagation, variational_bounds and variational_gaussian, got "
            f"{posterior.engine}."
        )
    cavity = np.maximum(1.0 / variance - pi, 1e-10 / variance)
    centre = (mean / variance - nu) / cavity
    normalisers = [potential.tilted_moments(centre, 1.0 / cavity)[0] for potential in (low, high)]
    return float(np.sum(normalisers[1] - normalisers[0])) / step
