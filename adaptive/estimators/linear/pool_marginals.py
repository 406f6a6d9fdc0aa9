"""The marginals of a whole pool, followed while potentials are included: one product with its rows for each.

    mean <- mean + step w,    variance <- variance - factor w^2,    w = rows . direction

They are computed anew where the posterior was fitted since: from rows in chunks, or by one Lanczos run for all of them
where the posterior's own variances come from such runs. A Lanczos variance is a lower bound, from which a true decrease
may leave less than nothing: such rows are dropped from the candidates until the next fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.utils import gen_batches

from adaptive import checks
from adaptive.estimators.rows.linear_predictive import with_intercept
from adaptive.estimators.rows.training import stacked_rows
from adaptive.inference import IncludedPosterior
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.linalg import lanczos_variances

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.types import Index, Mask, Matrix, Options, Pool, State

__all__ = ["KeptPool", "KeptRows", "NodeMarginals", "PoolMarginals"]

LARGEST_CHUNK = 16_384  # rows, whatever the memory would allow: longer chunks are not faster


class PoolMarginals:
    """Means and variances of the latents of all rows of a pool.

    Parameters
    ----------
    rows : (m, n_features) array or sparse matrix
        Never copied as a whole: chunks take what ``sklearn.config_context(working_memory=...)`` allows, in MiB.
    intercept : bool
        Whether the last unknown is added to every projection.

    Attributes
    ----------
    mean, variance : (m,) arrays
    n_products : int
        Columns multiplied with the rows so far.
    """

    def __init__(self, rows: Matrix, intercept: bool) -> None:
        self.rows, self.intercept, self.n_products = rows, intercept, 0
        self._base: Posterior | None = None
        self._updates: tuple[Any, ...] = ()
        self.mean = self.variance = np.empty(0)

    def follow(self, posterior: Posterior) -> PoolMarginals:
        """Bring the marginals up to the posterior; return self."""
        base, updates = self._base_and_updates(posterior)
        known = len(self._updates)
        continued = base is self._base and all(a is b for a, b in zip(self._updates, updates, strict=False))
        if not continued or known > len(updates):
            self._start(base)
            known = 0
        for update in updates[known:]:
            along = self._times(update.direction)
            self.mean = self.mean + update.step * along
            self.variance = self.variance - update.factor * np.square(along)
        self._base, self._updates = base, updates
        return self

    def as_pool(self) -> KeptRows:
        """The rows with their present marginals."""
        return KeptRows([(self.rows, None)], self.mean, self.variance)

    def mask(self, arguments: Options) -> Mask:
        """The mask that ``select`` was given, less the rows whose variance has become negative, if enough are left."""
        mask, negative = arguments["mask"], self.variance < 0
        if not negative.any() or np.shape(mask) not in ((), (len(negative),)):
            return mask
        sound = ~negative if mask is None else ~negative & np.asarray(mask, dtype=bool)
        left = sound.copy()
        left[np.asarray(arguments["exclude"], dtype=np.intp)] = False
        return sound if np.count_nonzero(left) >= arguments["n_select"] else mask

    @staticmethod
    def _base_and_updates(posterior: Posterior) -> tuple[Posterior, tuple[Any, ...]]:
        if isinstance(posterior, IncludedPosterior):
            return posterior.base, posterior.updates
        return posterior, ()

    def _start(self, posterior: Posterior) -> None:
        m = self.rows.shape[0]
        if isinstance(posterior, LargePosterior) and posterior.lanczos_run is not None:
            steps, seed = posterior.lanczos_run
            start = np.asarray(checks.generator(seed).standard_normal(posterior.system.input_shape))
            self.variance, _ = lanczos_variances(
                posterior.system.apply, lambda q: self._times(q.ravel())[None], start[None], steps
            )
            self.mean = self._times(posterior.mean)
            return
        self.mean, self.variance = np.empty(m), np.empty(m)
        for chunk in self._chunks(posterior.n):
            rows = with_intercept(self.rows[chunk]) if self.intercept else self.rows[chunk]
            self.mean[chunk], self.variance[chunk] = posterior.projection_moments(rows)
        self.n_products += 1 + posterior.n

    def _times(self, vector: np.ndarray) -> np.ndarray:
        """The rows' projections of a vector of unknowns."""
        self.n_products += 1
        weights, constant = (vector[:-1], vector[-1]) if self.intercept else (vector, 0.0)
        if sp.issparse(self.rows) or self.rows.dtype == np.float64:
            return np.asarray(self.rows @ weights) + constant
        parts = [self.rows[chunk] @ weights for chunk in self._chunks(len(weights))]  # a chunk is cast to double
        return np.concatenate(parts) + constant

    def _chunks(self, n: int) -> Iterator[slice]:
        memory = float(sklearn.get_config()["working_memory"]) * 2**20
        rows = int(np.clip(memory // (32 * n), 1, LARGEST_CHUNK))  # the rows, their copy, and roots of both
        return gen_batches(self.rows.shape[0], rows)


class NodeMarginals:
    """The marginals of one pool at every node of a mixture."""

    def __init__(self, nodes: Sequence[PoolMarginals]) -> None:
        self.nodes = list(nodes)

    def as_pool(self) -> KeptRows:
        """The rows with their present marginals at all nodes."""
        mean, variance = (np.stack([getattr(node, name) for node in self.nodes], 1) for name in ("mean", "variance"))
        return KeptRows([(self.nodes[0].rows, None)], mean, variance)

    def mask(self, arguments: Options) -> Mask:
        """The mask that ``select`` was given, less the rows whose variance has become negative at a node."""
        for node in self.nodes:
            arguments = {**arguments, "mask": node.mask(arguments)}
        return arguments["mask"]


class KeptPool:
    """The pool whose marginals are kept from one call to the next: the last one, known by identity.

    A belief hands it to the next one.  Copies and pickles start empty.
    """

    def __init__(self) -> None:
        self.pool: Pool | None = None
        self.marginals: PoolMarginals | None = None

    def __reduce__(self) -> tuple[type[KeptPool], tuple[()]]:
        return KeptPool, ()

    def followed(self, pool: Pool, table: Callable[[], Matrix], intercept: bool, posterior: Posterior) -> PoolMarginals:
        """The marginals of the pool at the posterior; ``table`` returns its rows, checked."""
        if self.marginals is None or self.pool is not pool:
            self.marginals = PoolMarginals(table(), intercept)
            self.pool = pool
        return self.marginals.follow(posterior)


class KeptRows:
    """A pool of rows with their marginals, of which positions can be taken without copying rows.

    Parameters
    ----------
    parts : sequence of (rows, positions or None)
        Tables and what is meant of them; None: all.
    mean, variance : (m,) arrays, or (m, k) at each node of a mixture
        At the present belief.
    """

    def __init__(
        self, parts: Sequence[tuple[Matrix, np.ndarray | None]], mean: np.ndarray, variance: np.ndarray
    ) -> None:
        self.parts, self.mean, self.variance = list(parts), mean, variance

    def __len__(self) -> int:
        return len(self.mean)

    def __getstate__(self) -> State:
        """With the rows that are meant, and no others."""
        return {**self.__dict__, "parts": [(_taken(rows, positions), None) for rows, positions in self.parts]}

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
        return KeptRows(self.parts, self.mean[:, k], self.variance[:, k])

    def rows(self) -> Matrix:
        """The rows themselves."""
        tables = [_taken(rows, positions) for rows, positions in self.parts]
        found = tables[0]
        for table in tables[1:]:
            found = stacked_rows(found, table)
        return found

    def rows_at(self, i: Index) -> Matrix:
        """The rows at positions ``i`` (indices or slice)."""
        if len(self.parts) > 1:
            return self.rows()[i]
        rows, positions = self.parts[0]
        return rows[i] if positions is None else rows[positions[i]]


def _taken(rows: Matrix, positions: np.ndarray | None) -> Matrix:
    return rows if positions is None else rows[positions]
