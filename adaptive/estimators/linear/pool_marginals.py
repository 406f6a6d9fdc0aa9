"""The marginals of a whole pool, followed while potentials are included: one product of its rows with all directions.

    mean <- mean + step w,    variance <- variance - factor w^2,    w = rows . direction

They are computed anew where the posterior was fitted since: from rows in blocks, or by one Lanczos run for all of them
where the posterior's own variances come from such runs. A Lanczos variance is a lower bound, from which a true decrease
may leave less than nothing: such rows are dropped from the candidates until the next fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.utils import gen_batches

from adaptive import checks
from adaptive.estimators.linear.node_bounds import NodeBounds
from adaptive.estimators.linear.node_moments import WIDE, Moments, NodeMoments, times
from adaptive.estimators.rows.linear_predictive import with_intercept
from adaptive.estimators.rows.training import stacked_rows
from adaptive.inference import IncludedPosterior
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.linalg import lanczos_variances

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.types import Index, Mask, Matrix, Options, Pool, State

__all__ = ["KeptPool", "KeptRows", "PoolMarginals"]

LARGEST_CHUNK = 16_384  # rows, whatever the memory would allow: longer chunks are not faster


class PoolMarginals:
    """Means and variances of the latents of all rows of a pool under several posteriors, the nodes of a mixture.

    Parameters
    ----------
    rows : (m, n_features) array or sparse matrix
        Never copied as a whole.
    intercept : bool
        Whether the last unknown is added to every projection.

    Attributes
    ----------
    mean, variance : (m, nodes) arrays
    n_products : int
        Columns multiplied with the rows so far.
    """

    def __init__(self, rows: Matrix, intercept: bool) -> None:
        self.rows, self.intercept, self.n_products = rows, intercept, 0
        self._nodes: list[tuple[Posterior, tuple[Any, ...]]] = []
        self.mean = self.variance = np.empty((rows.shape[0], 0))

    def follow(self, posteriors: Sequence[Posterior]) -> PoolMarginals:
        """Bring the marginals up to the posteriors, of which some may be gone since; return self."""
        now = [_base_and_updates(posterior) for posterior in posteriors]
        places = [self._place(*node) for node in now]
        known = [place for place in places if place is not None]
        if len(known) == len(now):
            self.mean, self.variance = self.mean.T[known].T, self.variance.T[known].T  # copies
            self._nodes = [self._nodes[place] for place in known]
        else:
            self._start([base for base, _ in now])
            self._nodes = [(base, ()) for base, _ in now]
        new = [
            (k, update)
            for k, (_, updates) in enumerate(now)
            for update in updates[len(self._nodes[k][1]) :]
        ]  # fmt: skip
        if new:
            directions = np.column_stack([update.direction for _, update in new])
            for (k, update), along in zip(new, self._times(directions).T, strict=True):
                self.mean[:, k] += update.step * along
                self.variance[:, k] -= update.factor * np.square(along)
        self._nodes = now
        return self

    def _place(self, base: Posterior, updates: tuple[Any, ...]) -> int | None:
        """Return the node that this posterior goes on from; None where it is none of them."""
        for k, (known, earlier) in enumerate(self._nodes):
            if base is known and len(earlier) <= len(updates):
                return k if all(a is b for a, b in zip(earlier, updates, strict=False)) else None
        return None

    def as_pool(self) -> KeptRows:
        """The rows with their present marginals."""
        return KeptRows([(self.rows, None)], self.mean, self.variance)

    def mask(self, arguments: Options) -> Mask:
        """The mask that ``select`` was given, less rows whose variance has become negative, if enough are left."""
        mask, negative = arguments["mask"], np.min(self.variance, axis=1) < 0
        if not negative.any() or np.shape(mask) not in ((), (len(negative),)):
            return mask
        sound = ~negative if mask is None else ~negative & np.asarray(mask, dtype=bool)
        left = sound.copy()
        left[np.asarray(arguments["exclude"], dtype=np.intp)] = False
        return sound if np.count_nonzero(left) >= arguments["n_select"] else mask

    def _start(self, posteriors: Sequence[Posterior]) -> None:
        together = None if sp.issparse(self.rows) else NodeMoments.of(posteriors, self.intercept)
        if together is not None:
            mean, variance = together(self.rows)
            self.n_products += together.n_columns
        else:
            mean, variance = np.empty((2, len(posteriors), self.rows.shape[0]))
            for k, posterior in enumerate(posteriors):
                mean[k], variance[k] = self._moments(posterior)
        self.mean, self.variance = mean.T, variance.T

    def _moments(self, posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
        """Return the marginals (m,) under one posterior."""
        if isinstance(posterior, LargePosterior) and posterior.lanczos_run is not None:
            steps, seed = posterior.lanczos_run
            start = np.asarray(checks.generator(seed).standard_normal(posterior.system.input_shape))
            variance, _ = lanczos_variances(
                posterior.system.apply, lambda q: self._times(q.ravel()[:, None]).T, start[None], steps
            )
            return self._times(posterior.mean[:, None])[:, 0], variance
        mean, variance = np.empty((2, self.rows.shape[0]))
        memory = float(sklearn.get_config()["working_memory"]) * 2**20
        size = int(np.clip(memory // (32 * posterior.n), 1, LARGEST_CHUNK))  # rows, their copy, and roots of both
        for chunk in gen_batches(self.rows.shape[0], size):
            rows = with_intercept(self.rows[chunk]) if self.intercept else self.rows[chunk]
            mean[chunk], variance[chunk] = posterior.projection_moments(rows)
        self.n_products += 1 + posterior.n
        return mean, variance

    def _times(self, vectors: np.ndarray) -> np.ndarray:
        """Return the rows' projections (m, c) of vectors of unknowns (n, c)."""
        self.n_products += vectors.shape[1]
        return times(self.rows, vectors, self.intercept)


