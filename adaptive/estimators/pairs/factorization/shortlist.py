"""The pairs of a long product of users and items that are worth a closer look, found by bounds and not by scoring all.

What a count teaches grows with mean and variance of its log rate, so that `adaptive.search.best_pairs` finds the pairs
of the highest single gains; these are few, and choosing among them is what `select` does with any list. To find them
gains are interpolated in a table, to about a percent; among them they are computed. Of chosen users or items alone only
their own pairs tell: these are the list.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from adaptive import pool, search
from adaptive.estimators.pairs.columns import columns_of
from adaptive.estimators.pairs.factorization.predictive import About
from adaptive.potentials import Poisson
from adaptive.predictive import StatedPredictive
from adaptive.scorers import information_gain
from adaptive.selection.arguments import allowed_positions, check_enough, checked_positions, prices_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adaptive.estimators.pairs.columns import Columns
    from adaptive.estimators.pairs.factorization.belief import FactorizationBelief
    from adaptive.types import Id, Pool

    Arguments: TypeAlias = dict[str, Any]  # of ``select``
    Shortened: TypeAlias = tuple[np.ndarray, Arguments]  # positions, and how to choose among these alone
    Vectors: TypeAlias = np.ndarray | tuple[np.ndarray, np.ndarray]  # rows of a factor, their means and variances


__all__ = ["among_best", "gains", "is_product", "of_single_gains", "of_target", "ranking_gains"]

LONG = 16_384  # pairs that are scored one by one without more ado
MEANS, VARIANCES = (-12.0, 10.0), (1e-6, 6.0)  # of log rates, in the table of gains
N_MEANS, N_VARIANCES = 111, 61
LISTED = (64, 1_024)  # kept for one choice, and for a joint batch


class Product(Protocol):
    """Pool of all pairs of two lists."""

    factors: list[Pool]


def gains(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return what counts teach (m,), nats, by the moments (m,) of their log rates."""
    return information_gain(StatedPredictive(mean=mean, variance=variance, likelihood=Poisson()))


@cache
def _table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, logarithms of variances, and of the gains there, which fall in neither."""
    means, logs = np.linspace(*MEANS, N_MEANS), np.linspace(np.log(VARIANCES[0]), np.log(VARIANCES[1]), N_VARIANCES)
    grid = np.meshgrid(means, np.exp(logs), indexing="ij")
    found = gains(grid[0].ravel(), grid[1].ravel()).reshape(N_MEANS, N_VARIANCES)
    found = np.maximum.accumulate(np.maximum.accumulate(found, axis=0), axis=1)
    return means, logs, np.log(np.maximum(found, 1e-300))


def ranking_gains(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the same (m,) to about one percent, by interpolated logarithms, a few hundred times as fast.

    Interpolated between gains that grow they grow as well, so that bounds hold; beyond the table they stay as they are
    at its border.
    """
    means, logs, table = _table()
    at = np.column_stack([np.clip(mean, *MEANS), np.log(np.clip(variance, *VARIANCES))])
    at[:, 1] = np.clip(at[:, 1], logs[0], logs[-1])  # rounding
    return np.exp(RegularGridInterpolator((means, logs), table)(at))


def is_product(candidates: Pool) -> bool:
    """Test for all pairs of two plain lists, such as ``designs.pool.Product(users, items)``, and very many."""
    factors = getattr(candidates, "factors", None)
    if (
        not isinstance(factors, list)
        or len(factors) != 2
        or any(getattr(factor, "factors", None) for factor in factors)
    ):
        return False
    lengths = [pool.length(factor) for factor in factors]
    return len(candidates) == lengths[0] * lengths[1] > LONG


def of_single_gains(belief: FactorizationBelief, arguments: Arguments) -> Shortened:
    """Return positions of the pairs with the highest gains (per cost), ascending, and the arguments of ``select`` among
    these alone."""

    def vectors(users: np.ndarray, items: np.ndarray) -> tuple[Vectors, Vectors]:
        factors, rows, columns = belief.located(users, items)
        own, other = factors.sides
        return (own.mean[rows], own.spread[rows]), (other.mean[columns], other.spread[columns])

    offset = belief.posterior.offset
    return among_best(arguments, vectors, score=lambda mean, variance: ranking_gains(offset + mean, variance))


def among_best(
    arguments: Arguments, vectors: Callable[[np.ndarray, np.ndarray], tuple[Vectors, Vectors]], **how: Any
) -> Shortened:
    """Return positions of the best pairs, ascending, and the arguments of ``select`` among these alone.

    Parameters
    ----------
    arguments : dict
        Of ``select``, its candidates a product.
    vectors : function of the ids of users and items -> what `best_pairs` takes of both
    **how
        What else `best_pairs` takes: ``score``, ``deviations``, ``symmetric``.
    """
    candidates, n = arguments["candidates"], arguments["n_select"]
    users, items = _ids(candidates)
    m = len(users) * len(items)
    if arguments["mask"] is None:  # without a list of all pairs
        barred = np.unique(checked_positions("exclude", arguments["exclude"], m))
    else:
        allowed = allowed_positions(m, arguments["mask"], arguments["exclude"])
        barred = np.setdiff1d(np.arange(m), np.arange(m) if allowed is None else allowed)
    n_allowed = m - len(barred)
    check_enough(n, m, n_allowed)
    excluded = np.column_stack(np.divmod(barred, len(items))) if len(barred) else None
    prices = prices_of(arguments["cost"], candidates, m, None)
    wanted = LISTED[(n > 1 and bool(arguments["joint"])) or arguments["pending"] is not None]
    found = search.best_pairs(
        *vectors(users, items),
        min(max(wanted, 4 * n), n_allowed),
        exclude=excluded,
        cost=None if prices is None else prices.reshape(len(users), len(items)),
        **how,
    )
    return _among(np.sort(found.positions), prices, arguments)


def of_target(belief: FactorizationBelief, arguments: Arguments) -> Shortened:
    """Return the same of the pairs of the users and items that are to be learnt about: all others tell nothing of them,
    and fill up where these do not suffice."""
    candidates, n = arguments["candidates"], arguments["n_select"]
    about = About.of(arguments["target"], belief.data.positions)
    _, rows, columns = belief.located(*_ids(candidates))
    assert about is not None
    own, theirs = about.which(rows, columns)
    m = len(rows) * len(columns)
    tells = (own[:, None] | theirs).ravel()
    allowed = allowed_positions(m, arguments["mask"], arguments["exclude"])
    free = np.arange(m) if allowed is None else np.asarray(allowed)
    first = free[tells[free]]
    others = free[~tells[free]][: max(n - len(first), 0)]
    prices = prices_of(arguments["cost"], candidates, m, None)
    return _among(np.sort(np.concatenate([first, others])), prices, arguments)


def _among(positions: np.ndarray, prices: np.ndarray | None, arguments: Arguments) -> Shortened:
    """The arguments of ``select`` among these positions alone."""
    among = {"candidates": pool.take(arguments["candidates"], positions), "mask": None, "exclude": ()}
    return positions, {**arguments, **among, "cost": None if prices is None else prices[positions]}


def _ids(candidates: Product) -> Columns:
    """Ids of a product's users and of its items."""
    users, items = (pool.take(factor, np.arange(pool.length(factor))) for factor in candidates.factors)
    return columns_of([(user, 0) for user in _plain(users)])[0], columns_of([(0, item) for item in _plain(items)])[1]


def _plain(taken: np.ndarray | Sequence[Id]) -> list[Id]:
    return taken.tolist() if isinstance(taken, np.ndarray) else list(taken)
