"""The sparse online Gaussian process: one pass, a belief held by few basis rows, the others projected onto them.

    mean of f(x) = alpha' k(x),    covariance = k(x, x') + k(x)' C k(x'),    k(x) the prior covariance with the basis.

A row whose novelty gamma (prior variance given the basis) is below a tolerance changes alpha and C only; beyond the
capacity the basis row whose removal moves the mean least is deleted, which keeps the marginal of the others exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator, integer, positive
from adaptive.gaussians.downdated_form import DowndatedForm
from adaptive.inference.classic.tilted import log_normaliser_derivatives
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.gaussians import FactorisedForm
    from adaptive.types import Matrix, RandomState

__all__ = ["sparse_online"]

_JITTER = 1e-8
_REFRESH = 100  # insertions after which the inverse of the basis' covariance is computed afresh


def sparse_online(
    model: GLM,
    *,
    capacity: int | None = None,
    tolerance: float = 1e-6,
    keep_mean: bool = False,
    max_iter: int = 1,
    tol: float = 0.0,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """One pass with a bounded number of basis rows.

    Parameters
    ----------
    model : GLM
        One group of log-concave potentials, and a Gaussian prior.
    capacity : int, optional
        Basis rows at most; None: no limit.
    tolerance : float, default 1e-6
        Novelty, as a share of a row's prior variance, below which it is no new basis row.
    keep_mean : bool, default False
        Project such a row by the reversed Kullback-Leibler divergence (Csato 2002) instead.
    max_iter, tol, warm_start : ignored
        Every engine takes them.
    random_state : None, int or Generator
        Permutes the rows; None: in order.
    form : {"precision", "covariance"}, optional

    Returns
    -------
    Posterior
        Without sites (they would not be diagonal): of the reduced form, whose rows are the basis, ``active`` in order.

    Raises
    ------
    ValueError
        If the model is more than one group of potentials and a Gaussian prior.

    References
    ----------
    Csato and Opper (2002), Sparse on-line Gaussian processes.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliProbit
    >>> x = np.linspace(-3, 3, 30)
    >>> K = 4 * np.exp(-0.5 * (x[:, None] - x) ** 2) + 1e-9 * np.eye(30)
    >>> model = GLM(potentials=BernoulliProbit(np.sign(x)), prior_covariance=K)
    >>> posterior = sparse_online(model, capacity=8)
    >>> len(posterior.active), float(np.mean(np.sign(posterior.mean) == np.sign(x)))
    (8, 1.0)
    """
    problem = DenseProblem(model, "expectation_propagation", None, form)
    q = problem.size
    if q == 0 or len(model.groups) != 1 or model.X is not None or model.prior_covariance is None:
        raise ValueError("sparse_online needs one group of potentials and a Gaussian prior, no data rows.")
    capacity = q if capacity is None else integer("capacity", capacity, minimum=1)
    tolerance = float(positive("tolerance", tolerance, or_zero=True))
    none = np.zeros(q)
    prior = problem.gaussian.refit(none, none)
    prior_mean, prior_variance = (np.array(a) for a in prior.marginals())
    basis = _Basis(prior, problem.rows)
    log_evidence = 0.0
    for j in range(q) if random_state is None else generator(random_state).permutation(q):
        k, own = basis.covariances(int(j)), max(float(prior_variance[j]), np.finfo(float).tiny)
        mean = prior_mean[j] + float(basis.alpha @ k)
        variance = max(own + float(k @ basis.C @ k), 1e-12 * own)
        log_normaliser, first, second = log_normaliser_derivatives(
            problem.potential[j : j + 1], np.array([mean]), np.array([variance])
        )
        log_evidence += float(log_normaliser[0])
        basis.include(int(j), k, own, float(first[0]), float(second[0]), tolerance * own, keep_mean)
        if len(basis.rows) > capacity:
            basis.delete()
    active = np.array(basis.rows)
    return Posterior(
        DowndatedForm(prior.refit(none, none), problem.rows[active], basis.alpha, -basis.C),
        sites=(none, none),
        group_lengths=model.group_lengths,
        log_evidence=log_evidence,
        evidence_kind="approximation",
        objective_trace=[-log_evidence],
        n_iter=1,
        engine="sparse_online",
        active=active,
    )


class _Basis:
    """The basis rows with alpha, C and Q, the inverse of their prior covariance."""

    def __init__(self, prior: FactorisedForm, all_rows: Matrix):
        self._prior, self._all = prior, all_rows
        self.rows: list[int] = []
        self.alpha, self.C, self.Q = np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))
        self._insertions = 0

    def covariances(self, j: int) -> np.ndarray:
        """Prior covariances of row j with the basis."""
        if not self.rows:
            return np.zeros(0)
        return self._prior.project_covariance(self._all[self.rows], self._all[[j]])[:, 0]

    def include(self, j: int, k: np.ndarray, own: float, a: float, b: float, novelty: float, keep_mean: bool) -> None:
        """Learn from row j: as a new basis row where it is novel."""
        e = self.Q @ k
        gamma = own - float(k @ e)
        if j in self.rows or gamma < novelty or gamma <= 0:
            s = self.C @ k + e
            share = 1.0 / (1.0 + max(gamma, 0.0) * b) if keep_mean else 1.0
            self.alpha = self.alpha + share * a * s
            self.C = self.C + share * b * np.outer(s, s)
            return
        s = np.append(self.C @ k, 1.0)
        self.alpha = np.append(self.alpha, 0.0) + a * s
        self.C = np.pad(self.C, (0, 1)) + b * np.outer(s, s)
        step = np.append(e, -1.0)
        self.Q = np.pad(self.Q, (0, 1)) + np.outer(step, step) / gamma
        self.rows.append(j)
        self._insertions += 1
        if self._insertions % _REFRESH == 0:
            rows = self._all[self.rows]
            K = self._prior.project_covariance(rows, rows)
            self.Q = np.linalg.inv(K + _JITTER * np.mean(K.diagonal()) * np.eye(len(K)))

    def delete(self) -> None:
        """Drop the row at which the mean changes least."""
        i = int(np.argmin(np.abs(self.alpha) / self.Q.diagonal()))
        keep = np.arange(len(self.rows)) != i
        q, Qs, Cs, c = self.Q[i, i], self.Q[keep, i], self.C[keep, i], self.C[i, i]
        self.alpha = self.alpha[keep] - self.alpha[i] * Qs / q
        self.C = self.C[np.ix_(keep, keep)] + c * np.outer(Qs, Qs) / q**2 - (np.outer(Qs, Cs) + np.outer(Cs, Qs)) / q
        self.Q = self.Q[np.ix_(keep, keep)] - np.outer(Qs, Qs) / q
        del self.rows[i]
