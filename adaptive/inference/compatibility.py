"""Which potential goes with which approximation: table 4.6 of Nickisch (2010), completed.

The answer follows from what a potential says about itself (smooth, log_concave, bound, support), so a new potential or
engine needs no entry here beyond that. A refusal is one sentence: the pair, the reason, an accepted alternative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice

if TYPE_CHECKING:
    from adaptive.inference.model import GLM
    from adaptive.potentials.base import Potential
    from adaptive.types import Number, Potentials

__all__ = ["ENGINES", "as_gaussian", "compatible", "refusal", "require_compatible"]

ENGINES = (
    "exact",
    "map_estimate",
    "laplace_approximation",
    "expectation_propagation",
    "variational_gaussian",
    "variational_bounds",
    "mean_field",
    "annealed_importance",
)


def as_gaussian(potential: Potential) -> tuple[Number, Number] | None:
    """Variance and location if the potential is a Gaussian density, which every engine treats exactly; else None."""
    moments = potential.gaussian_moments()
    if moments is None or potential.weights is not None:  # a weighted one is no density: its constant would be lost
        return None
    return moments[1], moments[0]


def refusal(potential: Potential, engine: str) -> str | None:
    """Why ``engine`` refuses ``potential``, in one sentence with an accepted alternative; None where it does not.

    Parameters
    ----------
    potential : Potential
        With its outcomes, where these matter (a rectified Poisson).
    engine : str
        Name of an inference function.

    References
    ----------
    Nickisch (2010), table 4.6.
    """
    reason = _reason(potential, choice("engine", engine, ENGINES))
    if reason is None:
        return None
    alternatives = ("expectation_propagation", "variational_bounds", "laplace_approximation", "variational_gaussian")
    other = next((one for one in alternatives if _reason(potential, one) is None), "annealed_importance")
    return f"{engine} refuses {potential.name} potentials: {reason}; use {other}."


def _reason(potential: Potential, engine: str) -> str | None:
    if as_gaussian(potential) is not None:
        return None
    lower, upper = (np.asarray(end, dtype=float) for end in potential.support)
    bounded = bool(np.any(np.isfinite(lower)) or np.any(np.isfinite(upper)))
    if engine == "exact":
        return "the posterior is not Gaussian"
    if engine == "map_estimate" and bounded and _flat(potential, lower):
        return "a constraint is flat inside its support"
    if engine == "laplace_approximation" and not np.all(potential.smooth):
        return "its log density has a kink or an edge, where the curvature at the mode is infinite or undefined"
    if engine == "expectation_propagation" and not np.all(potential.log_concave):
        return "it is not log-concave, so that site precisions may be negative and nothing guarantees convergence"
    if engine == "variational_gaussian" and bounded:
        return "its expected log density is -infinity under any Gaussian"
    if engine == "variational_bounds" and potential.bound is None:
        return "it has no Gaussian lower bound (it is not super-Gaussian)"
    return None


def _flat(potential: Potential, lower: np.ndarray) -> bool:
    """Return whether the potential is a mere constraint, constant inside its support."""
    inside = np.where(np.isfinite(lower), lower, 0.0) + np.array([[0.5], [2.0]])
    return not np.any(potential.derivatives(inside)[0])


def compatible(likelihood: Potentials, engine: str) -> bool:
    """Return whether ``engine`` accepts a potential (or every one of a list).

    Parameters
    ----------
    likelihood : Potential or list of Potential
    engine : str
        Name of an inference function.

    Returns
    -------
    bool

    Examples
    --------
    >>> from adaptive.potentials import Laplace, StudentT
    >>> compatible(Laplace(1.0), "laplace_approximation"), compatible(StudentT(3.0, 1.0), "laplace_approximation")
    (False, True)
    """
    potentials: Sequence[Potential] = likelihood if isinstance(likelihood, (list, tuple)) else [likelihood]  # type: ignore[list-item]
    return all(refusal(p, engine) is None for p in potentials)


def require_compatible(model: GLM, engine: str) -> None:
    """Raise ValueError with the refusal of the first group that ``engine`` does not accept."""
    for _, potential in model.groups:
        sentence = refusal(potential, engine)
        if sentence is not None:
            raise ValueError(sentence)
