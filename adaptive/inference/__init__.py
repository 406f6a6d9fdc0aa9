"""From a model to a posterior: one approximation per file, all with the same arguments and the same result.

engine(model, *, max_iter, tol, random_state=None, warm_start=None, ...) -> Posterior

Priors that are no products of potentials have rooms of their own: `trees`, wavelet coefficients that take after their
parents. In `classic` is what the field tried before.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.inference.annealed_importance import annealed_importance
    from adaptive.inference.compatibility import compatible
    from adaptive.inference.evidence.evidence_gradient import evidence_gradient, evidence_sensitivity
    from adaptive.inference.evidence.potential_gradient import potential_gradient
    from adaptive.inference.expectation_propagation import expectation_propagation
    from adaptive.inference.inclusion import IncludedPosterior, include, include_site
    from adaptive.inference.kinds import posterior_state, restored_posterior
    from adaptive.inference.laplace_approximation import laplace_approximation
    from adaptive.inference.map_estimate import map_estimate
    from adaptive.inference.matrix_free.large_posterior import LargePosterior
    from adaptive.inference.mean_field import mean_field
    from adaptive.inference.model import GLM
    from adaptive.inference.penalties import FromPotential, Logarithmic, Power, Quadratic, Zero
    from adaptive.inference.posterior import Posterior
    from adaptive.inference.step_factors import step_factors
    from adaptive.inference.variational_bounds import variational_bounds
    from adaptive.inference.variational_gaussian import variational_gaussian

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
    "step_factors",
    "variational_bounds",
    "variational_gaussian",
]

__getattr__, __dir__ = _lazily(__name__)
