"""A certificate: what a set of candidates tells, beside an upper bound of what any set of the same budget could.

Of Gaussian outcomes the information of a set does not depend on what is answered, so that one bound covers batches and
sequences alike; it is the least of four, each of which wins somewhere:

    prefixes      what a prefix of the greedy tells, plus the largest gains given it         (smooth maps)
    relaxation    the folded relaxation, by Frank-Wolfe                                      (fewer rows than unknowns)
    leading       the same by leading eigenvalues alone, in place of the relaxation          (thousands of rows)
    tangent       of the usual D-optimal relaxation, where the greedy ends                   (more rows than unknowns)

Of other outcomes there is the first, from expected gains that are approximate or sampled: an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sized
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks, pool
from adaptive.linalg.relaxations import Budget, frank_wolfe, leading  # house: bounds are matrices and vectors
from adaptive.scorers import information_gain
from adaptive.selection.arguments import allowed_positions, checked_positions, prices_of, written_out
from adaptive.selection.bounds.greedy import greedy, information
from adaptive.selection.scoring import View, require_given, undecided

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.selection.scoring import Believer, Outlook
    from adaptive.types import ArrayLike, Cost, Mask, Pool, RandomState

__all__ = ["Certificate", "certificate", "certificate_of_rows", "certified", "most_to_learn"]

MOST_ROWS = 1_000  # of unknowns or of a set, whichever are fewer, where the relaxation begins
LEADING = 800  # eigenvalues of problems with more
MOST_LEADING = 8  # iterations of them, which take up to five times the greedy's time
BOUND, ESTIMATE = "bound", "estimate"
WORDS = {
    "prefixes": "the greedy's prefixes",
    "relaxation": "the relaxation",
    "leading": "the relaxation's leading eigenvalues",
    "tangent": "the relaxation's tangent",
}


@dataclass(frozen=True)
class Certificate:
    """Information of a set of candidates, and how much more any set of the same budget could, under the model.

    Attributes
    ----------
    information : float
        Of the chosen candidates together, nats.  Where scales are integrated over, its mean over the scales.
    bound : float
        No set of the same budget tells more (an estimate of that where ``kind`` is "estimate"), nats.
    by : str
        What gave the bound: "prefixes", "relaxation", "leading" or "tangent"; several where scales differ.
    kind : "bound" or "estimate"
        "bound" where outcomes are Gaussian and their covariances exact.
    n : int
        How many candidates were chosen.
    cost : float or None
        What they cost together; None where all cost the same, and sets of n are compared.
    n_scales : int
        Over how many scales (nodes of hyper-parameters, images) the information is a weighted sum.
    bounds : dict
        All bounds by name, of which the least counts; empty where there are several scales.

    Examples
    --------
    >>> found = Certificate(information=9.0, bound=10.0, by="relaxation", kind="bound", n=3)
    >>> found.share
    0.9
    >>> print(found)
    9.00 nats: at least 90.0% of the information under this model that any 3 candidates hold (at most 10.00 nats, by the
    relaxation).
    """

    information: float
    bound: float
    by: str
    kind: str
    n: int
    cost: float | None = None
    n_scales: int = 1
    bounds: dict[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Information of the chosen as a share of the bound, in (0, 1]; 1 where there is nothing to learn."""
        return self.information / self.bound if self.bound > 0 else 1.0

    def or_less(self, other: Certificate) -> Certificate:
        """Return this one with the lower bound of the two; ``other`` is of another set with the same budget.

        Examples
        --------
        >>> Certificate(1.0, 3.0, "prefixes", "bound", 2).or_less(Certificate(1.5, 2.0, "tangent", "bound", 2)).share
        0.5
        """
        if other.bound >= self.bound:
            return self
        return replace(self, bound=max(other.bound, self.information), by=other.by, bounds=other.bounds)

    def __str__(self) -> str:
        what = f"any {self.n} candidates" if self.cost is None else f"any candidates of cost {self.cost:g} together"
        words = " and ".join(WORDS.get(name, name) for name in self.by.split(", "))
        scales = f"; a mean over {self.n_scales} scales" if self.n_scales > 1 else ""
        share = math.floor(1000 * self.share) / 10  # never rounded up
        if self.kind == ESTIMATE:
            return (
                f"{self.information:.2f} nats: an estimated {share:.1f}% or more of the information under this model "
                f"that {what} hold (an estimate of at most {self.bound:.2f} nats, by {words}{scales})."
            )
        return (
            f"{self.information:.2f} nats: at least {share:.1f}% of the information under this model that {what} hold "
            f"(at most {self.bound:.2f} nats, by {words}{scales})."
        )


