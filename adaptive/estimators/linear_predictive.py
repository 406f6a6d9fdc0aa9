"""The predictive of a linear model from its posterior: rows x, projections  s = x . w (+ b),  outcomes p(y | s)."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.predictive import GaussianProjections, GaussianTarget

__all__ = ["linear_predictive", "with_intercept"]

LARGEST_ROOT = 2_000  # unknowns up to which a square root of the posterior covariance is formed


def with_intercept(rows: Any) -> Any:
    """Append the constant feature; sparse rows stay sparse."""
    if hasattr(rows, "tocsr"):
        from scipy import sparse

        return sparse.hstack([rows, np.ones((rows.shape[0], 1))], format="csr", dtype=rows.dtype)
    return np.concatenate([rows, np.ones((rows.shape[0], 1), dtype=rows.dtype)], axis=1)


def linear_predictive(
    posterior: Any,
    rows: Any,
    likelihood: Any,
    *,
    target: Any = None,
    intercept: bool = False,
    random_state: Any = None,
) -> GaussianProjections:
    """Return what the posterior over weights (and, last, the intercept) says about ``rows``.

    Parameters
    ----------
    posterior : Posterior of n unknowns
    rows : (m, n) array or sparse matrix; (m, n - 1) with ``intercept``
    likelihood : likelihood family
    target : (t, same width) rows, optional
        Given inputs; None: the unknowns.
    intercept : bool, default False
    random_state : None, int, Generator or RandomState
    """
    n = posterior.n
    root = posterior.projection_root(np.eye(n)) if n <= LARGEST_ROOT else None
    if root is not None:  # one product with the rows then gives every variance and every joint block
        return GaussianProjections.from_rows(
            rows,
            posterior.mean,
            likelihood=likelihood,
            root=root,
            target=target,
            intercept=intercept,
            random_state=random_state,
        )
    if intercept:
        rows, target = with_intercept(rows), None if target is None else with_intercept(target)
    about = None
    if target is not None:
        mean, variance = posterior.projection_moments(target)
        about = GaussianTarget(
            mean, variance, covariance=_blocks(posterior, target, target), cross=_blocks(posterior, rows, target)
        )

    def draw(n_draws: int, generator: np.random.Generator) -> list[np.ndarray]:
        latents = posterior.sample(n_draws, generator)
        return [(part @ latents.T).T for part in (rows, target) if part is not None]

    mean, variance = posterior.projection_moments(rows)
    return GaussianProjections(
        mean,
        variance,
        _blocks(posterior, rows, rows),
        likelihood,
        target=about,
        projection_draws=draw,
        random_state=random_state,
    )


def _blocks(posterior: Any, first: Any, second: Any) -> Any:
    """Blocks of the covariance of two sets of projections, computed as they are asked for."""
    return lambda i, j: posterior.projection_covariance(first[i], second[j])