def _base_and_updates(posterior: Posterior) -> tuple[Posterior, tuple[Any, ...]]:
    if isinstance(posterior, IncludedPosterior):
        return posterior.base, posterior.updates
    return posterior, ()


class KeptPool:
    """Marginals of the last pool, known by identity, and `NodeMoments`, kept from one call to the next.

    A belief hands it to the next one.  Copies and pickles start empty.
    """

    def __init__(self) -> None:
        self.pool: Pool | None = None
        self.marginals: PoolMarginals | None = None
        self._moments: tuple[list[Posterior], Moments | None] | None = None
        self._bounds: tuple[Moments, NodeBounds] | None = None

    def __reduce__(self) -> tuple[type[KeptPool], tuple[()]]:
        return KeptPool, ()

    def followed(
        self, pool: Pool, table: Callable[[], Matrix], intercept: bool, posteriors: Sequence[Posterior]
    ) -> PoolMarginals:
        """The marginals of the pool at the posteriors; ``table`` returns its rows, checked."""
        if self.marginals is None or self.pool is not pool:
            self.marginals = PoolMarginals(table(), intercept)
            self.pool = pool
        return self.marginals.follow(posteriors)

    def moments(self, posteriors: Sequence[Posterior], intercept: bool) -> Moments | None:
        """Moments of any rows under these posteriors together; None where there is no such way."""
        known = self._moments
        if known is None or len(known[0]) != len(posteriors) or any(
            a is not b for a, b in zip(known[0], posteriors, strict=True)
        ):  # fmt: skip
            known = self._moments = list(posteriors), NodeMoments.of(posteriors, intercept)
        return known[1]

    def bounds(self, posteriors: Sequence[Posterior], weights: np.ndarray, intercept: bool) -> NodeBounds | None:
        """Bounds on the same moments, of nodes of these weights; None where there are none."""
        moments = self.moments(posteriors, intercept)
        if not isinstance(moments, NodeMoments) or len(moments.parts[0][0]) > WIDE:
            return None
        known = self._bounds
        if known is None or known[0] is not moments or not np.array_equal(known[1].weights, weights):
            known = self._bounds = moments, NodeBounds(weights, moments.parts, moments.intercept)
        return known[1]


class KeptRows:
    """A pool of rows with their marginals, of which positions can be taken without copying rows.

    Parameters
    ----------
    parts : sequence of (rows, positions or None)
        Tables and what is meant of them; None: all.
    mean, variance : (m, nodes) arrays
        At the present belief.
    """

    def __init__(
        self, parts: Sequence[tuple[Matrix, np.ndarray | None]], mean: np.ndarray, variance: np.ndarray
    ) -> None:
        self.parts, self.mean, self.variance = list(parts), mean, variance
        self._stacked: list[Matrix] = []  # all rows, once somebody has asked; shared by the nodes

    def __len__(self) -> int:
        return len(self.mean)

    def __getstate__(self) -> State:
        """With the rows that are meant, and no others."""
        parts = [(_taken(rows, positions), None) for rows, positions in self.parts]
        return {**self.__dict__, "parts": parts, "_stacked": []}

    def take(self, positions: Index) -> KeptRows:
        """The pool of these positions."""
        positions = np.asarray(positions, dtype=np.intp)
        if len(self.parts) == 1:
            rows, earlier = self.parts[0]
            parts: list[tuple[Matrix, np.ndarray | None]] = [
                (rows, positions if earlier is None else earlier[positions])
            ]
        else:
            parts = [(self.rows()[positions], None)]
        return KeptRows(parts, self.mean[positions], self.variance[positions])

    def concatenate(self, pools: Sequence[KeptRows]) -> KeptRows:
        """One pool of all, in order."""
        mean, variance = (np.concatenate([getattr(pool, name) for pool in pools]) for name in ("mean", "variance"))
        return KeptRows([part for pool in pools for part in pool.parts], mean, variance)

    def of_node(self, k: int) -> KeptRows:
        """The same rows with the marginals at node ``k``."""
        found = KeptRows(self.parts, self.mean[:, k : k + 1], self.variance[:, k : k + 1])
        found._stacked = self._stacked
        return found

    def rows(self) -> Matrix:
        """The rows themselves."""
        if not self._stacked:
            tables = [_taken(rows, positions) for rows, positions in self.parts]
            found = tables[0]
            for table in tables[1:]:
                found = stacked_rows(found, table)
            self._stacked.append(found)
        return self._stacked[0]

    def rows_at(self, i: Index) -> Matrix:
        """The rows at positions ``i`` (indices or slice)."""
        if len(self.parts) > 1:
            return self.rows()[i]
        rows, positions = self.parts[0]
        return rows[i] if positions is None else rows[positions[i]]


def _taken(rows: Matrix, positions: np.ndarray | None) -> Matrix:
    return rows if positions is None else rows[positions]
