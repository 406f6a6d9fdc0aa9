"""EM: what all people's answers say of the prior they share, with the optimum of its M-step in closed form.

Plain EM creeps for hundreds of iterations. So each starts where the last few point to (Anderson's mixing), and is taken
back where that ends no higher; but of samples, whose evidence does not tell whether it does. With S, s from
`people.added_up` and the old Sigma,

    mean <- mean + Sigma s,         C = Sigma - Sigma S Sigma = mean over people of Xi_u + (mean - xi_u)(mean - xi_u)'

and V, scale maximise -tr(Sigma^-1 C) - ln|Sigma|: probabilistic PCA of L^-1 C L^-T, where K = L L', by its d leading
eigenpairs, from products alone (Lanczos).

Few people are explained best by a prior that has no width across V, and answers that a plane separates by one without
end. So what was believed before, N(0, K), counts as so many more people, whose own scale is not known:

    maximise  sum over people of ln Z_u  -  weight (KL(N(0, scale K) || N(mean, V V' + scale K)) + KL of one item),

where the last is KL(N(0, 1) || N(0, scale)) and keeps the scale from 0 and infinity. (People whose scale is 1 would
hold it there by all their items, although few people say nothing else so well.) An unconstrained covariance has no
scale: there it is KL(N(0, K) || N(mean, Sigma)).

References
----------
Ko (2017), section 3.2 and algorithm 6, with the terms that are missing there; Tipping and Bishop (1999).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from adaptive.estimators.preferences.inference.people import COARSE, FINE, Comparisons, Solved, added_up, propagate
from adaptive.estimators.preferences.inference.site_rules import SiteRule
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
from adaptive.inference.dense.anderson import AndersonMixing
from adaptive.inference.rest import at_rest

__all__ = ["Learnt", "learn_prior", "updated"]

DENSE = 100  # items up to which all eigenpairs are cheaper than the leading ones
SMALLEST_SCALE = 1e-6
ROUNDS = 20  # of the equation for the scale; each leaves a share of the error that is the prior people's
MEMORY = 5  # iterations that tell where they point to


class Learnt:
    """The prior and every person's sites.

    Attributes
    ----------
    prior : UtilityPrior
    pi, nu : (n,) arrays
        Sites of all comparisons at this prior.
    log_evidence : (n_people,) array
    trace : list of float
        The objective at the beginning of every iteration; of samples, scaled up to all comparisons.
    objective : float
        Log evidence less the divergence from what was believed before.
    converged : bool
        Whether the objective came to rest, and all sites did.
    """

    def __init__(
        self,
        prior: UtilityPrior,
        data: Comparisons,
        n_people: int,
        solved: list[Solved],
        trace: list[float],
        rest: bool,
        divergence: float = 0.0,
    ) -> None:
        self.prior, self.trace = prior, trace
        self.pi, self.nu = np.zeros(len(data)), np.zeros(len(data))
        self.log_evidence = np.zeros(n_people)
        for one in solved:
            self.pi[one.rows], self.nu[one.rows] = one.pi, one.nu
            self.log_evidence[data.person[one.rows[:, 0]]] = one.log_evidence
        self.objective = float(self.log_evidence.sum()) - divergence
        self.converged = rest and all(one.converged.all() for one in solved)


def learn_prior(
    start: UtilityPrior,
    data: Comparisons,
    n_people: int,
    rule: SiteRule,
    *,
    covariance: str,
    max_pairs: int | None,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    rng: np.random.Generator,
    sites: tuple[np.ndarray, np.ndarray] | None = None,
    believed: UtilityPrior | None = None,
    weight: float = 0.0,
) -> Learnt:
    """Alternate E-steps and M-steps from ``start`` until half of them moved the objective by ``tol`` nats an answer.

    With ``max_pairs`` each iteration looks at a fresh sample of so many comparisons of everybody who has more.
    ``believed`` before, which is N(0, K), counts as ``weight`` people more; ``sites`` (pi, nu) are where those of the
    people start.
    """
    prior, trace = start, list[float]()
    pi, nu = (np.zeros(len(data)), np.zeros(len(data))) if sites is None else (sites[0].copy(), sites[1].copy())

    def apart(prior: UtilityPrior) -> float:
        return weight * _divergence(prior, believed, covariance) if believed is not None and weight else 0.0

    counts = np.bincount(data.person, minlength=n_people)
    capped = max_pairs is not None and bool(counts.max(initial=0) > max_pairs)
    rest, mixing, here_before = False, AndersonMixing(MEMORY), start
    for _ in range(max_iter):
        rows = _sampled(data, counts, int(max_pairs or 0), rng) if capped else None

        def expected(prior: UtilityPrior, rows: np.ndarray | None = rows) -> tuple[list[Solved], float]:
            solved = propagate(prior, data, rule, (pi, nu), rows=rows, tol=COARSE, n_jobs=n_jobs)
            seen = len(data) if rows is None else len(rows)
            return solved, float(sum(one.log_evidence.sum() for one in solved)) * len(data) / seen - apart(prior)

        here, reached = prior, -np.inf
        if (further := mixing.next(np.asarray)) is not None:
            here = prior.at(further[0])
            with suppress(np.linalg.LinAlgError, ValueError):  # so far that people have no posterior: nowhere better
                solved, reached = expected(here)
        if not (trace and reached > trace[-1]):
            mixing.keep_last()
            try:
                solved, reached = expected(prior)
            except np.linalg.LinAlgError:  # answers that a plane separates: loadings grow for ever, beyond all numbers
                if not trace:
                    raise
                prior = here_before
                break
            here = prior
        trace.append(reached)
        rest = at_rest(trace, tol * len(data), sampled=capped)
        if rest:
            prior = here
            break
        for one in solved:
            pi[one.rows], nu[one.rows] = one.pi, one.nu
        here_before = here
        sums = added_up(solved, n_people, len(prior))
        prior = updated(here, *sums, covariance, believed, weight / (n_people + weight))
        if not capped and prior.loadings.shape == here.loadings.shape:
            point, image = (one.coordinates(here, kernel=covariance == "full") for one in (here, prior))
            mixing.add(point[None], (image - point)[None])
            prior = prior.at(image)  # turned as those before
    final = propagate(prior, data, rule, (pi, nu), tol=FINE, n_jobs=n_jobs)
    return Learnt(prior, data, n_people, final, trace, rest, apart(prior))


def _sampled(data: Comparisons, counts: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of at most so many comparisons of every person, drawn afresh."""
    order = rng.permutation(len(data))
    order = order[np.argsort(data.person[order], kind="stable")]
    rank = np.arange(len(data)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < most])