def certificate(
    estimator: Believer,
    candidates: Pool | Callable[[Any], Pool],
    chosen: ArrayLike | Collection[int],
    *,
    n_iter: int = 20,
    cost: Cost = None,
    mask: Mask = None,
    exclude: ArrayLike | Collection[int] = (),
    repeat: bool = False,
    pending: Pool | None = None,
    random_state: RandomState = None,
) -> Certificate:
    """Return what the chosen candidates tell, and an upper bound of what any set of the same budget could.

    Parameters
    ----------
    estimator : object with ``predictive(candidates, *, target=None, random_state=None)``
        At its present posterior: the prior, or what its answers left.
    candidates : pool of length m, or callable(estimator) -> pool
        All at once, not in chunks: a bound is about the whole pool.
    chosen : sequence of positions
        A design, however it came about.
    n_iter : int, default 20
        Iterations of the relaxation, each of one eigendecomposition and one pass over the pool; 0 leaves it out.  More
        never loosen the bound.  Where rows and unknowns number over 1,000 the 800 leading eigenvalues are taken
        alone, in at most eight iterations.
    cost : (m,) array-like or callable(candidates) -> (m,), optional
        Sets are compared that cost no more than the chosen ones together; None: sets of as many candidates.
    mask : (m,) array-like of bool or callable(candidates) -> (m,), optional
        True where a candidate might have been chosen.
    exclude : sequence of int
        Positions that might not.
    repeat : bool, default False
        Whether a candidate may be measured more than once, in ``chosen`` too.
    pending : pool, optional
        Candidates asked but not answered: what they will tell is not counted.
    random_state : None, int, Generator or RandomState
        Seed of gains that are sampled.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If a position is wrong, not allowed, or twice there without ``repeat``; if nothing is chosen; if the estimator
        cannot tell candidates apart yet, or has no what-ifs.

    Notes
    -----
    The information is about everything that decides the outcomes, not about a target.  Of Gaussian outcomes it is
    submodular and the same whatever is answered: the bound holds for sets and for sequences in which each choice looks
    at the answers before.  Of other outcomes it is about sets, and an estimate.

    References
    ----------
    J. Leskovec et al. (2007), Cost-effective outbreak detection in networks.
    A. Nikolov (2015), Randomized rounding for the largest simplex problem.
    J. von Neumann (1937), Some matrix inequalities: why leading eigenvalues suffice.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor
    >>> model = GaussianProcessRegressor(optimizer=None, alpha=0.1)
    >>> places = np.linspace(0, 4, 41)[:, None]
    >>> found = certificate(model, places, model.select(places, 4))
    >>> found.kind, bool(0.9 < found.share <= 1.0)
    ('bound', True)
    """
    if callable(candidates) and not isinstance(candidates, Sized):
        candidates = candidates(estimator)
    n_iter = checks.integer("n_iter", n_iter, minimum=0)
    m = pool.length(candidates)
    if pool.is_stored(candidates):
        raise ValueError(
            "a certificate looks at the whole pool at once, and this one is read in parts; give it some rows."
        )
    allowed = allowed_positions(m, written_out(mask, candidates, m), exclude)
    entries = _entries(chosen, m, allowed, repeat)
    view = View(estimator, candidates, allowed, pending, None, information_gain, checks.generator(random_state))
    outlook = view.outlook(view.candidates_at())
    return certified(view, outlook, entries, prices_of(cost, candidates, m, allowed), n_iter=n_iter, repeat=repeat)


