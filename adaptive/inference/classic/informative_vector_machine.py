"""The informative vector machine: expectation propagation on the few rows that teach most, chosen greedily.

With V = K - M' M the covariance after the rows chosen so far, only M (d rows), the means h and variances zeta are kept:

    gain_j = -1/2 ln(1 + b_j zeta_j),    s = K[:, j] - M' M[:, j],    M <- [M; sqrt(-b_j) s'],
    h += a_j s,    zeta += b_j s^2,

O(q d^2) time and O(q d) memory for d of q rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator, integer
from adaptive.gaussians.with_sites import gaussian_with_sites
from adaptive.inference.classic.tilted import log_normaliser_derivatives, site
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.expectation_propagation import expectation_propagation
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["informative_vector_machine"]


def informative_vector_machine(
    model: GLM,
    *,
    n_active: int,
    n_scored: int | None = None,
    refine: bool = False,
    max_iter: int = 200,
    tol: float = 1e-6,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """Choose ``n_active`` rows by the entropy (nats) they take away, and believe those alone.

    Parameters
    ----------
    model : GLM
        One group of log-concave potentials, and a Gaussian prior.
    n_active : int
        Rows to choose.
    n_scored : int, optional
        Rows looked at per choice, at random; None: all.
    refine : bool, default False
        Let expectation propagation re-fit the sites of the chosen rows.
    max_iter, tol : int and float
        Of that.
    random_state : None, int or Generator
        Draws the rows that are looked at.
    warm_start : ignored
        Every engine takes it.
    form : {"precision", "covariance"}, optional
        Of the Gaussian over the chosen rows.

    Returns
    -------
    Posterior
        Sites are zero on rows not chosen; ``active`` holds the chosen ones in order. ``log_evidence``
        ("approximation") is that of the chosen rows: comparable for equal choices only.

    Raises
    ------
    ValueError
        If the model is more than one group of potentials and a Gaussian prior, or ``n_active`` is beyond the rows.

    References
    ----------
    Lawrence, Seeger and Herbrich (2003), Fast sparse Gaussian process methods: the informative vector machine.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliProbit
    >>> x = np.linspace(-3, 3, 30)
    >>> K = 4 * np.exp(-0.5 * (x[:, None] - x) ** 2) + 1e-9 * np.eye(30)
    >>> model = GLM(potentials=BernoulliProbit(np.sign(x)), prior_covariance=K)
    >>> posterior = informative_vector_machine(model, n_active=8)
    >>> len(posterior.active), bool(np.all(np.sign(posterior.mean) == np.sign(x)))
    (8, True)
    """
    problem = DenseProblem(model, "expectation_propagation", None, form)
    q = problem.size
    if q == 0 or len(model.groups) != 1 or model.X is not None or model.prior_covariance is None:
        raise ValueError("informative_vector_machine needs one group of potentials and a Gaussian prior, no data rows.")
    n_active = integer("n_active", n_active, minimum=1)
    if n_active > q:
        raise ValueError(f"n_active must be at most the {q} rows there are, got {n_active}.")
    looked_at = q if n_scored is None else integer("n_scored", n_scored, minimum=1)
    rng = generator(random_state)
    none = np.zeros(q)
    prior = problem.gaussian.refit(none, none)
    mean, variance = (np.array(a) for a in prior.marginals())
    chosen: list[int] = []
    sites: list[tuple[float, float]] = []
    kept = np.empty((n_active, q))
    log_evidence = 0.0
    free = np.ones(q, dtype=bool)
    for d in range(n_active):
        rows = np.flatnonzero(free)
        if looked_at < len(rows):
            rows = np.sort(rng.choice(rows, looked_at, replace=False))
        log_normaliser, first, second = log_normaliser_derivatives(problem.potential[rows], mean[rows], variance[rows])
        best = int(np.argmax(-np.log1p(second * variance[rows])))
        j, a, b = int(rows[best]), float(first[best]), float(second[best])
        sites.append(site(mean[j], variance[j], a, b))
        log_evidence += float(log_normaliser[best])
        s = prior.project_covariance(problem.rows, problem.rows[[j]])[:, 0] - kept[:d].T @ kept[:d, j]
        kept[d] = np.sqrt(max(-b, 0.0)) * s
        mean, variance = mean + a * s, np.maximum(variance + b * s * s, 0.0)
        chosen.append(j)
        free[j] = False
    pi, nu = (np.array(column) for column in zip(*sites, strict=True))
    active = np.array(chosen)
    n_iter, converged = n_active, True
    if refine:
        few = GLM(
            B=problem.rows[active],
            potentials=problem.potential[active],
            prior_mean=model.prior_mean,
            prior_covariance=model.prior_covariance,
        )
        refined = expectation_propagation(few, max_iter=max_iter, tol=tol)
        (pi, nu), log_evidence = refined.sites, refined.log_evidence
        n_iter, converged = refined.n_iter, refined.converged
    gaussian = gaussian_with_sites(
        problem.rows[active], prior_mean=model.prior_mean, prior_covariance=model.prior_covariance, form=form
    ).refit(pi, nu)
    everywhere = np.zeros((2, q))
    everywhere[:, active] = pi, nu
    return Posterior(
        gaussian,
        sites=(everywhere[0], everywhere[1]),
        group_lengths=model.group_lengths,
        log_evidence=log_evidence,
        evidence_kind="approximation",
        objective_trace=[-log_evidence] * n_iter,
        n_iter=n_iter,
        converged=converged,
        engine="informative_vector_machine",
        potential=problem.potential[active],
        active=active,
    )
