"""Beliefs about two classes at several prior scales, fitted in one compiled loop where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import inference
from adaptive.estimators.linear.binary_belief import BinaryBelief, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adaptive.estimators.linear.settings import LogisticSettings
    from adaptive.estimators.rows.training import LabelledRows

__all__ = ["compiles", "fitted_together"]

MOST_FEATURES = 64  # above, a factorisation by LAPACK is worth a call for every node
MOST_NUMBERS = 2**17  # of rows times features


def compiles(settings: LogisticSettings, data: LabelledRows) -> bool:
    """Whether the compiled loop serves: EP of a logit with a Gaussian prior, on a dense table of moderate size."""
    plain = settings.prior == "gaussian" and settings.link == "logit"
    narrow = isinstance(data.X, np.ndarray) and data.X.shape[1] <= MOST_FEATURES and data.X.size <= MOST_NUMBERS
    return plain and narrow and settings.inference == "expectation_propagation"


def fitted_together(
    settings: Mapping[int, LogisticSettings], data: LabelledRows, starts: Mapping[int, BinaryBelief]
) -> dict[int, BinaryBelief | None]:
    """Return the belief at each of the settings' prior scales; None where the loop did not settle.

    Parameters
    ----------
    settings : by node
    data : LabelledRows
    starts : by node, of the first of these rows; may be empty
    """
    from adaptive.estimators.linear.logit_nodes import logit_nodes  # compiles when it is first used

    problem = Problem(next(iter(settings.values())), data)
    m, n_features = data.X.shape
    pi, nu = np.zeros((2, len(settings), m))
    for at, k in enumerate(settings):
        if k in starts:
            sites = starts[k].posterior.sites
            pi[at, : len(sites[0])], nu[at, : len(sites[1])] = sites
    scales = [float(one.prior_scale or 1.0) for one in settings.values()]
    variances = np.stack([one.prior_variances(n_features) for one in settings.values()])
    first = next(iter(settings.values()))
    found = logit_nodes(
        problem.features, problem.signs, variances, pi, nu, tol=first.tol, max_iter=first.max_iter, counts=data.weights
    )
    beliefs: dict[int, BinaryBelief | None] = {}
    for at, (k, scale) in enumerate(zip(settings, scales, strict=True)):
        beliefs[k] = None
        if found.converged[at]:
            described: dict[str, Any] = {
                "pi": found.pi[at], "nu": found.nu[at], "group_lengths": [m], "log_evidence_std": 0.0,
                "log_evidence": float(found.log_evidence[at]), "evidence_kind": "approximation",
                "objective_trace": [-float(found.log_evidence[at])], "n_iter": int(found.n_iter[at]), "n_products": 0,
                "converged": True, "engine": "expectation_propagation",
            }  # fmt: skip
            posterior = inference.restored_posterior(problem.model(scale), described)
            beliefs[k] = BinaryBelief(settings[k], data, posterior, scale, m)
    return beliefs
