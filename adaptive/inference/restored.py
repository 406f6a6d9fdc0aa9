"""A posterior as plain data, and back: the sites and the diagnostics; the Gaussian is refitted to the sites.

Engines end with one factorisation at their final sites, so the posterior that comes back is the same to the last bit;
of one whose covariance was kept by updates the numbers themselves are the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.gaussians.empirical_form import EmpiricalForm
from adaptive.gaussians.mean_field_form import MeanFieldForm
from adaptive.gaussians.sequential_form import SequentialForm
from adaptive.gaussians.updated_state import restore_updated, updated_state
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.dense.selective_propagation import SelectiveProblem
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.inference.matrix_free.reweighted_least_squares import Reweighted
from adaptive.inference.model import GLM
from adaptive.inference.posterior import DIAGNOSTICS, Posterior

__all__ = ["posterior_state", "restored_posterior"]

_BESIDE_SITES = ("ridge", "draws", "weights")  # of posteriors that are no Gaussian with sites


def posterior_state(posterior: Posterior) -> dict[str, Any]:
    """Return arrays, numbers and strings from which ``restored_posterior`` rebuilds ``posterior``."""
    if isinstance(posterior, LargePosterior):
        return {"large": posterior.state()}
    pi, nu = posterior.sites
    diagnostics = {name: getattr(posterior, name) for name in DIAGNOSTICS}
    state = {"pi": pi, "nu": nu, "group_lengths": list(posterior.group_lengths), **diagnostics}
    for name in _BESIDE_SITES:
        if hasattr(posterior.gaussian, name):
            state[name] = getattr(posterior.gaussian, name)
    if isinstance(posterior.gaussian, SequentialForm):
        state["updated"] = updated_state(posterior.gaussian)
    return state


def restored_posterior(model: GLM, state: dict[str, Any]) -> Posterior:
    """Return the posterior over ``model`` that ``posterior_state`` described.

    Examples
    --------
    >>> from adaptive.inference import expectation_propagation
    >>> from adaptive.potentials import BernoulliLogit
    >>> model = GLM(B=[[1.0, 2.0]], potentials=BernoulliLogit([1]), prior_covariance=1.0)
    >>> posterior = expectation_propagation(model)
    >>> bool(np.all(restored_posterior(model, posterior_state(posterior)).mean == posterior.mean))
    True
    """
    if "large" in state:
        return LargePosterior.restored(Reweighted(model).system, state["large"])
    sites = np.asarray(state["pi"], dtype=float), np.asarray(state["nu"], dtype=float)
    lengths = [int(k) for k in state["group_lengths"]]
    at_sites = Posterior(None, mean=np.zeros(model.n), sites=sites, group_lengths=lengths)
    problem: DenseProblem
    if "updated" in state:
        problem = SelectiveProblem(model, at_sites, str(state["updated"]["form"]))
    else:
        problem = DenseProblem(model, state["engine"], warm_start=at_sites, force=True)
    gaussian: Any
    if "draws" in state:
        gaussian = EmpiricalForm(np.asarray(state["draws"]), np.asarray(state["weights"]))
    elif "ridge" in state:
        assert problem.warm_sites is not None
        gaussian = MeanFieldForm(problem.gaussian, problem.rows, float(state["ridge"])).refit(*problem.warm_sites)
    elif "updated" in state:
        gaussian = restore_updated(problem.gaussian, state["updated"], *sites)
    else:
        problem.start()
        gaussian = problem.gaussian
    diagnostics = {name: state[name] for name in DIAGNOSTICS}
    return Posterior(gaussian, sites=sites, group_lengths=lengths, potential=problem.potential, **diagnostics)
