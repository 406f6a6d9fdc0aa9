"""Posteriors as plain data, and back: the classes by their ``kind``."""

from __future__ import annotations

from typing import Any

from adaptive.checks import choice
from adaptive.inference.inclusion import IncludedPosterior
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior

__all__ = ["POSTERIORS", "posterior_state", "restored_posterior", "stated"]

POSTERIORS: dict[str, type[Posterior]] = {p.kind: p for p in (Posterior, IncludedPosterior, LargePosterior)}


def posterior_state(posterior: Posterior) -> dict[str, Any]:
    """Return arrays, numbers and strings from which ``restored_posterior`` rebuilds ``posterior``, to the last bit.

    Parameters
    ----------
    posterior : Posterior

    Returns
    -------
    dict
        Plain data: no pickles.

    Examples
    --------
    >>> from adaptive.inference import GLM, laplace_approximation
    >>> posterior = laplace_approximation(GLM([[1.0]], [1.0], potentials=[], B=[], prior_covariance=1.0))
    >>> posterior_state(posterior)["kind"]
    'posterior'
    """
    return posterior.state()


def restored_posterior(model: GLM, state: dict[str, Any]) -> Posterior:
    """Return the posterior over ``model`` that ``posterior_state`` described.

    Parameters
    ----------
    model : GLM
        The same as before.
    state : dict
        As `posterior_state` returned it.

    Returns
    -------
    Posterior

    Examples
    --------
    >>> from adaptive.inference import expectation_propagation
    >>> from adaptive.potentials import BernoulliLogit
    >>> model = GLM(B=[[1.0, 2.0]], potentials=BernoulliLogit([1]), prior_covariance=1.0)
    >>> posterior = expectation_propagation(model)
    >>> bool((restored_posterior(model, posterior_state(posterior)).mean == posterior.mean).all())
    True
    """
    state = stated(state)
    return POSTERIORS[choice("kind", state["kind"], POSTERIORS)].from_state(state, model)


def stated(state: dict[str, Any]) -> dict[str, Any]:
    """A posterior's state with its kind; of one written before kinds had names, the kind that its keys tell."""
    if "kind" in state:
        return state
    if "large" in state:
        return {"kind": "tree" if "tree" in state["large"] else "large", **state["large"]}
    kinds = {"draws": "empirical", "ridge": "mean_field", "updated": "sequential"}
    gaussian = {
        "kind": next((kind for key, kind in kinds.items() if key in state), None),  # None: chosen by size
        "base": None,
        "pi": None,
        "nu": None,
        **{key: state[key] for key in ("draws", "weights", "ridge") if key in state},
        **state.get("updated", {}),
    }
    return {"kind": "posterior", "active": None, **state, "gaussian": gaussian}