def _entries(chosen: ArrayLike | Collection[int], m: int, allowed: np.ndarray | None, repeat: bool) -> list[int]:
    """Return the chosen candidates' places among those allowed."""
    positions = checked_positions("chosen", chosen, m)
    if not len(positions):
        raise ValueError("chosen is empty: there is no design to judge.")
    if not repeat and len(np.unique(positions)) < len(positions):
        raise ValueError("chosen holds a position twice; repeat=True allows that.")
    if allowed is None:
        return positions.tolist()
    outside = ~np.isin(positions, allowed)
    if outside.any():
        raise ValueError(f"chosen contains {positions[outside][0]}, which mask or exclude do not allow.")
    return np.searchsorted(allowed, positions).tolist()


def certified(
    view: View,
    outlook: Outlook,
    entries: list[int],
    prices: np.ndarray | None,
    *,
    n_iter: int = 20,
    repeat: bool = False,
) -> Certificate:
    """Return the certificate of the entries of a view, by the outlook on them.

    Parameters
    ----------
    view : View
        Whose scorer is `information_gain`.
    outlook : Outlook
        After what is pending.
    entries : list of int
    prices : (m,) array or None
    n_iter, repeat
        As of `certificate`.
    """
    if undecided(outlook):
        raise ValueError(
            f"{type(view.estimator).__name__} cannot tell candidates apart yet: there is nothing to certify."
        )
    scales = weighted_rows(outlook, view.n_front)
    if scales is not None:
        return _of_scales(scales, entries, prices, _kind(outlook), n_iter, repeat)
    budget = _budget(view.size, entries, prices, repeat)
    total = None if prices is None else budget.total
    told, bounds = _by_scores(view, outlook, entries, budget)
    by = min(bounds, key=lambda name: bounds[name])
    return Certificate(told, max(bounds[by], told), by, ESTIMATE, len(entries), total, bounds=bounds)


def _of_scales(
    scales: list[tuple[float, np.ndarray]],
    entries: list[int],
    prices: np.ndarray | None,
    kind: str,
    n_iter: int,
    repeat: bool,
) -> Certificate:
    """Return the certificate of entries by the rows of each scale, and its weight."""
    budget = _budget(len(scales[0][1]), entries, prices, repeat)
    total = None if prices is None else budget.total
    told, most, names, bounds = 0.0, 0.0, [], {}
    for weight, rows in scales:
        own, bounds = information(rows[entries]), bounds_of(rows, budget, entries, n_iter)
        by = min(bounds, key=lambda name: bounds[name])
        told, most = told + weight * own, most + weight * max(bounds[by], own)  # rounding
        names.append(by)
    single = bounds if len(scales) == 1 else {}
    by = ", ".join(sorted(set(names)))
    return Certificate(told, most, by, kind, len(entries), total, len(scales), single)


def _kind(outlook: Outlook) -> str:
    return ESTIMATE if any(predictive.approximate for _, predictive in outlook.weighted) else BOUND


def certificate_of_rows(
    rows: np.ndarray, chosen: ArrayLike | Collection[int], *, n_iter: int = 20, repeat: bool = False
) -> Certificate:
    """Return the certificate of a linear Gaussian design:  1/2 log|I + A_B A_B'|  beside the largest of any such set.

    Parameters
    ----------
    rows : (m, d) or (m, b, d) array
        What each candidate measures of unknowns that are independent with variance 1, in units of the noise.
    chosen : sequence of int
    n_iter, repeat
        As of `certificate`.

    Raises
    ------
    ValueError
        If a position is wrong, or twice there without ``repeat``; if nothing is chosen.

    Examples
    --------
    >>> certificate_of_rows(np.eye(3), [0, 2]).share
    1.0
    """
    table = np.asarray(rows, dtype=float)
    table = table[:, None] if table.ndim == 2 else table
    entries = _entries(chosen, len(table), None, repeat)
    return _of_scales([(1.0, table)], entries, None, BOUND, n_iter, repeat)