def updated(
    prior: UtilityPrior,
    S: np.ndarray,
    s: np.ndarray,
    covariance: str = "low_rank",
    believed: UtilityPrior | None = None,
    share: float = 0.0,
) -> UtilityPrior:
    """Return the prior that explains people best, given the sums of `added_up` at the old one.

    A ``share`` of the people is as what was ``believed`` before has it: N(0, scale K), of an unconstrained covariance
    N(0, K).
    """
    theirs = 1.0 - share
    free = prior.mean + prior.times(s)
    mean = theirs * free  # C = theirs C_people + share scale K + theirs share free free'
    if covariance == "full":
        dense = prior.dense()
        new = theirs * (dense - dense @ S @ dense) + theirs * share * np.multiply.outer(free, free)
        new += share * believed.dense() if believed is not None else 0.0
        return UtilityPrior(mean, np.zeros((len(prior), 0)), 1.0, 0.5 * (new + new.T))
    n, d = prior.loadings.shape
    d = min(d, n - 1)
    root, scale, loadings = prior.root, prior.scale, prior.loadings
    white = loadings if root is None else linalg.solve_triangular(root, loadings, lower=True)
    middle = free if root is None else linalg.solve_triangular(root, free, lower=True)

    def times(vectors: np.ndarray) -> np.ndarray:  # Sbar - Sbar L'S L Sbar, of Sbar = Vbar Vbar' + scale I
        first = white @ (white.T @ vectors) + scale * vectors
        inner = S @ first if root is None else root.T @ (S @ (root @ first))
        of_people = first - (white @ (white.T @ inner) + scale * inner)
        return theirs * of_people + theirs * share * np.multiply.outer(middle, middle @ vectors)

    gram = white.T @ white
    trace = float(np.trace(gram)) + n * scale
    trace -= float(np.sum((S @ loadings) * (loadings @ (gram + 2.0 * scale * np.eye(len(gram))))))
    trace -= scale**2 * float(np.trace(S) if prior.kernel is None else np.sum(S * prior.kernel))
    trace = theirs * trace + theirs * share * float(middle @ middle)
    values, vectors = _leading(times, n, d)
    one = share / theirs  # item of the person before, for each person
    usual = 1.0 if believed is None else believed.scale
    left, new_scale = (trace - float(values.sum())) / theirs + one * usual, scale
    for _ in range(ROUNDS):  # C has the new scale too, and so have its leading values
        wide = np.maximum(values + share * new_scale, new_scale)
        new_scale = max(left / (n - d + one * (1.0 - d + float(np.sum(new_scale / wide)))), SMALLEST_SCALE)
    wide = np.maximum(values + share * new_scale, new_scale)
    new = vectors * np.sqrt(wide - new_scale)
    return replace(prior, mean=mean, loadings=new if root is None else root @ new, scale=new_scale)


def _divergence(prior: UtilityPrior, believed: UtilityPrior, covariance: str) -> float:
    """Nats between what one person was believed to be before and the prior."""
    if covariance == "full":
        return prior.divergence_from(believed)
    scale = prior.scale / believed.scale
    of_one_item = 0.5 * (1.0 / scale + np.log(scale) - 1.0)
    return prior.divergence_from(replace(believed, scale=prior.scale)) + float(of_one_item)


def _leading(times: Callable[[np.ndarray], np.ndarray], n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The d leading eigenpairs of a symmetric operator, largest first."""
    if d == 0:
        return np.zeros(0), np.zeros((n, 0))
    if n <= DENSE:
        dense = times(np.eye(n))
        values, vectors = linalg.eigh(0.5 * (dense + dense.T), subset_by_index=[n - d, n - 1])
    else:
        operator = LinearOperator((n, n), matvec=times, matmat=times, dtype=float)
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(operator, k=d, which="LA", v0=start)
    order = np.argsort(-values)
    return values[order], vectors[:, order]
