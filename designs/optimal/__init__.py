"""Classical optimal designs: D-, A-, E-, I- and V-optimal choices of runs for linear models, by exchange."""

from .approximate import approximate_design
from .coordinate import coordinate_exchange
from .criteria import kiefer
from .exchange import optimal_design
from .frequentist import bayesian_gain, best_direction, frequentist_gain
from .problem import OptimalDesign

__all__ = [
    "OptimalDesign",
    "approximate_design",
    "bayesian_gain",
    "best_direction",
    "coordinate_exchange",
    "frequentist_gain",
    "kiefer",
    "optimal_design",
]
