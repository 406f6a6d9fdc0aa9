"""The predictive of a linear model from its posterior: rows x, projections  s = x . w (+ b),  outcomes p(y | s)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from adaptive.predictive import GaussianProjections, GaussianTarget

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from adaptive.inference import Posterior
    from adaptive.potentials import Potential
    from adaptive.predictive.joint_gaussian import Moment
    from adaptive.types import Index, Matrix, RandomState

__all__ = [
    "LARGEST_ROOT",
    "LinearWeights",
    "block_wise_predictive",
    "linear_predictive",
    "products_with",
    "with_intercept",
]

LARGEST_ROOT = 2_000  # unknowns up to which a square root of the posterior covariance is formed


class LinearWeights:
    """Attributes of a regression whose posterior is over weights and, last, the intercept; its rows may be sparse."""

    fit_intercept: bool

    if TYPE_CHECKING:

        def fitted_belief(self) -> Any: ...

    def _n_weights(self, posterior: Posterior) -> int:
        return posterior.n - bool(self.fit_intercept)

    @property
    def coef_(self) -> np.ndarray:
        """(n_features,) posterior means of the weights."""
        posterior = self.fitted_belief().posterior
        return posterior.mean[: self._n_weights(posterior)]

    @property
    def coef_std_(self) -> np.ndarray:
        """(n_features,) posterior standard deviations of the weights."""
        posterior = self.fitted_belief().posterior
        return np.sqrt(posterior.variances()[: self._n_weights(posterior)])

    @property
    def intercept_(self) -> float:
        """Posterior mean of the intercept, 0 without one."""
        mean = self.fitted_belief().posterior.mean
        return float(mean[-1]) if self.fit_intercept else 0.0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


def with_intercept(rows: Matrix) -> Matrix:
    """Append the constant feature; sparse rows stay sparse."""
    if sp.issparse(rows):
        return sp.hstack([rows, np.ones((rows.shape[0], 1))], format="csr", dtype=rows.dtype)
    return np.concatenate([rows, np.ones((rows.shape[0], 1), dtype=rows.dtype)], axis=1)


def linear_predictive(
    posterior: Posterior,
    rows: Matrix,
    likelihood: Potential,
    *,
    target: Matrix | None = None,
    target_likelihood: Potential | None = None,
    intercept: bool = False,
    random_state: RandomState = None,
    moments: tuple[Moment, Moment] | None = None,
    root: np.ndarray | None = None,
    **fields: Any,
) -> GaussianProjections:
    """Return what the posterior over weights (and, last, the intercept) says about ``rows``.

    Parameters
    ----------
    posterior : Posterior of n unknowns
    rows : (m, n) array or sparse matrix; (m, n - 1) with ``intercept``
    likelihood : likelihood family
    target : (t, same width) rows, optional
        Given inputs; None: the unknowns.
    target_likelihood : likelihood family, optional
        There; None: ``likelihood``.
    intercept : bool, default False
    random_state : None, int, Generator or RandomState
    moments : (mean, variance), optional
        Of the projections, (m,) arrays or functions that return them, where somebody knows them already.
    root : (n, r) array, optional
        Of the posterior's covariance; with ``moments`` and None there is none that is cheap.
    **fields
        Others that the predictive states, such as ``measured``.
    """
    n = posterior.n
    if root is None and moments is None and n <= LARGEST_ROOT:
        root = posterior.projection_root(np.eye(n))
    if root is not None:  # one product with the rows then gives every variance and every joint block
        return GaussianProjections.from_rows(
            rows,
            posterior.mean,
            likelihood=likelihood,
            root=root,
            target=target,
            target_likelihood=target_likelihood,
            intercept=intercept,
            random_state=random_state,
            moments=moments,
            **fields,
        )
    if moments is None:
        features = with_intercept(rows) if intercept else rows
        moments, rows_at, along = posterior.projection_moments(features), features.__getitem__, None
    else:

        def rows_at(i: Index) -> Matrix:
            return with_intercept(rows[i]) if intercept else rows[i]

        def along(i: np.ndarray, vectors: np.ndarray) -> np.ndarray:
            return products_with(rows, i, vectors, intercept)

    return block_wise_predictive(
        posterior,
        moments[0],
        moments[1],
        rows_at,
        likelihood,
        n_candidates=rows.shape[0],
        target=with_intercept(target) if intercept and target is not None else target,
        target_likelihood=target_likelihood,
        random_state=random_state,
        along=along,
        features=rows,
        **fields,
    )


def products_with(rows: Matrix, i: np.ndarray, vectors: np.ndarray, intercept: bool) -> np.ndarray:
    """Return rows at ``i`` times vectors (n, c), whose last entries are added with ``intercept``; all are not copied.

    Examples
    --------
    >>> products_with(np.eye(2), np.arange(2), np.array([[1.0], [2.0], [0.5]]), intercept=True)
    array([[1.5],
           [2.5]])
    """
    some = rows if np.array_equal(i, np.arange(rows.shape[0])) else rows[i]
    found = np.asarray(some @ vectors[:-1] if intercept else some @ vectors)
    return found + vectors[-1] if intercept else found


def block_wise_predictive(
    posterior: Posterior,
    mean: Moment,
    variance: Moment,
    rows_at: Callable[[Index], Matrix],
    likelihood: Potential,
    *,
    target: Matrix | None = None,
    target_likelihood: Potential | None = None,
    random_state: RandomState = None,
    along: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    **fields: Any,
) -> GaussianProjections:
    """Return the predictive of rows whose marginals are known; blocks of their covariance are computed when asked for.

    Parameters
    ----------
    posterior : Posterior of n unknowns
    mean, variance : (m,) arrays, or functions that return them
        Of the projections.
    rows_at : callable
        Positions (indices or slice) -> rows (any, n).
    likelihood : likelihood family
    target : (t, n) rows, optional
    target_likelihood : likelihood family, optional
    random_state : None, int, Generator or RandomState
    along : callable, optional
        (positions, vectors (n, c)) -> products (any, c) of the rows there, where that is cheaper than to take the rows.
    **fields
        Others that the predictive states.
    """
    unknowns: Any = sp.eye_array(posterior.n, format="csr")

    def block(
        first: Callable[[Index], Matrix], second: Callable[[Index], Matrix]
    ) -> Callable[[Index, Index], np.ndarray]:
        return lambda i, j: posterior.projection_covariance(first(i), second(j))

    def of_rows(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the covariance of many rows with few: that of all unknowns with the few, times the many."""
        few = rows_at(j)
        if not few.shape[0] < min(len(i), posterior.n) or posterior.n > LARGEST_ROOT:
            return posterior.projection_covariance(rows_at(i), few)
        directions = posterior.projection_covariance(unknowns, few)
        return np.asarray(rows_at(i) @ directions if along is None else along(i, directions))

    about = None
    if target is not None:
        target_mean, target_variance = posterior.projection_moments(target)
        about = GaussianTarget(
            target_mean,
            target_variance,
            covariance=block(target.__getitem__, target.__getitem__),
            cross=block(rows_at, target.__getitem__),
            likelihood=target_likelihood,
        )
    elif posterior.n <= LARGEST_ROOT:  # the unknowns themselves

        def unit(i: Index) -> np.ndarray:
            return np.eye(posterior.n)[i]

        about = GaussianTarget(
            posterior.mean,
            posterior.variances,
            covariance=block(unit, unit),
            cross=block(rows_at, unit),
            inputs=False,
            everything=True,
        )

    def draw(n_draws: int, generator: np.random.Generator) -> list[np.ndarray]:
        latents = posterior.sample(n_draws, generator)
        drawn = [(rows_at(slice(None)) @ latents.T).T]
        if about is not None:
            drawn.append(latents if target is None else (target @ latents.T).T)
        return drawn

    return GaussianProjections(
        mean,
        variance,
        of_rows,
        likelihood,
        target=about,
        projection_draws=draw,
        random_state=random_state,
        **fields,
    )
