"""From a model to a posterior: one approximation per file, all with the same arguments and the same result.

engine(model, *, max_iter, tol, random_state=None, warm_start=None, ...) -> Posterior

Priors that are no products of potentials have rooms of their own: `trees`, wavelet coefficients that take after their
parents. In `classic` is what the field tried before.
"""

from .annealed_importance import annealed_importance
from .compatibility import compatible
from .evidence_gradient import evidence_gradient, evidence_sensitivity
from .expectation_propagation import expectation_propagation
from .inclusion import IncludedPosterior, include, include_site
from .laplace_approximation import laplace_approximation
from .large_posterior import LargePosterior
from .map_estimate import map_estimate
from .mean_field import mean_field
from .model import GLM
from .penalties import FromPotential, Logarithmic, Power, Quadratic, Zero
from .posterior import Posterior
from .potential_gradient import potential_gradient
from .restored import posterior_state, restored_posterior
from .variational_bounds import variational_bounds
from .variational_gaussian import variational_gaussian

__all__ = [
    "GLM",
    "FromPotential",
    "IncludedPosterior",
    "LargePosterior",
    "Logarithmic",
    "Posterior",
    "Power",
    "Quadratic",
    "Zero",
    "annealed_importance",
    "compatible",
    "evidence_gradient",
    "evidence_sensitivity",
    "expectation_propagation",
    "include",
    "include_site",
    "laplace_approximation",
    "map_estimate",
    "mean_field",
    "posterior_state",
    "potential_gradient",
    "restored_posterior",
    "variational_bounds",
    "variational_gaussian",
]
