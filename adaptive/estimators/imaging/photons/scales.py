"""Prior scales of counted images where the evidence of expectation propagation is largest.

    ln P(y; f)  =  ln Z(f) + sum_k (q_k - n q_k / q) ln(2 f scale_k)

for a common factor f of the scales: a prior of q projections of n unknowns has a normaliser of the power n of all
scales together, while Z has densities of all q (`adaptive.estimators.imaging.scales` has the same rule).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

if TYPE_CHECKING:
    from adaptive.estimators.imaging.model import Engine
    from adaptive.estimators.imaging.photons.model import PhotonModel
    from adaptive.inference import Posterior

__all__ = ["learn_photon_scales", "photon_evidence"]

FACTORS = (0.02, 50.0)  # of the literature's scales, within which the best is looked for
STEPS, TOL = 14, 0.05  # evaluations at most, and change of the factor's logarithm


def photon_evidence(model: PhotonModel, scales: dict[str, float], posterior: Posterior) -> float:
    """The evidence of the counts up to a constant, normalised as a density of the pixels."""
    rows = {name: model.prior.rows(name) for name in model.prior.names}
    missing = 1.0 - np.prod(model.prior.shape) / sum(rows.values())
    return float(posterior.log_evidence + missing * sum(rows[name] * np.log(2 * scales[name]) for name in rows))


def learn_photon_scales(
    model: PhotonModel, start: dict[str, float], engine: Engine
) -> tuple[dict[str, float], Posterior]:
    """Return the best multiple of the scales ``start``, and the posterior there.

    References
    ----------
    Ko (2017), section 2.1.5: a grid over the scale by the evidence of expectation propagation.
    """
    found: dict[float, tuple[float, dict[str, float], Posterior]] = {}

    def objective(log_factor: float) -> float:
        scales = {name: float(np.exp(log_factor)) * scale for name, scale in start.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # far from the best scales
            posterior = model.posterior(scales, engine, 0)
        value = -photon_evidence(model, scales, posterior)
        found[log_factor] = (value, scales, posterior)
        return value

    bounds = tuple(np.log(FACTORS))
    minimize_scalar(objective, bounds=bounds, method="bounded", options={"maxiter": STEPS, "xatol": TOL})
    _, scales, posterior = min(found.values(), key=lambda entry: entry[0])
    return scales, posterior
