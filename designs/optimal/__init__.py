"""Classical optimal designs: D-, A-, E-, I- and V-optimal choices of runs for linear models, by exchange."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from designs.optimal.approximate import approximate_design
    from designs.optimal.certified import Efficiency
    from designs.optimal.coordinate import coordinate_exchange
    from designs.optimal.criteria import kiefer
    from designs.optimal.exchange import optimal_design
    from designs.optimal.frequentist import bayesian_gain, best_direction, frequentist_gain
    from designs.optimal.problem import OptimalDesign

__all__ = [
    "Efficiency",
    "OptimalDesign",
    "approximate_design",
    "bayesian_gain",
    "best_direction",
    "coordinate_exchange",
    "frequentist_gain",
    "kiefer",
    "optimal_design",
]

__getattr__, __dir__ = _lazily(__name__)
