"""Worth of a design beside the best of its size: information in nats with a prior, efficiency without one.

With a proper prior the runs tell  1/2 log|M| - 1/2 log|P|  of the unknowns.  Block effects, which are taken out, only
lose: whatever c is subtracted from all rows, M is no more than the sum of (x - c)(x - c)' and P.

Without one, tangents of the concave log|M(w)| bound every exact design (the equivalence theorem):

    log|M*|  <=  log|M(w)| + max_v sum_i (v_i - w_i) x_i' M(w)^-1 x_i,        0 <= v_i <= replicates,  sum_i v_i = n
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive.linalg.relaxations import Budget
from adaptive.selection import Certificate
from adaptive.selection.bounds import certificate_of_rows
from designs.optimal.approximate import efficiency_bound

if TYPE_CHECKING:
    from adaptive.types import ArrayLike
    from designs.optimal.problem import Model

__all__ = ["Efficiency", "certified", "efficiency_of"]

N_ITER = 200  # tangents of designs whose replicates are limited
GAP = 1e-4  # of the bound, relative, at which no further one is worth its time


@dataclass(frozen=True)
class Efficiency:
    """Efficiency of a design without a prior, from below.

    Attributes
    ----------
    share : float
        The least value of the criterion that any design of as many runs may have, over that of this one, in (0, 1]; of
        D the ratio of det(M)^(1/d), this design's over the largest.
    criterion : str or float
        As of `OptimalDesign`.
    n : int
        Runs.

    Examples
    --------
    >>> print(Efficiency(0.97349, "D", 9))
    At least 97.3% of the D-efficiency under this model that any 9 runs have.
    """

    share: float
    criterion: str | float
    n: int

    def __str__(self) -> str:
        name = self.criterion if isinstance(self.criterion, str) else f"phi_{self.criterion:g}"
        share = np.floor(1000 * self.share) / 10  # never rounded up
        return f"At least {share:.1f}% of the {name}-efficiency under this model that any {self.n} runs have."


def certified(
    rows: np.ndarray, most: np.ndarray, model: Model, chosen: np.ndarray, name: str | float, efficiency: float | None
) -> Certificate | Efficiency | None:
    """Return the certificate of a design; None where nothing is known of the best one.

    Parameters
    ----------
    rows : (N, d) array
        Of the candidates.
    most : (N,) array of int
        Runs that each may have; none where it may not be run.
    model : Model
    chosen : (n_runs,) array of int
        Rows that are run, in the order of the blocks.
    name : str or float
        Of the criterion.
    efficiency : float or None
    """
    if not model.has_prior:
        return None if efficiency is None else Efficiency(efficiency, name, model.n_runs)
    values, vectors = np.linalg.eigh(model.prior[model.part, model.part])
    if not values[0] > 1e-12 * values[-1]:
        return None  # what is told of an unknown without a prior is infinite
    root, runs = vectors / np.sqrt(values), rows[chosen]
    told = 0.5 * float(np.linalg.slogdet(root.T @ model.information(runs) @ root)[1])
    shifts = [np.zeros(model.d)]
    if 0 < model.nuisance == len(np.unique(model.labels)):  # each block has an effect of its own
        shifts.append(runs.mean(axis=0))
    allowed = np.flatnonzero(most > 0)
    repeat, places = bool((most > 1).any()), np.searchsorted(allowed, chosen)
    found = [certificate_of_rows((rows[allowed] - shift) @ root, places, repeat=repeat) for shift in shifts]
    best = min(found, key=lambda one: one.bound)
    return replace(best, information=min(max(told, 0.0), best.bound))


def efficiency_of(
    rows: np.ndarray,
    most: np.ndarray,
    model: Model,
    chosen: np.ndarray,
    name: str | float,
    points: ArrayLike | None,
    value: float,
) -> float | None:
    """Return the efficiency that a design has at least; None where no design is regular.

    Parameters
    ----------
    rows, most, model, chosen, name
        As of `certified`.
    points : (k, d) array or None
        Rows whose predictions count, for "I" and "V".
    value : float
        Of the criterion.
    """
    found = efficiency_bound(rows[most > 0], model, name, points, value)
    if found is None or name not in ("D", 0) or (most >= model.n_runs).all():
        return found
    bound = _limited_bound(rows, np.minimum(most, model.n_runs), model, chosen)
    return max(found, min(float(np.exp(-bound / model.d) / value), 1.0))


def _limited_bound(rows: np.ndarray, most: np.ndarray, model: Model, chosen: np.ndarray) -> float:
    """Return a bound of log|M| where replicates are limited: Frank-Wolfe from the design, in shares of the limits."""
    usable, counts = most > 0, np.bincount(chosen, minlength=len(rows))
    rows, most, counts = rows[usable], most[usable].astype(float), counts[usable]
    budget, prior = Budget(most, float(model.n_runs)), model.prior[model.part, model.part]
    shares, bound = counts / most, np.inf
    for _ in range(N_ITER):
        information = (rows.T * (shares * most)) @ rows + prior
        value = float(np.linalg.slogdet(information)[1])
        slopes = most * np.einsum("ni,ni->n", rows @ np.linalg.inv(information), rows)
        bound = min(bound, value + budget.most(slopes) - float(shares @ slopes))
        if bound - value <= GAP:
            break
        direction = budget.best(slopes) - shares
        change = (rows.T * (direction * most)) @ rows
        shares = shares + _step(information, change) * direction
    return bound


def _step(information: np.ndarray, change: np.ndarray) -> float:
    """Return the step in [0, 1] that maximises log|M + step C|, the sum of log(1 + step e), e eigenvalues of M^-1 C."""
    root = np.linalg.inv(np.linalg.cholesky(information))
    values = np.linalg.eigvalsh(root @ change @ root.T)
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        rising = float(np.sum(values / np.maximum(1.0 + middle * values, 1e-300))) > 0
        low, high = (middle, high) if rising else (low, middle)
    return low