def _budget(m: int, entries: list[int], prices: np.ndarray | None, repeat: bool) -> Budget:
    cost = np.ones(m) if prices is None else prices
    return Budget(cost, float(cost[entries].sum()), repeat)


def weighted_rows(outlook: Outlook, n_front: int) -> list[tuple[float, np.ndarray]] | None:
    """Return [(weight, rows (m, b, d) in units of the noise)] of the scales; None unless all are exactly Gaussian."""
    found = []
    for weight, predictive in outlook.weighted:
        for share, part in _scales(predictive):
            rows = part.whitened()
            if rows is None:
                return None
            found.append((weight * share, rows[n_front:]))
    return found


def _scales(predictive: Predictive) -> list[tuple[float, Predictive]]:
    """Return the Gaussians of which information is a weighted sum: components of a mixture, parts of a sum."""
    parts = getattr(predictive, "parts", None)
    split = [(1.0, part) for part in parts] if parts is not None else predictive.components
    if len(split) == 1 and split[0][1] is predictive:
        return split
    return [(weight * share, one) for weight, part in split for share, one in _scales(part)]


def bounds_of(rows: np.ndarray, budget: Budget, entries: list[int], n_iter: int) -> dict[str, float]:
    """Return the bounds by name.

    Parameters
    ----------
    rows : (m, b, d) array
    budget : Budget
    entries : list of int
        A good set, from which the relaxation starts if the greedy's is no better.
    n_iter : int
    """
    if rows.shape[2] == 0:
        return {"prefixes": 0.0}
    found = greedy(rows, budget)
    bounds = {"prefixes": found.prefixes, "tangent": found.tangent}
    r = budget.most_rows(rows.any(axis=2).sum(axis=1))
    if n_iter:
        better = entries and information(rows[entries]) > found.information
        start = np.bincount(entries if better else found.chosen, minlength=len(rows)).astype(float)
        if min(r, rows.shape[2]) <= MOST_ROWS:
            bounds["relaxation"] = frank_wolfe(rows, budget, start, r=r, n_iter=n_iter).bound
        else:
            bounds["leading"] = leading(rows, budget, start, r=r, k=LEADING, n_iter=min(n_iter, MOST_LEADING)).bound
    return bounds


def _by_scores(view: View, outlook: Outlook, entries: list[int], budget: Budget) -> tuple[float, dict[str, float]]:
    """Return what the entries tell one after the other, the least bound of their prefixes, and a tangent if known."""
    require_given(outlook, "certificate")
    told, least, free = 0.0, np.inf, np.ones(view.size, dtype=bool)
    for k in entries:
        gains = view.evaluate(outlook)
        least = min(least, told + budget.most(_increments(view, outlook, gains, free, budget)))
        told += max(float(gains[k]), 0.0)
        free[k] = budget.repeat
        outlook = view.assuming(outlook, view.n_front + k, "certificate")
    last = _increments(view, outlook, view.evaluate(outlook), free, budget)
    bounds = {"prefixes": min(least, told + budget.most(last))}
    traces = outlook.weighted[0][1].traces() if len(outlook.weighted) == 1 else None
    if traces is not None:
        slopes = 0.5 * traces[view.n_front :]
        bounds["tangent"] = told + budget.most(slopes) - float(slopes[entries].sum())
    return told, bounds


