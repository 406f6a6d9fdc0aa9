"""From a model to a posterior: one approximation per file, all with the same arguments and the same result.

engine(model, *, max_iter, tol, random_state=None, warm_start=None, ...) -> Posterior
"""

from .compatibility import compatible
from .expectation_propagation import expectation_propagation
from .laplace_approximation import laplace_approximation
from .model import GLM
from .posterior import Posterior

__all__ = ["GLM", "Posterior", "compatible", "expectation_propagation", "laplace_approximation"]