def _increments(view: View, outlook: Outlook, gains: np.ndarray, free: np.ndarray, budget: Budget) -> np.ndarray:
    """Return gains of which n add up to no less than any n candidates tell:  of twins the second's, given the first.

    What twins i and j tell is at most the larger of their gains if one is taken, and what both tell if both are.
    """
    found = np.where(free, np.maximum(gains, 0.0), 0.0)
    known = outlook.weighted[0][1].twins() if len(outlook.weighted) == 1 else None
    if known is None or budget.repeat or np.ptp(budget.cost) > 0:
        return found
    pairs, both = known[0] - view.n_front, known[1]
    inside = (pairs >= 0).all(axis=1)
    pairs, both = pairs[inside], both[inside]
    usable = free[pairs].all(axis=1)
    pairs, both = pairs[usable], both[usable]
    pairs = np.where((found[pairs[:, :1]] >= found[pairs[:, 1:]]), pairs, pairs[:, ::-1])
    first, second = pairs.T
    found[second] = np.clip(both - found[first], 0.0, found[second])
    return found


def most_to_learn(
    estimator: Believer,
    candidates: Pool,
    n: int,
    *,
    enough: float | None = None,
    n_iter: int = 20,
    n_prefixes: int | None = None,
    repeat: bool = False,
    mask: Mask = None,
    exclude: ArrayLike | Collection[int] = (),
    pending: Pool | None = None,
    random_state: RandomState = None,
) -> tuple[float, str]:
    """Return an upper bound of what the next n answers together can tell, nats, and whether it is an "estimate".

    Parameters
    ----------
    estimator, candidates, mask, exclude, repeat, pending, random_state, n_iter
        As of `certificate`.
    n : int
        Different candidates unless ``repeat``; all that are left where there are fewer.
    enough : float, optional
        The bound need not be tightened once it is at most so many nats, nor where some of the n tell more than that.
    n_prefixes : int, optional
        Look at no more prefixes than so many where outcomes are not Gaussian: each costs as much as a question.

    Raises
    ------
    ValueError
        If ``mask`` or ``exclude`` is wrong.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor
    >>> most, kind = most_to_learn(GaussianProcessRegressor(optimizer=None, alpha=1.0), np.zeros((3, 1)), 2)
    >>> round(most, 3), kind
    (0.549, 'bound')
    """
    m = pool.length(candidates)
    allowed = allowed_positions(m, written_out(mask, candidates, m), exclude)
    view = View(estimator, candidates, allowed, pending, None, information_gain, checks.generator(random_state))
    if view.size == 0:
        return 0.0, BOUND
    outlook = view.outlook(view.candidates_at())
    if undecided(outlook):
        return np.inf, ESTIMATE
    budget = Budget(np.ones(view.size), float(n if repeat else min(n, view.size)), repeat)
    scales = weighted_rows(outlook, view.n_front)
    if scales is None:
        return _next_by_scores(view, outlook, budget, enough, n_prefixes), ESTIMATE
    most = 0.0
    for weight, rows in scales:
        quick = greedy(rows, budget, enough)
        if enough is not None and (quick.prefixes <= enough or quick.information > enough):
            most += weight * quick.prefixes
        else:
            most += weight * min(bounds_of(rows, budget, [], n_iter).values())
    return most, _kind(outlook)


def _next_by_scores(
    view: View, outlook: Outlook, budget: Budget, enough: float | None, n_prefixes: int | None
) -> float:
    """Return the least bound of the greedy's prefixes, by expected gains."""
    told, least, free = 0.0, np.inf, np.ones(view.size, dtype=bool)
    last = int(budget.total) if n_prefixes is None else min(int(budget.total), n_prefixes)
    for step in range(last + 1):
        gains = np.where(free, view.evaluate(outlook), -np.inf)
        least = min(least, told + budget.most(np.where(free, gains, 0.0)))
        done = enough is not None and (least <= enough or told > enough)
        if done or step == last or not outlook.provides("given"):
            break
        best = int(gains.argmax())
        told += max(float(gains[best]), 0.0)
        free[best] = budget.repeat
        outlook = view.assuming(outlook, view.n_front + best, "certificate")
    return least
